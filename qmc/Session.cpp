//===- Session.cpp - context and diagnostics of one qmc run ---------------===//
#include "qmc/Session.h"

#include "dialect/AttnOps.h"
#include "lowering/cpu/Pipeline.h"
#include "lowering/gpu/Pipeline.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace qm;
using namespace qm::driver;

static DialectRegistry makeRegistry() {
  DialectRegistry registry;
  registry.insert<arith::ArithDialect, math::MathDialect, func::FuncDialect,
                  attn::AttnDialect>();
  cpu::registerCpuDialects(registry);
  gpu::registerGpuDialects(registry);
  return registry;
}

// One kernel keeps one thread busy; starting a pool would cost more than it
// could save, and printing the IR after a pass needs a single thread.
Session::Session(llvm::raw_ostream &messages)
    : context(makeRegistry(), MLIRContext::Threading::DISABLED),
      handler(sources, &context, messages) {
  context.loadDialect<arith::ArithDialect, math::MathDialect, func::FuncDialect,
                      attn::AttnDialect>();
}
