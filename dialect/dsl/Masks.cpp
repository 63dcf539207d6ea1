//===- Masks.cpp - mask algebra and the mask library ----------------------===//
#include "dialect/dsl/Library.h"

#include <qm/masks.h>

using namespace qm::detail;

namespace qm {

Mask::Mask(Function *function) : function(function) { ++function->references; }
Mask::Mask(const Mask &other) : Mask(other.function) {}
Mask &Mask::operator=(const Mask &other) {
  Mask copy(other);
  std::swap(function, copy.function);
  return *this;
}
Mask::~Mask() {
  if (--function->references == 0)
    delete function;
}

Bool Mask::operator()(Batch b, Head h, Query i, Key j) const {
  return (*function)(b, h, i, j);
}

namespace {

/// Applies masks at their own places, then combines the results at `where`.
template <class Combine>
struct CombinedMask final : Mask::Function {
  Mask a, b;
  Combine combine;
  Where where;
  CombinedMask(const Mask &a, const Mask &b, const Combine &combine,
               Where where)
      : a(a), b(b), combine(combine), where(where) {}
  Bool operator()(Batch batch, Head head, Query i, Key j) const override {
    Bool left = a(batch, head, i, j), right = b(batch, head, i, j);
    AtPlace place(where);
    return combine(left, right);
  }
};

struct ShiftedMask final : Mask::Function {
  Mask mask;
  IntArg queries, keys;
  ShiftedMask(const Mask &mask, IntArg queries, IntArg keys)
      : mask(mask), queries(queries), keys(keys) {}
  Bool operator()(Batch b, Head h, Query i, Key j) const override {
    auto moved = [](const Index &at, const IntArg &by) {
      AtPlace place(by.where);
      return at + Index(by.node);
    };
    return mask(b, h, Query(moved(i, queries)), Key(moved(j, keys)));
  }
};

template <class Combine>
Mask combined(const Mask &a, const Mask &b, const Combine &combine,
              Where where) {
  return Mask(new CombinedMask<Combine>(a, b, combine, where));
}

} // namespace

Mask Mask::shift(IntArg queries, IntArg keys) const {
  return Mask(new ShiftedMask(*this, queries, keys));
}

// Constant sides are dropped, so that `full() && m` is m.
Mask operator&&(MaskArg a, MaskArg b) {
  return combined(
      a.mask, b.mask,
      [](Bool x, Bool y) {
        return x.node->isBoolean(true)   ? y
               : y.node->isBoolean(true) ? x
                                         : x && y;
      },
      a.where);
}

Mask operator||(MaskArg a, MaskArg b) {
  return combined(
      a.mask, b.mask,
      [](Bool x, Bool y) {
        return x.node->isBoolean(true)   ? x
               : y.node->isBoolean(true) ? y
                                         : x || y;
      },
      a.where);
}

Mask operator!(MaskArg a) {
  return combined(a.mask, full(), [](Bool x, Bool) { return !x; }, a.where);
}

Mask full() {
  return libraryMask(Where::current(),
                     [](Batch, Head, Query, Key) { return Bool(true); });
}

Mask causal(Alignment alignment, Where where) {
  return libraryMask(where, [=](Batch, Head, Query i, Key j) {
    return position(i, alignment) >= j;
  });
}

Mask slidingWindow(Bound left, Bound right, Alignment alignment, Where where) {
  // Compared as distances: no bound, however large, can overflow.
  return libraryMask(where, [=](Batch, Head, Query i, Key j) {
    if (!left.node && !right.node)
      return Bool(true);
    Index at = position(i, alignment);
    if (!right.node)
      return at - j <= Index(left.node);
    Bool notAfter = j - at <= Index(right.node);
    return left.node ? at - j <= Index(left.node) && notAfter : notAfter;
  });
}

Mask prefix(IntArg length) {
  return libraryMask(length.where, [=](Batch, Head, Query, Key j) {
    return j < Index(length.node);
  });
}

Mask detail::keyLimit(const Gather &lengths, Where where) {
  return libraryMask(where, [=](Batch b, Head, Query, Key j) {
    return j < Buffer<Index, Index>(lengths)[b];
  });
}

Mask detail::validKeys(const Gather &valid, Where where) {
  return libraryMask(where, [=](Batch b, Head, Query, Key j) {
    return Buffer<Bool, Index, Index>(valid)(b, j);
  });
}

Mask detail::documents(const IndexBuffer &queryIds, const IndexBuffer &keyIds,
                       Where where) {
  auto id = [](const IndexBuffer &ids, const Batch &b, const Index &at) {
    return ids.rank == 1 ? Buffer<Index, Index>(ids.gather)[at]
                         : Buffer<Index, Index, Index>(ids.gather)(b, at);
  };
  return libraryMask(where, [=](Batch b, Head, Query i, Key j) {
    return id(queryIds, b, i) == id(keyIds, b, j);
  });
}

} // namespace qm
