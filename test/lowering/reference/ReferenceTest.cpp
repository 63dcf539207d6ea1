// The oracle against numbers that do not come from it: golden values computed
// elsewhere (test/data), closed forms, and a few rows computed by hand.
#include "lowering/reference/Reference.h"
#include "GoldenCases.h"

#include "dialect/AttnOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace mlir;
using namespace qm;
using namespace qm::reference;
using namespace qm::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

llvm::json::Value readJson(StringRef name) {
  auto buffer = llvm::MemoryBuffer::getFile(
      (llvm::Twine(QM_TEST_DATA) + "/" + name + ".json").str());
  EXPECT_TRUE(bool(buffer)) << "cannot read " << name.str();
  return llvm::cantFail(llvm::json::parse((*buffer)->getBuffer()));
}

/// A parsed spec with its oracle.
class Spec {
public:
  /// `modifiers` are the score and mask clauses; `captures` more arguments.
  Spec(StringRef modifiers, StringRef scale = "1.0", StringRef captures = "",
       StringRef q = "?x1x?x1", StringRef kv = "?x1x?x1",
       StringRef dtype = "f32") {
    context.loadDialect<arith::ArithDialect, math::MathDialect,
                        func::FuncDialect, attn::AttnDialect>();
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      messages += diagnostic.str();
      return success();
    });
    auto tensor = [&](StringRef shape) {
      return ("tensor<" + shape + "x" + dtype + ">").str();
    };
    std::string rows = ("tensor<" + q.rsplit('x').first + "xf32>").str();
    std::string text =
        "func.func @f(%q: " + tensor(q) + ", %k: " + tensor(kv) +
        ", %v: " + tensor(kv) + captures.str() + ") -> (" + tensor(q) + ", " +
        rows + ") {\n  %o, %lse = attn.attention q(%q) k(%k) v(%v) scale(" +
        scale.str() + ") " + modifiers.str() + " : " + tensor(q) + ", " +
        tensor(kv) + ", " + tensor(kv) + " -> " + tensor(q) + ", " + rows +
        "\n  return %o, %lse : " + tensor(q) + ", " + rows + "\n}\n";
    module = parseSourceString<ModuleOp>(text, &context);
    if (module)
      reference = Reference::create(*module->getOps<func::FuncOp>().begin());
  }
  bool valid() const { return module && succeeded(reference); }
  const Reference &operator*() const { return *reference; }
  const Reference *operator->() const { return &*reference; }

  std::string messages; ///< of parsing and making ready

private:
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  FailureOr<Reference> reference = failure();
};

HostTensor filled(DType dtype, ArrayRef<int64_t> extents,
                  ArrayRef<double> values) {
  HostTensor tensor(dtype, extents);
  for (auto [offset, value] : llvm::enumerate(values))
    storeFloat(tensor.view(), offset, value);
  return tensor;
}

//===----------------------------------------------------------------------===//
// K4: four keys, four queries, one component
//===----------------------------------------------------------------------===//

class K4 : public testing::TestWithParam<K4Case> {};

