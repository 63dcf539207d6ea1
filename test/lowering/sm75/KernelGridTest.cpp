// Every mask and modifier compiles to machine code for sm_75 without a register
// spilled in the loop over key blocks; every operation that a region may hold
// has machine code; and the merge of two warps' accumulators fits its memory.
#include "test/lowering/gpu/KernelCompiler.h"
#include "test/lowering/gpu/MainLoops.h"

#include <gtest/gtest.h>

using namespace qm;
using namespace qm::test;

static bool havePtxas() {
  if (!ptx::findPtxas("").empty())
    return true;
  std::puts("skipped: no ptxas");
  return false;
}

static Shape shapeOf(int headDim, int valueDim) {
  return {"f16", headDim, valueDim, 4, 2, {}, "sm_75"};
}

using GridCase = std::tuple<std::string, int>;
class Sm75GridTest : public testing::TestWithParam<GridCase> {};

TEST_P(Sm75GridTest, AssemblesWithoutSpillsInTheLoop) {
  auto [spec, headDim] = GetParam();
  KernelCompiler compiler;
  Shape shape = shapeOf(headDim, headDim);
  auto kernel = compiler.compile(KernelCompiler::specText(spec, shape), shape);
  ASSERT_TRUE(succeeded(kernel));
  EXPECT_NE(kernel->ptx.find(".target sm_75"), std::string::npos);
  EXPECT_EQ(kernel->ptx.find("cp.async"), std::string::npos);
  EXPECT_NE(kernel->ptx.find("m16n8k8"), std::string::npos);
  EXPECT_EQ(kernel->ptx.find("m16n8k16"), std::string::npos);
  // What the launcher is told is what the code requires.
  EXPECT_EQ(kernel->info.threads, headDim <= 64 ? 128u : 256u);
  EXPECT_NE(
      kernel->ptx.find(".reqntid " + std::to_string(kernel->info.threads)),
      std::string::npos);
  // Two CTAs a multiprocessor, or one with all there is.
  EXPECT_LE(kernel->info.sharedBytes, headDim <= 64 ? 32u << 10 : 64u << 10);
  if (!havePtxas())
    GTEST_SKIP() << "no ptxas";
  auto assembled = compiler.assemble(*kernel, "sm_75");
  ASSERT_TRUE(succeeded(assembled));
  const ptx::KernelResources *used = assembled->report.find(spec);
  ASSERT_NE(used, nullptr);
  // At head dim 128 the list of blocks takes a few words between runs of full
  // blocks, and some that do not change are read back in the loop.
  unsigned limit = headDim <= 64 ? 0 : 32, loopLimit = headDim <= 64 ? 0 : 4;
  EXPECT_LE(used->spillStores, limit);
  EXPECT_LE(used->spillLoads, limit);
  std::vector<MainLoop> loops = findMainLoops(assembled->cubin, spec);
  EXPECT_FALSE(loops.empty());
  for (const MainLoop &loop : loops) {
    EXPECT_EQ(loop.localStores, 0u);
    EXPECT_LE(loop.localLoads, loopLimit);
  }
  EXPECT_TRUE(assembled->report.notes.empty())
      << assembled->report.notes.front();
  std::printf("%s d%d: %u registers, spills %u/%u, ptxas %.0f ms\n",
              spec.c_str(), headDim, used->registers, used->spillStores,
              used->spillLoads, 1e3 * assembled->report.seconds);
}

INSTANTIATE_TEST_SUITE_P(
    Grid, Sm75GridTest,
    testing::Combine(testing::Values("full", "causal", "causal_br", "window",
                                     "softcap", "alibi", "document"),
                     testing::Values(64, 128)),
    [](const testing::TestParamInfo<GridCase> &info) {
      return std::get<0>(info.param) + "_d" +
             std::to_string(std::get<1>(info.param));
    });

// Any multiple of 8, and value head dims of their own.
using DimCase = std::pair<int, int>;
class Sm75HeadDimTest : public testing::TestWithParam<DimCase> {};

TEST_P(Sm75HeadDimTest, Assembles) {
  auto [headDim, valueDim] = GetParam();
  KernelCompiler compiler;
  Shape shape = shapeOf(headDim, valueDim);
  auto kernel =
      compiler.compile(KernelCompiler::specText("causal", shape), shape);
  ASSERT_TRUE(succeeded(kernel));
  EXPECT_LE(kernel->info.sharedBytes, 64u << 10);
  if (!havePtxas())
    GTEST_SKIP() << "no ptxas";
  auto assembled = compiler.assemble(*kernel, "sm_75");
  ASSERT_TRUE(succeeded(assembled));
  const ptx::KernelResources *used = assembled->report.find("causal");
  ASSERT_NE(used, nullptr);
  EXPECT_LE(used->spillStores, 16u);
}

