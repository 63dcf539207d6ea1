//===- CompileForGpu.cpp - from specs to machine code of a GPU ------------===//
#include "qmc/CompileForGpu.h"
#include "qmc/Console.h"
#include "qmc/ScheduleFile.h"

#include "dialect/AttnOps.h"
#include "passes/Overrides.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace qm;
using namespace qm::driver;
using lowering::TargetInfo;

/// Bytes of registers that cost less than smaller blocks do. Measured on an
/// H200, milliseconds with key blocks of 128, 64 and 32 (bytes spilled): a
/// table by position 0.200, 0.225, 0.277 (832, 28, 0), a dense bias under tanh
/// 0.447, 0.403, 0.436 (520, 0, 0), nested gathers 0.409, 0.296, 0.287 (2264,
/// 488, 0).
static constexpr unsigned toleratedSpill = 1024;
/// Fewer keys than two steps of a matrix instruction are no block.
static constexpr int64_t fewestKeys = 32;

static FailureOr<GpuModule> compileOnce(Session &session,
                                        const Options &options, ModuleOp module,
                                        const TargetInfo &target,
                                        bool wantCubin) {
  CompilePipeline pipeline(session, options);
  auto scheduled = pipeline.lowerTo(module, passes::Level::Scheduled, target);
  if (failed(scheduled))
    return failure();
  OwningOpRef<ModuleOp> lowered((*scheduled)->clone());
  FailureOr<GpuCode> code = pipeline.lowerToGpu(*lowered, target, wantCubin);
  if (failed(code))
    return failure();
  return GpuModule{std::move(*scheduled), std::move(*code)};
}

/// Whether the size of the kernel's key blocks was asked for.
static bool isKeyBlockSet(attn::KernelOp kernel, const Options &options,
                          const TargetInfo &target) {
  std::vector<std::string> texts = options.overrides;
  if (!options.schedules.empty())
    if (auto tuned = readScheduleOverrides(options.schedules, target.name);
        succeeded(tuned))
      llvm::append_range(texts, *tuned);
  auto set = passes::selectOverrides(kernel, texts, "schedule");
  return failed(set) || llvm::any_of(*set, [](const passes::Override &o) {
           return o.field == "tile_n";
         });
}

static unsigned spilledBytes(const GpuModule &compiled, StringRef kernel) {
  const ptx::KernelResources *resources = compiled.code.report.find(kernel);
  return resources ? resources->spillStores : 0;
}

/// `chosen`, which comes of the user's `options`, with smaller key blocks for
/// the kernels that spill; nullopt if none does whose blocks can be smaller.
static std::optional<Options> withSmallerBlocks(const GpuModule &compiled,
                                                const Options &chosen,
                                                const Options &options,
                                                const TargetInfo &target) {
  Options smaller = chosen;
  for (auto kernel : compiled.scheduled.get().getOps<attn::KernelOp>()) {
    int64_t keys = kernel.getSchedule()->getTileN() / 2;
    if (spilledBytes(compiled, kernel.getSymName()) > toleratedSpill &&
        keys >= fewestKeys && !isKeyBlockSet(kernel, options, target))
      smaller.overrides.push_back(kernel.getSymName().str() +
                                  ":schedule.tile_n=" + std::to_string(keys));
  }
  if (smaller.overrides.size() == chosen.overrides.size())
    return std::nullopt;
  return smaller;
}

namespace {
/// What became of a kernel.
struct Outcome {
  int64_t keys; ///< of a key block
  unsigned spilledBytes;
};
} // namespace

static llvm::StringMap<Outcome> getOutcomes(const GpuModule &compiled) {
  llvm::StringMap<Outcome> outcomes;
  for (auto kernel : compiled.scheduled.get().getOps<attn::KernelOp>())
    outcomes[kernel.getSymName()] = {
        kernel.getSchedule()->getTileN(),
        spilledBytes(compiled, kernel.getSymName())};
  return outcomes;
}

static void reportSpills(const GpuModule &compiled,
                         const llvm::StringMap<Outcome> &first,
                         const TargetInfo &target) {
  llvm::StringMap<Outcome> outcomes = getOutcomes(compiled);
  for (auto kernel : compiled.scheduled.get().getOps<attn::KernelOp>()) {
    StringRef name = kernel.getSymName();
    auto [keys, bytes] = outcomes.lookup(name);
    auto [keysBefore, bytesBefore] = first.lookup(name);
    if (keys != keysBefore)
      reportNote("'" + name + "' has key blocks of " + Twine(keys) + " on " +
                 target.name + " and spills " + Twine(bytes) +
                 " bytes of registers; with " + Twine(keysBefore) +
                 " it would spill " + Twine(bytesBefore) + " (--set " + name +
                 ":schedule.tile_n=" + Twine(keysBefore) + " insists)");
    else if (bytes > 0)
      reportNote("'" + name + "' spills " + Twine(bytes) +
                 " bytes of registers on " + target.name +
                 "; smaller tiles (--set schedule.tile_n=32) may be faster");
  }
}

FailureOr<GpuModule> qm::driver::compileForGpu(Session &session,
                                               const Options &options,
                                               ModuleOp module,
                                               const TargetInfo &target,
                                               bool wantCubin) {
  FailureOr<GpuModule> best =
      compileOnce(session, options, module, target, wantCubin);
  if (failed(best))
    return failure();
  llvm::StringMap<Outcome> first = getOutcomes(*best);
  auto total = [](const GpuModule &compiled) {
    unsigned bytes = 0;
    for (const ptx::KernelResources &kernel : compiled.code.report.kernels)
      bytes += kernel.spillStores;
    return bytes;
  };

  Options chosen = options;
  // A schedule that came with the input is the user's.
  bool isOpen = passes::detectLevel(module) != passes::Level::Scheduled;
  while (isOpen) {
    std::optional<Options> smaller =
        withSmallerBlocks(*best, chosen, options, target);
    if (!smaller)
      break;
    smaller->saveTemps.reset();
    smaller->printIrAfter.reset();
    FailureOr<GpuModule> trial = failure();
    {
      // One that cannot be compiled is no error of the user's.
      ScopedDiagnosticHandler quiet(&session.context,
                                    [](Diagnostic &) { return success(); });
      trial = compileOnce(session, *smaller, module, target, wantCubin);
    }
    if (failed(trial) || total(*trial) >= total(*best))
      break;
    best = std::move(trial);
    chosen.overrides = std::move(smaller->overrides);
  }
  reportSpills(*best, first, target);
  // What is kept or printed on the way is that of the code.
  if ((options.saveTemps || options.printIrAfter) &&
      chosen.overrides != options.overrides)
    return compileOnce(session, chosen, module, target, wantCubin);
  return best;
}
