//===- GpuMachine.cpp - calls on an NVIDIA GPU ----------------------------===//
//
// The driver is found at run time, so qmc starts where there is none. Kernels
// go through the runtime as a program's would: manifest and images, in memory.
//
//===----------------------------------------------------------------------===//
#include "qmc/CompileForGpu.h"
#include "qmc/Console.h"
#include "qmc/Machine.h"

#include "lowering/ptx/Ptxas.h"
#include "runtime/cuda/Driver.h"
#include "runtime/qm.h"
#include "runtime/tools/CaseMemory.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

#include <deque>

using namespace mlir;
using namespace qm;
using namespace qm::driver;
using lowering::TargetInfo;
using reference::TensorView;
using runtime::CaseMemory;
using runtime::cuda::DeviceInfo;

namespace {

LogicalResult check(int status) {
  if (status == QM_OK)
    return success();
  auto [message, help] = StringRef(qm_last_error()).split("\nhelp: ");
  return reportError(
      diag::Id::GpuCallFailed, "a call on the GPU failed: " + message, "",
      help.empty() ? "`qmc explain` with the code in the message says more"
                   : help);
}

int64_t bytesOf(const TensorView &view) {
  return view.numElements() * runtime::bytesPerElement(view.dtype);
}

/// The arguments in device memory, which holds one call at a time. Outputs
/// travel both ways: what a kernel does not write keeps what the host had
/// there.
class GpuCall : public BoundCall {
public:
  GpuCall(const qm_kernel *kernel, CaseMemory &memory, const CallData &data)
      : kernel(kernel), memory(memory), arguments(data.inputsAndOutputs()),
        inputs(data.inputs().size()) {}
  ~GpuCall() override { memory.freeAll(); }

  LogicalResult bind() {
    for (const reference::Argument &argument : arguments) {
      if (const auto *integer = std::get_if<int32_t>(&argument)) {
        values.push_back(qm_i32(*integer));
      } else if (const auto *real = std::get_if<float>(&argument)) {
        values.push_back(qm_f32(*real));
      } else {
        const auto &view = std::get<TensorView>(argument);
        void *address = nullptr;
        if (failed(check(memory.allocate(bytesOf(view), address))) ||
            failed(check(memory.upload(address, view.data, bytesOf(view)))))
          return failure();
        DLTensor tensor = {};
        tensor.data = address;
        tensor.device = memory.device();
        tensor.ndim = view.rank();
        tensor.dtype = runtime::toDLPack(view.dtype);
        tensor.shape = const_cast<int64_t *>(view.extents.data());
        tensor.strides = const_cast<int64_t *>(view.strides.data());
        values.push_back(qm_tensor(&tensors.emplace_back(tensor)));
      }
    }
    return check(qm_kernel_prepare(kernel, memory.device()));
  }

  LogicalResult run() override {
    if (failed(eachOutput([&](void *device, const TensorView &view) {
          return memory.upload(device, view.data, bytesOf(view));
        })) ||
        failed(check(launch())) || failed(check(memory.synchronize())))
      return failure();
    return eachOutput([&](void *device, const TensorView &view) {
      return memory.download(view.data, device, bytesOf(view));
    });
  }

  FailureOr<double> time() override {
    double milliseconds = 0;
    if (failed(check(memory.time([&] { return launch(); }, milliseconds))))
      return failure();
    return milliseconds * 1e-3;
  }

private:
  int launch() {
    qm_launch_options options = {sizeof options, memory.stream(), 0, 0};
    return qm_launch(kernel, values.data(), values.size(), &options);
  }

  LogicalResult
  eachOutput(llvm::function_ref<int(void *, const TensorView &)> body) {
    for (size_t index = inputs; index < arguments.size(); ++index)
      if (failed(check(body(values[index].as.tensor->data,
                            std::get<TensorView>(arguments[index])))))
        return failure();
    return success();
  }

  const qm_kernel *kernel;
  CaseMemory &memory;
  std::vector<reference::Argument> arguments;
  size_t inputs;
  std::deque<DLTensor> tensors; ///< stable addresses
  std::vector<qm_value> values;
};

class LoadedGpuCode : public MachineCode {
public:
  LoadedGpuCode(std::unique_ptr<GpuCode> code, qm_library *library,
                CaseMemory &memory)
      : code(std::move(code)), library(library), memory(memory) {}
  ~LoadedGpuCode() override { qm_library_destroy(library); }

  FailureOr<std::unique_ptr<BoundCall>> bind(StringRef kernel,
                                             const CallData &data) override {
    const qm_kernel *found = nullptr;
    if (failed(check(qm_library_find(library, kernel.str().c_str(), &found))))
      return failure();
    auto call = std::make_unique<GpuCall>(found, memory, data);
    if (failed(call->bind()))
      return failure();
    return std::unique_ptr<BoundCall>(std::move(call));
  }

private:
  std::unique_ptr<GpuCode> code; ///< the library reads the image from here
  qm_library *library;
  CaseMemory &memory;
};

/// Whether the driver can run code for `target` on the device: machine code on
/// later GPUs of its generation, PTX on every later one, except what is tied to
/// one GPU ("sm_90a").
bool canRun(const TargetInfo &target, int major, int minor) {
  unsigned sm = major * 10 + minor;
  return target.kind == lowering::TargetKind::Nvidia &&
         (target.name.ends_with("a") ? target.sm == sm : target.sm <= sm);
}

class GpuMachine : public Machine {
public:
  GpuMachine(const Options &options, const DeviceInfo &device, std::string name,
             std::unique_ptr<CaseMemory> memory)
      : options(options), device(device), deviceName(std::move(name)),
        memory(std::move(memory)) {}

