// Grids of schedules, small enough to be timed in a minute.
#include "passes/TuningGrid.h"

#include "llvm/Support/FormatVariadic.h"

using namespace qm;
using namespace qm::passes;
using lowering::TargetInfo;
using lowering::TargetKind;

static std::string field(llvm::StringRef name, int64_t value) {
  return llvm::formatv("schedule.{0}={1}", name, value);
}

/// Two consumers in turns or three without, key blocks, query buffers.
static void addHopper(std::vector<ScheduleOverrides> &grid) {
  for (int64_t consumers : {2, 3})
    for (int64_t queryBuffers : {2, 1})
      for (int64_t keys : {64, 80, 96, 128, 160})
        grid.push_back(
            {field("consumers", consumers), field("tile_m", 64 * consumers),
             field("warps", 4 * (consumers + 1)),
             field("ping_pong", consumers == 2),
             field("producer_registers", consumers == 2 ? 24 : 32),
             field("consumer_registers", consumers == 2 ? 240 : 160),
             field("query_buffers", queryBuffers), field("tile_n", keys)});
}

/// Rows of a tile by warps, key blocks, stages of the ring.
static void addTensorCores(std::vector<ScheduleOverrides> &grid,
                           bool hasAsynchronousCopies) {
  for (auto [rows, warps] : {std::pair{64, 4}, {128, 4}, {128, 8}})
    for (int64_t keys : {32, 64, 128})
      for (int64_t stages : {2, 3}) {
        if (stages > 2 && !hasAsynchronousCopies)
          continue;
        grid.push_back({field("ping_pong", 0), field("tile_m", rows),
                        field("warps", warps), field("tile_n", keys),
                        field("stages", stages)});
      }
  if (!hasAsynchronousCopies)
    return;
  // Two row tiles a warp, or one for wide heads.
  for (auto [rows, keys] : {std::pair{256, 64}, {128, 32}})
    grid.push_back({field("ping_pong", 1), field("tile_m", rows),
                    field("warps", 8), field("tile_n", keys),
                    field("stages", 3)});
}

std::vector<ScheduleOverrides>
qm::passes::getTuningGrid(const TargetInfo &target) {
  if (target.kind != TargetKind::Nvidia)
    return {};
  std::vector<ScheduleOverrides> grid{{}};
  if (target.sm == 90)
    addHopper(grid);
  else
    addTensorCores(grid, /*hasAsynchronousCopies=*/target.sm >= 80);
  return grid;
}
