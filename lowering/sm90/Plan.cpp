// Reads a scheduled kernel and checks it against what this lowering and its
// target can do.
#include "lowering/sm90/Plan.h"

#include "dialect/Diagnostics.h"
#include "lowering/common/KernelInfo.h"
#include "lowering/common/MatrixPrecision.h"
#include "lowering/common/TargetInfo.h"
#include "lowering/sm90/ExtremaTables.h"

using namespace mlir;
using namespace qm;
using namespace qm::sm90;
using diag::Id;

/// Registers of a consumer besides scores, probabilities and accumulator:
/// statistics, addresses, the state of the rings (measured: 26 to 30).
static constexpr int64_t otherRegisters = 30;
/// Registers that setmaxnreg can hand out to the warps of a multiprocessor.
static constexpr int64_t registerFile = 65536;

int64_t Plan::spareRegisters() const {
  return consumerRegisters - scoreRegisters() * 3 / 2 - accumulatorRegisters() -
         otherRegisters;
}

static LogicalResult checkHeadDim(attn::KernelOp kernel, StringRef what,
                                  int64_t size) {
  if (size >= 8 && size <= 256 && size % 8 == 0)
    return success();
  return diag::help(diag::error(kernel, Id::HopperHeadDim)
                        << what << " head dim " << size
                        << " is not supported on sm_90a; multiples of 8 up to "
                           "256 are",
                    size > 256
                        ? "split the head, or use --arch=cpu"
                        : "pad the head dim to " + Twine((size + 7) / 8 * 8) +
                              ", or use --arch=cpu");
}

static LogicalResult checkPrecision(attn::KernelOp kernel, Plan &plan) {
  Type element =
      cast<RankedTensorType>(kernel.getQ().getType()).getElementType();
  if (!element.isF16() && !element.isBF16())
    return diag::help(diag::error(kernel, Id::OperandTypeNotSupported)
                          << "operands of type " << element
                          << " are not supported on sm_90a; f16 and bf16 are",
                      "give q, k and v as f16 or bf16, or use --arch=sm_80 or "
                      "--arch=cpu");
  plan.element = element;
  for (Value operand : {kernel.getK(), kernel.getV(), kernel.getO()}) {
    Type type = cast<RankedTensorType>(operand.getType()).getElementType();
    if (type != element)
      return diag::help(diag::error(kernel, Id::OperandTypeNotSupported)
                            << "an operand or output of type " << type
                            << " beside q of type " << element
                            << " is not supported on sm_90a",
                        "use one type for q, k, v and o, or --arch=cpu");
  }
  return lowering::checkMatrixPrecision(kernel, element, "wgmma");
}

