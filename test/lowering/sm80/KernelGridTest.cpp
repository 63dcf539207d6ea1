// Every mask and modifier in both types, and head dims of every plan, compile
// to machine code for every target, within the registers that the schedule
// model planned; every operation that a region may hold has machine code; and
// compile time stays in its budget.
#include "test/lowering/gpu/KernelCompiler.h"
#include "test/lowering/gpu/MainLoops.h"

#include <gtest/gtest.h>

#include <ctime>

using namespace qm;
using namespace qm::test;

static bool havePtxas() {
  if (!ptx::findPtxas("").empty())
    return true;
  std::puts("skipped: no ptxas");
  return false;
}

struct GridCase {
  std::string spec, element;
  int headDim, valueDim;
  std::string target = "sm_80";
};

/// Bytes that ptxas may spill. Where accumulator and scores take 192 registers
/// it keeps a few words in memory, outside the main loop; everything else has
/// none.
static unsigned spillLimit(const GridCase &grid, llvm::StringRef target) {
  bool wide = std::max(grid.headDim, grid.valueDim) >= 128;
  if (!wide)
    return 0;
  // sm_90 has a lowering of its own; this code is its fallback there.
  return target == "sm_90" ? 96 : 80;
}

/// In the main loops nothing is written to local memory, and at most two words
/// that do not change are read back.
static void expectNoSpillsInMainLoops(const std::string &cubin,
                                      const std::string &kernel) {
  std::vector<MainLoop> loops = findMainLoops(cubin, kernel);
  EXPECT_FALSE(loops.empty());
  for (const MainLoop &loop : loops) {
    EXPECT_EQ(loop.localStores, 0u);
    EXPECT_LE(loop.localLoads, 2u);
  }
}

class KernelGridTest : public testing::TestWithParam<GridCase> {};

TEST_P(KernelGridTest, AssemblesAsPlanned) {
  const GridCase &grid = GetParam();
  KernelCompiler compiler;
  Shape shape;
  shape.element = grid.element;
  shape.headDim = grid.headDim;
  shape.valueDim = grid.valueDim;
  shape.target = grid.target;
  auto kernel =
      compiler.compile(KernelCompiler::specText(grid.spec, shape), shape);
  ASSERT_TRUE(succeeded(kernel));
  // Eight warps a multiprocessor: one CTA, or two, of which the system keeps
  // 1 KB each.
  unsigned ofOne = grid.target == "sm_80" ? 163 : 99,
           ofTwo = grid.target == "sm_80" ? 81 : 49;
  EXPECT_LE(kernel->info.sharedBytes,
            (kernel->info.threads == 256 ? ofOne : ofTwo) << 10);
  if (!havePtxas())
    GTEST_SKIP() << "no ptxas";
  // Code for one target runs on later ones: one kernel is assembled for all.
  std::vector<std::string> targets{grid.target};
  if (grid.target == "sm_80" && grid.element == "bf16" &&
      grid.spec == "causal" && grid.headDim == 128)
    targets = {"sm_80", "sm_86", "sm_89", "sm_90"};
  for (const std::string &target : targets) {
    auto assembled = compiler.assemble(*kernel, target);
    ASSERT_TRUE(succeeded(assembled)) << target;
    const ptx::KernelResources *used = assembled->report.find(grid.spec);
    ASSERT_NE(used, nullptr);
    EXPECT_LE(used->spillStores, spillLimit(grid, target)) << target;
    EXPECT_LE(used->spillLoads, spillLimit(grid, target)) << target;
    EXPECT_TRUE(assembled->report.notes.empty())
        << assembled->report.notes.front();
    if (target != "sm_90")
      expectNoSpillsInMainLoops(assembled->cubin, grid.spec);
    std::printf("%s: %u registers, spills %u/%u, passes %.0f ms, LLVM %.0f ms, "
                "ptxas %.0f ms\n",
                target.c_str(), used->registers, used->spillStores,
                used->spillLoads, 1e3 * kernel->passes,
                1e3 * (kernel->times.translate + kernel->times.optimize +
                       kernel->times.codegen),
                1e3 * assembled->report.seconds);
  }
}

