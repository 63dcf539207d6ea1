//===- node.h - how symbolic values name nodes of the graph -----*- C++ -*-===//
//
// What lies below expr.h: literals become nodes, and nodes carry the place in
// the user's program where they were made.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <qm/types.h>

namespace qm {
namespace detail {

struct Node;

template <class A, class B>
inline constexpr bool isSame = __is_same(A, B);
/// For unevaluated operands.
template <class T>
const T &value();
template <class T, class... Ts>
inline constexpr bool isOneOf = (__is_same(T, Ts) || ...);

template <class T>
concept IntegerLiteral = isOneOf<T, int, unsigned, long, unsigned long,
                                 long long, unsigned long long, short>;
template <class T>
concept FloatLiteral = isOneOf<T, float, double>;

Node *integer(long long value, Where where);
Node *integer(unsigned long long value, Where where);
Node *real(double value, Where where);
Node *boolean(bool value, Where where);
Node *toFloat(Node *value, Where where);

/// 64-bit values keep their sign: a value that does not fit in i32 is
/// diagnosed.
template <IntegerLiteral T>
Node *literal(T value, Where where) {
  if constexpr (T(-1) < T(0))
    return integer(static_cast<long long>(value), where);
  else
    return integer(static_cast<unsigned long long>(value), where);
}

/// A Bool as an operand. It is the base of Bool, not a conversion from it:
/// passing a Bool then copies this part, the copy's default argument records
/// the place of use, and the deleted `operator bool` stays the worse match.
struct Condition {
  Node *node;
  Where where;
  explicit Condition(Node *node) : node(node) {}
  template <class T>
    requires isSame<T, bool>
  Condition(T value, Where where = Where::current())
      : node(boolean(value, where)), where(where) {}
  Condition(const Condition &other, Where where = Where::current())
      : node(other.node), where(where) {}
  Condition &operator=(const Condition &) = default;
};

} // namespace detail

} // namespace qm
