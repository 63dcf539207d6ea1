//===- Operators.cpp - operators and functions as MLIR operations ---------===//
#include "dialect/dsl/Trace.h"

#include <qm/math.h>

using namespace qm::detail;

namespace qm {
namespace {

bool isInteger(const Node *node) { return node->kind == Node::Kind::Integer; }

Node *indexOp(const char *mnemonic, const Operand &a, const Operand &b) {
  return operation(mnemonic, DType::I32, {a.node, b.node}, a.where);
}

Node *floatOp(const char *mnemonic, const Operand &a, const Operand &b) {
  return operation(mnemonic, DType::F32, {a.node, b.node}, a.where);
}

Node *compare(const char *mnemonic, const Operand &a, const Operand &b) {
  return operation(mnemonic, DType::I1, {a.node, b.node}, a.where);
}

/// `a / b` and `a % b`, rounding towards minus infinity.
Node *floorDivide(const Operand &a, const Operand &b, const char *symbol) {
  // INT_MIN / -1 overflows, which MLIR leaves undefined; a negation wraps.
  if (isInteger(b.node) && b.node->integer == -1)
    return operation("arith.subi", DType::I32, {integer(0LL, b.where), a.node},
                     a.where);
  Node *result = indexOp("arith.floordivsi", a, b);
  if (isInteger(b.node) && b.node->integer == 0)
    attach(result, diag::Id::DivisionByZero,
           std::string("the right side of `") + symbol + "` is the constant 0",
           "divide by a positive constant, or by a run-time scalar (where "
           "x / 0 and x % 0 are 0)");
  return result;
}

/// `a - floor(a / b) * b`, and 0 where b = 0 as for the quotient.
Node *floorModulo(const Operand &a, const Operand &b) {
  Node *quotient = floorDivide(a, b, "%");
  Node *multiple =
      operation("arith.muli", DType::I32, {quotient, b.node}, a.where);
  Node *rest = operation("arith.subi", DType::I32, {a.node, multiple}, a.where);
  if (isInteger(b.node))
    return rest;
  Node *zero = integer(0LL, b.where);
  Node *isZero =
      operation("arith.cmpi eq,", DType::I1, {b.node, zero}, a.where);
  return operation("arith.select", DType::I32, {isZero, zero, rest}, a.where);
}

/// A constant count is checked, another is taken modulo 32: a larger one is
/// poison in MLIR.
Node *shift(const char *mnemonic, const Operand &a, const Operand &b) {
  Node *count = b.node;
  if (!isInteger(count))
    count = operation("arith.andi", DType::I32, {count, integer(31LL, b.where)},
                      b.where);
  Node *result = operation(mnemonic, DType::I32, {a.node, count}, a.where);
  if (isInteger(count) && (count->integer < 0 || count->integer > 31))
    attach(result, diag::Id::ShiftOutOfRange,
           "a shift by " + std::to_string(count->integer) +
               " of a 32-bit index",
           "shift by 0 to 31");
  return result;
}

Node *logic(const char *mnemonic, Node *a, Node *b, Where where) {
  return operation(mnemonic, DType::I1, {a, b}, where);
}

Node *unary(const char *mnemonic, const Operand &x) {
  return operation(mnemonic, DType::F32, {x.node}, x.where);
}

template <class A, class B>
Float choose(const Condition &condition, const A &a, const B &b) {
  return Float(operation("arith.select", DType::F32,
                         {condition.node, a.node, b.node}, condition.where));
}

} // namespace

// The overloads of operators.h for one operator; FLOAT and INDEX build the
// node.
#define QM_DEFINE(name, IndexResult, INDEX, FloatResult, FLOAT)                \
  IndexResult name(IntArg a, IntArg b) { return IndexResult(INDEX); }          \
  FloatResult name(RealArg a, FloatArg b) { return FloatResult(FLOAT); }       \
  FloatResult name(NumberArg a, RealArg b) { return FloatResult(FLOAT); }      \
  FloatResult name(IntArg x, LiteralArg b) {                                   \
    Operand a{toFloat(x.node, x.where), x.where};                              \
    return FloatResult(FLOAT);                                                 \
  }                                                                            \
  FloatResult name(LiteralArg a, IntArg x) {                                   \
    Operand b{toFloat(x.node, x.where), x.where};                              \
    return FloatResult(FLOAT);                                                 \
  }

// Ordered comparisons are false with a NaN; `!=` is their complement.
QM_DEFINE(operator==, Bool, compare("arith.cmpi eq,", a, b), Bool,
          compare("arith.cmpf oeq,", a, b))
QM_DEFINE(operator!=, Bool, compare("arith.cmpi ne,", a, b), Bool,
          compare("arith.cmpf une,", a, b))
QM_DEFINE(operator<, Bool, compare("arith.cmpi slt,", a, b), Bool,
          compare("arith.cmpf olt,", a, b))
QM_DEFINE(operator<=, Bool, compare("arith.cmpi sle,", a, b), Bool,
          compare("arith.cmpf ole,", a, b))
QM_DEFINE(operator>, Bool, compare("arith.cmpi sgt,", a, b), Bool,
          compare("arith.cmpf ogt,", a, b))
QM_DEFINE(operator>=, Bool, compare("arith.cmpi sge,", a, b), Bool,
          compare("arith.cmpf oge,", a, b))

QM_DEFINE(operator+, Index, indexOp("arith.addi", a, b), Float,
          floatOp("arith.addf", a, b))
QM_DEFINE(operator-, Index, indexOp("arith.subi", a, b), Float,
          floatOp("arith.subf", a, b))
QM_DEFINE(operator*, Index, indexOp("arith.muli", a, b), Float,
          floatOp("arith.mulf", a, b))
QM_DEFINE(operator/, Index, floorDivide(a, b, "/"), Float,
          floatOp("arith.divf", a, b))
QM_DEFINE(min, Index, indexOp("arith.minsi", a, b), Float,
          floatOp("arith.minimumf", a, b))
QM_DEFINE(max, Index, indexOp("arith.maxsi", a, b), Float,
          floatOp("arith.maximumf", a, b))
#undef QM_DEFINE

#define QM_DEFINE_ASSIGNMENT(op, INDEX, FLOAT)                                 \
  Index &operator op(Index &target, IntArg b) {                                \
    Operand a{target.node, b.where};                                           \
    target.node = INDEX;                                                       \
    return target;                                                             \
  }                                                                            \
  Float &operator op(Float &target, FloatArg b) {                              \
    Operand a{target.node, b.where};                                           \
    target.node = FLOAT;                                                       \
    return target;                                                             \
  }

QM_DEFINE_ASSIGNMENT(+=, indexOp("arith.addi", a, b),
                     floatOp("arith.addf", a, b))
QM_DEFINE_ASSIGNMENT(-=, indexOp("arith.subi", a, b),
                     floatOp("arith.subf", a, b))
QM_DEFINE_ASSIGNMENT(*=, indexOp("arith.muli", a, b),
                     floatOp("arith.mulf", a, b))
QM_DEFINE_ASSIGNMENT(/=, floorDivide(a, b, "/"), floatOp("arith.divf", a, b))
#undef QM_DEFINE_ASSIGNMENT

Index operator%(IntArg a, IntArg b) { return Index(floorModulo(a, b)); }
Index operator<<(IntArg a, IntArg b) {
  return Index(shift("arith.shli", a, b));
}
Index operator>>(IntArg a, IntArg b) {
  return Index(shift("arith.shrsi", a, b));
}
Index operator&(IntArg a, IntArg b) {
  return Index(indexOp("arith.andi", a, b));
}
Index operator|(IntArg a, IntArg b) {
  return Index(indexOp("arith.ori", a, b));
}
Index operator^(IntArg a, IntArg b) {
  return Index(indexOp("arith.xori", a, b));
}

Index operator~(IndexArg a) {
  return Index(operation("arith.xori", DType::I32,
                         {a.node, integer(-1LL, a.where)}, a.where));
}

Index operator-(IndexArg a) {
  return Index(operation("arith.subi", DType::I32,
                         {integer(0LL, a.where), a.node}, a.where));
}

Float operator-(RealArg a) { return Float(unary("arith.negf", a)); }

#define QM_DEFINE_LOGIC(op, mnemonic)                                          \
  Bool operator op(Condition a, Condition b) {                                 \
    return Bool(logic(mnemonic, a.node, b.node, a.where));                     \
  }                                                                            \
  Bool operator op(Condition a, bool b) {                                      \
    return Bool(logic(mnemonic, a.node, boolean(b, a.where), a.where));        \
  }                                                                            \
  Bool operator op(bool a, Condition b) {                                      \
    return Bool(logic(mnemonic, boolean(a, b.where), b.node, b.where));        \
  }

QM_DEFINE_LOGIC(&&, "arith.andi")
QM_DEFINE_LOGIC(||, "arith.ori")
QM_DEFINE_LOGIC(&, "arith.andi")
QM_DEFINE_LOGIC(|, "arith.ori")
QM_DEFINE_LOGIC(^, "arith.xori")
QM_DEFINE_LOGIC(!=, "arith.xori")
#undef QM_DEFINE_LOGIC

// As logic, not as a comparison of integers: what reasons about conditions then
// needs to know three operations only.
static Bool equal(Node *a, Node *b, Where where) {
  Node *differ = logic("arith.xori", a, b, where);
  return Bool(logic("arith.xori", differ, boolean(true, where), where));
}
Bool operator==(Condition a, Condition b) {
  return equal(a.node, b.node, a.where);
}
Bool operator==(Condition a, bool b) {
  return equal(a.node, boolean(b, a.where), a.where);
}
Bool operator==(bool a, Condition b) {
  return equal(boolean(a, b.where), b.node, b.where);
}

Bool operator!(Condition a) {
  return Bool(logic("arith.xori", a.node, boolean(true, a.where), a.where));
}

Index select(Condition condition, IntArg a, IntArg b) {
  return Index(operation("arith.select", DType::I32,
                         {condition.node, a.node, b.node}, condition.where));
}
Float select(Condition condition, RealArg a, FloatArg b) {
  return choose(condition, a, b);
}
Float select(Condition condition, NumberArg a, RealArg b) {
  return choose(condition, a, b);
}
Float select(Condition condition, IntArg a, LiteralArg b) {
  return choose(condition, Float(toFloat(a.node, a.where)), b);
}
Float select(Condition condition, LiteralArg a, IntArg b) {
  return choose(condition, a, Float(toFloat(b.node, b.where)));
}
Float select(Condition condition, LiteralArg a, LiteralArg b) {
  return choose(condition, a, b);
}
Bool select(Condition condition, Condition a, Condition b) {
  return Bool(operation("arith.select", DType::I1,
                        {condition.node, a.node, b.node}, condition.where));
}

Index clamp(IndexArg x, IntArg low, IntArg high) {
  Operand raised{indexOp("arith.maxsi", x, low), x.where};
  return Index(indexOp("arith.minsi", raised, high));
}
Float clamp(RealArg x, FloatArg low, FloatArg high) {
  Operand raised{floatOp("arith.maximumf", x, low), x.where};
  return Float(floatOp("arith.minimumf", raised, high));
}

Index abs(IndexArg x) {
  return Index(operation("math.absi", DType::I32, {x.node}, x.where));
}
Float abs(RealArg x) { return Float(unary("math.absf", x)); }

Float exp(FloatArg x) { return Float(unary("math.exp", x)); }
Float exp2(FloatArg x) { return Float(unary("math.exp2", x)); }
Float log(FloatArg x) { return Float(unary("math.log", x)); }
Float tanh(FloatArg x, Accuracy accuracy) {
  Node *node = unary("math.tanh", x);
  if (accuracy == Accuracy::Approximate)
    node->flags = " fastmath<afn>";
  return Float(node);
}
Float sqrt(FloatArg x) { return Float(unary("math.sqrt", x)); }
Float rsqrt(FloatArg x) { return Float(unary("math.rsqrt", x)); }
Float erf(FloatArg x) { return Float(unary("math.erf", x)); }
Float sin(FloatArg x) { return Float(unary("math.sin", x)); }
Float cos(FloatArg x) { return Float(unary("math.cos", x)); }

Float sigmoid(FloatArg x) {
  Operand negated{unary("arith.negf", x), x.where};
  Operand one{real(1, x.where), x.where};
  Operand denominator{
      floatOp("arith.addf", one, {unary("math.exp", negated), x.where}),
      x.where};
  return Float(floatOp("arith.divf", one, denominator));
}

Float toFloat(IndexArg x) { return Float(detail::toFloat(x.node, x.where)); }
Float toFloat(Condition x) {
  return Float(operation("arith.uitofp", DType::F32, {x.node}, x.where));
}
Index toInt(RealArg x) {
  return Index(operation("arith.fptosi", DType::I32, {x.node}, x.where));
}
Index toInt(Condition x) {
  return Index(operation("arith.extui", DType::I32, {x.node}, x.where));
}

Node *detail::toFloat(Node *value, Where where) {
  if (isInteger(value) && !value->problem)
    return real(static_cast<double>(value->integer), where);
  return operation("arith.sitofp", DType::F32, {value}, where);
}

} // namespace qm