static std::vector<GridCase> gridCases() {
  std::vector<GridCase> cases;
  for (const char *spec : {"full", "causal", "causal_br", "window", "softcap",
                           "alibi", "document"})
    for (int headDim : {64, 128})
      cases.push_back({spec, "bf16", headDim, headDim});
  for (const char *spec : {"full", "causal"})
    for (int headDim : {64, 128})
      cases.push_back({spec, "f16", headDim, headDim});
  cases.push_back({"full", "f32", 64, 64});
  cases.push_back({"causal", "f32", 128, 128});
  cases.push_back({"softcap", "f32", 96, 96});
  for (int headDim : {64, 128})
    cases.push_back({"packed_causal", "bf16", headDim, headDim});
  cases.push_back({"padded", "bf16", 64, 64});
  for (int headDim : {8, 40, 72, 96, 160, 192, 256})
    cases.push_back(
        {headDim % 16 ? "full" : "causal", "bf16", headDim, headDim});
  cases.push_back({"causal", "bf16", 192, 128});
  cases.push_back({"full", "bf16", 64, 128});
  // Less shared memory, so other schedules.
  for (const char *spec : {"full", "causal", "softcap", "document"})
    for (int headDim : {64, 128})
      cases.push_back({spec, "bf16", headDim, headDim, "sm_86"});
  for (int headDim : {40, 96, 256})
    cases.push_back({"causal", "f16", headDim, headDim, "sm_86"});
  cases.push_back({"causal", "f32", 64, 64, "sm_86"});
  for (int headDim : {64, 128, 256})
    cases.push_back({"full", "f16", headDim, headDim, "sm_89"});
  cases.push_back({"alibi", "bf16", 128, 128, "sm_89"});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Grid, KernelGridTest, testing::ValuesIn(gridCases()),
                         [](const testing::TestParamInfo<GridCase> &info) {
                           const GridCase &grid = info.param;
                           return grid.spec + "_" + grid.element + "_d" +
                                  std::to_string(grid.headDim) + "_" +
                                  std::to_string(grid.valueDim) +
                                  (grid.target == "sm_80" ? ""
                                                          : "_" + grid.target);
                         });

/// What a main loop has for one key block, 64 keys and 32 rows a warp.
struct LoopCase {
  std::string spec;
  int headDim;
  unsigned mma, ldmatrix, copies, limit; ///< limit of all instructions
};

class MainLoopTest : public testing::TestWithParam<LoopCase> {};

TEST_P(MainLoopTest, HasTheInstructionsThatWerePlanned) {
  if (!havePtxas())
    GTEST_SKIP() << "no ptxas";
  const LoopCase &expected = GetParam();
  KernelCompiler compiler;
  Shape shape;
  shape.headDim = shape.valueDim = expected.headDim;
  auto kernel =
      compiler.compile(KernelCompiler::specText(expected.spec, shape), shape);
  ASSERT_TRUE(succeeded(kernel));
  auto assembled = compiler.assemble(*kernel, "sm_80");
  ASSERT_TRUE(succeeded(assembled));
  std::vector<MainLoop> loops = findMainLoops(assembled->cubin, expected.spec);
  ASSERT_EQ(loops.size(), 1u);
  const MainLoop &loop = loops.front();
  EXPECT_EQ(loop.mma, expected.mma);
  EXPECT_EQ(loop.ldmatrix, expected.ldmatrix);
  EXPECT_EQ(loop.copies, expected.copies);
  // An exponential for each of the 64 elements of a thread, and for 4 rows in
  // the rescaling.
  EXPECT_EQ(loop.exponents, 68u);
  EXPECT_LE(loop.all, expected.limit);
  std::printf("%u instructions\n", loop.all);
}

// Head dim 64 keeps Q in registers; ping-pong has twice the threads, so half
// the copies each.
INSTANTIATE_TEST_SUITE_P(
    Histogram, MainLoopTest,
    testing::Values(LoopCase{"full", 128, 256, 80, 8, 920},
                    LoopCase{"causal", 128, 256, 80, 16, 980},
                    LoopCase{"full", 64, 128, 32, 4, 650},
                    LoopCase{"causal", 64, 128, 32, 8, 680}),
    [](const testing::TestParamInfo<LoopCase> &info) {
      return info.param.spec + "_d" + std::to_string(info.param.headDim);
    });

/// A spec whose score modifier is `body`: from %s (f32), %h, %i, %j (i32) to %t
/// (f32).
static std::string modifierSpec(llvm::StringRef body) {
  return ("func.func @modifier(%q: tensor<?x4x?x64xbf16>, %k: "
          "tensor<?x4x?x64xbf16>, %v: tensor<?x4x?x64xbf16>, %x: "
          "tensor<?xf64>, %y: tensor<4x?xi8>, %z: tensor<?x?x2xf16>, %w: "
          "tensor<?xi64>, %p: f32)\n"
          "    -> tensor<?x4x?x64xbf16> {\n"
          "  %o = attn.attention q(%q) k(%k) v(%v)\n"
          "    score (%s, %b, %h, %i, %j) {\n" +
          body +
          "\n      attn.yield %t : f32\n    }\n"
          "    : tensor<?x4x?x64xbf16>, tensor<?x4x?x64xbf16>, "
          "tensor<?x4x?x64xbf16> -> tensor<?x4x?x64xbf16>\n"
          "  return %o : tensor<?x4x?x64xbf16>\n}\n")
      .str();
}

// Selection failures of LLVM abort the process, so every operation is taken to
// PTX here.
class RegionOperationTest : public testing::TestWithParam<const char *> {};

