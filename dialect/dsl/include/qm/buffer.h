//===- buffer.h - captured buffers ------------------------------*- C++ -*-===//
//
// A buffer becomes an argument of the kernel. What a dimension was declared
// with decides what may index it:
//
//   spec.heads(), spec.batch(), ...   that kind or an integer literal: Head,
//   Batch, ... an integer, qm::dynamic           any Index or integer
//
// An index outside the buffer is clamped to its ends, so a gather never leaves
// it. Loads give Float (f16, bf16, f32), Index (i8, i16, i32, i64; i64 keeps
// the low 32 bits) or Bool (i1).
//
//===----------------------------------------------------------------------===//
#pragma once

#include <qm/subscript.h>

namespace qm {

/// A captured buffer, or one whose leading subscripts are given (`ids[b]`).
template <class Element, class Kind, class... Rest>
class Buffer {
public:
  explicit Buffer(const detail::Gather &gather) : gather(gather) {}

  detail::Gather gather; ///< Not for specs: what the mask library reads.

  /// The promise that elements never decrease along the last dimension, as ids
  /// of packed documents do: `spec.buffer("ids", i32, ...).sorted()`. The
  /// compiler then finds the blocks that a mask needs from a few elements.
  /// Where the promise is broken, pairs may be kept or dropped wrongly; memory
  /// is safe.
  Buffer sorted() const {
    static_assert(detail::isSame<Element, Index>,
                  "only buffers of integers can be sorted()");
    gather.markSorted();
    return *this;
  }

  /// One subscript at a time: `table[h][i - j]`.
  auto operator[](detail::Subscript<Kind> at) const {
    if constexpr (sizeof...(Rest) == 0)
      return Element(gather.with(at).load(at.where));
    else
      return Buffer<Element, Rest...>(gather.with(at));
  }

  /// All subscripts at once: `table(h, i - j)`.
  Element operator()(detail::Subscript<Kind> first,
                     detail::Subscript<Rest>... rest) const {
    detail::Gather all = gather.with(first);
    ((all = all.with(rest)), ...);
    return Element(all.load(first.where));
  }
  template <class... At>
    requires(sizeof...(At) != 1 + sizeof...(Rest))
  Element operator()(const At &...) const
      QM_DELETED("the number of subscripts is not the number of dimensions of "
                 "this buffer");
};

} // namespace qm
