//===- LowerToCpu.cpp - scheduled kernels become functions on vectors -----===//

#include "dialect/Diagnostics.h"
#include "lowering/common/KernelTarget.h"
#include "lowering/common/LowerKernels.h"
#include "lowering/cpu/KernelEmitter.h"
#include "lowering/cpu/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace qm::cpu {
#define GEN_PASS_DEF_LOWERTOCPU
#include "lowering/cpu/Passes.h.inc"
} // namespace qm::cpu

using namespace mlir;
using namespace qm;

/// The entry's scratch lies on the stack of the calling thread, which may be as
/// small as 8 MiB on Linux by default; a quarter of that leaves room for
/// callers.
static constexpr int64_t maxScratchBytes = 2 << 20;

/// Scratch of the largest tile the emitter makes, in bytes, from the schedule.
static int64_t estimateScratch(attn::KernelOp kernel) {
  attn::ScheduleAttr schedule = kernel.getScheduleAttr();
  auto columns = [](Value tensor) {
    return cast<RankedTensorType>(tensor.getType()).getShape().back();
  };
  int64_t d = columns(kernel.getK()), dv = columns(kernel.getV());
  return 4 * (schedule.getTileM() * (d + dv) +
              schedule.getTileN() * (d + dv + schedule.getMicroM()));
}

static LogicalResult checkSchedule(attn::KernelOp kernel,
                                   const lowering::TargetInfo &target) {
  attn::ScheduleAttr schedule = kernel.getScheduleAttr();
  int64_t lanes = target.vectorBytes / 4;
  int64_t microM = schedule.getMicroM(), microN = schedule.getMicroN();
  if (microM <= 0 || microM % lanes || schedule.getTileM() <= 0 ||
      schedule.getTileM() % microM || microN <= 0 || schedule.getTileN() <= 0)
    return diag::help(
        diag::error(kernel, diag::Id::CpuSchedule)
            << "tile_m = " << schedule.getTileM()
            << ", tile_n = " << schedule.getTileN() << ", micro_m = " << microM
            << ", micro_n = " << microN << " is not a schedule for '"
            << target.name << "', whose vectors hold " << lanes << " floats",
        "make tile_m a multiple of micro_m, micro_m a multiple of " +
            Twine(lanes) + ", and tile_n and micro_n positive");
  if (int64_t bytes = estimateScratch(kernel); bytes > maxScratchBytes)
    return diag::help(
        diag::error(kernel, diag::Id::CpuScratch)
            << "a tile of '" << kernel.getSymName() << "' needs "
            << (bytes >> 10) << " KiB of stack; a thread has "
            << (maxScratchBytes >> 10) << " KiB for it",
        "lower schedule.tile_m or schedule.tile_n, or use a smaller head dim");
  return success();
}

/// tf32 is a format of matrix units.
static LogicalResult checkPrecision(attn::KernelOp kernel) {
  attn::PrecisionAttr precision = kernel.getPrecisionAttr();
  if (!precision || !precision.getQk().isTF32())
    return success();
  return diag::help(diag::error(kernel, diag::Id::PrecisionNotSupported)
                        << "precision.operands = tf32 is not supported on CPU "
                           "targets",
                    "leave precision.operands at its default, or use "
                    "--arch=sm_80");
}

namespace {
struct LowerToCpu : cpu::impl::LowerToCpuBase<LowerToCpu> {
  void runOnOperation() override {
    auto isOurs = [](const lowering::TargetInfo &target) {
      return target.kind == lowering::TargetKind::Cpu;
    };
    auto emit = [](attn::KernelOp kernel) -> LogicalResult {
      const lowering::TargetInfo &target = *lowering::getTarget(kernel);
      if (failed(checkPrecision(kernel)) ||
          failed(checkSchedule(kernel, target)))
        return failure();
      return cpu::KernelEmitter(kernel, target).emit();
    };
    if (failed(lowering::lowerKernels(getOperation(), isOurs, emit)))
      signalPassFailure();
  }
};
} // namespace
