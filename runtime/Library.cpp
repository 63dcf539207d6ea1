//===- Library.cpp - kernels and their images -----------------------------===//

#include "runtime/Library.h"
#include "runtime/Error.h"
#include "runtime/cuda/ImageFormat.h"
#include "runtime/cuda/Target.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <functional>
#include <sys/stat.h>

using namespace qm::runtime;

namespace {

/// No manifest or image is larger; a directory or a device is not a file.
constexpr int64_t maxFileBytes = 1LL << 30;

int readFile(const std::string &path, qm_status status, std::string &bytes) {
  struct stat info;
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  bool readable = file && stat(path.c_str(), &info) == 0;
  if (readable && S_ISREG(info.st_mode) && info.st_size <= maxFileBytes) {
    bytes.resize(info.st_size);
    file.read(bytes.data(), info.st_size);
    if (file)
      return QM_OK;
  }
  return fail(status,
              "cannot read '%s': %s\nhelp: images lie beside their "
              "manifest, as `qmc build -o DIR` writes them",
              path.c_str(),
              readable ? "not a regular file of at most 1 GiB"
                       : strerror(errno ? errno : EIO));
}

std::string folderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  // With a slash in it dlopen takes a name as a path.
  return slash == std::string::npos ? "./" : path.substr(0, slash + 1);
}

/// Gives a variant its image; one for files, one for memory.
using ImageSource = std::function<int(Variant &)>;

int recogniseImage(Variant &variant, std::string_view bytes) {
  if (cuda::isCubin(bytes)) {
    variant.format = ImageFormat::Cubin;
    return QM_OK;
  }
  if (cuda::isPtx(bytes)) {
    variant.format = ImageFormat::Ptx;
    // The choice of an image goes by the manifest: it must be true.
    std::string_view target = cuda::ptxTarget(bytes);
    if (target == variant.entry.target)
      return QM_OK;
    return fail(QM_ERROR_IMAGE_REJECTED,
                "image '%s' is PTX for '%.*s', the manifest says %s\nhelp: the "
                "manifest and the image are not of one build",
                variant.entry.image.c_str(), static_cast<int>(target.size()),
                target.data(), variant.entry.target.c_str());
  }
  return fail(QM_ERROR_IMAGE_REJECTED,
              "image '%s' of kernel '%s' (%zu bytes) is neither a whole cubin "
              "nor PTX\nhelp: build it again; the file may be damaged",
              variant.entry.image.c_str(),
              variant.entry.signature.kernel.c_str(), bytes.size());
}

/// GPU images are read now, shared objects are opened when first used.
int imageFromFile(const std::string &folder, Variant &variant) {
  variant.path = folder + variant.entry.image;
  if (variant.entry.isCpu()) {
    std::ifstream file(variant.path, std::ios::binary);
    if (file)
      return QM_OK;
    return fail(QM_ERROR_IMAGE_UNREADABLE,
                "cannot read '%s': %s\nhelp: images lie beside their manifest",
                variant.path.c_str(), strerror(errno));
  }
  if (int status =
          readFile(variant.path, QM_ERROR_IMAGE_UNREADABLE, variant.owned))
    return status;
  variant.data = variant.owned.c_str(); // ends in NUL, as PTX must
  return recogniseImage(variant, variant.owned);
}

int imageFromMemory(const qm_image *images, size_t count, Variant &variant) {
  const char *wanted = variant.entry.image.c_str();
  const qm_image *image = nullptr;
  for (size_t i = 0; i < count && !image; ++i)
    if (strcmp(images[i].name, wanted) == 0)
      image = &images[i];
  bool cpu = variant.entry.isCpu();
  if (!image || (cpu ? !image->entry : !image->data))
    return fail(QM_ERROR_IMAGE_UNREADABLE,
                "no %s was given for image '%s' of kernel '%s'\nhelp: pass a "
                "qm_image of that name",
                cpu ? "entry" : "data", wanted,
                variant.entry.signature.kernel.c_str());
  if (cpu) {
    variant.cpuEntry.store(image->entry);
    return QM_OK;
  }
  std::string_view bytes(static_cast<const char *>(image->data), image->bytes);
  variant.data = image->data;
  if (int status = recogniseImage(variant, bytes))
    return status;
  if (variant.format == ImageFormat::Ptx && bytes.back() != '\0') {
    variant.owned = bytes;
    variant.data = variant.owned.c_str();
  }
  return QM_OK;
}

