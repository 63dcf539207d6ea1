//===- GpuCases.cpp - users' reports as case files ------------------------===//
#include "test/contract/GpuCases.h"

#include "runtime/CaseFile.h"
#include "runtime/qm.h"
#include "test/contract/RowCases.h"
#include "test/lowering/gpu/KernelCompiler.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace qm;
using namespace qm::contract;
using reference::WideProducts;
using runtime::CaseArgument;
using runtime::CaseFile;

static CaseArgument describe(const Tensor &tensor) {
  CaseArgument argument;
  argument.dtype = tensor.view.dtype;
  argument.shape.assign(tensor.view.extents.begin(), tensor.view.extents.end());
  argument.strides.assign(tensor.view.strides.begin(),
                          tensor.view.strides.end());
  argument.storageBytes = tensor.memory->bytes().size();
  argument.offset = tensor.offsetBytes();
  return argument;
}

static CaseArgument describeInput(const Tensor &tensor) {
  CaseArgument argument = describe(tensor);
  llvm::ArrayRef<uint8_t> bytes = tensor.memory->bytes();
  argument.storage.assign(bytes.begin(), bytes.end());
  return argument;
}

static CaseArgument describeOutput(const Tensor &tensor,
                                   llvm::ArrayRef<double> expected,
                                   double absolute, double relative) {
  CaseArgument argument = describe(tensor);
  argument.kind = CaseArgument::Kind::Output;
  argument.expected.assign(expected.begin(), expected.end());
  argument.absolute = absolute;
  argument.relative = relative;
  return argument;
}

static CaseFile makeCase(const Call &call, const Truth &truth,
                         const lowering::KernelInfo &kernel) {
  CaseFile file;
  file.manifest = "kernels.json";
  file.kernel = kernel.name;
  for (const Tensor *tensor : {&call.q, &call.k, &call.v})
    file.arguments.push_back(describeInput(*tensor));
  for (const auto &capture : call.captures) {
    if (const auto *tensor = std::get_if<Tensor>(&capture)) {
      file.arguments.push_back(describeInput(*tensor));
      continue;
    }
    CaseArgument scalar;
    scalar.kind = CaseArgument::Kind::Scalar;
    bool real = std::holds_alternative<float>(capture);
    scalar.dtype = real ? Element::F32 : Element::I32;
    scalar.bits = real ? llvm::bit_cast<uint32_t>(std::get<float>(capture))
                       : static_cast<uint32_t>(std::get<int32_t>(capture));
    file.arguments.push_back(scalar);
  }
  file.arguments.push_back(
      describeOutput(call.o, truth.o, truth.oAbsolute, truth.oRelative));
  file.arguments.push_back(
      describeOutput(call.lse, truth.lse, truth.lseAbsolute, 0));
  if (call.rowMax.memory)
    file.arguments.push_back(
        describeOutput(call.rowMax, truth.rowMax, truth.rowMaxAbsolute, 0));
  for (auto [argument, info] :
       llvm::zip_equal(file.arguments, kernel.arguments))
    argument.name = info.name;
  return file;
}

namespace {
/// What a spec is compiled for on a GPU.
struct GpuSetting : Setting {
  const char *suffix = "";                   ///< of the kernel's name
  std::vector<std::string> overrides = {};   ///< of schedule and precision
  std::optional<WideProducts> products = {}; ///< of f32 operands
};
} // namespace

