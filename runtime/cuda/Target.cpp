//===- Target.cpp - which image runs on which GPU -------------------------===//

#include "runtime/cuda/Target.h"
#include "runtime/Error.h"
#include "runtime/Library.h"

#include <charconv>

using namespace qm::runtime;
using namespace qm::runtime::cuda;

namespace {

/// How well a variant suits a device; 0: it does not run there.
int suitability(const Variant &variant, const DeviceInfo &device) {
  if (variant.format == ImageFormat::Cpu)
    return 0;
  const Target &target = variant.gpu;
  int wants = target.major * 10 + target.minor;
  int has = device.major * 10 + device.minor;
  bool exact = wants == has;
  bool family = target.major == device.major && wants <= has;
  if (target.suffix == 'a' ? !exact : target.suffix == 'f' && !family)
    return 0;
  // A suffix means that the image uses more of the GPU.
  int bonus = target.suffix ? 1 : 0;
  if (variant.format == ImageFormat::Cubin) {
    if (exact)
      return 30000 + bonus;
    return family ? 20000 + 2 * wants + bonus : 0;
  }
  return wants <= has ? 10000 + 2 * wants + bonus : 0;
}

} // namespace

bool qm::runtime::cuda::parseTarget(std::string_view text, Target &target) {
  if (text.substr(0, 3) != "sm_")
    return false;
  const char *end = text.data() + text.size();
  int number = 0;
  auto [rest, error] = std::from_chars(text.data() + 3, end, number);
  if (error != std::errc() || number < 50 || number > 999 || end - rest > 1)
    return false;
  target.major = number / 10;
  target.minor = number % 10;
  target.suffix = rest == end ? 0 : *rest;
  return target.suffix == 0 || target.suffix == 'a' || target.suffix == 'f';
}

const Variant *qm::runtime::cuda::findVariant(const Kernel &kernel,
                                              const DeviceInfo &device) {
  const Variant *found = nullptr;
  int best = 0;
  for (const Variant &candidate : kernel.variants) {
    int suits = suitability(candidate, device);
    if (suits > best) {
      best = suits;
      found = &candidate;
    }
  }
  return found;
}

int qm::runtime::cuda::selectVariant(const Kernel &kernel,
                                     const DeviceInfo &device,
                                     const Variant *&variant) {
  variant = findVariant(kernel, device);
  if (variant)
    return QM_OK;
  std::string present;
  for (const Variant &candidate : kernel.variants)
    present += (present.empty() ? "" : ", ") + candidate.entry.image + " for " +
               candidate.entry.target;
  return fail(QM_ERROR_NO_IMAGE_FOR_DEVICE,
              "kernel '%s' has no image for this GPU (compute capability "
              "%d.%d); it has %s\nhelp: build it with --arch=sm_%d%d",
              kernel.signature.kernel.c_str(), device.major, device.minor,
              present.c_str(), device.major, device.minor);
}
