//===- subscript.h - which index fits which dimension -----------*- C++ -*-===//
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
    constexpr bool fits =
        isSame<Kind, Index> || isSame<T, Kind> || IntegerLiteral<T>;
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
  void markSorted() const;
  Node *load(Where where) const;
};

} // namespace detail

} // namespace qm