/// Types that the target has; on sm_80 also the schedule that is not the
/// default under a mask, and both ways to multiply f32.
static std::vector<GpuSetting> settingsFor(llvm::StringRef target) {
  std::vector<GpuSetting> settings = {{{Element::F16, 64}},
                                      {{Element::F16, 128}}};
  if (target == "sm_75")
    return settings;
  settings.push_back({{Element::BF16, 64}});
  settings.push_back({{Element::BF16, 128}});
  if (target == "sm_90a")
    return settings;
  const std::vector<std::string> pingPong = {
      "schedule.ping_pong=1", "schedule.warps=8", "schedule.tile_m=256",
      "schedule.stages=3", "schedule.tile_n=64"};
  settings.push_back({{Element::BF16, 64}, "_pp", pingPong});
  settings.push_back({{Element::BF16, 128}, "_pp", pingPong});
  settings.push_back({{Element::F32, 64}, "", {}, WideProducts::Bf16x3});
  settings.push_back({{Element::F32, 128}, "", {}, WideProducts::Bf16x3});
  settings.push_back({{Element::F32, 64},
                      "_tf32",
                      {"precision.operands=tf32"},
                      WideProducts::Tf32});
  return settings;
}

/// The calls of one spec in one setting.
static LogicalResult writeCalls(const RowCase &rowCase,
                                const GpuSetting &setting,
                                const std::string &text,
                                const lowering::KernelInfo &kernel,
                                llvm::StringRef folder) {
  std::optional<Program> program;
  for (const RowCall &rowCall : rowCase.calls) {
    Call call = rowCall.make(setting.type, rowCase.shape(setting));
    if (!rowCall.keep && !program)
      program.emplace(text, Program::Options());
    Truth truth = rowCall.keep ? uniformTruth(call, rowCall.keep, rowCall.shift)
                               : program->evaluate(call, setting.products);
    // Probabilities of shifted scores are all alike, but not 1: as operands
    // they are rounded.
    if (rowCall.keep && rowCall.shift != 0 && setting.products)
      truth.oRelative += operandRoundoff(*setting.products);
    CaseFile file = makeCase(call, truth, kernel);
    file.name = kernel.name + "." + rowCall.name;
    if (runtime::writeCase(folder.str(), file) != QM_OK) {
      llvm::errs() << qm_last_error() << "\n";
      return failure();
    }
  }
  return success();
}

LogicalResult qm::contract::writeGpuCases(llvm::StringRef folder,
                                          llvm::StringRef target,
                                          llvm::StringRef prefix) {
  llvm::sys::fs::create_directories(folder);
  test::KernelCompiler compiler;
  std::vector<lowering::KernelInfo> kernels;
  for (const RowCase &rowCase : rowCases()) {
    if (!llvm::StringRef(rowCase.name).starts_with(prefix))
      continue;
    for (const GpuSetting &setting : settingsFor(target)) {
      // A case with head dims of its own runs once a type.
      bool ownDims = rowCase.headDim != 0;
      if (ownDims && (setting.headDim != 64 || !setting.overrides.empty()))
        continue;
      Shape shape = rowCase.shape(setting);
      std::string name = llvm::formatv("{0}_{1}", rowCase.name,
                                       runtime::dataTypeName(setting.type));
      if (!ownDims)
        name += "_d" + std::to_string(shape.headDim) + setting.suffix;
      std::string text = specText(name, setting.type, shape, rowCase.describe);
      test::Shape choices;
      choices.target = target.str();
      choices.overrides = setting.overrides;
      FailureOr<test::CompiledKernel> kernel = compiler.compile(text, choices);
      if (failed(kernel))
        return failure();
      kernel->info.image = name + ".ptx";
      if (llvm::Error error = ptx::writeAtomically(
              (folder + "/" + kernel->info.image).str(), kernel->ptx)) {
        llvm::errs() << llvm::toString(std::move(error)) << "\n";
        return failure();
      }
      if (failed(writeCalls(rowCase, setting, text, kernel->info, folder)))
        return failure();
      kernels.push_back(std::move(kernel->info));
    }
  }
  std::string manifest = llvm::formatv(
      "{0:2}", llvm::json::Value(lowering::makeManifest(kernels)));
  if (llvm::Error error =
          ptx::writeAtomically((folder + "/kernels.json").str(), manifest)) {
    llvm::errs() << llvm::toString(std::move(error)) << "\n";
    return failure();
  }
  // Mistakes in specs are test failures, here outside any test.
  return failure(
      testing::UnitTest::GetInstance()->ad_hoc_test_result().Failed());
}
