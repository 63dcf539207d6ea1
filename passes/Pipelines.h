// The levels of a program and the pipeline from one to another.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

#include <optional>
#include <string>
#include <vector>

namespace qm::passes {

/// In the order of compilation; dialect/README.md shows each.
enum class Level { Spec, Online, Tiled, Fused, Typed, Scheduled };

llvm::StringRef getLevelName(Level level);
std::optional<Level> parseLevel(llvm::StringRef name);

/// The level that `module` is at, judged by the least lowered operator in it;
/// nothing if it holds none of ours.
std::optional<Level> detectLevel(mlir::ModuleOp module);

struct CompileOptions : mlir::PassPipelineOptions<CompileOptions> {
  Option<std::string> target{*this, "target",
                             llvm::cl::desc("target of the schedule"),
                             llvm::cl::init("cpu")};
  ListOption<std::string> overrides{*this, "set",
                                    llvm::cl::desc("part.field=value")};
};

/// Adds the passes that take a module from one level to a later one; nothing if
/// `to` is not later.
void buildPipeline(mlir::OpPassManager &manager, Level from, Level to,
                   const CompileOptions &options);

/// "qm-compile{target=sm_80 set=schedule.tile_n=32}": spec to scheduled, for
/// qm-opt.
void registerPipelines();

} // namespace qm::passes