TEST_P(RegionOperationTest, HasMachineCode) {
  KernelCompiler compiler;
  Shape shape;
  auto kernel = compiler.compile(modifierSpec(GetParam()), shape);
  ASSERT_TRUE(succeeded(kernel));
  EXPECT_NE(kernel->ptx.find(".entry modifier"), std::string::npos);
  EXPECT_EQ(kernel->ptx.find("call.uni"), std::string::npos);
  if (havePtxas()) {
    EXPECT_TRUE(succeeded(compiler.assemble(*kernel, "sm_80")));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Floats, RegionOperationTest,
    testing::Values(
        "%t = math.exp %s : f32", "%t = math.exp2 %s : f32",
        "%t = math.expm1 %s : f32", "%t = math.log %s : f32",
        "%t = math.log2 %s : f32", "%t = math.log1p %s : f32",
        "%t = math.tanh %s : f32", "%t = math.sin %s : f32",
        "%t = math.cos %s : f32", "%t = math.erf %s : f32",
        "%t = math.sqrt %s : f32", "%t = math.rsqrt %s : f32",
        "%t = math.absf %s : f32", "%t = math.floor %s : f32",
        "%t = math.ceil %s : f32", "%t = math.trunc %s : f32",
        "%t = math.roundeven %s : f32", "%t = math.powf %s, %p : f32",
        "%t = math.copysign %s, %p : f32", "%t = math.fma %s, %p, %s : f32",
        "%t = math.atan %s : f32", "%t = math.tan %s : f32",
        "%t = math.sinh %s : f32", "%t = math.cosh %s : f32",
        "%t = arith.divf %s, %p : f32", "%t = arith.remf %s, %p : f32",
        "%t = arith.negf %s : f32", "%t = arith.maximumf %s, %p : f32",
        "%t = arith.minimumf %s, %p : f32", "%t = arith.maxnumf %s, %p : f32",
        "%t = arith.minnumf %s, %p : f32"));

INSTANTIATE_TEST_SUITE_P(
    Integers, RegionOperationTest,
    testing::Values(
        "%a = arith.floordivsi %i, %j : i32\n%t = arith.sitofp %a : i32 to f32",
        "%a = arith.ceildivsi %i, %j : i32\n%t = arith.sitofp %a : i32 to f32",
        "%a = arith.divsi %i, %j : i32\n%t = arith.uitofp %a : i32 to f32",
        "%a = arith.remsi %i, %j : i32\n%t = arith.sitofp %a : i32 to f32",
        "%a = arith.remui %i, %j : i32\n%t = arith.sitofp %a : i32 to f32",
        "%a = arith.shrsi %i, %h : i32\n%t = arith.sitofp %a : i32 to f32",
        "%a = arith.maxsi %i, %h : i32\n%t = arith.sitofp %a : i32 to f32",
        "%a = math.absi %i : i32\n%t = arith.sitofp %a : i32 to f32",
        "%a = math.ctpop %i : i32\n%t = arith.sitofp %a : i32 to f32",
        "%a = arith.fptosi %s : f32 to i32\n%t = arith.sitofp %a : i32 to f32",
        "%a = arith.bitcast %s : f32 to i32\n%c = arith.xori %a, %i : i32\n%t "
        "= arith.bitcast %c : i32 to f32",
        "%a = arith.cmpf ogt, %s, %p : f32\n%t = arith.select %a, %s, %p : "
        "f32"));

INSTANTIATE_TEST_SUITE_P(
    Buffers, RegionOperationTest,
    testing::Values(
        "%a = attn.load %x[%j] : tensor<?xf64>\n%t = arith.truncf %a : f64 to "
        "f32",
        "%a = attn.load %y[%h, %i] : tensor<4x?xi8>\n%c = arith.extsi %a : i8 "
        "to "
        "i32\n%t = arith.sitofp %c : i32 to f32",
        "%e = arith.constant 1 : i32\n%a = attn.load %z[%i, %j, %e] : "
        "tensor<?x?x2xf16>\n%t = arith.extf %a : f16 to f32",
        "%a = attn.load %w[%j] : tensor<?xi64>\n%c = arith.trunci %a : i64 to "
        "i32\n%t = arith.sitofp %c : i32 to f32"));

// Budget: 0.8 s of processor time from a spec in MLIR to PTX at head dim 128;
// ptxas's part is printed by the grid.
TEST(CompileTime, StaysInBudget) {
  KernelCompiler compiler;
  Shape shape;
  std::string text = KernelCompiler::specText("causal", shape);
  ASSERT_TRUE(succeeded(compiler.compile(text, shape))); // loads the back end
  std::clock_t begin = std::clock();
  ASSERT_TRUE(succeeded(compiler.compile(text, shape)));
  double seconds = double(std::clock() - begin) / CLOCKS_PER_SEC;
  std::printf("%.2f s\n", seconds);
  EXPECT_LT(seconds, 0.8);
}
