// What sm_75 does its own way.
#include "lowering/sm75/Turing.h"

#include "lowering/nvvm/Turing.h"
#include "lowering/sm75/CopyTiles.h"
#include "lowering/sm75/Epilogue.h"

using namespace mlir;
using namespace qm;
using namespace qm::sm80;

namespace {
class Turing : public Machine {
public:
  /// The operands of a step of 16 columns are those of two steps of 8, side by
  /// side.
  nvvm::Values multiply(LocBuilder &b, Type element, ValueRange a,
                        ValueRange bFragment, ValueRange c) const override {
    nvvm::Values first = nvvm::mmaM16N8K8(b, element, a.take_front(2),
                                          bFragment.take_front(1), c);
    return nvvm::mmaM16N8K8(b, element, a.drop_front(2),
                            bFragment.drop_front(1), first);
  }
  Value packPair(LocBuilder &b, Type, Value low, Value high) const override {
    return nvvm::packHalves(b, low, high);
  }
  /// StagedTiles reads it together with the first key and value tiles: one wait
  /// for memory and not three.
  void loadQuery(KernelState &, attn::LoadTileOp) const override {}
  std::unique_ptr<TileSupply>
  makeSupply(KernelState &state,
             ArrayRef<attn::LoadTileOp> loads) const override {
    return std::make_unique<sm75::StagedTiles>(state, loads);
  }
  void mergeKeyWarps(KernelState &state, Accumulator &accumulator,
                     SoftmaxStatistics &statistics) const override {
    sm75::mergeKeyWarps(state, accumulator, statistics);
  }
};
} // namespace

const Machine &qm::sm75::getTuring() {
  static const Turing machine;
  return machine;
}
