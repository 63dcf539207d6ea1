// The table of targets.
#include "lowering/common/TargetInfo.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

using namespace llvm;
using namespace qm::lowering;

static constexpr TargetInfo cpu(StringLiteral name, StringLiteral description,
                                StringLiteral llvmCpu, unsigned vectorBytes,
                                unsigned vectorRegisters) {
  return {name,
          TargetKind::Cpu,
          description,
          llvmCpu,
          vectorBytes,
          vectorRegisters,
          0,
          "",
          0,
          0,
          0,
          0,
          0,
          "this machine",
          0,
          0,
          0};
}

// Registers, threads and CTAs a multiprocessor: CUDA programming guide, table
// of technical specifications.
static const TargetInfo targets[] = {
    cpu("generic-cpu", "any CPU, 128-bit vectors", "generic", 16, 16),
    cpu("x86-64-v3", "x86-64 with AVX2 and FMA", "x86-64-v3", 32, 16),
    cpu("x86-64-v4", "x86-64 with AVX-512", "x86-64-v4", 64, 32),
    {"sm_75", TargetKind::Nvidia, "NVIDIA Turing, T4, RTX 8000", "", 0, 0, 75,
     "+ptx80", 64 << 10, 64 << 10, 65536, 1024, 16, "T4", 40, 65, 320},
    {"sm_80", TargetKind::Nvidia, "NVIDIA Ampere, A100", "", 0, 0, 80, "+ptx80",
     163 << 10, 164 << 10, 65536, 2048, 32, "A100 SXM 80 GB", 108, 312, 2039},
    {"sm_86", TargetKind::Nvidia, "NVIDIA Ampere, A10, RTX 30", "", 0, 0, 86,
     "+ptx80", 99 << 10, 100 << 10, 65536, 1536, 16, "A10", 72, 125, 600},
    {"sm_89", TargetKind::Nvidia, "NVIDIA Ada, L4, L40, RTX 40", "", 0, 0, 89,
     "+ptx84", 99 << 10, 100 << 10, 65536, 1536, 24, "L40S", 142, 362, 864},
    {"sm_90a", TargetKind::Nvidia, "NVIDIA Hopper, H100, H200", "", 0, 0, 90,
     "+ptx80", 227 << 10, 228 << 10, 65536, 2048, 32, "H200 SXM", 132, 989,
     4800},
};

ArrayRef<TargetInfo> qm::lowering::allTargets() { return targets; }

/// The best CPU level that this machine runs.
static StringRef hostLevel() {
  StringMap<bool> features = sys::getHostCPUFeatures();
  auto has = [&](std::initializer_list<StringRef> names) {
    return all_of(names, [&](StringRef name) { return features.lookup(name); });
  };
  if (has({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}))
    return "x86-64-v4";
  if (has({"avx2", "fma", "f16c", "bmi2"}))
    return "x86-64-v3";
  return "generic-cpu";
}

const TargetInfo *qm::lowering::findTarget(StringRef name) {
  if (name == "cpu")
    name = hostLevel();
  const auto *found = find_if(
      targets, [&](const TargetInfo &target) { return target.name == name; });
  return found == std::end(targets) ? nullptr : found;
}

std::string qm::lowering::targetNames() {
  std::string names = "cpu";
  for (const TargetInfo &target : targets)
    names.append(", ").append(target.name.str());
  return names;
}
