// Full, partial and empty blocks, kept pairs and empty rows of the mask
// catalogue against golden counts.
#include "dialect/AttnOps.h"
#include "lowering/reference/Reference.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace qm;
using namespace qm::reference;

namespace {

/// Ops of a mask over %i, %j; %d = i - j, %a = |d| and the document buffer
/// %doc are there for all. The last op defines %c.
struct MaskCase {
  const char *name, *ops;
};

const char *const causal = "%c = arith.cmpi sge, %i, %j : i32";
const char *const bottomRight =
    "%sk = attn.extent key : i32\n %sq = attn.extent query : i32\n"
    "%e = arith.subi %sk, %sq : i32\n %p = arith.addi %i, %e : i32\n"
    "%c = arith.cmpi sge, %p, %j : i32";

const MaskCase cases[] = {
    {"full", "%c = arith.cmpi eq, %i, %i : i32"},
    {"causal", causal},
    {"strict_causal", "%c = arith.cmpi sgt, %i, %j : i32"},
    {"causal_bottom_right", bottomRight},
    {"causal_top_left", causal},
    {"causal_bottom_right_tall", bottomRight},
    {"window_256_0", "%w = arith.constant 256 : i32\n"
                     "%c = arith.cmpi ule, %d, %w : i32"},
    {"window_255_0", "%w = arith.constant 255 : i32\n"
                     "%c = arith.cmpi ule, %d, %w : i32"},
    {"band_64", "%w = arith.constant 64 : i32\n"
                "%c = arith.cmpi sle, %a, %w : i32"},
    {"dilated_256_4",
     "%w = arith.constant 256 : i32\n %r = arith.constant 4 : i32\n"
     "%z = arith.constant 0 : i32\n %m = arith.remsi %d, %r : i32\n"
     "%x = arith.cmpi sle, %a, %w : i32\n %y = arith.cmpi eq, %m, %z : i32\n"
     "%c = arith.andi %x, %y : i1"},
    {"prefix_300", "%p = arith.constant 300 : i32\n"
                   "%x = arith.cmpi slt, %j, %p : i32\n"
                   "%y = arith.cmpi sge, %i, %j : i32\n"
                   "%c = arith.ori %x, %y : i1"},
    {"sink_4_window_256",
     "%w = arith.constant 256 : i32\n %n = arith.constant 4 : i32\n"
     "%past = arith.cmpi sge, %i, %j : i32\n"
     "%sink = arith.cmpi slt, %j, %n : i32\n"
     "%near = arith.cmpi sle, %d, %w : i32\n"
     "%x = arith.ori %sink, %near : i1\n %c = arith.andi %past, %x : i1"},
    {"document", "%x = attn.load %doc[%i] : tensor<?xi32>\n"
                 "%y = attn.load %doc[%j] : tensor<?xi32>\n"
                 "%c = arith.cmpi eq, %x, %y : i32"},
    {"document_causal", "%x = attn.load %doc[%i] : tensor<?xi32>\n"
                        "%y = attn.load %doc[%j] : tensor<?xi32>\n"
                        "%same = arith.cmpi eq, %x, %y : i32\n"
                        "%past = arith.cmpi sge, %i, %j : i32\n"
                        "%c = arith.andi %same, %past : i1"},
    {"batchify_128_causal",
     "%n = arith.constant 128 : i32\n %x = arith.floordivsi %i, %n : i32\n"
     "%y = arith.floordivsi %j, %n : i32\n %u = arith.remsi %i, %n : i32\n"
     "%v0 = arith.remsi %j, %n : i32\n %same = arith.cmpi eq, %x, %y : i32\n"
     "%past = arith.cmpi sge, %u, %v0 : i32\n"
     "%c = arith.andi %same, %past : i1"},
    {"block_causal_64",
     "%n = arith.constant 64 : i32\n %x = arith.floordivsi %i, %n : i32\n"
     "%y = arith.floordivsi %j, %n : i32\n %c = arith.cmpi sge, %x, %y : i32"},
    {"chunked_causal_256",
     "%n = arith.constant 256 : i32\n %x = arith.floordivsi %i, %n : i32\n"
     "%y = arith.floordivsi %j, %n : i32\n %same = arith.cmpi eq, %x, %y : "
     "i32\n"
     "%past = arith.cmpi sge, %i, %j : i32\n"
     "%c = arith.andi %same, %past : i1"},
    {"natten_32x32_7",
     "%n = arith.constant 32 : i32\n %lo = arith.constant 3 : i32\n"
     "%hi = arith.constant 28 : i32\n"
     "%ri = arith.divui %i, %n : i32\n %ci = arith.remui %i, %n : i32\n"
     "%rj = arith.divui %j, %n : i32\n %cj = arith.remui %j, %n : i32\n"
     "%r0 = arith.maxsi %ri, %lo : i32\n %r1 = arith.minsi %r0, %hi : i32\n"
     "%c0 = arith.maxsi %ci, %lo : i32\n %c1 = arith.minsi %c0, %hi : i32\n"
     "%dr = arith.subi %r1, %rj : i32\n %ar = math.absi %dr : i32\n"
     "%dc = arith.subi %c1, %cj : i32\n %ac = math.absi %dc : i32\n"
     "%x = arith.cmpi sle, %ar, %lo : i32\n"
     "%y = arith.cmpi sle, %ac, %lo : i32\n %c = arith.andi %x, %y : i1"},
    {"causal_137", causal},
    {"causal_1025", causal},
    {"parity", "%one = arith.constant 1 : i32\n %z = arith.constant 0 : i32\n"
               "%s = arith.addi %i, %j : i32\n %m = arith.andi %s, %one : i32\n"
               "%c = arith.cmpi eq, %m, %z : i32"},
    {"key_padding_700", "%n = arith.constant 700 : i32\n"
                        "%c = arith.cmpi slt, %j, %n : i32"},
};

class CountBlocks : public testing::TestWithParam<MaskCase> {
protected:
  static const llvm::json::Object &golden() {
    static const llvm::json::Value json = [] {
      auto buffer =
          llvm::MemoryBuffer::getFile(QM_TEST_DATA "/block_counts.json");
      return llvm::cantFail(llvm::json::parse((*buffer)->getBuffer()));
    }();
    return *json.getAsObject();
  }
};

TEST_P(CountBlocks, MatchesGoldenNumbers) {
  const llvm::json::Object &want = *golden().getObject(GetParam().name);
  std::string text =
      R"(func.func @f(%q: tensor<?x2x?x1xf32>, %k: tensor<?x1x?x1xf32>,
                      %v: tensor<?x1x?x1xf32>, %doc: tensor<?xi32>)
          -> tensor<?x2x?x1xf32> {
        %o = attn.attention q(%q) k(%k) v(%v) mask (%b, %h, %i, %j) {
          %d = arith.subi %i, %j : i32
          %a = math.absi %d : i32
          )" +
      std::string(GetParam().ops) + R"(
          attn.yield %c : i1
        } : tensor<?x2x?x1xf32>, tensor<?x1x?x1xf32>, tensor<?x1x?x1xf32>
          -> tensor<?x2x?x1xf32>
        return %o : tensor<?x2x?x1xf32>
      })";
  MLIRContext context;
  context.loadDialect<arith::ArithDialect, math::MathDialect, func::FuncDialect,
                      attn::AttnDialect>();
  auto module = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(module);
  auto reference = Reference::create(*module->getOps<func::FuncOp>().begin());
  ASSERT_TRUE(succeeded(reference));

  int64_t sq = *want.getInteger("sq"), sk = *want.getInteger("sk");
  int64_t tile = *want.getInteger("tile");
  HostTensor q(DType::F32, {1, 2, sq, 1}), k(DType::F32, {1, 1, sk, 1});
  HostTensor doc(DType::I32, {1024});
  int64_t position = 0, id = 0;
  for (const auto &length : *golden().getArray("_document_lengths")) {
    for (int64_t n = 0; n < *length.getAsInteger(); ++n)
      storeInteger(doc.view(), position++, id);
    ++id;
  }
  ASSERT_EQ(position, 1024);
  Argument arguments[] = {q.view(), k.view(), k.view(), doc.view()};
  MaskCounts counts = reference->countBlocks(arguments, tile, tile);
  // Two heads under a mask that ignores the head.
  EXPECT_EQ(counts.keptPairs, 2 * *want.getInteger("kept"));
  EXPECT_EQ(counts.fullBlocks, 2 * *want.getInteger("full"));
  EXPECT_EQ(counts.partialBlocks, 2 * *want.getInteger("partial"));
  EXPECT_EQ(counts.emptyBlocks, 2 * *want.getInteger("empty"));
  EXPECT_EQ(counts.emptyRows, 2 * *want.getInteger("empty_rows"));
}

INSTANTIATE_TEST_SUITE_P(Golden, CountBlocks, testing::ValuesIn(cases),
                         [](const auto &info) { return info.param.name; });

TEST_F(CountBlocks, EveryGoldenCaseIsTested) {
  for (const auto &entry : golden()) {
    StringRef name = entry.first;
    EXPECT_TRUE(
        name.starts_with("_") ||
        llvm::any_of(cases, [&](const MaskCase &c) { return name == c.name; }))
        << name.str();
  }
}

} // namespace
