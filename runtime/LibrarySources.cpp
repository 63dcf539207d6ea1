//===- LibrarySources.cpp - where manifests and images come from ----------===//
//
// Files, memory, a shared object that `qmc build --emit=lib` wrote, or what an
// object file embeds.
//
//===----------------------------------------------------------------------===//

#include "runtime/Error.h"
#include "runtime/LibraryBuilder.h"
#include "runtime/Package.h"
#include "runtime/cuda/ImageFormat.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <sys/stat.h>

using namespace qm::runtime;

namespace {

/// No manifest or image is larger; a directory or a device is not a file.
constexpr int64_t maxFileBytes = 1LL << 30;

/// Names of images that lie in a library: a CPU's function, a GPU's content.
constexpr std::string_view cpuPrefix = "cpu:", hashPrefix = "sha256:";

int readFile(const std::string &path, qm_status status, std::string &bytes) {
  struct stat info;
  // Looked at before it is opened: a pipe that nobody writes to would wait.
  bool known = stat(path.c_str(), &info) == 0;
  bool fits = known && S_ISREG(info.st_mode) && info.st_size <= maxFileBytes;
  if (fits) {
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    bytes.resize(info.st_size);
    file.read(bytes.data(), info.st_size);
    if (file)
      return QM_OK;
  }
  return fail(status, "cannot read '%s': %s\nhelp: %s", path.c_str(),
              known && !fits ? "not a regular file of at most 1 GiB"
                             : strerror(errno ? errno : EIO),
              status == QM_ERROR_IMAGE_UNREADABLE
                  ? "images lie beside their manifest, as `qmc build -o DIR` "
                    "writes them"
                  : "pass libNAME.so of `qmc build --emit=lib`, or a manifest "
                    "with its images beside it");
}

std::string folderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  // With a slash in it dlopen takes a name as a path.
  return slash == std::string::npos ? "./" : path.substr(0, slash + 1);
}

/// GPU images are read now, shared objects are opened when first used.
int imageFromFile(const std::string &folder, Variant &variant) {
  const std::string &image = variant.entry.image;
  if (image.compare(0, cpuPrefix.size(), cpuPrefix) == 0 ||
      image.compare(0, hashPrefix.size(), hashPrefix) == 0)
    return fail(QM_ERROR_IMAGE_UNREADABLE,
                "image '%s' lies in the library that this manifest describes\n"
                "help: load libNAME.so, which holds the manifest as well",
                image.c_str());
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
  return recogniseImage(variant.entry, variant.owned, variant.format);
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
  if (int status = recogniseImage(variant.entry, bytes, variant.format))
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

/// CPU code is a symbol of the program, a GPU image is packed in the package.
int imageFromPackage(const Package &package, const qm_embedded &embedded,
                     Variant &variant) {
  const std::string &image = variant.entry.image;
  variant.format = variant.entry.format;
  if (variant.entry.isCpu()) {
    for (size_t i = 0; i < embedded.symbol_count; ++i)
      if (image.compare(0, cpuPrefix.size(), cpuPrefix) == 0 &&
          image.compare(cpuPrefix.size(), image.npos,
                        embedded.symbols[i].name) == 0)
        variant.cpuEntry.store(embedded.symbols[i].entry);
    if (variant.cpuEntry.load())
      return QM_OK;
  } else {
    PackedBlock block;
    if (variant.format != ImageFormat::Cpu && package.find(image, block)) {
      variant.data = package.dataOf(block);
      variant.packedBytes = block.packedBytes;
      variant.unpackedBytes = block.bytes;
      return QM_OK;
    }
  }
  return fail(QM_ERROR_IMAGE_UNREADABLE,
              "library '%s' holds no image '%s' (%s), which its kernel '%s' "
              "names\nhelp: build the library again",
              embedded.name, image.c_str(), formatName(variant.format),
              variant.entry.signature.kernel.c_str());
}

/// The symbol that a library's shared object exports besides its own name's.
constexpr const char *embeddedSymbol = "qm_embedded_library";

int loadSharedObject(const std::string &path, Library &library) {
  // With no slash dlopen would look elsewhere than the reader above.
  std::string place = path.find('/') == path.npos ? "./" + path : path;
  library.sharedObject = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library.sharedObject) {
    const char *reason = dlerror();
    return fail(QM_ERROR_LIBRARY_FILE,
                "'%s' cannot be loaded: %s\nhelp: build the library again",
                path.c_str(), reason ? reason : "unknown reason");
  }
  auto *embedded = static_cast<const qm_embedded *>(
      dlsym(library.sharedObject, embeddedSymbol));
  if (embedded)
    return openEmbedded(*embedded, library);
  return fail(QM_ERROR_LIBRARY_FILE,
              "'%s' is a shared object but holds no attention kernels (no "
              "symbol %s)\nhelp: make it with `qmc build --emit=lib`",
              path.c_str(), embeddedSymbol);
}

} // namespace

int qm::runtime::loadLibrary(const char *path, Library &library) {
  std::string text;
  if (int status = readFile(path, QM_ERROR_MANIFEST_UNREADABLE, text))
    return status;
  if (text.compare(0, 4,
                   "\x7f"
                   "ELF") == 0) {
    if (cuda::isSharedObject(text))
      return loadSharedObject(path, library);
    return fail(QM_ERROR_LIBRARY_FILE,
                "'%s' (%zu bytes) is cut short, or no shared object for this "
                "machine\nhelp: copy it whole and as a binary file",
                path, text.size());
  }
  if (text.compare(0, 8, "!<arch>\n") == 0)
    return fail(QM_ERROR_LIBRARY_FILE,
                "'%s' is an archive, to be linked into a program\nhelp: load "
                "libNAME.so, or link it and call the functions of NAME.h",
                path);
  std::string folder = folderOf(path);
  return fillLibrary(
      std::move(text), path,
      [&](Variant &variant) { return imageFromFile(folder, variant); },
      library);
}

int qm::runtime::createLibrary(std::string_view manifest,
                               const qm_image *images, size_t imageCount,
                               Library &library) {
  if (int status = checkImages(images, imageCount))
    return status;
  return fillLibrary(
      std::string(manifest), "the manifest in memory",
      [&](Variant &variant) {
        return imageFromMemory(images, imageCount, variant);
      },
      library);
}

int qm::runtime::openEmbedded(const qm_embedded &embedded, Library &library) {
  if (embedded.size < sizeof embedded || !embedded.name || !embedded.data ||
      (embedded.symbol_count && !embedded.symbols))
    return fail(QM_ERROR_LIBRARY_FILE,
                "an embedded library has a size of %zu bytes (%zu needed), or "
                "no name or data\nhelp: it is made by `qmc build --emit=lib`",
                embedded.size, sizeof embedded);
  if (embedded.abi_version != QM_ABI_VERSION)
    return fail(QM_ERROR_LIBRARY_FILE,
                "library '%s' was built for ABI version %lld, this runtime has "
                "%d\nhelp: use the runtime that belongs to the compiler",
                embedded.name, static_cast<long long>(embedded.abi_version),
                QM_ABI_VERSION);
  Package package;
  if (int status = package.open(embedded.data, embedded.bytes, embedded.name))
    return status;
  std::string manifest;
  if (int status = package.readManifest(manifest))
    return status;
  return fillLibrary(
      std::move(manifest), embedded.name,
      [&](Variant &variant) {
        return imageFromPackage(package, embedded, variant);
      },
      library);
}