TEST_P(K4, MatchesGoldenNumbers) {
  llvm::json::Value json = readJson("k4");
  const llvm::json::Object &golden =
      *json.getAsObject()->getObject(GetParam().name);
  Spec spec(GetParam().modifiers, GetParam().scale);
  ASSERT_TRUE(spec.valid());
  HostTensor q = filled(DType::F32, {1, 1, 4, 1}, {1, 2, -1, 0.5});
  HostTensor k = filled(DType::F32, {1, 1, 4, 1}, {0.5, -1, 2, 1});
  HostTensor v = filled(DType::F32, {1, 1, 4, 1}, {1, 2, 3, 4});
  Argument arguments[] = {q.view(), k.view(), v.view()};
  ASSERT_TRUE(succeeded(spec->check(arguments)));
  Output out = spec->evaluate(arguments, Arithmetic::Double);
  for (int row = 0; row < 4; ++row) {
    EXPECT_NEAR(out.o[row], *(*golden.getArray("o"))[row].getAsNumber(), 1e-14);
    std::optional<double> lse = (*golden.getArray("lse"))[row].getAsNumber();
    if (lse)
      EXPECT_NEAR(out.lse[row], *lse, 1e-14);
    else
      EXPECT_EQ(out.lse[row], -infinity);
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, K4, testing::ValuesIn(k4Cases),
                         [](const auto &info) { return info.param.name; });

TEST(K4, EveryGoldenCaseIsTested) {
  llvm::json::Value json = readJson("k4");
  for (const auto &entry : *json.getAsObject()) {
    StringRef name = entry.first;
    EXPECT_TRUE(
        name.starts_with("_") ||
        llvm::any_of(k4Cases, [&](const K4Case &c) { return name == c.name; }))
        << name.str();
  }
}

//===----------------------------------------------------------------------===//
// Uniform probe: q = 0, V[j] = j, so O is the mean of the kept keys
//===----------------------------------------------------------------------===//

class UniformProbe : public testing::TestWithParam<ProbeCase> {};

TEST_P(UniformProbe, MatchesGoldenNumbers) {
  llvm::json::Value json = readJson("uniform_probe");
  const llvm::json::Object &golden =
      *json.getAsObject()->getObject(GetParam().name);
  int64_t sq = *golden.getInteger("sq"), sk = *golden.getInteger("sk");
  Spec spec(("mask (%b, %h, %i, %j) {" + llvm::Twine(GetParam().mask) +
             "\n attn.yield %c : i1 }")
                .str(),
            "1.0", ", %doc: tensor<?xi32>");
  ASSERT_TRUE(spec.valid());
  HostTensor q(DType::F32, {1, 1, sq, 1}), k(DType::F32, {1, 1, sk, 1}),
      v(DType::F32, {1, 1, sk, 1});
  for (int64_t j = 0; j < sk; ++j)
    storeFloat(v.view(), j, j);
  HostTensor doc = filled(DType::I32, {6}, {1, 1, 2, 4, 4, 4});
  Argument arguments[] = {q.view(), k.view(), v.view(), doc.view()};
  ASSERT_TRUE(succeeded(spec->check(arguments)));
  Output out = spec->evaluate(arguments, Arithmetic::Double);
  for (int64_t row = 0; row < sq; ++row) {
    double count = *(*golden.getArray("n"))[row].getAsNumber();
    EXPECT_NEAR(out.o[row], *(*golden.getArray("o"))[row].getAsNumber(), 1e-14);
    EXPECT_NEAR(std::exp(out.lse[row]), count, 1e-13);
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, UniformProbe, testing::ValuesIn(probeCases),
                         [](const auto &info) { return info.param.name; });

//===----------------------------------------------------------------------===//
// Conventions
//===----------------------------------------------------------------------===//

TEST(Reference, ZeroLengthSequencesAreLegal) {
  Spec spec("");
  HostTensor q = filled(DType::F32, {1, 1, 2, 1}, {1, 2});
  HostTensor none(DType::F32, {1, 1, 0, 1});
  Argument noKeys[] = {q.view(), none.view(), none.view()};
  Output out = spec->evaluate(noKeys, Arithmetic::Double);
  EXPECT_EQ(out.o, (std::vector<double>{0, 0}));
  EXPECT_EQ(out.lse, (std::vector<double>{-infinity, -infinity}));
  Argument noQueries[] = {none.view(), q.view(), q.view()};
  EXPECT_TRUE(spec->evaluate(noQueries, Arithmetic::Double).o.empty());
}

TEST(Reference, QueryHeadReadsItsGroup) {
  Spec spec("", "1.0", "", "?x6x?x1", "?x2x?x1");
  HostTensor q(DType::F32, {1, 6, 1, 1}), k(DType::F32, {1, 2, 3, 1});
  HostTensor v = filled(DType::F32, {1, 2, 3, 1}, {0, 0, 0, 10, 10, 10});
  Argument arguments[] = {q.view(), k.view(), v.view()};
  EXPECT_EQ(spec->evaluate(arguments, Arithmetic::Double).o,
            (std::vector<double>{0, 0, 0, 10, 10, 10}));
}

TEST(Reference, StridesAreEachTensorsOwn) {
  Spec spec("", "1.0", "", "?x2x?x2", "?x2x?x2");
  HostTensor q(DType::F32, {1, 2, 3, 2}), k(DType::F32, {1, 2, 3, 2}),
      v(DType::F32, {1, 2, 3, 2});
  // The same values with sequence outside heads, as [B, S, H, D] has them.
  HostTensor other(DType::F32, {1, 2, 3, 2}, {0, 2, 1, 3});
  EXPECT_EQ(other.view().strides, (SmallVector<int64_t, 4>{12, 2, 4, 1}));
  for (int64_t h = 0; h < 2; ++h)
    for (int64_t s = 0; s < 3; ++s)
      for (int64_t d = 0; d < 2; ++d) {
        SmallVector<int64_t> at = {0, h, s, d};
        storeFloat(q.view(), q.view().offset(at), std::sin(h + 2 * s + 7 * d));
        storeFloat(k.view(), k.view().offset(at), std::cos(h + 3 * s - d));
        storeFloat(v.view(), v.view().offset(at), h + 10 * s + 100 * d);
        storeFloat(other.view(), other.view().offset(at),
                   std::cos(h + 3 * s - d));
      }
  Argument rowMajor[] = {q.view(), k.view(), v.view()};
  Argument strided[] = {q.view(), other.view(), v.view()};
  EXPECT_EQ(spec->evaluate(rowMajor, Arithmetic::Double).o,
            spec->evaluate(strided, Arithmetic::Double).o);
}

TEST(Reference, LoadsClampTheirIndices) {
  // table[j - 1]: key 0 reads entry 0 again, keys past the end the last entry.
  Spec spec("score (%s, %b, %h, %i, %j) { %one = arith.constant 1 : i32\n"
            "%x = arith.subi %j, %one : i32\n"
            "%t = attn.load %table[%x] : tensor<?xf32>\n attn.yield %t : f32 }",
            "1.0", ", %table: tensor<?xf32>");
  HostTensor q(DType::F32, {1, 1, 1, 1}), k(DType::F32, {1, 1, 4, 1});
  HostTensor table = filled(DType::F32, {2}, {std::log(2.f), std::log(3.f)});
  HostTensor v = filled(DType::F32, {1, 1, 4, 1}, {1, 10, 100, 1000});
  Argument arguments[] = {q.view(), k.view(), v.view(), table.view()};
  Output out = spec->evaluate(arguments, Arithmetic::Double);
  EXPECT_NEAR(out.o[0], (2 * 1 + 2 * 10 + 3 * 100 + 3 * 1000) / 10.0, 1e-4);
}

TEST(Reference, IntegerSemantics) {
  // Each line is one key's score; q = 0, so lse of one kept key is the score.
  struct {
    const char *op;
    int32_t a, b, want;
  } cases[] = {{"arith.divsi", 7, 0, 0},
               {"arith.remsi", 7, 0, 0},
               {"arith.divui", 7, 0, 0},
               {"arith.remui", 7, 0, 0},
               {"arith.floordivsi", 7, 0, 0},
               {"arith.divsi", -7, 2, -3},
               {"arith.floordivsi", -7, 2, -4},
               {"arith.ceildivsi", 7, 2, 4},
               {"arith.remsi", -7, 2, -1},
               {"arith.divsi", INT32_MIN, -1, INT32_MIN},
               {"arith.addi", INT32_MAX, 1, INT32_MIN},
               {"arith.muli", 65536, 65536, 0},
               {"arith.shli", 1, 31, INT32_MIN},
               {"arith.shrui", -8, 28, 15},
               {"arith.shrsi", -8, 1, -4},
               {"arith.maxui", -1, 1, -1},
               {"arith.minsi", -1, 1, -1},
               {"arith.xori", 6, 3, 5}};
  for (const auto &c : cases) {
    Spec spec(("score (%s, %b, %h, %i, %j) { %r = " + llvm::Twine(c.op) +
               " %x, %y : i32\n %t = arith.sitofp %r : i32 to f32\n"
               "attn.yield %t : f32 }")
                  .str(),
              "1.0", ", %x: i32, %y: i32");
    ASSERT_TRUE(spec.valid()) << c.op;
    HostTensor one(DType::F32, {1, 1, 1, 1});
    Argument arguments[] = {one.view(), one.view(), one.view(), c.a, c.b};
    EXPECT_EQ(spec->evaluate(arguments, Arithmetic::Double).lse[0], c.want)
        << c.op << ' ' << c.a << ' ' << c.b;
  }
}

TEST(Reference, ComputesWithTheExactInputsInDoublePrecision) {
  // bf16 holds 1.0078125 but not 1.01; the sum of 3000 tiny probabilities is
  // exact to double precision.
  Spec spec("", "1.0", "", "?x1x?x1", "?x1x?x1", "bf16");
  HostTensor q = filled(DType::BF16, {1, 1, 1, 1}, {1.01});
  EXPECT_EQ(loadFloat(q.view(), 0), 1.0078125);
  HostTensor k(DType::BF16, {1, 1, 3000, 1}), v(DType::BF16, {1, 1, 3000, 1});
  for (int64_t j = 0; j < 3000; ++j)
    storeFloat(v.view(), j, j % 2);
  Argument arguments[] = {q.view(), k.view(), v.view()};
  EXPECT_NEAR(spec->evaluate(arguments, Arithmetic::Double).o[0], 0.5, 1e-13);
  // The yardstick rounds P = 1/3000 to bf16, and its sum of them with it.
  double rounded = roundTo(DType::BF16, 1.0 / 3000);
  EXPECT_EQ(spec->evaluate(arguments, Arithmetic::InputRounded).o[0],
            roundTo(DType::BF16, static_cast<float>(1500 * rounded)));
}

TEST(Reference, RejectsArgumentsThatDoNotFit) {
  Spec spec("", "1.0", ", %w: i32");
  HostTensor q(DType::F32, {1, 1, 2, 1}), wide(DType::F32, {1, 1, 2, 3}),
      flat(DType::F32, {2}), half(DType::F16, {1, 1, 2, 1}),
      three(DType::F32, {1, 1, 3, 1}), batches(DType::F32, {2, 1, 2, 1});
  auto check = [&](Argument q, Argument k, Argument v, Argument w) {
    Argument arguments[] = {q, k, v, w};
    return succeeded(spec->check(arguments));
  };
  EXPECT_TRUE(check(q.view(), q.view(), q.view(), int32_t(1)));
  EXPECT_FALSE(check(q.view(), wide.view(), q.view(), int32_t(1)));
  EXPECT_FALSE(check(q.view(), flat.view(), q.view(), int32_t(1)));
  EXPECT_FALSE(check(q.view(), half.view(), q.view(), int32_t(1)));
  EXPECT_FALSE(check(q.view(), q.view(), three.view(), int32_t(1)));
  EXPECT_FALSE(check(q.view(), batches.view(), q.view(), int32_t(1)));
  EXPECT_FALSE(check(q.view(), q.view(), q.view(), 1.0f));
}

TEST(Reference, RefusesAnOpWithoutMeaning) {
  Spec spec("score (%s, %b, %h, %i, %j) { %c = math.ctpop %i : i32\n"
            "%t = arith.sitofp %c : i32 to f32\n attn.yield %t : f32 }");
  EXPECT_FALSE(spec.valid());
  EXPECT_EQ(spec.messages.rfind("QM0014: ", 0), 0u) << spec.messages;
}

} // namespace
