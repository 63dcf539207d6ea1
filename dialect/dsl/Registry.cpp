//===- Registry.cpp - registered specs behind a C interface ---------------===//
#include "dialect/dsl/Trace.h"

#include <qm/registry.h>

#include <exception>

// Everything else of the library is hidden, so that two spec objects in one
// process keep their own lists.
#define QM_EXPORT extern "C" __attribute__((visibility("default")))

namespace qm::detail {
namespace {

struct Entry {
  const char *name;
  void (*body)(Spec &);
  Where where;
  std::unique_ptr<Spec> spec; ///< Made when first asked for.
};

std::deque<Entry> &entries() {
  static std::deque<Entry> list;
  return list;
}

} // namespace

Registration::Registration(const char *name, void (*body)(Spec &),
                           Where where) {
  entries().push_back({name, body, where, nullptr});
}

struct Registry {
  /// The spec with this number, traced; null if there is none.
  static Spec *find(int number) {
    if (number < 0 || static_cast<size_t>(number) >= entries().size())
      return nullptr;
    Entry &entry = entries()[number];
    if (!entry.spec) {
      entry.spec = std::make_unique<Spec>(entry.name, entry.where);
      checkName(entry);
      runBody(entry);
    }
    return entry.spec.get();
  }

private:
  static void checkName(const Entry &entry) {
    for (const Entry &other : entries()) {
      if (&other == &entry)
        return;
      if (std::string(other.name) == entry.name)
        entry.spec->trace->report(diag::Id::DuplicateName, entry.where,
                                  "a spec '" + std::string(entry.name) +
                                      "' was defined before, at " +
                                      other.where.file_name() + ":" +
                                      std::to_string(other.where.line()),
                                  "give every spec its own name");
    }
  }

  static void runBody(const Entry &entry) {
    std::string what;
    try {
      entry.body(*entry.spec);
      return;
    } catch (const std::exception &error) {
      what = error.what();
    } catch (...) {
      what = "something that is not a std::exception";
    }
    entry.spec->trace->report(
        diag::Id::SpecThrew, entry.where,
        "the description of '" + std::string(entry.name) + "' threw: " + what,
        "a spec is described by plain calls; look for code that throws");
  }
};

} // namespace qm::detail

using qm::detail::entries;
using qm::detail::Registry;

QM_EXPORT int qm_spec_abi_version(void) { return QM_SPEC_ABI_VERSION; }

QM_EXPORT int qm_spec_count(void) { return static_cast<int>(entries().size()); }

// Runs no body: listing names must work where one of them cannot be traced.
QM_EXPORT const char *qm_spec_name(int spec) {
  if (spec < 0 || spec >= qm_spec_count())
    return nullptr;
  return entries()[spec].name;
}

QM_EXPORT const char *qm_spec_mlir(int spec) {
  qm::Spec *found = Registry::find(spec);
  return found ? found->mlir() : nullptr;
}

QM_EXPORT int qm_spec_diagnostic_count(int spec) {
  qm::Spec *found = Registry::find(spec);
  return found ? found->diagnosticCount() : -1;
}

QM_EXPORT int qm_spec_diagnostic(int spec, int index,
                                 qm_spec_diagnostic_t *out) {
  qm::Spec *found = Registry::find(spec);
  if (!found || !out || index < 0 || index >= found->diagnosticCount())
    return -1;
  qm::Diagnostic diagnostic = found->diagnostic(index);
  *out = {diagnostic.code,   diagnostic.file,    diagnostic.line,
          diagnostic.column, diagnostic.message, diagnostic.help};
  return 0;
}
