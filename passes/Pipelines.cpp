// The levels of a program and the pipeline from one to another.
#include "passes/Pipelines.h"
#include "passes/Passes.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace qm;
using namespace qm::passes;

static constexpr StringLiteral levelNames[] = {"spec",  "online", "tiled",
                                               "fused", "typed",  "scheduled"};

StringRef qm::passes::getLevelName(Level level) {
  return levelNames[static_cast<unsigned>(level)];
}

std::optional<Level> qm::passes::parseLevel(StringRef name) {
  const auto *found = llvm::find(levelNames, name);
  if (found == std::end(levelNames))
    return std::nullopt;
  return static_cast<Level>(found - std::begin(levelNames));
}

static std::optional<Level> levelOf(Operation *op) {
  if (isa<attn::AttentionOp>(op))
    return Level::Spec;
  if (isa<attn::OnlineOp>(op))
    return Level::Online;
  auto softmax = dyn_cast<attn::OnlineSoftmaxOp>(op);
  if (!softmax)
    return std::nullopt;
  auto kernel = op->getParentOfType<attn::KernelOp>();
  if (kernel && kernel.getSchedule())
    return Level::Scheduled;
  if (kernel && kernel.getPrecision())
    return Level::Typed;
  return softmax.getExp2Scale() ? Level::Fused : Level::Tiled;
}

std::optional<Level> qm::passes::detectLevel(ModuleOp module) {
  std::optional<Level> lowest;
  module.walk([&](Operation *op) {
    if (std::optional<Level> level = levelOf(op))
      lowest = lowest ? std::min(*lowest, *level) : *level;
  });
  return lowest;
}

void qm::passes::buildPipeline(OpPassManager &manager, Level from, Level to,
                               const CompileOptions &options) {
  auto runs = [&](Level level) { return from < level && level <= to; };
  if (runs(Level::Online)) {
    manager.addNestedPass<func::FuncOp>(createWarnEmptyMask());
    manager.addNestedPass<func::FuncOp>(createToOnline());
  }
  if (runs(Level::Tiled)) {
    manager.addPass(createTileAttention());
    manager.addNestedPass<attn::KernelOp>(createLiftMask());
    manager.addNestedPass<attn::KernelOp>(createBoundKeys());
    manager.addPass(createCanonicalizerPass());
  }
  if (runs(Level::Fused)) {
    manager.addNestedPass<attn::KernelOp>(createFuseModifiers());
    manager.addNestedPass<attn::KernelOp>(createBoundScores());
    manager.addNestedPass<attn::KernelOp>(createReduceDivision());
    manager.addNestedPass<attn::KernelOp>(createGuardDivision());
  }
  if (runs(Level::Typed)) {
    AssignPrecisionOptions precision;
    precision.overrides.assign(options.overrides.begin(),
                               options.overrides.end());
    manager.addNestedPass<attn::KernelOp>(createAssignPrecision(precision));
  }
  if (runs(Level::Scheduled)) {
    ChooseScheduleOptions schedule;
    schedule.target = options.target;
    schedule.overrides.assign(options.overrides.begin(),
                              options.overrides.end());
    manager.addNestedPass<attn::KernelOp>(createChooseSchedule(schedule));
  }
}

void qm::passes::registerPipelines() {
  PassPipelineRegistration<CompileOptions>(
      "qm-compile", "spec to scheduled",
      [](OpPassManager &manager, const CompileOptions &options) {
        buildPipeline(manager, Level::Spec, Level::Scheduled, options);
      });
}
