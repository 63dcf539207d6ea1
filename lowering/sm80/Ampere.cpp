// The machine of this folder: mma.sync m16n8k16 and cp.async.
#include "lowering/sm80/PingPong.h"

using namespace mlir;
using namespace qm;
using namespace qm::sm80;

namespace {
class Ampere : public Machine {
public:
  nvvm::Values multiply(LocBuilder &b, Type element, ValueRange a,
                        ValueRange bFragment, ValueRange c) const override {
    return nvvm::mmaM16N8K16(b, element, a, bFragment, c);
  }
  Value packPair(LocBuilder &b, Type element, Value low,
                 Value high) const override {
    return nvvm::packPair(b, element, low, high);
  }
  void loadQuery(KernelState &state, attn::LoadTileOp load) const override {
    TileSource::Copy(TileSource(state, load, state.plan.tileM),
                     state.scalar(load.getRow()), {})
        .issueAll();
  }
  std::unique_ptr<TileSupply>
  makeSupply(KernelState &state,
             ArrayRef<attn::LoadTileOp> loads) const override {
    if (state.plan.pingPong)
      return std::make_unique<PingPong>(state, loads);
    return std::make_unique<TileRing>(state, loads);
  }
};
} // namespace

const Machine &qm::sm80::getAmpere() {
  static const Ampere machine;
  return machine;
}
