// Compiles specs to PTX and cubin.
#include "test/lowering/gpu/KernelCompiler.h"

#include "lowering/gpu/Pipeline.h"
#include "lowering/sm75/Pipeline.h"
#include "lowering/sm80/Pipeline.h"
#include "lowering/sm90/Pipeline.h"
#include "passes/Pipelines.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"

#include <chrono>

using namespace mlir;
using namespace qm;
using namespace qm::test;

KernelCompiler::KernelCompiler() {
  DialectRegistry registry;
  registry.insert<func::FuncDialect>();
  gpu::registerGpuDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
}

std::string KernelCompiler::specText(StringRef name, const Shape &shape) {
  auto file = llvm::MemoryBuffer::getFile(
      (QM_TEST_DATA "/sm80/" + name + ".mlir").str());
  if (!file)
    return {};
  std::string text = (*file)->getBuffer().str();
  // DV before D: the shorter token is part of the longer.
  for (auto [token, value] :
       {std::pair<StringRef, std::string>{"HQ", std::to_string(shape.heads)},
        {"HK", std::to_string(shape.kvHeads)},
        {"xDVx", "x" + std::to_string(shape.valueDim) + "x"},
        {"xDx", "x" + std::to_string(shape.headDim) + "x"},
        {"TYPE", shape.element}})
    for (size_t at = 0; (at = text.find(token, at)) != std::string::npos;
         at += value.size())
      text.replace(at, token.size(), value);
  return text;
}

FailureOr<CompiledKernel> KernelCompiler::compile(StringRef text,
                                                  const Shape &shape) {
  auto start = std::chrono::steady_clock::now();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return failure();
  passes::CompileOptions options;
  options.target = shape.target;
  for (const std::string &override : shape.overrides)
    options.overrides.push_back(override);
  PassManager scheduling(&context);
  passes::buildPipeline(scheduling, passes::Level::Spec,
                        passes::Level::Scheduled, options);
  if (failed(scheduling.run(*module)))
    return failure();
  CompiledKernel kernel;
  auto op = *module->getOps<attn::KernelOp>().begin();
  kernel.info = lowering::KernelInfo::get(op);
  PassManager lowering(&context);
  if (shape.target == "sm_75")
    sm75::buildSm75Pipeline(lowering);
  else if (shape.target == "sm_90a")
    sm90::buildSm90Pipeline(lowering);
  else
    sm80::buildSm80Pipeline(lowering);
  if (failed(lowering.run(*module)))
    return failure();
  Operation *function = SymbolTable::lookupSymbolIn(*module, kernel.info.name);
  kernel.info.sharedBytes =
      function->getAttrOfType<IntegerAttr>("attn.shared_bytes").getInt();
  kernel.passes =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  ptx::PtxOptions ptxOptions;
  ptxOptions.target = shape.target;
  ptxOptions.times = &kernel.times;
  FailureOr<std::string> ptx = ptx::emitPtx(*module, ptxOptions);
  if (failed(ptx))
    return failure();
  kernel.ptx = std::move(*ptx);
  return kernel;
}

FailureOr<ptx::Assembled> KernelCompiler::assemble(const CompiledKernel &kernel,
                                                   StringRef target) {
  ptx::PtxasOptions options;
  options.target = target.str();
  return ptx::assemble(kernel.ptx, options, UnknownLoc::get(&context));
}
