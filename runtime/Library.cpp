//===- Library.cpp - kernels and their images -----------------------------===//

#include "runtime/Library.h"
#include "runtime/Error.h"
#include "runtime/LibraryBuilder.h"
#include "runtime/cuda/ImageFormat.h"
#include "runtime/cuda/Target.h"

#include <dlfcn.h>
#include <map>

using namespace qm::runtime;

namespace {

/// Entries of one name become one kernel, its variants in manifest order;
/// kernels of one operator become that operator.
class Builder {
public:
  Builder(const char *origin, const ImageSource &getImage, Library &library)
      : origin(origin), getImage(getImage), library(library) {}

  int add(ManifestEntry &entry) {
    const char *name = entry.signature.kernel.c_str();
    cuda::Target target;
    if (!entry.isCpu() && !cuda::parseTarget(entry.target, target))
      return fail(QM_ERROR_MANIFEST_INVALID,
                  "%s: in kernel '%s', the target '%s' is not known\nhelp: "
                  "targets are sm_NN, sm_NNa, sm_NNf, cpu, generic-cpu, "
                  "x86-64-v3 and x86-64-v4",
                  origin, name, entry.target.c_str());
    auto [found, isNew] = kernels.try_emplace(entry.signature.kernel, nullptr);
    if (isNew)
      found->second = addKernel(entry);
    Kernel &kernel = *found->second;
    if (kernel.signature != entry.signature || kernel.when != entry.when)
      return fail(QM_ERROR_MANIFEST_INVALID,
                  "%s: the entries of kernel '%s' differ in their 'args' or "
                  "'when'\nhelp: give different kernels different names",
                  origin, name);
    Variant &variant = kernel.variants.emplace_back();
    variant.entry = std::move(entry);
    variant.gpu = target;
    return getImage(variant);
  }

private:
  Kernel *addKernel(const ManifestEntry &entry) {
    Kernel &kernel = library.kernels.emplace_back();
    kernel.signature = entry.signature;
    kernel.when = entry.when;
    kernel.handle.make(HandleKind::Kernel, &kernel);
    auto [found, isNew] = operators.try_emplace(entry.operatorName, nullptr);
    if (isNew) {
      found->second = &library.operators.emplace_back();
      found->second->name = entry.operatorName;
      found->second->handle.make(HandleKind::Operator, found->second);
    }
    found->second->kernels.push_back(&kernel);
    return &kernel;
  }

  const char *origin;
  const ImageSource &getImage;
  Library &library;
  std::map<std::string, Kernel *> kernels;
  std::map<std::string, Operator *> operators;
};

} // namespace

int qm::runtime::recogniseImage(const ManifestEntry &entry,
                                std::string_view bytes, ImageFormat &format) {
  if (cuda::isCubin(bytes)) {
    format = ImageFormat::Cubin;
    return QM_OK;
  }
  if (cuda::isPtx(bytes)) {
    format = ImageFormat::Ptx;
    // The choice of an image goes by the manifest: it must be true.
    std::string_view target = cuda::ptxTarget(bytes);
    if (target == entry.target)
      return QM_OK;
    return fail(QM_ERROR_IMAGE_REJECTED,
                "image '%s' is PTX for '%.*s', the manifest says %s\nhelp: the "
                "manifest and the image are not of one build",
                entry.image.c_str(), static_cast<int>(target.size()),
                target.data(), entry.target.c_str());
  }
  return fail(QM_ERROR_IMAGE_REJECTED,
              "image '%s' of kernel '%s' (%zu bytes) is neither a whole cubin "
              "nor PTX\nhelp: build it again; the file may be damaged",
              entry.image.c_str(), entry.signature.kernel.c_str(),
              bytes.size());
}

int qm::runtime::fillLibrary(std::string manifest, const char *origin,
                             const ImageSource &getImage, Library &library) {
  library.handle.make(HandleKind::Library, &library);
  library.manifest = std::move(manifest);
  std::vector<ManifestEntry> entries;
  if (int status = parseManifest(library.manifest, origin, entries))
    return status;
  Builder builder(origin, getImage, library);
  for (ManifestEntry &entry : entries)
    if (int status = builder.add(entry))
      return status;
  return QM_OK;
}

Library::~Library() {
  for (Kernel &kernel : kernels)
    for (Variant &variant : kernel.variants)
      if (variant.sharedObject)
        dlclose(variant.sharedObject);
  // Images may lie in the shared object: they are unloaded first.
  operators.clear();
  kernels.clear();
  if (sharedObject)
    dlclose(sharedObject);
}
