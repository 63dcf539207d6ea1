//===- LoadedImage.cpp - an image in the contexts that use it -------------===//

#include "runtime/cuda/LoadedImage.h"
#include "runtime/Error.h"
#include "runtime/Library.h"
#include "runtime/LibraryBuilder.h"
#include "runtime/Package.h"

#include <memory>
#include <string>

using namespace qm::runtime;
using namespace qm::runtime::cuda;

namespace {

/// Dynamic shared memory a kernel gets without asking for more.
constexpr int64_t defaultSharedBytes = 48 * 1024;

/// One loading of a variant; unloads what it loaded unless it succeeds.
class Loader {
public:
  Loader(const Driver &driver, const DeviceInfo &device, const Variant &variant)
      : driver(driver), device(device), entry(variant.entry), variant(variant),
        data(variant.data) {}

  int run(LoadedImage &image) {
    int status = unpackImage();
    if (status == QM_OK)
      status = loadModule();
    if (status == QM_OK)
      status = findFunction();
    if (status == QM_OK)
      status = checkLimits();
    if (status != QM_OK && module)
      driver.moduleUnload(module);
    image.module = module;
    image.function = function;
    return status;
  }

private:
  const char *name() const { return entry.image.c_str(); }

  /// The driver copies what it loads: the unpacked image is needed just now.
  int unpackImage() {
    if (!variant.unpackedBytes)
      return QM_OK;
    if (int status = unpack(variant.data, variant.packedBytes,
                            variant.unpackedBytes, name(), unpacked))
      return status;
    data = unpacked.c_str();
    ImageFormat format;
    int status = recogniseImage(entry, unpacked, format);
    if (status != QM_OK || format == variant.format)
      return status;
    return fail(QM_ERROR_IMAGE_REJECTED,
                "image '%s' is %s, the manifest says %s\nhelp: build the "
                "library again",
                name(), formatName(format), formatName(variant.format));
  }

  int loadModule() {
    char log[2048] = "";
    int keys[] = {jitErrorLogBuffer, jitErrorLogBufferBytes};
    void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
    Result result = driver.moduleLoadDataEx(&module, data, 2, keys, values);
    log[sizeof log - 1] = '\0';
    switch (result) {
    case success:
      return QM_OK;
    case errorNoBinaryForGpu:
    case errorUnsupportedPtxVersion:
      return fail(
          QM_ERROR_IMAGE_UNSUPPORTED,
          "image '%s' (target %s) has no code that this GPU (compute "
          "capability %d.%d) and its driver can run (CUDA error "
          "%d)%s%s\nhelp: build for this GPU (qmc build --arch=sm_%d%d), "
          "or update the driver",
          name(), entry.target.c_str(), device.major, device.minor, result,
          *log ? "\n" : "", log, device.major, device.minor);
    case errorInvalidImage:
    case errorInvalidPtx:
    case errorInvalidSource:
      return fail(QM_ERROR_IMAGE_REJECTED,
                  "the driver rejects image '%s' (target %s, CUDA error "
                  "%d)%s%s\nhelp: build it again; the file may be damaged",
                  name(), entry.target.c_str(), result, *log ? "\n" : "", log);
    default:
      return failCall(driver, result, "cannot load a kernel image");
    }
  }

  int findFunction() {
    Result result =
        driver.moduleGetFunction(&function, module, entry.entry.c_str());
    if (result == errorNotFound)
      return fail(QM_ERROR_IMAGE_REJECTED,
                  "image '%s' has no entry '%s'\nhelp: the manifest and the "
                  "image are not of one build",
                  name(), entry.entry.c_str());
    if (result != success)
      return failCall(driver, result, "cannot find a kernel in its image");
    return checkParameters();
  }

  /// The slots, the tensor maps, the number of a tile counter and nothing else,
  /// where the driver can tell.
  int checkParameters() {
    if (!driver.funcGetParamInfo)
      return QM_OK;
    size_t maps = entry.tensorMaps.size();
    size_t parameters = 1 + maps + (entry.tileCounters ? 1 : 0);
    size_t slotBytes = static_cast<size_t>(entry.signature.slots) * 8;
    size_t offset = 0, bytes = 0;
    for (size_t i = 0; i < parameters; ++i) {
      size_t expected = i == 0      ? slotBytes
                        : i <= maps ? sizeof(TensorMapBytes)
                                    : sizeof(int32_t);
      Result result = driver.funcGetParamInfo(function, i, &offset, &bytes);
      if (result == success && bytes == expected)
        continue;
      return fail(QM_ERROR_IMAGE_REJECTED,
                  "parameter %zu of entry '%s' of image '%s' has %zu bytes, "
                  "the manifest says %zu\nhelp: the manifest and the image "
                  "are not of one build",
                  i, entry.entry.c_str(), name(), result == success ? bytes : 0,
                  expected);
    }
    if (driver.funcGetParamInfo(function, parameters, &offset, &bytes) !=
        success)
      return QM_OK;
    return fail(QM_ERROR_IMAGE_REJECTED,
                "entry '%s' of image '%s' has more than the %zu parameters of "
                "the manifest\nhelp: the manifest and the image are not of "
                "one build",
                entry.entry.c_str(), name(), parameters);
  }

