//===- Library.h - kernels and their images ---------------------*- C++ -*-===//
//
// What the opaque handles of qm.h stand for. A library never changes after it
// is made, except that images are loaded into GPU contexts, and CPU shared
// objects into the process, when first used; both are behind an atomic pointer.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/CallCache.h"
#include "runtime/Handles.h"
#include "runtime/Manifest.h"
#include "runtime/cuda/LoadedImage.h"
#include "runtime/cuda/Target.h"

#include <atomic>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

namespace qm::runtime {

/// One image of a kernel: for one target, in one format.
struct Variant {
  ManifestEntry entry;
  ImageFormat format = ImageFormat::Cpu;

  // GPU: the image. `data` points into `owned` or at the caller's memory. A
  // packed one has `unpackedBytes`, and is unpacked while it is loaded.
  std::string owned;
  const void *data = nullptr;
  size_t packedBytes = 0, unpackedBytes = 0;
  cuda::Target gpu; ///< `entry.target`
  mutable cuda::LoadedImages loaded;

  // CPU: the function, or the shared object that has it.
  std::string path;
  mutable std::atomic<qm_cpu_entry> cpuEntry{nullptr};
  mutable void *sharedObject = nullptr;
  mutable std::mutex cpuMutex;

  /// Devices whose first choice of this variant QM_VERBOSE has told of.
  mutable std::atomic<uint64_t> announced{0};
};

struct Kernel {
  Signature signature;
  Conditions when;
  // A deque: variants hold mutexes and do not move.
  std::deque<Variant> variants;
  mutable CallCache calls;
  Handle handle;

  const qm_kernel *get() const {
    return static_cast<const qm_kernel *>(handle.get());
  }
};

/// The kernels of one spec, in the order in which a call tries them.
struct Operator {
  std::string name;
  std::vector<const Kernel *> kernels;
  Handle handle;

  const qm_operator *get() const {
    return static_cast<const qm_operator *>(handle.get());
  }
};

struct Library {
  std::string manifest;
  std::deque<Kernel> kernels;
  std::deque<Operator> operators;
  Handle handle;
  /// The shared object that holds the images, if the library came from one.
  void *sharedObject = nullptr;
  /// Belongs to an embedded library: qm_library_destroy leaves it alone.
  bool isEmbedded = false;

  Library() = default;
  Library(const Library &) = delete;
  Library &operator=(const Library &) = delete;
  ~Library();

  qm_library *get() const { return static_cast<qm_library *>(handle.get()); }
};

/// Fills an empty library from a shared object that `qmc build --emit=lib`
/// wrote, or from a manifest file and the images beside it.
int loadLibrary(const char *path, Library &library);

/// Fills an empty library from a manifest's text and images in memory.
int createLibrary(std::string_view manifest, const qm_image *images,
                  size_t imageCount, Library &library);

/// Fills an empty library from what an object file embeds.
int openEmbedded(const qm_embedded &embedded, Library &library);

} // namespace qm::runtime
