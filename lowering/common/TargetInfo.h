// The table of targets: what a schedule may use, and what the roofline of `qmc
// explain` assumes. Figures are the vendors' data sheets and the CUDA
// programming guide's table of compute capabilities.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace qm::lowering {

enum class TargetKind { Cpu, Nvidia };

struct TargetInfo {
  llvm::StringLiteral name; ///< what --arch and #attn.schedule say
  TargetKind kind;
  llvm::StringLiteral description;

  // CPU
  llvm::StringLiteral llvmCpu; ///< -mcpu of LLVM
  unsigned vectorBytes;        ///< bytes of a vector register
  unsigned vectorRegisters;

  // NVIDIA
  unsigned sm; ///< compute capability times ten
  llvm::StringLiteral
      ptxFeature; ///< PTX version pinned for the target, as an LLVM feature
  uint32_t sharedBytesPerCta; ///< opt-in limit of one CTA
  uint32_t sharedBytesPerSm;
  uint32_t registersPerSm; ///< 32-bit registers
  uint32_t threadsPerSm;
  uint32_t ctasPerSm;

  // The card that the roofline of `explain` assumes (data sheet figures of
  // `card`).
  llvm::StringLiteral card;
  unsigned sms; ///< multiprocessors; CPU: 0, the host's cores are counted
  double matrixTflops; ///< dense f16/bf16 with f32 accumulation; CPU: 0
  double memoryGBs;    ///< device memory; CPU: 0
};

llvm::ArrayRef<TargetInfo> allTargets();

/// The target of that name, or null. "cpu" is the best level that this machine
/// runs.
const TargetInfo *findTarget(llvm::StringRef name);

/// "x86-64-v3, x86-64-v4, ..." for messages.
std::string targetNames();

} // namespace qm::lowering
