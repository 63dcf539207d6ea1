// The oracle on sequences of different lengths, against numbers made by hand.
#include "lowering/reference/Reference.h"

#include "dialect/AttnOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace mlir;
using namespace qm;
using namespace qm::reference;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// One head, one column; keeps keys up to the query, counted from the ends of
/// the sequence: causal, aligned at the bottom right.
class Sequences : public testing::Test {
protected:
  Sequences() {
    context.loadDialect<arith::ArithDialect, math::MathDialect,
                        func::FuncDialect, attn::AttnDialect>();
  }

  Reference make(const std::string &kind, const std::string &batch) {
    std::string tensor = "tensor<" + batch + "x1x?x1xf32>",
                rows = "tensor<" + batch + "x1x?xf32>";
    std::string text =
        "func.func @f(%q: " + tensor + ", %k: " + tensor + ", %v: " + tensor +
        ", %a: tensor<?xi32>, %c: tensor<?xi32>) -> (" + tensor + ", " + rows +
        ") {\n  %o, %lse = attn.attention q(%q) k(%k) v(%v) " + kind +
        R"((%a, %c) scale(1.0) mask (%b, %h, %i, %j) {
      %sq = attn.extent query : i32
      %sk = attn.extent key : i32
      %d = arith.subi %sk, %sq : i32
      %e = arith.addi %i, %d : i32
      %m = arith.cmpi sge, %e, %j : i32
      attn.yield %m : i1
    } : )" +
        tensor + ", " + tensor + ", " + tensor + " -> " + tensor + ", " + rows +
        "\n  return %o, %lse : " + tensor + ", " + rows + "\n}\n";
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    return *Reference::create(*module->getOps<func::FuncOp>().begin());
  }

  /// Scores are 0, so that O is a mean of values 1, 2, 3, ...
  static HostTensor counting(ArrayRef<int64_t> extents, bool zero) {
    HostTensor tensor(DType::F32, extents);
    for (int64_t at = 0; at < tensor.view().numElements(); ++at)
      storeFloat(tensor.view(), at, zero ? 0 : at + 1);
    return tensor;
  }
  static HostTensor numbers(ArrayRef<int64_t> values) {
    HostTensor tensor(DType::I32, int64_t(values.size()));
    for (auto [at, value] : llvm::enumerate(values))
      storeInteger(tensor.view(), at, value);
    return tensor;
  }

  static void expectRows(ArrayRef<double> got, ArrayRef<double> want) {
    ASSERT_EQ(got.size(), want.size());
    for (auto [at, value] : llvm::enumerate(want))
      if (std::isnan(value))
        EXPECT_TRUE(std::isnan(got[at])) << at;
      else if (std::isinf(value))
        EXPECT_EQ(got[at], value) << at;
      else
        EXPECT_NEAR(got[at], value, 1e-15) << at;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(Sequences, PackedOnesSeeTheirOwnKeys) {
  Reference reference = make("packed", "1");
  HostTensor q = counting({1, 1, 7, 1}, true), k = counting({1, 1, 6, 1}, true),
             v = counting({1, 1, 6, 1}, false);
  // Two queries of one key, none of two, three of three, one of none; one token
  // is left.
  HostTensor starts = numbers({0, 2, 2, 5, 6}), ends = numbers({0, 1, 3, 6, 6});
  Argument arguments[] = {q.view(), k.view(), v.view(), starts.view(),
                          ends.view()};
  ASSERT_TRUE(succeeded(reference.check(arguments)));
  Output out = reference.evaluate(arguments, Arithmetic::Double);
  double nan = std::nan("");
  expectRows(out.o, {0, 1, 4, 4.5, 5, 0, nan});
  expectRows(out.lse,
             {-infinity, 0, 0, std::log(2), std::log(3), -infinity, nan});
  MaskCounts counts = reference.countBlocks(arguments, 2, 2);
  EXPECT_EQ(counts.keptPairs, 1 + 6);
  EXPECT_EQ(counts.emptyRows, 2);
}

TEST_F(Sequences, PaddedOnesEndAtTheirLengths) {
  Reference reference = make("padded", "?");
  HostTensor q = counting({2, 1, 2, 1}, true), k = counting({2, 1, 3, 1}, true),
             v = counting({2, 1, 3, 1}, false);
  for (int64_t past : {2, 4, 5}) // past the lengths of the keys
    storeFloat(v.view(), past, std::nan(""));
  HostTensor queries = numbers({2, 1}), keys = numbers({2, 1});
  Argument arguments[] = {q.view(), k.view(), v.view(), queries.view(),
                          keys.view()};
  ASSERT_TRUE(succeeded(reference.check(arguments)));
  Output out = reference.evaluate(arguments, Arithmetic::Double);
  expectRows(out.o, {1, 1.5, 4, std::nan("")});
}

TEST_F(Sequences, WrongLengthsAreRefused) {
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message += diagnostic.str();
    return success();
  });
  Reference reference = make("packed", "1");
  HostTensor q = counting({1, 1, 7, 1}, true), k = counting({1, 1, 6, 1}, true),
             v = counting({1, 1, 6, 1}, false), good = numbers({0, 2, 6});
  struct Case {
    std::vector<int64_t> starts;
    const char *words;
  };
  for (const Case &bad : {Case{{0, 5, 4}, "has 4 at 2, not in 5..7"},
                          Case{{0, 5, 8}, "has 8 at 2, not in 5..7"},
                          Case{{-1, 5, 7}, "has -1 at 0, not in 0..7"}}) {
    HostTensor starts = numbers(bad.starts);
    Argument arguments[] = {q.view(), k.view(), v.view(), starts.view(),
                            good.view()};
    message.clear();
    EXPECT_TRUE(failed(reference.check(arguments)));
    EXPECT_NE(message.find(bad.words), std::string::npos) << message;
  }
  HostTensor few = numbers({0, 6});
  Argument arguments[] = {q.view(), k.view(), v.view(), good.view(),
                          few.view()};
  EXPECT_TRUE(failed(reference.check(arguments)));
}

} // namespace
