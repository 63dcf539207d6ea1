// typed -> scheduled: tile, warps and stages from the target model; '?' in tile
// types becomes a number.
#include "dialect/Diagnostics.h"
#include "lowering/common/TargetInfo.h"
#include "passes/Overrides.h"
#include "passes/Passes.h"
#include "passes/ScheduleModel.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace qm;
using namespace qm::passes;
using diag::Id;

namespace qm::passes {
#define GEN_PASS_DEF_CHOOSESCHEDULE
#include "passes/Passes.h.inc"
} // namespace qm::passes

namespace {

LogicalResult applyOverrides(attn::KernelOp kernel, ArrayRef<std::string> texts,
                             Schedule &schedule) {
  FailureOr<SmallVector<Override>> selected =
      selectOverrides(kernel, texts, "schedule");
  if (failed(selected))
    return failure();
  for (const Override &override : *selected) {
    int64_t Schedule::*field =
        llvm::StringSwitch<int64_t Schedule::*>(override.field)
            .Case("tile_m", &Schedule::tileM)
            .Case("tile_n", &Schedule::tileN)
            .Case("warps", &Schedule::warps)
            .Case("stages", &Schedule::stages)
            .Case("micro_m", &Schedule::microM)
            .Case("micro_n", &Schedule::microN)
            .Case("consumers", &Schedule::consumers)
            .Case("query_buffers", &Schedule::queryBuffers)
            .Case("producer_registers", &Schedule::producerRegisters)
            .Case("consumer_registers", &Schedule::consumerRegisters)
            .Case("ping_pong", &Schedule::pingPong)
            .Case("persistent", &Schedule::persistent)
            .Case("dynamic_order", &Schedule::dynamicOrder)
            .Case("one_loop", &Schedule::oneLoop)
            .Case("poly_exp2", &Schedule::polyExp2)
            .Default(nullptr);
    if (!field)
      return rejectField(kernel, override,
                         "tile_m, tile_n, warps, stages, micro_m, micro_n, "
                         "ping_pong, one_loop; on sm_90a also consumers, "
                         "query_buffers, producer_registers, "
                         "consumer_registers, persistent, dynamic_order, "
                         "poly_exp2");
    bool isSwitch =
        field == &Schedule::pingPong || field == &Schedule::persistent ||
        field == &Schedule::dynamicOrder || field == &Schedule::oneLoop;
    int64_t value = 0, lowest = 1, highest = 4096;
    if (isSwitch || field == &Schedule::polyExp2)
      lowest = 0, highest = isSwitch ? 1 : 16;
    if (override.value.getAsInteger(10, value) || value < lowest ||
        value > highest)
      return rejectValue(kernel, override,
                         isSwitch ? std::string("0 or 1")
                                  : llvm::formatv("an integer from {0} to {1}",
                                                  lowest, highest)
                                        .str());
    schedule.*field = value;
  }
  return success();
}

/// Fills in '?': the rows of everything that comes from q, the keys of
/// everything that comes from k and v.
class TileResolver {
public:
  TileResolver(const Schedule &schedule) : schedule(schedule) {}

  void run(attn::KernelOp kernel) {
    kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
      for (Value result : op->getResults())
        resolve(result, isKeyRows(op, kernel));
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (BlockArgument argument : block.getArguments())
            resolve(argument, /*keyRows=*/false);
    });
  }

private:
  /// K and V tiles, and casts of them, have keys in their rows.
  static bool isKeyRows(Operation *op, attn::KernelOp kernel) {
    while (auto cast = dyn_cast_if_present<attn::CastOp>(op))
      op = cast.getTile().getDefiningOp();
    auto load = dyn_cast_if_present<attn::LoadTileOp>(op);
    return load && load.getSource() != kernel.getQ();
  }

  void resolve(Value value, bool keyRows) {
    auto tile = dyn_cast<attn::TileType>(value.getType());
    if (!tile)
      return;
    SmallVector<int64_t> shape(tile.getShape());
    if (ShapedType::isDynamic(shape.front()))
      shape.front() = keyRows ? schedule.tileN : schedule.tileM;
    if (shape.size() == 2 && ShapedType::isDynamic(shape.back()))
      shape.back() = schedule.tileN;
    value.setType(tile.withShape(shape));
  }

  const Schedule &schedule;
};

struct ChooseSchedule : qm::passes::impl::ChooseScheduleBase<ChooseSchedule> {
  using Base = qm::passes::impl::ChooseScheduleBase<ChooseSchedule>;
  using Base::Base;

  void runOnOperation() override {
    attn::KernelOp kernel = getOperation();
    const lowering::TargetInfo *info = lowering::findTarget(target);
    if (!info) {
      diag::help(diag::error(kernel, Id::UnknownTarget)
                     << "no target '" << target << "'",
                 "the targets are " + lowering::targetNames());
      return signalPassFailure();
    }
    if (!kernel.getPrecision()) {
      diag::help(diag::error(kernel, Id::WrongLevel)
                     << "the kernel is not at the typed level",
                 "run qm-assign-precision before");
      return signalPassFailure();
    }
    Schedule schedule = proposeSchedule(kernel, *info);
    if (failed(applyOverrides(kernel, overrides, schedule)) ||
        failed(checkFit(kernel, schedule, *info)))
      return signalPassFailure();
    kernel.setScheduleAttr(attn::ScheduleAttr::get(
        &getContext(), info->name, schedule.tileM, schedule.tileN,
        schedule.warps, schedule.stages, schedule.microM, schedule.microN,
        schedule.consumers, schedule.queryBuffers, schedule.producerRegisters,
        schedule.consumerRegisters, schedule.pingPong, schedule.persistent,
        schedule.dynamicOrder, schedule.oneLoop, schedule.polyExp2));
    TileResolver(schedule).run(kernel);
  }

private:
  /// Shared memory is a hard limit. Registers are an estimate: an override may
  /// try its luck, ptxas reports what came out.
  LogicalResult checkFit(attn::KernelOp kernel, const Schedule &schedule,
                         const lowering::TargetInfo &info) {
    if (info.kind == lowering::TargetKind::Cpu)
      return success();
    Footprint footprint = estimateFootprint(kernel, schedule, info);
    bool sharedFits = footprint.sharedBytes <= info.sharedBytesPerCta;
    bool registersFit = footprint.registers <= Footprint::maxRegisters;
    if (sharedFits && (registersFit || !overrides.empty()))
      return success();
    return diag::help(
        diag::error(kernel, Id::NoSchedule)
            << "head dims " << getHeadDim(kernel) << " and "
            << getValueHeadDim(kernel) << " in tiles of " << schedule.tileM
            << "x" << schedule.tileN << " need " << footprint.sharedBytes
            << " bytes of shared memory and about " << footprint.registers
            << " registers a thread; " << info.name << " has "
            << info.sharedBytesPerCta << " and " << Footprint::maxRegisters,
        "use --arch=cpu, or smaller tiles with --set schedule.tile_n=16");
  }
};

} // namespace
