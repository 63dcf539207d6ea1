//===- arguments.h - what the catalogue's functions take --------*- C++ -*-===//
//
// Buffers without their kinds, once the kinds are checked, and small structs of
// sizes. A size or length is an integer or an Index (spec.param): those given
// at launch recompile nothing, those known now let the compiler do more.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <qm/masks.h>

namespace qm {

/// Rows and columns of a canvas, a kernel or a tile, in that order. Name them
/// where they differ: natten2d({.rows = 3, .columns = 5}, {3, 3}).
struct Size2 {
  detail::IntArg rows, columns;
};

/// Frames, rows and columns of a video, a kernel or a tile.
struct Size3 {
  detail::IntArg frames, rows, columns;
};

namespace detail {

/// A buffer with one dimension for each of `Axes`, declared over that axis, or
/// over an integer or qm::dynamic. The axis Index takes any declaration.
template <class Element, class... Axes>
struct Over {
  template <class Kind, class Axis>
  static constexpr bool fits =
      isOneOf<Axis, Index> || isOneOf<Kind, Axis, Index>;

  template <class... Kinds>
    requires(sizeof...(Kinds) == sizeof...(Axes) && (fits<Kinds, Axes> && ...))
  Over(const Buffer<Element, Kinds...> &buffer) : gather(buffer.gather) {}

  template <class... At>
  Element operator()(const At &...at) const {
    Gather all = gather;
    ((all = all.with(IndexArg(at))), ...);
    return Element(all.load(Where::current()));
  }

  Gather gather;
};

/// A buffer over [position] or [batch, position]; positions of queries or keys.
template <class Element>
struct PerPosition {
  template <class... Kinds>
    requires(holdsIds<Kinds...>)
  PerPosition(const Buffer<Element, Kinds...> &buffer)
      : gather(buffer.gather), rank(sizeof...(Kinds)) {}

  Element operator()(const Batch &b, const Index &at) const {
    Gather row = rank == 1 ? gather : gather.with(IndexArg(b));
    return Element(row.with(IndexArg(at)).load(Where::current()));
  }

  Gather gather;
  int rank;
};

using Ids = PerPosition<Index>;
using Flags = PerPosition<Bool>;
using PerPair = Over<Index, Batch, Query, Key>;
using PerEdge = Over<Index, Batch, Query, Key, Index>;

} // namespace detail

} // namespace qm
