//===- Library.h - kernels and their images ---------------------*- C++ -*-===//
//
// What the opaque handles of qm.h are. A library never changes after it is
// made, except that images are loaded into GPU contexts, and CPU shared objects
// into the process, when first used; both are behind an atomic pointer.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/Manifest.h"
#include "runtime/cuda/LoadedImage.h"

#include <atomic>
#include <deque>
#include <mutex>
#include <string>

namespace qm::runtime {

enum class ImageFormat : uint8_t { Cubin, Ptx, Cpu };

/// One image of a kernel: for one target, in one format.
struct Variant {
  ManifestEntry entry;
  ImageFormat format = ImageFormat::Cpu;

  // GPU: the image. `data` points into `owned` or at the caller's memory.
  std::string owned;
  const void *data = nullptr;
  mutable cuda::LoadedImages loaded;

  // CPU: the function, or the shared object that has it.
  std::string path;
  mutable std::atomic<qm_cpu_entry> cpuEntry{nullptr};
  mutable void *sharedObject = nullptr;
  mutable std::mutex cpuMutex;
};

} // namespace qm::runtime

struct qm_kernel {
  qm::runtime::Signature signature;
  // A deque: variants hold mutexes and do not move.
  std::deque<qm::runtime::Variant> variants;
};

struct qm_library {
  std::deque<qm_kernel> kernels;

  qm_library() = default;
  qm_library(const qm_library &) = delete;
  qm_library &operator=(const qm_library &) = delete;
  ~qm_library();
};

namespace qm::runtime {

/// Fills an empty library from a manifest file and the images beside it.
int loadLibrary(const char *manifestPath, qm_library &library);

/// Fills an empty library from a manifest's text and images in memory.
int createLibrary(std::string_view manifest, const qm_image *images,
                  size_t imageCount, qm_library &library);

} // namespace qm::runtime
