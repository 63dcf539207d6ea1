//===- Verbose.cpp - QM_VERBOSE: what the runtime chooses, and why --------===//

#include "runtime/Verbose.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

using namespace qm::runtime;

static int verbosity() {
  static const int level = [] {
    const char *text = getenv("QM_VERBOSE");
    return text ? atoi(text) : 0;
  }();
  return level;
}

bool qm::runtime::isVerbose() { return verbosity() > 0; }

bool qm::runtime::isNews(const Variant &variant, DLDevice device) {
  // A bit a GPU; all but the last, which is the CPU's, are ordinals.
  int place = device.device_type == kDLCPU ? 63 : device.device_id % 63;
  uint64_t bit = 1ull << place;
  bool told = variant.announced.fetch_or(bit) & bit;
  return !told || verbosity() > 1;
}

void qm::runtime::say(const char *format, ...) {
  char text[4096];
  int prefix = snprintf(text, sizeof text, "qm: ");
  va_list values;
  va_start(values, format);
  vsnprintf(text + prefix, sizeof text - prefix, format, values);
  va_end(values);
  fprintf(stderr, "%s\n", text);
}
