// The diagnostics of the project as plain C++ data, for parts that know no MLIR
// (front end, runtime) and parts that do. A code is "QM" and four digits;
// diagnostics/*.def hold the list. Codes are stable: never reuse a number.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

namespace qm::diag {

enum class Id : unsigned {
#define QM_DIAGNOSTIC(name, number, title, text) name = number,
#include "dialect/Diagnostics.def"
#undef QM_DIAGNOSTIC
};

struct Info {
  Id id;
  const char *name;  ///< the enumerator
  const char *title; ///< one line
  const char *text;  ///< what it means, why, the way out
};

inline constexpr Info table[] = {
#define QM_DIAGNOSTIC(name, number, title, text) {Id::name, #name, title, text},
#include "dialect/Diagnostics.def"
#undef QM_DIAGNOSTIC
};

/// The entry with this number, or null.
inline const Info *find(unsigned number) {
  for (const Info &info : table)
    if (static_cast<unsigned>(info.id) == number)
      return &info;
  return nullptr;
}

/// "QM0203"
inline std::string code(Id id) {
  char text[16];
  std::snprintf(text, sizeof text, "QM%04u", static_cast<unsigned>(id));
  return text;
}

} // namespace qm::diag