INSTANTIATE_TEST_SUITE_P(Dims, Sm75HeadDimTest,
                         testing::Values(DimCase{8, 8}, DimCase{40, 40},
                                         DimCase{80, 80}, DimCase{96, 96},
                                         DimCase{120, 120}, DimCase{256, 256},
                                         DimCase{64, 128}, DimCase{192, 128}),
                         [](const testing::TestParamInfo<DimCase> &info) {
                           return "d" + std::to_string(info.param.first) +
                                  "_dv" + std::to_string(info.param.second);
                         });

/// A spec whose score modifier is `body`: from %s (f32), %h, %i, %j (i32) to %t
/// (f32).
static std::string modifierSpec(llvm::StringRef body) {
  return ("func.func @modifier(%q: tensor<?x4x?x64xf16>, %k: "
          "tensor<?x4x?x64xf16>, %v: tensor<?x4x?x64xf16>, %x: "
          "tensor<?xf64>, %y: tensor<4x?xi8>, %z: tensor<?xbf16>, %w: "
          "tensor<?xi64>, %p: f32)\n"
          "    -> tensor<?x4x?x64xf16> {\n"
          "  %o = attn.attention q(%q) k(%k) v(%v)\n"
          "    score (%s, %b, %h, %i, %j) {\n" +
          body +
          "\n      attn.yield %t : f32\n    }\n"
          "    : tensor<?x4x?x64xf16>, tensor<?x4x?x64xf16>, "
          "tensor<?x4x?x64xf16> -> tensor<?x4x?x64xf16>\n"
          "  return %o : tensor<?x4x?x64xf16>\n}\n")
      .str();
}

// Selection failures of LLVM abort the process, so every operation that sm_75
// may lack in PTX is taken there (min and max that keep NaN, bf16, and what
// lowering/sm80 builds the others of).
class Sm75OperationTest : public testing::TestWithParam<const char *> {};

TEST_P(Sm75OperationTest, HasMachineCode) {
  KernelCompiler compiler;
  Shape shape = shapeOf(64, 64);
  shape.overrides = {"schedule.warps=1", "schedule.tile_m=16",
                     "schedule.tile_n=16", "schedule.micro_m=16",
                     "schedule.micro_n=16"};
  auto kernel = compiler.compile(modifierSpec(GetParam()), shape);
  ASSERT_TRUE(succeeded(kernel));
  EXPECT_EQ(kernel->ptx.find("call.uni"), std::string::npos);
  if (havePtxas()) {
    EXPECT_TRUE(succeeded(compiler.assemble(*kernel, "sm_75")));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Operations, Sm75OperationTest,
    testing::Values(
        "%t = math.exp %s : f32", "%t = math.tanh %s : f32",
        "%t = math.log %s : f32", "%t = math.sin %s : f32",
        "%t = math.erf %s : f32", "%t = math.powf %s, %p : f32",
        "%t = math.sqrt %s : f32", "%t = math.rsqrt %s : f32",
        "%t = math.roundeven %s : f32", "%t = math.copysign %s, %p : f32",
        "%t = math.absf %s : f32", "%t = arith.negf %s : f32",
        "%t = arith.divf %s, %p : f32", "%t = arith.remf %s, %p : f32",
        "%t = arith.maximumf %s, %p : f32", "%t = arith.minimumf %s, %p : f32",
        "%t = arith.maxnumf %s, %p : f32", "%t = arith.minnumf %s, %p : f32",
        "%a = arith.truncf %s : f32 to f16\n%t = arith.extf %a : f16 to f32",
        "%a = arith.truncf %s : f32 to bf16\n%t = arith.extf %a : bf16 to f32",
        "%a = arith.sitofp %i : i32 to bf16\n%t = arith.extf %a : bf16 to f32",
        "%a = arith.fptosi %s : f32 to i32\n%t = arith.sitofp %a : i32 to f32",
        "%a = arith.floordivsi %i, %j : i32\n%t = arith.sitofp %a : i32 to "
        "f32",
        "%a = math.ctpop %i : i32\n%t = arith.sitofp %a : i32 to f32",
        "%a = attn.load %x[%j] : tensor<?xf64>\n%t = arith.truncf %a : f64 to "
        "f32",
        "%a = attn.load %y[%h, %i] : tensor<4x?xi8>\n%c = arith.extsi %a : i8 "
        "to i32\n%t = arith.sitofp %c : i32 to f32",
        "%a = attn.load %z[%j] : tensor<?xbf16>\n%t = arith.extf %a : bf16 to "
        "f32",
        "%a = attn.load %w[%j] : tensor<?xi64>\n%c = arith.trunci %a : i64 to "
        "i32\n%t = arith.sitofp %c : i32 to f32"));
