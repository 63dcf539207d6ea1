//===- probe_cpu.cpp - the probe's CPU image: a shared object -------------===//

#include "test/runtime/Probe.h"

extern "C" __attribute__((visibility("default"))) void
probe_entry(const int64_t *slots, int64_t tileBegin, int64_t tileEnd) {
  probe::run(slots, tileBegin, tileEnd);
}
