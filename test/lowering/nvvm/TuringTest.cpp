// The PTX of every instruction in lowering/nvvm/Turing.h, for sm_75: offsets
// are part of the instruction, and ptxas takes it.
#include "lowering/nvvm/Turing.h"
#include "lowering/ptx/EmitPtx.h"
#include "lowering/ptx/Ptxas.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace qm;

static const char *golden[] = {
    ".target sm_75",
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {",
    "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {",
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {",
    " ld.global.nc.v4.b32 {",
    "+512]; }",
    "ld.shared.v4.f32 {",
    "cvt.rn.f16.f32 low, ",
    ", {low, high}; }",
};

TEST(Turing, EveryInstruction) {
  MLIRContext context;
  DialectRegistry registry;
  nvvm::registerNvvm(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
  Location loc = UnknownLoc::get(&context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  nvvm::LocBuilder b(loc, &context);
  b.setInsertionPointToEnd(module->getBody());
  LLVM::LLVMFuncOp kernel = nvvm::createKernel(b, "all", 4, 64);

  Value slot = LLVM::LoadOp::create(b, b.getI64Type(), kernel.getArgument(0));
  Value thread = nvvm::readSpecial(b, nvvm::Special::ThreadX);
  Value block = nvvm::readSpecial(b, nvvm::Special::BlockX);
  Value shared =
      LLVM::AddOp::create(b, nvvm::dynamicShared(b, *module), thread);
  Value predicate =
      LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::slt, thread, block);
  nvvm::Values words = nvvm::loadGlobal128(b, predicate, slot, 512);
  nvvm::storeShared128(b, {}, shared, 0, words);
  nvvm::barrier(b);
  nvvm::Values a = nvvm::ldmatrixX4(b, shared, 0, 0, false);
  nvvm::Values v = nvvm::ldmatrixX4(b, shared, 32, 256, true);
  Type f16 = b.getF16Type();
  nvvm::Values c = nvvm::loadShared4xF32(b, shared, 16);
  nvvm::Values d =
      nvvm::mmaM16N8K8(b, f16, ArrayRef(a).take_front(2), v.front(), {});
  d = nvvm::mmaM16N8K8(b, f16, ArrayRef(a).take_back(2), v.back(), d);
  nvvm::storeGlobal(b, slot, nvvm::packHalves(b, d[0], c[1]));
  LLVM::ReturnOp::create(b, ValueRange());

  ptx::PtxOptions options;
  options.target = "sm_75";
  auto ptx = ptx::emitPtx(*module, options);
  ASSERT_TRUE(succeeded(ptx));
  for (const char *text : golden)
    EXPECT_NE(ptx->find(text), std::string::npos) << "missing: " << text << "\n"
                                                  << *ptx;
  if (ptx::findPtxas("").empty())
    GTEST_SKIP() << "no ptxas";
  ptx::PtxasOptions ptxas;
  ptxas.target = "sm_75";
  EXPECT_TRUE(succeeded(ptx::assemble(*ptx, ptxas, loc)));
}
