//===- SpecLibrary.cpp - the specs in a shared object ---------------------===//
#include "qmc/SpecLibrary.h"
#include "qmc/Console.h"
#include "qmc/CrashReport.h"

#include "dialect/dsl/include/qm/spec_abi.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"

#include <dlfcn.h>

using namespace mlir;
using namespace qm;
using namespace qm::driver;

struct SpecLibrary::Functions {
  decltype(&qm_spec_abi_version) version;
  decltype(&qm_spec_count) count;
  decltype(&qm_spec_name) name;
  decltype(&qm_spec_mlir) mlir;
  decltype(&qm_spec_diagnostic_count) diagnosticCount;
  decltype(&qm_spec_diagnostic) diagnostic;
};

SpecLibrary::SpecLibrary(void *handle)
    : handle(handle), functions(std::make_unique<Functions>()) {}
SpecLibrary::SpecLibrary(SpecLibrary &&other)
    : handle(std::exchange(other.handle, nullptr)),
      functions(std::move(other.functions)) {}
SpecLibrary::~SpecLibrary() {
  if (handle)
    dlclose(handle);
}

FailureOr<SpecLibrary> SpecLibrary::open(StringRef path) {
  auto unusable = [](const Twine &why) {
    return reportError(diag::Id::SpecLibraryUnusable,
                       "the compiled spec cannot be loaded: " + why, "",
                       "include <qm/attention.h> and define a spec with "
                       "QM_ATTENTION(name) { ... }");
  };
  UserCode loading("what a .cpp spec does when it is loaded");
  void *handle = dlopen(path.str().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return unusable(dlerror());
  SpecLibrary library(handle);
  auto find = [&](auto &function, const char *name) {
    function =
        reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(handle, name));
    return function != nullptr;
  };
  Functions &f = *library.functions;
  if (!find(f.version, "qm_spec_abi_version") ||
      !find(f.count, "qm_spec_count") || !find(f.name, "qm_spec_name") ||
      !find(f.mlir, "qm_spec_mlir") ||
      !find(f.diagnosticCount, "qm_spec_diagnostic_count") ||
      !find(f.diagnostic, "qm_spec_diagnostic"))
    return unusable("it does not export the functions of <qm/spec_abi.h>");
  if (f.version() != QM_SPEC_ABI_VERSION)
    return unusable("it has interface version " + Twine(f.version()) + ", " +
                    Twine(QM_SPEC_ABI_VERSION) + " needed");
  return library;
}

std::vector<std::string> SpecLibrary::names() const {
  std::vector<std::string> names;
  for (int spec = 0, count = functions->count(); spec < count; ++spec)
    names.push_back(functions->name(spec));
  return names;
}

FailureOr<std::string> SpecLibrary::trace(int index, MLIRContext &context) {
  // Asked first: tracing happens here, and a spec with diagnostics has no text.
  const char *text = [&] {
    UserCode tracing(llvm::Twine("the description of '") +
                     functions->name(index) + "'");
    return functions->mlir(index);
  }();
  for (int number = 0, count = functions->diagnosticCount(index);
       number < count; ++number) {
    qm_spec_diagnostic_t diagnostic;
    functions->diagnostic(index, number, &diagnostic);
    Location where = UnknownLoc::get(&context);
    if (diagnostic.line > 0)
      where = FileLineColLoc::get(&context, diagnostic.file, diagnostic.line,
                                  diagnostic.column);
    InFlightDiagnostic error = emitError(where)
                               << diagnostic.code << ": " << diagnostic.message;
    if (diagnostic.help && *diagnostic.help)
      error.attachNote() << "help: " << diagnostic.help;
  }
  if (!text)
    return failure();
  return std::string(text);
}
