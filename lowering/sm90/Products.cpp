// Warpgroup products. A tile lies in panels of 64 columns with the 128-byte
// swizzle: 16 columns further is 32 bytes, 16 rows further 2048 bytes, whatever
// the swizzle does inside.
#include "lowering/sm90/Products.h"

using namespace mlir;
using namespace qm;
using namespace qm::sm90;

static constexpr int64_t stepsOfPanel = panelColumns / productDepth;
static constexpr int64_t bytesOfStep = 2 * productDepth;

Products::Products(KernelState &state) : state(state) {
  LocBuilder &b = state.b;
  const Plan &plan = state.plan;
  // K is not transposed: the leading offset is not used.
  keys = {b, nvvm::matrixDescriptor(b, state.shared + plan.keyOffset(), 0)};
  values = {b, nvvm::matrixDescriptor(b, state.shared + plan.valueOffset(),
                                      plan.tileN * panelRowBytes)};
}

Fragment Products::issueScores(Int query, Cursor key) {
  LocBuilder &b = state.b;
  const Plan &plan = state.plan;
  Int a(b, nvvm::matrixDescriptor(b, query, 0));
  Int bMatrix = keys + key.stage * (plan.keyBytes() >> 4);
  Fragment scores(plan.scoreRegisters());
  nvvm::wgmmaFence(b, {});
  for (int64_t k = 0; k * productDepth < plan.headDim; ++k) {
    int64_t panel = k / stepsOfPanel, inPanel = k % stepsOfPanel * bytesOfStep;
    nvvm::wgmmaShared(b, plan.element, a,
                      panel * plan.tileM * panelRowBytes + inPanel, bMatrix,
                      panel * plan.tileN * panelRowBytes + inPanel,
                      /*fresh=*/k == 0, scores.values);
  }
  nvvm::wgmmaCommit(b);
  return scores;
}

void Products::issueAccumulate(Fragment &accumulator, Values &p, Cursor value) {
  LocBuilder &b = state.b;
  const Plan &plan = state.plan;
  Int bMatrix = values + value.stage * (plan.valueBytes() >> 4);
  nvvm::wgmmaFence(b, {accumulator.values, p});
  for (int64_t k = 0; k * productDepth < plan.tileN; ++k)
    nvvm::wgmmaRegisters(b, plan.element, ValueRange(p).slice(4 * k, 4),
                         bMatrix, k * productDepth * panelRowBytes,
                         accumulator.values);
  nvvm::wgmmaCommit(b);
}

void Products::waitForScores(Fragment &scores, bool accumulationUnderWay) {
  nvvm::wgmmaWait(state.b, accumulationUnderWay ? 1 : 0, scores.values);
}

void Products::waitForAll(Fragment &accumulator) {
  nvvm::wgmmaWait(state.b, 0, accumulator.values);
}
