//===- CaseWriter.cpp - cases for a machine with a GPU --------------------===//
#include "qmc/CaseWriter.h"
#include "qmc/Commands.h"
#include "qmc/Console.h"

#include "lowering/common/TargetInfo.h"
#include "runtime/CaseFile.h"
#include "runtime/qm.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;
using namespace qm;
using namespace qm::driver;
using reference::TensorView;
using runtime::CaseArgument;

LogicalResult qm::driver::writeCaseKernels(Session &session,
                                           const Options &options) {
  Options build = options;
  build.command = Command::Build;
  build.emit = {"ptx", "cubin", "json"};
  build.output = options.dumpCase + "/kernels";
  build.arch.clear();
  for (const std::string &name : options.arch)
    if (const auto *target = lowering::findTarget(name);
        target && target->kind == lowering::TargetKind::Nvidia)
      build.arch.push_back(name);
  if (build.arch.empty())
    build.arch = {"sm_80"};
  return runBuild(session, build);
}

static CaseArgument describe(StringRef name, const TensorView &view) {
  CaseArgument argument;
  argument.name = name.str();
  argument.dtype = view.dtype;
  argument.shape.assign(view.extents.begin(), view.extents.end());
  argument.strides.assign(view.strides.begin(), view.strides.end());
  argument.storageBytes =
      view.numElements() * runtime::bytesPerElement(view.dtype);
  return argument;
}

static CaseArgument describeOutput(StringRef name, const TensorView &view,
                                   ArrayRef<double> expected, double bound) {
  CaseArgument argument = describe(name, view);
  argument.kind = CaseArgument::Kind::Output;
  argument.expected.assign(expected.begin(), expected.end());
  argument.absolute = bound;
  return argument;
}

LogicalResult qm::driver::writeCase(func::FuncOp spec, const CallData &data,
                                    const reference::Output &truth,
                                    const Bounds &bounds, Layout layout,
                                    const Options &options) {
  runtime::CaseFile file;
  file.name = (spec.getName() + (layout == Layout::Bshd ? ".bshd" : ".bhsd") +
               ".seed" + llvm::Twine(options.seed))
                  .str();
  file.manifest = "kernels.json";
  file.kernel = spec.getName().str();
  for (auto [name, value] : llvm::zip_equal(data.names(), data.inputs())) {
    if (const auto *view = std::get_if<TensorView>(&value)) {
      CaseArgument argument = describe(name, *view);
      argument.storage.assign(static_cast<const char *>(view->data),
                              argument.storageBytes);
      file.arguments.push_back(std::move(argument));
      continue;
    }
    CaseArgument argument;
    argument.name = name;
    argument.kind = CaseArgument::Kind::Scalar;
    bool real = std::holds_alternative<float>(value);
    argument.dtype = real ? runtime::DataType::F32 : runtime::DataType::I32;
    argument.bits = real ? llvm::bit_cast<uint32_t>(std::get<float>(value))
                         : static_cast<uint32_t>(std::get<int32_t>(value));
    file.arguments.push_back(std::move(argument));
  }
  file.arguments.push_back(describeOutput("o", data.o(), truth.o, bounds.o));
  if (data.lse())
    file.arguments.push_back(
        describeOutput("lse", *data.lse(), truth.lse, bounds.lse));
  if (data.rowMax())
    file.arguments.push_back(
        describeOutput("row_max", *data.rowMax(), truth.rowMax, bounds.rowMax));
  if (runtime::writeCase(options.dumpCase, file) != QM_OK)
    return reportError(diag::Id::CannotWrite,
                       "cannot write the case: " + StringRef(qm_last_error()),
                       options.dumpCase);
  return success();
}
