//===- buffer.h - captured buffers ------------------------------*- C++ -*-===//
//
// A buffer becomes an argument of the kernel. What a dimension was declared
// with decides what may index it:
//
//   spec.heads(), spec.batch(), ...   that kind only: Head, Batch, ...
//   an integer, qm::dynamic           any Index or integer
//
// An index outside the buffer is clamped to its ends, so a gather never leaves
// it. Loads give Float (f16, bf16, f32), Index (i8, i16, i32, i64; i64 keeps
// the low 32 bits) or Bool (i1).
//
//===----------------------------------------------------------------------===//
#pragma once

#include <qm/operand.h>

namespace qm {

class Spec;

/// An extent of the call (`spec.keyLength()`). As a buffer dimension it also
/// fixes the kind of index; in an expression it is its value.
template <class Kind>
class Extent : public Index {
  using Index::Index;
  friend class Spec;
};

namespace detail {

class Trace;

inline constexpr int maxRank = 8;

/// One extent of a buffer, and where it comes from.
struct Dimension {
  enum Source {
    Fixed,
    Runtime,
    BatchSize,
    Heads,
    KvHeads,
    QueryLength,
    KeyLength
  };
  Source source;
  long long value; ///< Of a Fixed one.
};

template <class T>
struct KindOf {
  using type = Index;
};
template <class Kind>
struct KindOf<Extent<Kind>> {
  using type = Kind;
};

template <DType T>
struct LoadedAs {
  using type = Index;
};
// clang-format off
template <> struct LoadedAs<DType::F16> { using type = Float; };
template <> struct LoadedAs<DType::BF16> { using type = Float; };
template <> struct LoadedAs<DType::F32> { using type = Float; };
template <> struct LoadedAs<DType::I1> { using type = Bool; };
// clang-format on

/// One subscript, checked against the kind of its dimension.
template <class Kind>
struct Subscript : Operand {
  template <class T>
  Subscript(const T &at, Where where = Where::current())
      : Operand{nullptr, where} {
    constexpr bool integral = IndexValue<T> || IntegerLiteral<T>;
    static_assert(integral, "a buffer is indexed by integers: use toInt(x) "
                            "for a Float, select(c, a, b) for a Bool");
    constexpr bool fits = isSame<Kind, Index> || isSame<T, Kind>;
    static_assert(
        !integral || fits,
        "this dimension was declared over another axis: index it "
        "with that kind (Batch, Head, KvHead, Query, Key), or convert "
        "on purpose, as in slopes[Head(x)]");
    if constexpr (integral && fits)
      node = indexNode(at, where);
  }
};

/// A buffer and the subscripts given so far.
struct Gather {
  Trace *trace;
  int buffer;
  int count;
  Node *subscripts[maxRank];

  Gather with(const Operand &subscript) const;
  Node *load(Where where) const;
};

} // namespace detail

/// A captured buffer, or one whose leading subscripts are given (`ids[b]`).
template <class Element, class Kind, class... Rest>
class Buffer {
public:
  explicit Buffer(const detail::Gather &gather) : gather(gather) {}

  detail::Gather gather; ///< Not for specs: what the mask library reads.

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
};

} // namespace qm
