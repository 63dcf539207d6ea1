//===- Error.cpp - status and text of a failure ---------------------------===//

#include "runtime/Error.h"

#include <cstdarg>
#include <cstdio>

// Room for the log of a driver that rejects an image; longer texts are cut.
static thread_local char text[4096];

int qm::runtime::fail(qm_status status, const char *format, ...) {
  int prefix =
      snprintf(text, sizeof text, "QM%04d: ", static_cast<int>(status));
  va_list values;
  va_start(values, format);
  vsnprintf(text + prefix, sizeof text - prefix, format, values);
  va_end(values);
  return status;
}

const char *qm::runtime::lastError() { return text; }
