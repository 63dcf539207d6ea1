//===- ManifestReader.h - fields of a manifest, with errors -----*- C++ -*-===//
#pragma once

#include "runtime/Error.h"
#include "runtime/Json.h"
#include "runtime/Manifest.h"

namespace qm::runtime {

/// Reads fields and remembers where it is, so that every message says which
/// file, kernel and field is wrong. The first failure sticks.
class ManifestReader {
public:
  explicit ManifestReader(const char *origin) : origin(origin) {}

  int status = QM_OK;
  std::string where = "the file";

  bool invalid(const std::string &what) {
    if (status == QM_OK)
      status = fail(QM_ERROR_MANIFEST_INVALID,
                    "%s: in %s, %s\nhelp: build the manifest again with `qmc "
                    "build --emit=json`",
                    origin, where.c_str(), what.c_str());
    return false;
  }

  /// What only a later runtime can do.
  bool newer(const std::string &what) {
    if (status == QM_OK)
      status = fail(QM_ERROR_MANIFEST_VERSION,
                    "%s: in %s, %s, which this runtime does not know\nhelp: "
                    "use the runtime of the qmc that built it",
                    origin, where.c_str(), what.c_str());
    return false;
  }

  const JsonValue *field(const JsonValue &object, const char *name) {
    if (const JsonValue *found = object.find(name))
      return found;
    invalid(std::string("field '") + name + "' is missing");
    return nullptr;
  }

  bool text(const JsonValue &object, const char *name, std::string &out) {
    const JsonValue *value = field(object, name);
    if (!value)
      return false;
    if (!value->isText() || value->text.empty())
      return invalid(std::string("field '") + name +
                     "' must be a non-empty string");
    out = value->text;
    // A C string ends at the first NUL: "a\0b" would name another symbol.
    if (out.find('\0') != std::string::npos)
      return invalid(std::string("field '") + name + "' contains a NUL");
    return true;
  }

  bool integer(const JsonValue &object, const char *name, int64_t least,
               int64_t most, int64_t &out) {
    const JsonValue *value = field(object, name);
    if (!value)
      return false;
    if (!value->isIntegerBetween(least, most))
      return invalid(std::string("field '") + name + "' is " +
                     value->describe() + ", not an integer from " +
                     std::to_string(least) + " to " + std::to_string(most));
    out = value->integer;
    return true;
  }

private:
  const char *origin;
};

/// Reads "args" of an entry and checks that they are those of an attention.
bool readSignature(ManifestReader &reader, const JsonValue &entry,
                   Signature &signature);

} // namespace qm::runtime
