// Every operator and function of the front end: the operations it prints and
// what they compute.
#include "test/dialect/dsl/SpecText.h"

#include <qm/attention.h>

#include <gtest/gtest.h>

#include <cmath>

using namespace qm;
using qm::test::Call;
using qm::test::Scalar;
using qm::test::SpecText;

namespace {

using Texts = std::vector<std::string>;

template <class F>
SpecText traceScore(const F &function) {
  Spec spec("operators");
  spec.heads(4).headDim(8);
  spec.param("n", i32);
  spec.score(function);
  const char *text = spec.mlir();
  EXPECT_NE(text, nullptr) << (text ? "" : spec.diagnostic(0).message);
  return SpecText(text);
}

/// The operations, without the yield and without the conversion of an integer
/// or condition to the score's f32.
Texts operations(const SpecText &spec) {
  Texts texts;
  for (const qm::test::Line &line : spec.score)
    texts.push_back(line.text);
  texts.pop_back();
  if (!texts.empty() && texts.back().find("itofp") != std::string::npos)
    texts.pop_back();
  return texts;
}

#define INDEX(expression)                                                      \
  traceScore([](Score, Batch, Head, Query i, Key j) {                          \
    (void)i, (void)j;                                                          \
    return expression;                                                         \
  })
#define CONDITION(expression)                                                  \
  traceScore([](Score s, Batch, Head, Query i, Key j) {                        \
    (void)s, (void)i, (void)j;                                                 \
    return toFloat(expression);                                                \
  })
#define FLOAT(expression)                                                      \
  traceScore([](Score s, Batch, Head, Query i, Key j) {                        \
    (void)s, (void)i, (void)j;                                                 \
    return expression;                                                         \
  })

TEST(DslOperators, IndexArithmetic) {
  EXPECT_EQ(operations(INDEX(i + j)), Texts{"arith.addi %i, %j : i32"});
  EXPECT_EQ(operations(INDEX(i - j)), Texts{"arith.subi %i, %j : i32"});
  EXPECT_EQ(operations(INDEX(i * j)), Texts{"arith.muli %i, %j : i32"});
  EXPECT_EQ(operations(INDEX(i / 4)),
            (Texts{"arith.constant 4 : i32", "arith.floordivsi %i, %0 : i32"}));
  EXPECT_EQ(operations(INDEX(i % 4)),
            (Texts{"arith.constant 4 : i32", "arith.floordivsi %i, %0 : i32",
                   "arith.muli %1, %0 : i32", "arith.subi %i, %2 : i32"}));
  EXPECT_EQ(operations(INDEX(-i)),
            (Texts{"arith.constant 0 : i32", "arith.subi %0, %i : i32"}));
  EXPECT_EQ(operations(INDEX(abs(i - j))),
            (Texts{"arith.subi %i, %j : i32", "math.absi %0 : i32"}));
  EXPECT_EQ(operations(INDEX(min(i, j))), Texts{"arith.minsi %i, %j : i32"});
  EXPECT_EQ(operations(INDEX(max(i, j))), Texts{"arith.maxsi %i, %j : i32"});
  EXPECT_EQ(operations(INDEX(clamp(i, 2, 5))),
            (Texts{"arith.constant 2 : i32", "arith.maxsi %i, %0 : i32",
                   "arith.constant 5 : i32", "arith.minsi %1, %2 : i32"}));
}

TEST(DslOperators, BitOperations) {
  EXPECT_EQ(operations(INDEX(i & j)), Texts{"arith.andi %i, %j : i32"});
  EXPECT_EQ(operations(INDEX(i | j)), Texts{"arith.ori %i, %j : i32"});
  EXPECT_EQ(operations(INDEX(i ^ j)), Texts{"arith.xori %i, %j : i32"});
  EXPECT_EQ(operations(INDEX(~i)),
            (Texts{"arith.constant -1 : i32", "arith.xori %i, %0 : i32"}));
  EXPECT_EQ(operations(INDEX(i << 3)),
            (Texts{"arith.constant 3 : i32", "arith.shli %i, %0 : i32"}));
  EXPECT_EQ(operations(INDEX(i >> j)),
            (Texts{"arith.constant 31 : i32", "arith.andi %j, %0 : i32",
                   "arith.shrsi %i, %1 : i32"}));
}

TEST(DslOperators, Comparisons) {
  EXPECT_EQ(operations(CONDITION(i == j)),
            Texts{"arith.cmpi eq, %i, %j : i32"});
  EXPECT_EQ(operations(CONDITION(i != j)),
            Texts{"arith.cmpi ne, %i, %j : i32"});
  EXPECT_EQ(operations(CONDITION(i < j)),
            Texts{"arith.cmpi slt, %i, %j : i32"});
  EXPECT_EQ(operations(CONDITION(i <= j)),
            Texts{"arith.cmpi sle, %i, %j : i32"});
  EXPECT_EQ(operations(CONDITION(i > j)),
            Texts{"arith.cmpi sgt, %i, %j : i32"});
  EXPECT_EQ(operations(CONDITION(i >= j)),
            Texts{"arith.cmpi sge, %i, %j : i32"});
  const std::string half = "arith.constant 0.5 : f32";
  EXPECT_EQ(operations(CONDITION(s == 0.5f)),
            (Texts{half, "arith.cmpf oeq, %s, %0 : f32"}));
  EXPECT_EQ(operations(CONDITION(s != 0.5f)),
            (Texts{half, "arith.cmpf une, %s, %0 : f32"}));
  EXPECT_EQ(operations(CONDITION(s < 0.5f)),
            (Texts{half, "arith.cmpf olt, %s, %0 : f32"}));
  EXPECT_EQ(operations(CONDITION(s <= 0.5f)),
            (Texts{half, "arith.cmpf ole, %s, %0 : f32"}));
  EXPECT_EQ(operations(CONDITION(s > 0.5f)),
            (Texts{half, "arith.cmpf ogt, %s, %0 : f32"}));
  EXPECT_EQ(operations(CONDITION(0.5f >= s)),
            (Texts{half, "arith.cmpf oge, %0, %s : f32"}));
}

TEST(DslOperators, Logic) {
  const Texts sides{"arith.cmpi sgt, %i, %j : i32", "arith.constant 0.0 : f32",
                    "arith.cmpf ogt, %s, %1 : f32"};
  auto with = [&](const char *last) {
    Texts all = sides;
    all.push_back(last);
    return all;
  };
  EXPECT_EQ(operations(CONDITION(i > j && s > 0)),
            with("arith.andi %0, %2 : i1"));
  EXPECT_EQ(operations(CONDITION(i > j || s > 0)),
            with("arith.ori %0, %2 : i1"));
  EXPECT_EQ(operations(CONDITION((i > j) & (s > 0))),
            with("arith.andi %0, %2 : i1"));
  EXPECT_EQ(operations(CONDITION((i > j) | (s > 0))),
            with("arith.ori %0, %2 : i1"));
  EXPECT_EQ(operations(CONDITION((i > j) ^ (s > 0))),
            with("arith.xori %0, %2 : i1"));
  EXPECT_EQ(operations(CONDITION((i > j) != (s > 0))),
            with("arith.xori %0, %2 : i1"));
  Texts equal = with("arith.xori %0, %2 : i1");
  equal.push_back("arith.constant true");
  equal.push_back("arith.xori %3, %4 : i1");
  EXPECT_EQ(operations(CONDITION((i > j) == (s > 0))), equal);
  EXPECT_EQ(operations(CONDITION(!(i > j))),
            (Texts{sides[0], "arith.constant true", "arith.xori %0, %1 : i1"}));
  EXPECT_EQ(operations(CONDITION(i > j && true)),
            (Texts{sides[0], "arith.constant true", "arith.andi %0, %1 : i1"}));
}

TEST(DslOperators, FloatArithmetic) {
  EXPECT_EQ(operations(FLOAT(s + s)), Texts{"arith.addf %s, %s : f32"});
  EXPECT_EQ(operations(FLOAT(s - 1)),
            (Texts{"arith.constant 1.0 : f32", "arith.subf %s, %0 : f32"}));
  EXPECT_EQ(operations(FLOAT(2.5 * s)),
            (Texts{"arith.constant 2.5 : f32", "arith.mulf %0, %s : f32"}));
  EXPECT_EQ(operations(FLOAT(s / (j - i))),
            (Texts{"arith.subi %j, %i : i32", "arith.sitofp %0 : i32 to f32",
                   "arith.divf %s, %1 : f32"}));
  EXPECT_EQ(operations(FLOAT(i * 0.5f)),
            (Texts{"arith.sitofp %i : i32 to f32", "arith.constant 0.5 : f32",
                   "arith.mulf %0, %1 : f32"}));
  EXPECT_EQ(operations(FLOAT(0.5f / i)),
            (Texts{"arith.constant 0.5 : f32", "arith.sitofp %i : i32 to f32",
                   "arith.divf %0, %1 : f32"}));
  EXPECT_EQ(operations(FLOAT(-s)), Texts{"arith.negf %s : f32"});
  EXPECT_EQ(
      operations(FLOAT(min(s, i))),
      (Texts{"arith.sitofp %i : i32 to f32", "arith.minimumf %s, %0 : f32"}));
  EXPECT_EQ(operations(FLOAT(max(0.f, s))),
            (Texts{"arith.constant 0.0 : f32", "arith.maximumf %0, %s : f32"}));
  EXPECT_EQ(operations(FLOAT(clamp(s, -1, 1))),
            (Texts{"arith.constant -1.0 : f32", "arith.maximumf %s, %0 : f32",
                   "arith.constant 1.0 : f32", "arith.minimumf %1, %2 : f32"}));
}

TEST(DslOperators, FloatFunctions) {
  EXPECT_EQ(operations(FLOAT(abs(s))), Texts{"math.absf %s : f32"});
  EXPECT_EQ(operations(FLOAT(exp(s))), Texts{"math.exp %s : f32"});
  EXPECT_EQ(operations(FLOAT(exp2(s))), Texts{"math.exp2 %s : f32"});
  EXPECT_EQ(operations(FLOAT(log(s))), Texts{"math.log %s : f32"});
  EXPECT_EQ(operations(FLOAT(tanh(s))), Texts{"math.tanh %s : f32"});
  EXPECT_EQ(operations(FLOAT(tanh(s, Accuracy::Approximate))),
            Texts{"math.tanh %s fastmath<afn> : f32"});
  EXPECT_EQ(operations(FLOAT(sqrt(s))), Texts{"math.sqrt %s : f32"});
  EXPECT_EQ(operations(FLOAT(rsqrt(s))), Texts{"math.rsqrt %s : f32"});
  EXPECT_EQ(operations(FLOAT(erf(s))), Texts{"math.erf %s : f32"});
  EXPECT_EQ(operations(FLOAT(sin(s))), Texts{"math.sin %s : f32"});
  EXPECT_EQ(operations(FLOAT(cos(s))), Texts{"math.cos %s : f32"});
  EXPECT_EQ(operations(FLOAT(sigmoid(s))),
            (Texts{"arith.constant 1.0 : f32", "arith.negf %s : f32",
                   "math.exp %1 : f32", "arith.addf %0, %2 : f32",
                   "arith.divf %0, %3 : f32"}));
}

TEST(DslOperators, CastsAndSelect) {
  EXPECT_EQ(operations(INDEX(toInt(toFloat(i) * 0.5f))),
            (Texts{"arith.sitofp %i : i32 to f32", "arith.constant 0.5 : f32",
                   "arith.mulf %0, %1 : f32", "arith.fptosi %2 : f32 to i32"}));
  EXPECT_EQ(
      operations(INDEX(toInt(i > j))),
      (Texts{"arith.cmpi sgt, %i, %j : i32", "arith.extui %0 : i1 to i32"}));
  EXPECT_EQ(
      operations(INDEX(select(i > j, i, j))),
      (Texts{"arith.cmpi sgt, %i, %j : i32", "arith.select %0, %i, %j : i32"}));
  EXPECT_EQ(
      operations(FLOAT(select(i > j, s, -infinity))),
      (Texts{"arith.cmpi sgt, %i, %j : i32", "arith.constant 0xFF800000 : f32",
             "arith.select %0, %s, %1 : f32"}));
  EXPECT_EQ(
      operations(FLOAT(select(i > j, 1.f, 0.f))),
      (Texts{"arith.cmpi sgt, %i, %j : i32", "arith.constant 1.0 : f32",
             "arith.constant 0.0 : f32", "arith.select %0, %1, %2 : f32"}));
  EXPECT_EQ(
      operations(FLOAT(select(i > j, i, s))),
      (Texts{"arith.cmpi sgt, %i, %j : i32", "arith.sitofp %i : i32 to f32",
             "arith.select %0, %1, %s : f32"}));
  EXPECT_EQ(operations(CONDITION(select(i > j, i > 3, false))),
            (Texts{"arith.cmpi sgt, %i, %j : i32", "arith.constant 3 : i32",
                   "arith.cmpi sgt, %i, %1 : i32", "arith.constant false",
                   "arith.select %0, %2, %3 : i1"}));
}

TEST(DslOperators, CompoundAssignmentBuildsInALoop) {
  SpecText spec = traceScore([](Score s, Batch, Head, Query i, Key j) {
    Float sum = 0;
    for (int k = 1; k <= 3; ++k)
      sum += cos((i - j) * (1.f / k));
    Index shifted = i;
    shifted -= 2;
    sum *= 2;
    return s + sum + shifted;
  });
  float expected =
      1 + 2 * (std::cos(3.f) + std::cos(3 * 0.5f) + std::cos(3 * (1.f / 3))) +
      3;
  EXPECT_FLOAT_EQ(spec.evaluateScore({}, 1, 0, 0, 5, 2), expected);
}

TEST(DslOperators, FloatLiteralsReadBackExactly) {
  for (float value :
       {0.1f, 1e10f, 1e-30f, 3.4028235e38f, 16777216.f, -2.5e-7f, 1.f / 3}) {
    SpecText spec =
        traceScore([=](Score s, Batch, Head, Query, Key) { return s * value; });
    EXPECT_EQ(spec.evaluateScore({}, 1, 0, 0, 0, 0), value);
  }
}

// Values against C++, over negative numbers too: floor semantics, wrap-around,
// division by zero.
int floorDivide(int a, int b) {
  return b == 0 ? 0 : static_cast<int>(std::floor(double(a) / b));
}

TEST(DslOperators, DivisionAndModuloRoundTowardsMinusInfinity) {
  SpecText by4 = INDEX((i - j) / 4), mod4 = INDEX((i - j) % 4);
  SpecText byMinus3 = INDEX((i - j) / -3), modMinus3 = INDEX((i - j) % -3);
  SpecText byMinus1 = INDEX((i - j) / -1), modMinus1 = INDEX((i - j) % -1);
  SpecText byJ = INDEX(i / (j - 6)), modJ = INDEX(i % (j - 6));
  for (int i = 0; i < 13; ++i)
    for (int j = 0; j < 13; ++j) {
      int d = i - j, divisor = j - 6;
      auto value = [&](const SpecText &spec) {
        return spec.evaluateScore({}, 0, 0, 0, i, j);
      };
      EXPECT_EQ(value(by4), floorDivide(d, 4));
      EXPECT_EQ(value(mod4), d - floorDivide(d, 4) * 4);
      EXPECT_EQ(value(byMinus3), floorDivide(d, -3));
      EXPECT_EQ(value(modMinus3), d - floorDivide(d, -3) * -3);
      EXPECT_EQ(value(byMinus1), -d);
      EXPECT_EQ(value(modMinus1), 0);
      EXPECT_EQ(value(byJ), floorDivide(i, divisor));
      EXPECT_EQ(value(modJ),
                divisor == 0 ? 0 : i - floorDivide(i, divisor) * divisor);
    }
}

TEST(DslOperators, ShiftCountsAreTakenModulo32) {
  SpecText left = INDEX(i << j), right = INDEX(-i >> j);
  for (int j : {0, 1, 5, 31, 32, 33})
    for (int i : {0, 1, 7}) {
      EXPECT_EQ(left.evaluateScore({}, 0, 0, 0, i, j),
                static_cast<float>(static_cast<int32_t>(static_cast<uint32_t>(i)
                                                        << (j & 31))));
      EXPECT_EQ(right.evaluateScore({}, 0, 0, 0, i, j), -i >> (j & 31));
    }
}

TEST(DslOperators, SigmoidIsTheLogisticFunction) {
  SpecText spec = FLOAT(sigmoid(s));
  for (float x : {-100.f, -2.f, 0.f, 0.5f, 30.f})
    EXPECT_FLOAT_EQ(spec.evaluateScore({}, x, 0, 0, 0, 0),
                    1 / (1 + std::exp(-x)));
}

} // namespace
