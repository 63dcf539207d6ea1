// Every mask and modifier, type and head dim compiles for sm_90a to machine
// code in which wgmma runs asynchronously (ptxas says nothing of serialisation)
// and nothing is spilled. Where a disassembler is present, the main loop holds
// what was planned and no more.
#include "test/lowering/gpu/KernelCompiler.h"
#include "test/lowering/sm90/MainLoop.h"

#include <gtest/gtest.h>

using namespace qm;
using namespace qm::test;

static Shape hopper(const std::string &element, int headDim, int valueDim) {
  Shape shape;
  shape.element = element;
  shape.headDim = headDim;
  shape.valueDim = valueDim;
  shape.target = "sm_90a";
  return shape;
}

/// Compiles and assembles; checks what ptxas says. Null without ptxas.
static std::optional<ptx::Assembled>
checked(const std::string &spec, const Shape &shape, unsigned spillLimit = 0) {
  KernelCompiler compiler;
  auto kernel = compiler.compile(KernelCompiler::specText(spec, shape), shape);
  if (failed(kernel)) {
    ADD_FAILURE() << "does not compile";
    return std::nullopt;
  }
  if (ptx::findPtxas("").empty())
    return std::nullopt;
  auto assembled = compiler.assemble(*kernel, shape.target);
  if (failed(assembled)) {
    ADD_FAILURE() << "does not assemble";
    return std::nullopt;
  }
  const ptx::KernelResources *used = assembled->report.find(spec);
  EXPECT_NE(used, nullptr);
  if (used) {
    EXPECT_LE(used->spillStores, spillLimit);
    EXPECT_LE(used->spillLoads, spillLimit);
    EXPECT_LE(used->stackFrame, spillLimit);
    // All of the file, shared among the warps: setmaxnreg moves registers from
    // one role to another.
    EXPECT_EQ(used->registers, 65536u / kernel->info.threads / 8 * 8 > 240
                                   ? 240u
                                   : 65536u / kernel->info.threads / 8 * 8);
  }
  // C7508 to C7520: setmaxnreg ignored, wgmma serialised, waits put in.
  for (const std::string &note : assembled->report.notes)
    ADD_FAILURE() << note;
  return std::move(*assembled);
}

using GridCase = std::tuple<std::string, std::string, std::pair<int, int>>;
class HopperGridTest : public testing::TestWithParam<GridCase> {};

TEST_P(HopperGridTest, IsAsynchronousAndSpillsNothing) {
  auto [spec, element, dims] = GetParam();
  if (!checked(spec, hopper(element, dims.first, dims.second)))
    GTEST_SKIP() << "no ptxas";
}

// The place of a sequence takes four more registers. Where all are in use, at
// head dim 128, a few words that a tile needs once wait in memory.
TEST(HopperLengths, AreAsynchronousAndSpillAlmostNothing) {
  for (const char *spec : {"packed_causal", "padded"})
    for (int headDim : {64, 128}) {
      SCOPED_TRACE(spec + std::to_string(headDim));
      if (!checked(spec, hopper("bf16", headDim, headDim),
                   headDim == 128 ? 16 : 0))
        GTEST_SKIP() << "no ptxas";
    }
}

static std::string nameOf(const testing::TestParamInfo<GridCase> &info) {
  auto [spec, element, dims] = info.param;
  return spec + "_" + element + "_d" + std::to_string(dims.first) + "_v" +
         std::to_string(dims.second);
}

INSTANTIATE_TEST_SUITE_P(
    Specs, HopperGridTest,
    testing::Combine(testing::Values("full", "causal", "causal_br", "window",
                                     "softcap", "alibi", "document", "padding",
                                     "relative", "bias"),
                     testing::Values("bf16"),
                     testing::Values(std::pair{64, 64}, std::pair{128, 128})),
    nameOf);
INSTANTIATE_TEST_SUITE_P(
    HeadDims, HopperGridTest,
    testing::Combine(testing::Values("causal"), testing::Values("f16"),
                     testing::Values(std::pair{8, 8}, std::pair{72, 72},
                                     std::pair{96, 96}, std::pair{128, 128},
                                     std::pair{192, 192}, std::pair{192, 128},
                                     std::pair{256, 256}, std::pair{248, 40})),
    nameOf);

// What a score modifier may add to the main loop of head dim 128: an fma an
// element, and its loads without clamps or addresses of their own. A softcap
// has two cases there: near 0 an exponential an element, in general one and a
// tanh, or, exact enough for lse, two and a reciprocal.
TEST(HopperMainLoop, ModifiersAddTheirArithmetic) {
  struct Modifier {
    const char *spec;
    std::vector<std::string> overrides;
    int most, products, loads, specials;
  };
  for (const Modifier &modifier :
       {Modifier{"alibi", {}, 640, 16, 0, 66},
        Modifier{"relative", {}, 650, 16, 34, 66},
        Modifier{"bias", {}, 710, 16, 32, 66},
        Modifier{
            "softcap", {"precision.tanh=approx"}, 1150, 16, 0, 64 + 64 * 2},
        Modifier{"softcap", {}, 1800, 16, 0, 64 + 64 * 3}}) {
    SCOPED_TRACE(modifier.spec);
    Shape shape = hopper("bf16", 128, 128);
    shape.overrides = modifier.overrides;
    auto assembled = checked(modifier.spec, shape);
    if (!assembled)
      GTEST_SKIP() << "no ptxas";
    std::optional<InstructionCounts> counts = countMainLoop(assembled->cubin);
    if (!counts)
      GTEST_SKIP() << "no cuobjdump";
    EXPECT_EQ((*counts)["HGMMA"], modifier.products);
    EXPECT_EQ((*counts)["MUFU"], modifier.specials);
    EXPECT_EQ((*counts)["LDG"], modifier.loads);
    EXPECT_EQ((*counts)["R2UR"], 0);
    EXPECT_EQ((*counts)["LDL"] + (*counts)["STL"], 0);
    int all = 0;
    for (auto &[name, count] : *counts)
      all += count;
    EXPECT_LE(all, modifier.most);
  }
}

// The loop over full key blocks at head dim 128: two products of eight wgmma,
// an exponential an element and one a row for alpha, an fma the same (of a row:
// how far it grew), row maxima three scores at a time and once more in the
// branch for rows that are negative as a whole, nothing moved from vector to
// uniform registers, nothing in local memory. 110 of the instructions are in
// branches that are seldom taken.
TEST(HopperMainLoop, HoldsWhatWasPlanned) {
  for (const char *spec : {"full", "causal"}) {
    SCOPED_TRACE(spec);
    auto assembled = checked(spec, hopper("bf16", 128, 128));
    if (!assembled)
      GTEST_SKIP() << "no ptxas";
    std::optional<InstructionCounts> counts = countMainLoop(assembled->cubin);
    if (!counts)
      GTEST_SKIP() << "no cuobjdump";
    EXPECT_EQ((*counts)["HGMMA"], 16);
    EXPECT_EQ((*counts)["MUFU"], 66);
    EXPECT_EQ((*counts)["FFMA"], 66);
    EXPECT_EQ((*counts)["VIMNMX3"], 60);
    EXPECT_EQ((*counts)["F2FP"], 32);
    EXPECT_EQ((*counts)["R2UR"], 0);
    EXPECT_EQ((*counts)["LDL"] + (*counts)["STL"], 0);
    int all = 0;
    for (auto &[name, count] : *counts)
      all += count;
    EXPECT_LE(all, 545);
  }
}
