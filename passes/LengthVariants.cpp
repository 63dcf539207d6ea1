// Which kernels want another schedule for long calls. What was measured is in
// lowering/sm90/README.md and test/perf/results/sm90_forward.json.
#include "passes/LengthVariants.h"
#include "passes/HopperSchedule.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/FormatVariadic.h"

using namespace qm;
using namespace qm::passes;
using lowering::TargetInfo;
using lowering::TargetKind;

/// From here on a tile of 192 rows wastes less at the diagonal than three
/// consumers gain (H200, D64 causal: 1k slower, 4k 1.08, 16k 1.18 times as
/// fast).
static constexpr int64_t longLength = 4096;

/// The fields in which two schedules differ, as overrides.
static ScheduleOverrides difference(const Schedule &from, const Schedule &to) {
  static constexpr std::pair<const char *, int64_t Schedule::*> fields[] = {
      {"tile_m", &Schedule::tileM},
      {"tile_n", &Schedule::tileN},
      {"warps", &Schedule::warps},
      {"stages", &Schedule::stages},
      {"consumers", &Schedule::consumers},
      {"query_buffers", &Schedule::queryBuffers},
      {"producer_registers", &Schedule::producerRegisters},
      {"consumer_registers", &Schedule::consumerRegisters},
      {"ping_pong", &Schedule::pingPong}};
  ScheduleOverrides overrides;
  for (auto [name, field] : fields)
    if (from.*field != to.*field)
      overrides.push_back(
          llvm::formatv("schedule.{0}={1}", name, to.*field).str());
  return overrides;
}

bool qm::passes::mayHaveLengthVariants(const TargetInfo &target) {
  return target.kind == TargetKind::Nvidia && target.sm == 90;
}

std::vector<LengthVariant>
qm::passes::getLengthVariants(attn::KernelOp kernel, const TargetInfo &target) {
  // What the target cannot have at all, it cannot have for long calls either.
  auto q = llvm::cast<mlir::RankedTensorType>(kernel.getQ().getType());
  if (!mayHaveLengthVariants(target) || q.getElementType().isF32())
    return {};
  std::optional<Schedule> schedule = proposeHopperForLongTiles(kernel, target);
  if (!schedule)
    return {};
  return {{"long", longLength, longLength,
           difference(proposeHopper(kernel, target), *schedule)}};
}
