//===- expr.h - symbolic values ---------------------------------*- C++ -*-===//
//
// A symbolic value is a handle on a node of the spec's expression graph: one
// pointer, copied freely, valid as long as its Spec. Three value types:
//
//   Index  i32; `/` and `%` round towards minus infinity
//   Float  f32
//   Bool   a condition; it never becomes a C++ bool
//
// and five kinds of Index, one an axis: Batch, Head, KvHead, Query, Key. The
// kinds exist so that a buffer declared over heads cannot be read at a key
// (`slopes[j]` does not compile). Arithmetic gives a plain Index; say
// `Query(i + 1)` where a computed number really is a query position.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <qm/node.h>

namespace qm {

/// A condition. Combine with `&&`, `||`, `!`; choose with `select`.
class Bool : public detail::Condition {
public:
  template <class T>
    requires detail::isSame<T, bool>
  Bool(T value, Where where = Where::current()) : Condition(value, where) {}
  explicit Bool(detail::Node *node) : Condition(node) {}
  explicit operator bool() const QM_DELETED(
      "a symbolic condition has no value while the spec is traced; write "
      "select(condition, a, b) for a choice, and &&, ||, ! for logic");
};

/// A signed 32-bit integer: an index or what is computed from indices.
class Index {
public:
  template <detail::IntegerLiteral T>
  Index(T value, Where where = Where::current())
      : node(detail::literal(value, where)) {}
  explicit Index(detail::Node *node) : node(node) {}
  explicit operator bool() const QM_DELETED(
      "a symbolic index has no value while the spec is traced; compare it "
      "and use select(condition, a, b)");
  detail::Node *node;
};

/// A 32-bit float.
class Float {
public:
  template <class T>
    requires detail::IntegerLiteral<T> || detail::FloatLiteral<T>
  Float(T value, Where where = Where::current())
      : node(detail::real(static_cast<double>(value), where)) {}
  Float(const Index &value, Where where = Where::current())
      : node(detail::toFloat(value.node, where)) {}
  explicit Float(detail::Node *node) : node(node) {}
  explicit operator bool() const QM_DELETED(
      "a symbolic number has no value while the spec is traced; compare it "
      "and use select(condition, a, b)");
  detail::Node *node;
};

/// The scaled score of one query and key: what a score function changes.
class Score : public Float {
public:
  explicit Score(const Float &value) : Float(value) {}
};

// clang-format off
/// Batch entry, 0 <= b < B.
class Batch : public Index { public: explicit Batch(const Index &at) : Index(at) {} };
/// Query head, 0 <= h < Hq.
class Head : public Index { public: explicit Head(const Index &at) : Index(at) {} };
/// Key/value head, 0 <= h < Hkv.
class KvHead : public Index { public: explicit KvHead(const Index &at) : Index(at) {} };
/// Query position, 0 <= i < Sq.
class Query : public Index { public: explicit Query(const Index &at) : Index(at) {} };
/// Key position, 0 <= j < Skv.
class Key : public Index { public: explicit Key(const Index &at) : Index(at) {} };
// clang-format on

} // namespace qm
