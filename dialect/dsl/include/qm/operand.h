//===- operand.h - what an operator takes -----------------------*- C++ -*-===//
//
// Operators cannot have a defaulted extra parameter, so the place in the
// user's program is recorded by the implicit conversion of an operand: each
// class below is constructed at the call, and its default argument names it.
// The classes partition what may stand beside an operator, so that for every
// pair exactly one overload fits.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <qm/expr.h>

namespace qm {

template <class Element, class Kind, class... Rest>
class Buffer;

namespace detail {

template <class T>
concept IndexValue = __is_base_of(Index, T);
template <class T>
concept FloatValue = __is_base_of(Float, T);

template <class T>
inline constexpr bool isBuffer = false;
template <class... Ts>
inline constexpr bool isBuffer<Buffer<Ts...>> = true;

/// Makes a buffer that is not fully indexed an error with a reason.
#define QM_NO_BUFFER(name)                                                     \
  template <class T>                                                           \
    requires isBuffer<T>                                                       \
  name(const T &, Where = Where::current())                                    \
      QM_DELETED("this buffer has dimensions that are not indexed yet: write " \
                 "one subscript for each, buffer[x][y] or buffer(x, y)")

struct Operand {
  Node *node;
  Where where;
};

inline Node *indexNode(const Index &value, Where) { return value.node; }
template <IntegerLiteral T>
Node *indexNode(T value, Where where) {
  return literal(value, where);
}

/// An Index or an integer.
struct IntArg : Operand {
  QM_NO_BUFFER(IntArg);
  template <class T>
    requires IndexValue<T> || IntegerLiteral<T>
  IntArg(const T &value, Where where = Where::current())
      : Operand{indexNode(value, where), where} {}
};

/// An Index.
struct IndexArg : Operand {
  template <IndexValue T>
  IndexArg(const T &value, Where where = Where::current())
      : Operand{value.node, where} {}
};

/// A Float.
struct RealArg : Operand {
  template <FloatValue T>
  RealArg(const T &value, Where where = Where::current())
      : Operand{value.node, where} {}
};

/// A float or double of C++, rounded to f32.
struct LiteralArg : Operand {
  template <FloatLiteral T>
  LiteralArg(T value, Where where = Where::current())
      : Operand{real(value, where), where} {}
};

/// Any number but a Float; beside a Float it becomes one.
struct NumberArg : Operand {
  QM_NO_BUFFER(NumberArg);
  template <class T>
    requires IndexValue<T> || IntegerLiteral<T> || FloatLiteral<T>
  NumberArg(const T &value, Where where = Where::current())
      : Operand{Float(value, where).node, where} {}
};

/// Any number, as f32.
struct FloatArg : Operand {
  QM_NO_BUFFER(FloatArg);
  template <FloatValue T>
  FloatArg(const T &value, Where where = Where::current())
      : Operand{value.node, where} {}
  template <class T>
    requires IndexValue<T> || IntegerLiteral<T> || FloatLiteral<T>
  FloatArg(const T &value, Where where = Where::current())
      : Operand{Float(value, where).node, where} {}
};

#undef QM_NO_BUFFER

} // namespace detail
} // namespace qm
