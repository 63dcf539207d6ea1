//===- Artifact.cpp - the outputs that --emit names -----------------------===//
#include "qmc/Artifact.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace qm;
using namespace qm::driver;

static constexpr StringLiteral names[] = {
    "spec", "online", "tiled", "fused", "typed", "scheduled", "llvm",
    "ptx",  "cubin",  "obj",   "json",  "lib",   "archive",   "shared"};

std::optional<Emit> qm::driver::parseEmit(StringRef name) {
  const auto *found = find(names, name);
  if (found == std::end(names))
    return std::nullopt;
  return static_cast<Emit>(found - std::begin(names));
}

StringRef qm::driver::getEmitName(Emit emit) {
  return names[static_cast<unsigned>(emit)];
}

std::vector<std::string> qm::driver::emitNames() {
  return {std::begin(names), std::end(names)};
}

std::optional<passes::Level> qm::driver::getLevel(Emit emit) {
  return passes::parseLevel(getEmitName(emit));
}

bool qm::driver::isPerTarget(Emit emit) {
  return emit >= Emit::Scheduled && emit < Emit::Json;
}

bool qm::driver::isLibrary(Emit emit) { return emit >= Emit::Lib; }

bool qm::driver::fits(Emit emit, lowering::TargetKind kind) {
  switch (emit) {
  case Emit::Ptx:
  case Emit::Cubin:
    return kind == lowering::TargetKind::Nvidia;
  case Emit::Obj:
    return kind == lowering::TargetKind::Cpu;
  default:
    return true;
  }
}

std::string Artifact::suffix() const {
  std::string prefix = target.empty() ? "" : target + ".";
  if (getLevel(emit))
    return prefix + getEmitName(emit).str() + ".mlir";
  switch (emit) {
  case Emit::Llvm:
    return prefix + "ll";
  case Emit::Obj:
    return prefix + "o";
  default:
    return prefix + getEmitName(emit).str();
  }
}
