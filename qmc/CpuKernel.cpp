//===- CpuKernel.cpp - a compiled kernel that runs here -------------------===//
#include "qmc/CpuKernel.h"

#include "runtime/ParallelTiles.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;
using namespace qm;
using namespace qm::driver;
using reference::Argument;
using reference::TensorView;

std::vector<int64_t> qm::driver::packSlots(ArrayRef<Argument> arguments) {
  std::vector<int64_t> slots;
  for (const Argument &argument : arguments) {
    if (const auto *view = std::get_if<TensorView>(&argument)) {
      slots.push_back(reinterpret_cast<intptr_t>(view->data));
      llvm::append_range(slots, view->extents);
      llvm::append_range(slots, view->strides);
    } else if (const auto *integer = std::get_if<int32_t>(&argument)) {
      slots.push_back(*integer);
    } else {
      slots.push_back(llvm::bit_cast<uint32_t>(std::get<float>(argument)));
    }
  }
  return slots;
}

FailureOr<CpuKernels> CpuKernels::compile(CompilePipeline &pipeline,
                                          Session &session, ModuleOp module,
                                          const lowering::TargetInfo &target) {
  FailureOr<OwningOpRef<ModuleOp>> lowered =
      pipeline.lowerTo(module, passes::Level::Scheduled, target);
  if (failed(lowered))
    return failure();
  std::vector<lowering::KernelInfo> kernels = getKernels(**lowered);
  if (failed(pipeline.lowerToCpu(**lowered)))
    return failure();
  FailureOr<cpu::Jit> jit = session.timer.measure(
      "machine code", [&] { return cpu::Jit::compile(**lowered); });
  if (failed(jit))
    return failure();
  return CpuKernels(std::move(*jit), std::move(kernels));
}

const lowering::KernelInfo *CpuKernels::find(StringRef name) const {
  auto found = llvm::find_if(
      kernels, [&](const auto &kernel) { return kernel.name == name; });
  return found == kernels.end() ? nullptr : &*found;
}

void CpuKernels::run(StringRef name, ArrayRef<Argument> arguments,
                     unsigned threads) const {
  std::vector<int64_t> slots = packSlots(arguments);
  if (!runtime::parallelTiles(jit.lookup(name), slots.data(),
                              find(name)->countTiles(slots), threads))
    llvm::report_fatal_error("no thread has the stack that a tile needs",
                             /*gen_crash_diag=*/false);
}