int checkImages(const qm_image *images, size_t count) {
  if (count > 0 && !images)
    return fail(QM_ERROR_NULL_ARGUMENT,
                "images is null but image_count is "
                "%zu\nhelp: pass an array of qm_image",
                count);
  for (size_t i = 0; i < count; ++i) {
    if (images[i].size != sizeof(qm_image))
      return fail(QM_ERROR_STRUCT_SIZE,
                  "images[%zu].size is %zu, qm_image has %zu bytes\nhelp: set "
                  "it to sizeof(qm_image)",
                  i, images[i].size, sizeof(qm_image));
    if (!images[i].name)
      return fail(QM_ERROR_NULL_ARGUMENT,
                  "images[%zu].name is null\nhelp: set "
                  "it to the manifest's \"image\"",
                  i);
  }
  return QM_OK;
}

/// Entries of one name become one kernel, its variants in manifest order.
int addEntry(const char *origin, ManifestEntry &entry,
             const ImageSource &getImage, qm_library &library) {
  cuda::Target target;
  if (!entry.isCpu() && !cuda::parseTarget(entry.target, target))
    return fail(QM_ERROR_MANIFEST_INVALID,
                "%s: in kernel '%s', the target '%s' is not known\nhelp: "
                "targets are sm_NN, sm_NNa, sm_NNf and cpu",
                origin, entry.signature.kernel.c_str(), entry.target.c_str());
  qm_kernel *kernel = nullptr;
  for (qm_kernel &known : library.kernels)
    if (known.signature.kernel == entry.signature.kernel)
      kernel = &known;
  if (!kernel) {
    kernel = &library.kernels.emplace_back();
    kernel->signature = entry.signature;
  }
  if (kernel->signature != entry.signature)
    return fail(QM_ERROR_MANIFEST_INVALID,
                "%s: the entries of kernel '%s' differ in their 'args'\nhelp: "
                "give different kernels different names",
                origin, entry.signature.kernel.c_str());
  Variant &variant = kernel->variants.emplace_back();
  variant.entry = std::move(entry);
  return getImage(variant);
}

int fillLibrary(std::string_view manifest, const char *origin,
                const ImageSource &getImage, qm_library &library) {
  std::vector<ManifestEntry> entries;
  if (int status = parseManifest(manifest, origin, entries))
    return status;
  for (ManifestEntry &entry : entries)
    if (int status = addEntry(origin, entry, getImage, library))
      return status;
  return QM_OK;
}

} // namespace

qm_library::~qm_library() {
  for (qm_kernel &kernel : kernels)
    for (Variant &variant : kernel.variants)
      if (variant.sharedObject)
        dlclose(variant.sharedObject);
}

int qm::runtime::loadLibrary(const char *manifestPath, qm_library &library) {
  std::string path = manifestPath, text;
  if (int status = readFile(path, QM_ERROR_MANIFEST_UNREADABLE, text))
    return status;
  std::string folder = folderOf(path);
  return fillLibrary(
      text, manifestPath,
      [&](Variant &variant) { return imageFromFile(folder, variant); },
      library);
}

int qm::runtime::createLibrary(std::string_view manifest,
                               const qm_image *images, size_t imageCount,
                               qm_library &library) {
  if (int status = checkImages(images, imageCount))
    return status;
  return fillLibrary(
      manifest, "the manifest in memory",
      [&](Variant &variant) {
        return imageFromMemory(images, imageCount, variant);
      },
      library);
}
