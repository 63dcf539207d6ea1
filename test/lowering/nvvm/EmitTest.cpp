// Golden PTX: every function of the facade, in one kernel, becomes the
// instruction that its comment names, and ptxas takes it.
#include "lowering/nvvm/NVVMEmit.h"
#include "lowering/ptx/EmitPtx.h"
#include "lowering/ptx/Ptxas.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace qm;

static const char *golden[] = {
    ".target sm_80",
    ".reqntid 64",
    ".entry all(\n\t.param .align 8 .b8 all_param_0[32]",
    ".extern .shared .align 1024 .b8 qm_shared[];",
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {",
    "xor.b32 a, ",
    ", 96; ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {",
    ", [a+4096]; }",
    "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {",
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {",
    "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {",
    "cvt.rna.tf32.f32 ",
    "cp.async.cg.shared.global.L2::128B [",
    "+256], 16, ",
    "cp.async.commit_group;",
    "cp.async.wait_group \t1;",
    "bar.sync \t0;",
    "bar.warp.sync \t-1;",
    "shfl.sync.bfly.b32",
    "shfl.sync.idx.b32",
    "vote.sync.any.pred",
    "vote.sync.ballot.b32",
    "st.shared.b32 [",
    "st.shared.b64 [",
    "st.shared.v4.b32 [",
    "+1024], {",
    " exit;",
    "ld.shared.b64 ",
    "ld.shared.v4.b32 {",
    ", 32; ld.shared.f32 ",
    ", [a+8]; }",
    "st.global.v4.b32 [",
    "st.global.v2.f32 [",
    "ld.global.nc.b32",
    "st.global.b32",
    "ex2.approx.ftz.f32",
    "lg2.approx.f32",
    "tanh.approx.f32",
    "rcp.approx.ftz.f32",
    "div.full.f32",
    "fma.rn.sat.f32",
    "sqrt.approx.f32",
    "rsqrt.approx.f32",
    "cvt.rn.bf16x2.f32",
    "cvt.rn.f16x2.f32",
    "mov.u32 \t%r",
    "%tid.x;",
    "%ctaid.x;",
    "add.s64",
    "mad.lo.s64 ",
};

TEST(NVVMEmit, EveryInstruction) {
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

  // Results are stored, so that nothing is dropped.
  Value slot = LLVM::LoadOp::create(b, b.getI64Type(), kernel.getArgument(0));
  Value thread = nvvm::readSpecial(b, nvvm::Special::ThreadX);
  Value block = nvvm::readSpecial(b, nvvm::Special::BlockX);
  Value threadAgain =
      nvvm::readSpecial(b, nvvm::Special::ThreadX, /*again=*/true);
  Value shared = nvvm::dynamicShared(b, *module);
  shared = LLVM::AddOp::create(b, shared, thread);
  Value predicate =
      LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::slt, thread, block);
  int64_t offset = 0;
  auto keep = [&](ValueRange values) {
    for (Value value : values) {
      Value at = LLVM::AddOp::create(
          b, slot, LLVM::ConstantOp::create(b, b.getI64Type(), offset += 8));
      nvvm::storeGlobal(b, at, value);
    }
  };
  Type bf16 = b.getBF16Type(), f16 = b.getF16Type(), f32 = b.getF32Type();
  nvvm::cpAsync16(b, shared, 128, slot, 256, threadAgain);
  nvvm::cpAsync16(b, shared, 0, slot, 0, Value());
  nvvm::cpAsyncCommit(b);
  nvvm::cpAsyncWait(b, 1);
  nvvm::barrier(b);
  nvvm::warpBarrier(b);
  nvvm::Values a = nvvm::ldmatrixX4(b, shared, 0, 0, false);
  nvvm::Values v = nvvm::ldmatrixX4(b, shared, 96, 4096, true);
  nvvm::Values d = nvvm::mmaM16N8K16(b, bf16, a, ArrayRef(v).take_front(2), {});
  d = nvvm::mmaM16N8K16(b, f16, a, ArrayRef(v).take_back(2), d);
  d = nvvm::mmaM16N8K8(b, f16, ArrayRef(a).take_front(2), v.front(), d);
  keep(d);
  Value x = nvvm::loadGlobalConstant(b, f32, slot);
  for (auto function : {nvvm::exp2Approx, nvvm::log2Approx, nvvm::tanhApprox,
                        nvvm::rcpApprox, nvvm::sqrtApprox, nvvm::rsqrtApprox})
    keep(function(b, x));
  keep(nvvm::divApprox(b, x, d.front()));
  keep(nvvm::fmaSaturated(b, x, x, d.front()));
  keep(nvvm::packPair(b, bf16, x, d.front()));
  keep(nvvm::packPair(b, f16, x, d.front()));
  keep(nvvm::shuffleXor(b, x, 2));
  keep(nvvm::broadcastLane0(b, thread));
  keep(nvvm::ballot(b, predicate));
  nvvm::storeGlobal128(b, nvvm::voteAny(b, predicate), slot, a);
  Value rounded = nvvm::roundToTf32(b, d[0]);
  nvvm::Values wide(4, rounded);
  d = nvvm::mmaTf32M16N8K8(b, wide, ArrayRef(wide).take_front(2), {});
  d = nvvm::mmaTf32M16N8K8(b, wide, ArrayRef(wide).take_front(2), d);
  nvvm::storeGlobal2xF32(b, predicate, slot, 8, d[0], d[1]);
  keep({nvvm::loadSharedF32(b, shared, 0, 4),
        nvvm::loadSharedF32(b, shared, 32, 8)});
  nvvm::storeShared32(b, shared, 4, a.front());
  nvvm::storeShared64(b, shared, 8, slot);
  keep(nvvm::loadShared64(b, shared, 8));
  nvvm::storeShared128(b, {}, shared, 1024, a);
  nvvm::storeShared128(b, predicate, shared, 16, a);
  keep(nvvm::loadShared128(b, shared, 16));
  nvvm::exitIf(b, predicate);
  keep(nvvm::opaqueAdd(b, slot, slot));
  keep(nvvm::opaqueMulAdd(b, slot, 32, slot));
  LLVM::ReturnOp::create(b, ValueRange());

  auto ptx = ptx::emitPtx(*module, {});
  ASSERT_TRUE(succeeded(ptx));
  for (const char *text : golden)
    EXPECT_NE(ptx->find(text), std::string::npos) << "missing: " << text << "\n"
                                                  << *ptx;
  if (ptx::findPtxas("").empty())
    GTEST_SKIP() << "no ptxas";
  EXPECT_TRUE(succeeded(ptx::assemble(*ptx, {}, loc)));
}

TEST(EmitPtx, ForeignTargetIsAnError) {
  MLIRContext context;
  DialectRegistry registry;
  nvvm::registerNvvm(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
  std::string text;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &d) {
    text += d.str();
    return success();
  });
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  ptx::PtxOptions options;
  options.target = "x86-64-v3";
  EXPECT_TRUE(failed(ptx::emitPtx(*module, options)));
  EXPECT_NE(text.find("QM0422"), std::string::npos) << text;
  EXPECT_NE(text.find("x86-64-v3"), std::string::npos);
}