  int checkLimits() {
    int maxThreads = 0, staticBytes = 0;
    Result result = driver.funcGetAttribute(
        &maxThreads, functionMaxThreadsPerBlock, function);
    if (result == success)
      result = driver.funcGetAttribute(&staticBytes, functionStaticSharedBytes,
                                       function);
    if (result != success)
      return failCall(driver, result, "cannot read a kernel's attributes");
    if (entry.threads > maxThreads)
      return fail(QM_ERROR_KERNEL_LIMITS,
                  "kernel '%s' needs %lld threads a CTA, its image allows %d "
                  "on this GPU\nhelp: build with fewer warps",
                  entry.entry.c_str(), static_cast<long long>(entry.threads),
                  maxThreads);
    int64_t shared = staticBytes + entry.sharedBytes;
    if (shared > device.maxSharedBytes)
      return fail(QM_ERROR_KERNEL_LIMITS,
                  "kernel '%s' needs %lld bytes of shared memory, this GPU "
                  "(compute capability %d.%d) has %d a CTA\nhelp: build for "
                  "this target, or with a smaller tile or fewer stages",
                  entry.entry.c_str(), static_cast<long long>(shared),
                  device.major, device.minor, device.maxSharedBytes);
    if (shared <= defaultSharedBytes)
      return QM_OK;
    result = driver.funcSetAttribute(function, functionMaxDynamicSharedBytes,
                                     static_cast<int>(entry.sharedBytes));
    if (result != success)
      return failCall(driver, result, "cannot reserve shared memory");
    return QM_OK;
  }

  const Driver &driver;
  const DeviceInfo &device;
  const ManifestEntry &entry;
  const Variant &variant;
  std::string unpacked;
  const void *data;
  Module module = nullptr;
  Function function = nullptr;
};

/// Lets this thread load an image while a stream is captured into a graph: what
/// is loaded outlives the graph, and loading is no work of a stream.
class RelaxedCapture {
public:
  explicit RelaxedCapture(const Driver &driver) : driver(driver) {
    if (driver.exchangeCaptureMode)
      driver.exchangeCaptureMode(&mode);
  }
  RelaxedCapture(const RelaxedCapture &) = delete;
  RelaxedCapture &operator=(const RelaxedCapture &) = delete;
  ~RelaxedCapture() {
    if (driver.exchangeCaptureMode)
      driver.exchangeCaptureMode(&mode);
  }

private:
  const Driver &driver;
  int mode = captureModeRelaxed; ///< after the exchange: the thread's own
};

} // namespace

LoadedImages::~LoadedImages() {
  const Driver *driver = nullptr;
  LoadedImage *image = head.load(std::memory_order_acquire);
  if (image && getDriver(driver) != QM_OK)
    return;
  while (image) {
    // A context that is gone took its modules along.
    if (driver->ctxPushCurrent(image->context) == success) {
      driver->moduleUnload(image->module);
      Context popped;
      driver->ctxPopCurrent(&popped);
    }
    LoadedImage *next = image->next;
    delete image;
    image = next;
  }
}

const LoadedImage *LoadedImages::find(Context context,
                                      unsigned long long id) const {
  LoadedImage *image = head.load(std::memory_order_acquire);
  while (image && (image->context != context || image->contextId != id))
    image = image->next;
  return image;
}

int LoadedImages::get(const Driver &driver, const DeviceInfo &device,
                      Context context, const Variant &variant,
                      const LoadedImage *&image) {
  // A new context may get a dead one's address; only the id tells them apart.
  unsigned long long id = 0;
  if (driver.ctxGetId)
    driver.ctxGetId(context, &id);
  if ((image = find(context, id)))
    return QM_OK;

  std::lock_guard<std::mutex> lock(mutex);
  if ((image = find(context, id)))
    return QM_OK;
  auto fresh = std::make_unique<LoadedImage>();
  RelaxedCapture relaxed(driver);
  if (int status = Loader(driver, device, variant).run(*fresh))
    return status;
  fresh->context = context;
  fresh->contextId = id;
  fresh->next = head.load(std::memory_order_relaxed);
  head.store(fresh.get(), std::memory_order_release);
  image = fresh.release();
  return QM_OK;
}
