//===- ScheduleReasons.cpp - why a schedule is what it is -----------------===//
#include "qmc/ScheduleReasons.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace qm;
using namespace qm::driver;
using lowering::TargetInfo;
using lowering::TargetKind;
using passes::Footprint;
using passes::Schedule;

Schedule qm::driver::getSchedule(attn::KernelOp kernel) {
  attn::ScheduleAttr attribute = *kernel.getSchedule();
  Schedule schedule;
  schedule.tileM = attribute.getTileM();
  schedule.tileN = attribute.getTileN();
  schedule.warps = attribute.getWarps();
  schedule.stages = attribute.getStages();
  schedule.microM = attribute.getMicroM();
  schedule.microN = attribute.getMicroN();
  schedule.consumers = attribute.getConsumers();
  schedule.queryBuffers = attribute.getQueryBuffers();
  schedule.producerRegisters = attribute.getProducerRegisters();
  schedule.consumerRegisters = attribute.getConsumerRegisters();
  schedule.pingPong = attribute.getPingPong();
  schedule.persistent = attribute.getPersistent();
  schedule.dynamicOrder = attribute.getDynamicOrder();
  schedule.oneLoop = attribute.getOneLoop();
  schedule.polyExp2 = attribute.getPolyExp2();
  return schedule;
}

namespace {

class Reasons {
public:
  Reasons(attn::KernelOp kernel, const TargetInfo &target,
          ArrayRef<std::string> overrides)
      : kernel(kernel), target(target), overrides(overrides),
        schedule(getSchedule(kernel)) {}

  std::vector<std::string> run() {
    if (target.kind == TargetKind::Cpu)
      explainCpu();
    else if (schedule.consumers)
      explainHopper();
    else
      explainAmpere();
    return std::move(lines);
  }

private:
  void because(StringRef field, int64_t value, const Twine &why) {
    bool given = any_of(overrides, [&](StringRef text) {
      return text.split('=').first == ("schedule." + field).str();
    });
    lines.push_back((field + " " + Twine(value) + ": " +
                     (given ? "set on the command line" : why))
                        .str());
  }

  /// What the chosen key block costs, and what one twice as wide would.
  std::string compareKeyBlocks() {
    Schedule wider = schedule;
    wider.tileN *= 2;
    wider.microN *= 2;
    Footprint chosen = passes::estimateFootprint(kernel, schedule, target);
    Footprint twice = passes::estimateFootprint(kernel, wider, target);
    std::string text =
        ("about " + Twine(chosen.registers) + " registers and " +
         Twine(chosen.sharedBytes) + " bytes, " + Twine(chosen.ctas) +
         " CTA(s) a multiprocessor; " + Twine(wider.tileN) + " would ")
            .str();
    return text +
           (twice.ctas ? "give " + std::to_string(twice.ctas) : "not fit");
  }

  void explainCpu() {
    int64_t lanes = target.vectorBytes / 4;
    because("micro_m", schedule.microM,
            Twine(schedule.microM / lanes) + " vectors of " + Twine(lanes) +
                " query rows");
    because("micro_n", schedule.microN,
            "with micro_m fills the " + Twine(target.vectorRegisters) +
                " vector registers with accumulators");
    because("tile_m", schedule.tileM,
            Twine(schedule.tileM / schedule.microM) +
                " strips share each conversion of K and V");
    because("tile_n", schedule.tileN,
            "the scores of a strip stay in the first-level cache");
  }

  void explainAmpere() {
    int64_t rows =
        schedule.microM ? schedule.microM : schedule.tileM / schedule.warps;
    int64_t rowWarps = schedule.tileM / rows;
    because("warps", schedule.warps,
            rowWarps == schedule.warps
                ? Twine("one a scheduler of the multiprocessor")
                : Twine(rowWarps) + " along the rows, each with " +
                      Twine(schedule.warps / rowWarps) +
                      " along the keys of a block");
    because("tile_m", schedule.tileM,
            Twine(rows) +
                " query rows a warp, so that each fragment of K or V "
                "feeds " +
                Twine(rows / 16) + " product(s)");
    because("tile_n", schedule.tileN, compareKeyBlocks());
    because("stages", schedule.stages,
            "the next K or V tile is copied while this one is used");
    if (schedule.pingPong)
      because("ping_pong", schedule.pingPong,
              "one group of warps does its softmax under the other's products");
    if (schedule.oneLoop)
      because(
          "one_loop", schedule.oneLoop,
          "full and masked blocks share the code of a large score function");
  }

  void explainHopper() {
    because("consumers", schedule.consumers,
            "warpgroups that compute; one more copies tiles by TMA");
    because("tile_m", schedule.tileM,
            Twine(schedule.tileM / schedule.consumers) +
                " query rows a consumer");
    because("tile_n", schedule.tileN, compareKeyBlocks());
    because("stages", schedule.stages, "K and V tiles in flight, each");
    because("query_buffers", schedule.queryBuffers,
            schedule.queryBuffers > 1
                ? "the next query tile arrives while this one is computed"
                : "shared memory goes to wider key blocks");
    because("consumer_registers", schedule.consumerRegisters,
            "what the producer, at " + Twine(schedule.producerRegisters) +
                ", leaves to the consumers");
    because("ping_pong", schedule.pingPong,
            schedule.pingPong ? "one consumer's softmax runs under another's "
                                "products"
                              : "consumers run independently");
    because("persistent", schedule.persistent,
            schedule.persistent ? "CTAs a multiprocessor run tile after tile "
                                  "without draining the pipeline"
                                : "one CTA a tile");
    if (schedule.polyExp2)
      because("poly_exp2", schedule.polyExp2,
              "of 16 exponentials, to relieve the special-function unit");
  }

  attn::KernelOp kernel;
  const TargetInfo &target;
  ArrayRef<std::string> overrides;
  Schedule schedule;
  std::vector<std::string> lines;
};

} // namespace

std::vector<std::string>
qm::driver::explainSchedule(attn::KernelOp kernel, const TargetInfo &target,
                            ArrayRef<std::string> overrides) {
  return Reasons(kernel, target, overrides).run();
}
