//===- masks.h - the mask library -------------------------------*- C++ -*-===//
//
// In the formulas d = 0 for TopLeft and d = Skv - Sq for BottomRight.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <qm/mask.h>

namespace qm {

/// The alignment is not optional: with Sq != Skv both are in use.
/// Keeps: i + d >= j
Mask causal(Alignment alignment, Where where = Where::current());
Mask causal() QM_DELETED("say where query 0 stands: causal(TopLeft), or "
                         "causal(BottomRight) for decoding with a cache");

/// No bound on one side of a window.
struct Unbounded {};
inline constexpr Unbounded unbounded{};

namespace detail {

/// A bound of a window: an integer, a run-time scalar (spec.param), or
/// unbounded.
struct Bound {
  Node *node; ///< Null: unbounded.
  template <class T>
    requires IndexValue<T> || IntegerLiteral<T>
  Bound(const T &value, Where where = Where::current())
      : node(IntArg(value, where).node) {}
  Bound(Unbounded) : node(nullptr) {}
};

/// Integer buffers of one or two dimensions, without their kinds.
struct IndexBuffer {
  Gather gather;
  int rank;
};

template <class Kind, class... Rest>
inline constexpr bool holdsIds = isOneOf<Kind, Query, Key, Index>;
template <class First, class Second>
inline constexpr bool holdsIds<First, Second> =
    isOneOf<First, Batch, Index> && holdsIds<Second>;
template <class A, class B, class C, class... More>
inline constexpr bool holdsIds<A, B, C, More...> = false;

Mask documents(const IndexBuffer &queryIds, const IndexBuffer &keyIds,
               Where where);
Mask keyLimit(const Gather &lengths, Where where);
Mask validKeys(const Gather &valid, Where where);

} // namespace detail

/// Both ends are included: with right = 0 a query keeps itself and `left` keys
/// before it. (A model card's "window 4096" often means 4096 keys in all: that
/// is slidingWindow(4095).) A negative bound shifts the window past the query:
/// right = -3 keeps only keys at least 3 back.
/// Keeps: i + d - left <= j <= i + d + right
Mask slidingWindow(detail::Bound left, detail::Bound right = 0,
                   Alignment alignment = BottomRight,
                   Where where = Where::current());

/// A prefix language model is `prefix(n) || causal(TopLeft)`.
/// Keeps: j < length
Mask prefix(detail::IntArg length);

/// Keeps: j < lengths[b]
template <class Kind>
Mask prefix(const Buffer<Index, Kind> &lengths,
            Where where = Where::current()) {
  static_assert(detail::isOneOf<Kind, Batch, Index>,
                "prefix lengths are one a batch entry: declare the buffer with "
                "spec.batch()");
  return detail::keyLimit(lengths.gather, where);
}

/// Keeps: j < lengths[b]
template <class Kind>
Mask padding(const Buffer<Index, Kind> &lengths,
             Where where = Where::current()) {
  static_assert(detail::isOneOf<Kind, Batch, Index>,
                "padding takes one length a batch entry: declare the buffer "
                "with spec.batch()");
  return detail::keyLimit(lengths.gather, where);
}

/// Keeps: valid[b][j]
template <class KindB, class KindJ>
Mask padding(const Buffer<Bool, KindB, KindJ> &valid,
             Where where = Where::current()) {
  static_assert(
      detail::isOneOf<KindB, Batch, Index> &&
          detail::isOneOf<KindJ, Key, Index>,
      "a padding buffer is declared with spec.batch(), spec.keyLength()");
  return detail::validKeys(valid.gather, where);
}

/// Ids over [position], or [batch, position]: a token sees its own document.
/// Padding between documents is a document too. If it may hold NaN, join a
/// condition on the key alone, as `ids[j] >= 0`: its values are then not used.
/// Keeps: queryIds[i] = keyIds[j]
template <class... KindsQ, class... KindsK>
Mask document(const Buffer<Index, KindsQ...> &queryIds,
              const Buffer<Index, KindsK...> &keyIds,
              Where where = Where::current()) {
  static_assert(detail::holdsIds<KindsQ...> && detail::holdsIds<KindsK...>,
                "document ids are declared over positions, or over "
                "spec.batch() and positions");
  return detail::documents({queryIds.gather, sizeof...(KindsQ)},
                           {keyIds.gather, sizeof...(KindsK)}, where);
}

/// One buffer of ids for queries and keys, where Sq == Skv.
template <class... Kinds>
Mask document(const Buffer<Index, Kinds...> &ids,
              Where where = Where::current()) {
  return document(ids, ids, where);
}

} // namespace qm