static LogicalResult checkSchedule(attn::KernelOp kernel, const Plan &plan) {
  auto refuse = [&](StringRef field, int64_t value, const Twine &why,
                    const Twine &help) -> LogicalResult {
    return diag::help(diag::error(kernel, Id::HopperSchedule)
                          << "schedule." << field << " = " << value
                          << " does not work on sm_90a: " << why.str(),
                      help);
  };
  if (plan.consumers < 1 || plan.consumers > 3)
    return refuse("consumers", plan.consumers,
                  "1 to 3 warpgroups compute and one loads",
                  "use --set schedule.consumers=2");
  if (plan.tileM != consumerRows * plan.consumers)
    return refuse("tile_m", plan.tileM,
                  "a consumer has 64 query rows, so " + Twine(plan.consumers) +
                      " consumers make " + Twine(consumerRows * plan.consumers),
                  "use --set schedule.tile_m=" +
                      Twine(consumerRows * plan.consumers));
  if (int64_t warps = kernel.getScheduleAttr().getWarps();
      32 * warps != plan.threads())
    return refuse("warps", warps,
                  "with " + Twine(plan.consumers) + " consumers a CTA has " +
                      Twine(plan.threads() / 32) + " warps",
                  "use --set schedule.warps=" + Twine(plan.threads() / 32));
  if (plan.tileN < 16 || plan.tileN > 256 || plan.tileN % 16)
    return refuse("tile_n", plan.tileN, "it is a multiple of 16 up to 256",
                  "use --set schedule.tile_n=128");
  if (plan.stages < 2 || plan.stages > 8)
    return refuse("stages", plan.stages, "the rings have 2 to 8 stages",
                  "use --set schedule.stages=2");
  if (plan.queryBuffers < 1 || plan.queryBuffers > 2)
    return refuse("query_buffers", plan.queryBuffers, "1 or 2",
                  "use --set schedule.query_buffers=2");
  if (plan.pingPong && plan.consumers != 2)
    return refuse("ping_pong", 1,
                  "two consumers take turns, not " + Twine(plan.consumers),
                  "use --set schedule.ping_pong=0");
  for (auto [field, count] : {std::pair<StringRef, int64_t>{
                                  "producer_registers", plan.producerRegisters},
                              {"consumer_registers", plan.consumerRegisters}})
    if (count < 24 || count > 256 || count % 8)
      return refuse(field, count, "it is a multiple of 8 from 24 to 256",
                    "leave schedule." + field + " at its default");
  if (int64_t total =
          warpgroupThreads *
          (plan.producerRegisters + plan.consumers * plan.consumerRegisters);
      total > registerFile)
    return diag::help(diag::error(kernel, Id::TooManyRegisters)
                          << "roles with " << plan.producerRegisters << " and "
                          << plan.consumers << " times "
                          << plan.consumerRegisters
                          << " registers a thread need " << total
                          << "; a multiprocessor has " << registerFile,
                      "lower schedule.consumer_registers");
  if (int64_t registers = plan.consumerRegisters - plan.spareRegisters();
      registers > plan.consumerRegisters)
    return diag::help(
        diag::error(kernel, Id::TooManyRegisters)
            << "tile_n = " << plan.tileN << " with value head dim "
            << plan.valueDim << " needs about " << registers
            << " registers a thread; a consumer has " << plan.consumerRegisters,
        "use a smaller schedule.tile_n");
  const lowering::TargetInfo *target =
      lowering::findTarget(kernel.getScheduleAttr().getTarget());
  if (plan.sharedBytes() > target->sharedBytesPerCta)
    return diag::help(diag::error(kernel, Id::TooMuchSharedMemory)
                          << "the schedule needs " << plan.sharedBytes()
                          << " bytes of shared memory; " << target->name
                          << " gives a CTA " << target->sharedBytesPerCta,
                      "use a smaller schedule.tile_n, or "
                      "schedule.query_buffers=1");
  return success();
}

/// Tables take what shared memory the pipeline leaves: 4096 blocks are half a
/// million keys. Rows of sequences with lengths count from their start, and
/// blocks of them are no blocks of the buffer.
static int64_t chooseTableEntries(attn::KernelOp kernel, const Plan &plan) {
  constexpr int64_t most = 4096, least = 256;
  if (!plan.tables || plan.hasLengths)
    return 0;
  const lowering::TargetInfo *target =
      lowering::findTarget(kernel.getScheduleAttr().getTarget());
  int64_t left = target->sharedBytesPerCta - plan.tablesOffset();
  int64_t entries = std::min(most, left / tableEntryBytes / plan.tables - 1);
  return entries >= least ? entries : 0;
}

FailureOr<Plan> Plan::get(attn::KernelOp kernel) {
  attn::ScheduleAttr schedule = kernel.getScheduleAttr();
  Plan plan = {};
  auto dim = [](Value tensor) {
    return cast<RankedTensorType>(tensor.getType()).getDimSize(3);
  };
  plan.headDim = dim(kernel.getQ());
  plan.valueDim = dim(kernel.getV());
  plan.tileM = schedule.getTileM();
  plan.tileN = schedule.getTileN();
  plan.stages = schedule.getStages();
  plan.consumers = schedule.getConsumers();
  plan.queryBuffers = schedule.getQueryBuffers();
  plan.producerRegisters = schedule.getProducerRegisters();
  plan.consumerRegisters = schedule.getConsumerRegisters();
  plan.pingPong = schedule.getPingPong();
  plan.polyExp2 = schedule.getPolyExp2();
  lowering::KernelInfo info = lowering::KernelInfo::get(kernel);
  plan.tileCounters = info.tileCounters;
  plan.hasLengths = info.sequences != lowering::Sequences::Whole;
  // Without consumers, which is refused below, there are no maps.
  plan.queryBoxRows =
      info.tensorMaps.empty() ? plan.tileM : info.tensorMaps[0].rows;
  plan.tables = getTabledExtrema(kernel.getKeyBlocks()).size();
  plan.tableEntries = chooseTableEntries(kernel, plan);
  if (failed(checkPrecision(kernel, plan)) ||
      failed(checkHeadDim(kernel, "query and key", plan.headDim)) ||
      failed(checkHeadDim(kernel, "value", plan.valueDim)) ||
      failed(checkSchedule(kernel, plan)))
    return failure();
  return plan;
}