  std::string name() const override { return deviceName; }
  std::string threads() const override { return "-"; }
  double limitTflops() const override {
    const TargetInfo *own = findGpuTarget(device.major, device.minor);
    return own ? own->matrixTflops : 0;
  }
  double clockMHz() const override;
  FailureOr<std::vector<const TargetInfo *>> targets() const override;
  FailureOr<std::unique_ptr<MachineCode>>
  compile(Session &session, ModuleOp module, const TargetInfo &target) override;

private:
  std::string describe() const {
    return llvm::formatv("{0} (compute capability {1}.{2})", deviceName,
                         device.major, device.minor);
  }

  const Options &options;
  const DeviceInfo &device;
  std::string deviceName;
  std::unique_ptr<CaseMemory> memory;
};

double GpuMachine::clockMHz() const {
  auto program = llvm::sys::findProgramByName("nvidia-smi");
  llvm::SmallString<128> path;
  if (!program || llvm::sys::fs::createTemporaryFile("qmc", "clock", path))
    return 0;
  llvm::FileRemover remover(path);
  std::optional<StringRef> redirects[] = {std::nullopt, StringRef(path),
                                          StringRef("")};
  std::string index = std::to_string(options.device);
  constexpr unsigned seconds = 10;
  if (llvm::sys::ExecuteAndWait(*program,
                                {*program, "--query-gpu=clocks.sm",
                                 "--format=csv,noheader,nounits", "-i", index},
                                std::nullopt, redirects, seconds) != 0)
    return 0;
  auto text = llvm::MemoryBuffer::getFile(path);
  double clock = 0;
  if (!text || (*text)->getBuffer().trim().getAsDouble(clock))
    return 0;
  return clock;
}

FailureOr<std::vector<const TargetInfo *>> GpuMachine::targets() const {
  const TargetInfo *best = findGpuTarget(device.major, device.minor);
  if (!best)
    return reportError(diag::Id::TargetCannotRun,
                       "no target of this compiler runs on " + describe(),
                       "--target=gpu",
                       "known targets: " + lowering::targetNames());
  auto targets = findTargets(options, {best->name});
  if (failed(targets))
    return failure();
  for (const TargetInfo *target : *targets)
    if (!canRun(*target, device.major, device.minor))
      return reportError(diag::Id::TargetCannotRun,
                         target->name + " cannot run on " + describe(),
                         target->name, "use --arch=" + best->name);
  return targets;
}

FailureOr<std::unique_ptr<MachineCode>>
GpuMachine::compile(Session &session, ModuleOp module,
                    const TargetInfo &target) {
  // Machine code if it would be used and can be made; else the driver compiles
  // the PTX.
  bool wantCubin = int(target.sm / 10) == device.major &&
                   (!options.ptxas.empty() || !ptx::findPtxas("").empty());
  FailureOr<GpuModule> compiled =
      compileForGpu(session, options, module, target, wantCubin);
  if (failed(compiled))
    return failure();
  auto code = std::make_unique<GpuCode>(std::move(compiled->code));
  constexpr const char *imageName = "kernels";
  for (lowering::KernelInfo &kernel : code->kernels)
    kernel.image = imageName;
  std::string manifest = llvm::formatv(
      "{0}", llvm::json::Value(lowering::makeManifest(code->kernels)));
  const std::string &bytes = wantCubin ? code->cubin : code->ptx;
  qm_image image = {sizeof image, imageName, bytes.data(), bytes.size(),
                    nullptr};
  qm_library *made = nullptr;
  if (failed(check(qm_library_create(manifest.data(), manifest.size(), &image,
                                     1, &made))))
    return failure();
  return std::unique_ptr<MachineCode>(
      std::make_unique<LoadedGpuCode>(std::move(code), made, *memory));
}

} // namespace

const TargetInfo *qm::driver::findGpuTarget(int major, int minor) {
  const TargetInfo *best = nullptr;
  for (const TargetInfo &target : lowering::allTargets())
    if (canRun(target, major, minor) && (!best || target.sm > best->sm))
      best = &target;
  return best;
}

FailureOr<std::unique_ptr<Machine>>
qm::driver::makeGpuMachine(const Options &options) {
  const runtime::cuda::Driver *driver = nullptr;
  const DeviceInfo *device = nullptr;
  std::unique_ptr<CaseMemory> memory;
  if (runtime::cuda::getDevice(options.device, driver, device) != QM_OK ||
      runtime::makeGpuMemory(options.device, memory) != QM_OK)
    // The runtime's own way out is for programs that call it.
    return reportError(
        diag::Id::NoGpu,
        "there is no GPU to run on: " +
            StringRef(qm_last_error()).split("\nhelp: ").first,
        "--target=gpu",
        options.command == Command::Tune
            ? "write the candidates with `qmc tune --dump-kernels=DIR`, time "
              "them where an NVIDIA GPU is, and read --times back"
            : "use --target=cpu, or `qmc verify --dump-case DIR` and run the "
              "case where an NVIDIA GPU and its driver are");
  char name[128] = "";
  driver->deviceGetName(name, sizeof name - 1, device->handle);
  return std::unique_ptr<Machine>(
      std::make_unique<GpuMachine>(options, *device, name, std::move(memory)));
}
