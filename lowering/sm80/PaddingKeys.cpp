// Keys that are padding.
#include "lowering/sm80/PaddingKeys.h"

#include "lowering/common/KeyCondition.h"

using namespace mlir;
using namespace qm;
using namespace qm::sm80;

std::shared_ptr<PaddingKeys> PaddingKeys::of(LocBuilder &b,
                                             attn::KeyBlocksOp loop,
                                             Arguments &arguments,
                                             const IRMapping &scalars) {
  std::unique_ptr<Region> condition = lowering::conditionOnKeys(loop);
  if (!condition)
    return nullptr;
  constexpr unsigned none = ~0u;
  auto keys = std::make_shared<PaddingKeys>();
  keys->region = std::make_unique<ElementRegion>(
      *condition, ElementRegion::Roles{none, none}, arguments, scalars,
      /*loop=*/nullptr);
  keys->region->emitUniform(b);
  keys->condition = std::move(condition);
  return keys;
}

Value PaddingKeys::isUsed(LocBuilder &b, Int key) {
  region->startBlock();
  return region->emit(b, {key}, 0, 0).front();
}
