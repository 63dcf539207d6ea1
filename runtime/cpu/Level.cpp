//===- Level.cpp - which CPU code runs here -------------------------------===//

#include "runtime/cpu/Level.h"

using namespace qm::runtime;

int cpu::levelOf(std::string_view target) {
  if (target == "cpu" || target == "generic-cpu")
    return 0;
  if (target == "x86-64-v3")
    return 3;
  return target == "x86-64-v4" ? 4 : -1;
}

int cpu::hostLevel() {
#if defined(__x86_64__)
  // Features and not the levels' names: the compilers of today know those, and
  // the oldest that we build with does not.
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
      !__builtin_cpu_supports("bmi2"))
    return 0;
  bool avx512 =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512cd") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return avx512 ? 4 : 3;
#else
  return 0;
#endif
}
