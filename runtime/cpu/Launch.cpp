//===- Launch.cpp - a packed call on the CPU ------------------------------===//

#include "runtime/cpu/Launch.h"
#include "runtime/Error.h"
#include "runtime/Library.h"
#include "runtime/ParallelTiles.h"
#include "runtime/cpu/Level.h"

#include <dlfcn.h>

using namespace qm::runtime;

namespace {

/// The variant's function; opens its shared object the first time.
int getEntry(const Variant &variant, qm_cpu_entry &entry) {
  entry = variant.cpuEntry.load(std::memory_order_acquire);
  if (entry)
    return QM_OK;
  std::lock_guard<std::mutex> lock(variant.cpuMutex);
  entry = variant.cpuEntry.load(std::memory_order_relaxed);
  if (entry)
    return QM_OK;
  if (!variant.sharedObject)
    variant.sharedObject = dlopen(variant.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (variant.sharedObject)
    entry = reinterpret_cast<qm_cpu_entry>(
        dlsym(variant.sharedObject, variant.entry.entry.c_str()));
  if (!entry) {
    const char *reason = dlerror();
    return fail(QM_ERROR_CPU_ENTRY,
                "cannot get CPU entry '%s' from '%s': %s\nhelp: link the "
                "kernel's object file into a shared object of that name",
                variant.entry.entry.c_str(), variant.path.c_str(),
                reason ? reason : "it is null");
  }
  variant.cpuEntry.store(entry, std::memory_order_release);
  return QM_OK;
}

} // namespace

const Variant *qm::runtime::cpu::findVariant(const Kernel &kernel) {
  static const int host = hostLevel();
  const Variant *found = nullptr;
  int best = -1;
  for (const Variant &candidate : kernel.variants) {
    int level = levelOf(candidate.entry.target);
    if (level > best && level <= host) {
      best = level;
      found = &candidate;
    }
  }
  return found;
}

int qm::runtime::cpu::selectVariant(const Kernel &kernel,
                                    const Variant *&variant) {
  variant = findVariant(kernel);
  if (variant)
    return QM_OK;
  for (const Variant &candidate : kernel.variants)
    if (candidate.entry.isCpu())
      return fail(QM_ERROR_NO_IMAGE_FOR_DEVICE,
                  "kernel '%s' is for CPUs of level %s, and this is none\n"
                  "help: build it with --arch=generic-cpu as well",
                  kernel.signature.kernel.c_str(),
                  candidate.entry.target.c_str());
  return fail(QM_ERROR_NO_IMAGE_FOR_DEVICE,
              "kernel '%s' has no image for the CPU\nhelp: build it with "
              "--arch=cpu, or pass CUDA tensors",
              kernel.signature.kernel.c_str());
}

int qm::runtime::cpu::launch(const Kernel &kernel, const PackedCall &call,
                             unsigned threads) {
  const Variant *variant = nullptr;
  qm_cpu_entry entry = nullptr;
  if (int status = selectVariant(kernel, variant))
    return status;
  if (int status = getEntry(*variant, entry))
    return status;
  int64_t tiles = call.tiles(variant->entry.tileM);
  if (tiles < 0)
    return failTooManyTiles(kernel.signature, call, variant->entry.tileM);
  if (!parallelTiles(entry, call.slots, tiles, threads))
    return fail(QM_ERROR_OUT_OF_MEMORY,
                "a tile of kernel '%s' may need %zu KiB of stack: the calling "
                "thread has less, and no thread could be made\nhelp: call it "
                "from a thread with a larger stack, or allow more threads",
                kernel.signature.kernel.c_str(), tileStackBytes >> 10);
  return QM_OK;
}

int qm::runtime::cpu::prepare(const Kernel &kernel) {
  const Variant *variant = nullptr;
  qm_cpu_entry entry = nullptr;
  int status = selectVariant(kernel, variant);
  return status == QM_OK ? getEntry(*variant, entry) : status;
}
