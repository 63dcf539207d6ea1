//===- operators.h - operators on symbolic values ---------------*- C++ -*-===//
//
// Index with Index or integer gives Index; as soon as one side is a Float or a
// floating literal the other is converted and the result is Float.
//
//   Index  + - * / % << >> & | ^ ~   `/` and `%` floor: -1 / 4 == -1, -1 % 4 ==
//   3
//                                    x / 0 and x % 0 are 0; shift counts count
//                                    modulo 32
//   Float  + - * /                   IEEE f32
//   any    == != < <= > >=           false with NaN, but != is true
//   Bool   && || ! == != ^ & |       both sides are always evaluated
//
//===----------------------------------------------------------------------===//
#pragma once

#include <qm/operand.h>

namespace qm {

#define QM_NUMERIC_OVERLOADS(name, IndexResult, FloatResult)                   \
  IndexResult name(detail::IntArg a, detail::IntArg b);                        \
  FloatResult name(detail::RealArg a, detail::FloatArg b);                     \
  FloatResult name(detail::NumberArg a, detail::RealArg b);                    \
  FloatResult name(detail::IntArg a, detail::LiteralArg b);                    \
  FloatResult name(detail::LiteralArg a, detail::IntArg b);

QM_NUMERIC_OVERLOADS(operator==, Bool, Bool)
QM_NUMERIC_OVERLOADS(operator!=, Bool, Bool)
QM_NUMERIC_OVERLOADS(operator<, Bool, Bool)
QM_NUMERIC_OVERLOADS(operator<=, Bool, Bool)
QM_NUMERIC_OVERLOADS(operator>, Bool, Bool)
QM_NUMERIC_OVERLOADS(operator>=, Bool, Bool)

#define QM_ARITHMETIC(op)                                                      \
  QM_NUMERIC_OVERLOADS(operator op, Index, Float)                              \
  Float operator op(detail::FloatArg a, const Bool &b)                         \
      QM_DELETED("a Bool is not a number: write select(condition, x, y), or "  \
                 "toFloat(condition) if 0 and 1 are meant");                   \
  Float operator op(const Bool &a, detail::FloatArg b)                         \
      QM_DELETED("a Bool is not a number: write select(condition, x, y), or "  \
                 "toFloat(condition) if 0 and 1 are meant");                   \
  Index &operator op## = (Index & a, detail::IntArg b);                        \
  Float &operator op## = (Float & a, detail::FloatArg b);

QM_ARITHMETIC(+)
QM_ARITHMETIC(-)
QM_ARITHMETIC(*)
QM_ARITHMETIC(/)

#undef QM_ARITHMETIC

Index operator%(detail::IntArg a, detail::IntArg b);
Index operator<<(detail::IntArg a, detail::IntArg b);
Index operator>>(detail::IntArg a, detail::IntArg b); ///< Keeps the sign.
Index operator&(detail::IntArg a, detail::IntArg b);
Index operator|(detail::IntArg a, detail::IntArg b);
Index operator^(detail::IntArg a, detail::IntArg b);
Index operator~(detail::IndexArg a);
Index operator-(detail::IndexArg a);
Float operator-(detail::RealArg a);

// The overloads with bool are there for literals; see detail::Condition.
#define QM_LOGIC(op)                                                           \
  Bool operator op(detail::Condition a, detail::Condition b);                  \
  Bool operator op(detail::Condition a, bool b);                               \
  Bool operator op(bool a, detail::Condition b);

QM_LOGIC(&&)
QM_LOGIC(||)
QM_LOGIC(&)
QM_LOGIC(|)
QM_LOGIC(^)
QM_LOGIC(==)
QM_LOGIC(!=)

#undef QM_LOGIC

Bool operator!(detail::Condition a);

} // namespace qm
