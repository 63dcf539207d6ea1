//===- declare.h - what the declarations of a spec are made of --*- C++ -*-===//
#pragma once

#include <qm/buffer.h>

namespace qm {

/// What went wrong in a spec, at the user's line. Strings live as long as the
/// Spec.
struct Diagnostic {
  const char *code; ///< "QM0103"; `qmc explain QM0103` says more.
  const char *file;
  int line, column; ///< From 1; 0 where unknown.
  const char *message;
  const char *help; ///< The way out, or "".
};

namespace detail {

struct Registry;

/// Lengths of sequences: those of the tensors, or arguments of their own.
enum class Lengths { Whole, Packed, Padded };

/// The name of an argument and the place it was declared.
struct Name {
  const char *text;
  Where where;
  Name(const char *text, Where where = Where::current())
      : text(text), where(where) {}
};

/// The symbolic arguments of a score or mask function.
struct Coordinates {
  Score s;
  Batch b;
  Head h;
  Query i;
  Key j;
};

template <class F>
concept ScoreLambda = requires(const F &f, Score s, Batch b, Head h, Query i,
                               Key j) { f(s, b, h, i, j); };

template <class F>
concept SinkLambda = requires(const F &f, Batch b, Head h) { f(b, h); };

// clang-format off
template <IntegerLiteral T> Dimension dimension(T value) { return {Dimension::Fixed, static_cast<long long>(value)}; }
inline Dimension dimension(Dynamic) { return {Dimension::Runtime, 0}; }
inline Dimension dimension(const Extent<Batch> &) { return {Dimension::BatchSize, 0}; }
inline Dimension dimension(const Extent<Head> &) { return {Dimension::Heads, 0}; }
inline Dimension dimension(const Extent<KvHead> &) { return {Dimension::KvHeads, 0}; }
inline Dimension dimension(const Extent<Query> &) { return {Dimension::QueryLength, 0}; }
inline Dimension dimension(const Extent<Key> &) { return {Dimension::KeyLength, 0}; }
// clang-format on

} // namespace detail

} // namespace qm
