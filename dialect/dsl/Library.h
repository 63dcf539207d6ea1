//===- Library.h - how library masks and scores are made --------*- C++ -*-===//
//
// Nodes of a library function are at the place where the user named it; sizes
// known now are folded, and looked at: a mistake stands on the node it spoils.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialect/dsl/Trace.h"

#include <qm/mask.h>
#include <qm/score.h>

#include <optional>

namespace qm::detail {

template <class F>
struct LibraryMask final : Mask::Function {
  F function;
  Where where;
  LibraryMask(const F &function, Where where)
      : function(function), where(where) {}
  Bool operator()(Batch b, Head h, Query i, Key j) const override {
    AtPlace place(where);
    return function(b, h, i, j);
  }
};

template <class F>
Mask libraryMask(Where where, const F &function) {
  return Mask(new LibraryMask<F>(function, where));
}

template <class F>
struct LibraryScore final : ScoreFunction::Function {
  F function;
  Where where;
  LibraryScore(const F &function, Where where)
      : function(function), where(where) {}
  Float operator()(Score s, Batch b, Head h, Query i, Key j) const override {
    AtPlace place(where);
    return function(s, b, h, i, j);
  }
};

template <class F>
ScoreFunction libraryScore(Where where, const F &function) {
  return ScoreFunction(new LibraryScore<F>(function, where));
}

/// The key position where query i stands.
Index position(const Query &i, Alignment alignment);

/// The value, if it is known while tracing.
std::optional<long long> constantOf(const Index &value);

// Arithmetic that is done now where both sides are known, so that the compiler
// sees a constant divisor.
Index times(const Index &a, const Index &b);
Index quotient(const Index &a, const Index &b);
Index minus(const Index &a, const Index &b);

/// `value`, and a diagnostic where it is used if `holds` is false.
Index require(const Index &value, bool holds, const std::string &message,
              const std::string &help);
Float require(const Float &value, bool holds, const std::string &message,
              const std::string &help);

/// An argument of a library function that must be at least `least`.
Index atLeast(const IntArg &argument, long long least, const char *function,
              const char *what);
Index atLeast(const Index &argument, long long least, const char *function,
              const char *what);

} // namespace qm::detail
