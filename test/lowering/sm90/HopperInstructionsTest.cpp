// Golden PTX: every function of lowering/nvvm/Hopper.h, in one kernel, becomes
// the instruction that its comment names, and ptxas takes it.
#include "lowering/nvvm/Hopper.h"
#include "lowering/ptx/EmitPtx.h"
#include "lowering/ptx/Ptxas.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace qm;

static const char *golden[] = {
    ".target sm_90a",
    ".reqntid 128",
    ".minnctapersm 1",
    ".param .align 64 .b8 all_param_1[128]",
    ".param .align 64 .b8 all_param_2[128]",
    ".param .u32 all_param_3",
    ".global .align 8 .b8 qm_tile_counters[128];",
    "setmaxnreg.dec.sync.aligned.u32 24;",
    "setmaxnreg.inc.sync.aligned.u32 240;",
    "prefetch.tensormap [",
    "mbarrier.init.shared::cta.b64 [",
    "+8], 2;",
    "fence.mbarrier_init.release.cluster;",
    "mbarrier.arrive.shared::cta.b64 _, [",
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [",
    "+24], 16384;",
    "mbarrier.try_wait.parity.shared::cta.b64 p, [",
    "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::"
    "bytes [d], [",
    "cp.async.bulk.tensor.4d.global.shared::cta.bulk_group [",
    "cp.async.bulk.commit_group;",
    "cp.async.bulk.wait_group.read 0;",
    "fence.proxy.async.shared::cta;",
    "wgmma.fence.sync.aligned;",
    // Both operands in shared memory: descriptors from the low word, moved by
    // 32 bytes = 2 units, and 128-byte swizzle in the high word.
    ", 2; mov.b64 da, {l, 1073741888};",
    "setp.ne.b32 p, 0, 0; "
    "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {",
    ", da, db, p, 1, 1, 0, 0; }",
    // A in registers, B transposed, added to what is there.
    "setp.ne.b32 p, 1, 0; "
    "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {",
    ", db, p, 1, 1, 1; }",
    "wgmma.commit_group.sync.aligned;",
    "wgmma.wait_group.sync.aligned 1;",
    "vote.sync.any.pred p, p, 0xffffffff; @!p bra.uni E; nanosleep.u32 1; E: }",
    "%nctaid.x;",
    "bar.sync %r",
    "bar.arrive %r",
    "ld.shared.b32 %r",
    "atom.relaxed.gpu.global.add.u32",
    "atom.acq_rel.gpu.global.add.u32",
    "stmatrix.sync.aligned.m8n8.x4.shared.b16 [a+1024], {",
    ", 96; stmatrix.sync.aligned.m8n8.x2.shared.b16 [a+0], {",
};

static void emitEverything(nvvm::LocBuilder &b, ModuleOp module) {
  LLVM::LLVMFuncOp kernel = nvvm::createKernel(b, "all", 4, 128);
  nvvm::Values maps = nvvm::addTensorMaps(b, kernel, 2);
  Value scalar = nvvm::addScalarParameter(b, kernel);
  Value shared = nvvm::dynamicShared(b, module);
  Value counters = nvvm::globalCounters(b, module, 16);
  Value yes = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, scalar,
                                    nvvm::gridSize(b));
  nvvm::setMaxRegisters(b, /*increase=*/false, 24);
  nvvm::setMaxRegisters(b, /*increase=*/true, 240);

  nvvm::prefetchTensorMap(b, maps[0]);
  nvvm::mbarrierInit(b, shared, 8, 2);
  nvvm::mbarrierInitFence(b);
  nvvm::mbarrierArrive(b, yes, shared, 16);
  nvvm::mbarrierExpect(b, yes, shared, 24, 16384);
  nvvm::mbarrierWait(b, shared, 24, scalar);
  nvvm::Values place(4, scalar);
  nvvm::tensorLoad(b, yes, shared, 2048, maps[0], place, shared, 24);
  nvvm::tensorStore(b, yes, maps[1], place, shared, 2048);
  nvvm::bulkCommit(b);
  nvvm::bulkWaitRead(b);
  nvvm::fenceAsyncProxy(b);

  Value matrix = nvvm::matrixDescriptor(b, shared, 16);
  nvvm::Values accumulator(8), a(4, scalar);
  nvvm::wgmmaFence(b, {});
  nvvm::wgmmaShared(b, b.getBF16Type(), matrix, 32, matrix, 0, /*fresh=*/true,
                    accumulator);
  nvvm::wgmmaCommit(b);
  nvvm::wgmmaFence(b, {accumulator, a});
  nvvm::wgmmaRegisters(b, b.getF16Type(), a, matrix, 2048, accumulator);
  nvvm::wgmmaCommit(b);
  nvvm::wgmmaWait(b, 1, accumulator);
  nvvm::wgmmaOrder(b, accumulator[0]);

  nvvm::syncNamedBarrier(b, scalar, 64);
  nvvm::arriveNamedBarrier(b, scalar, 64);
  nvvm::stmatrix(b, shared, 0, 1024, a);
  nvvm::stmatrix(b, shared, 96, 0, ValueRange(a).take_front(2));
  Value before = nvvm::atomicAdd(b, yes, counters, 0, 1, /*ordered=*/false);
  nvvm::storeGlobal(b, counters, before);
  nvvm::storeGlobal(b, counters, nvvm::loadShared32(b, shared, 4));
  (void)nvvm::atomicAdd(b, yes, counters, 4, 1, /*ordered=*/true);
  LLVM::ReturnOp::create(b, ValueRange());
}

TEST(HopperInstructions, EveryOne) {
  MLIRContext context;
  DialectRegistry registry;
  nvvm::registerNvvm(registry);
  registry.insert<arith::ArithDialect>();
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
  Location loc = UnknownLoc::get(&context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  nvvm::LocBuilder b(loc, &context);
  b.setInsertionPointToEnd(module->getBody());
  emitEverything(b, *module);

  PassManager lowering(&context);
  lowering.addPass(createArithToLLVMConversionPass());
  ASSERT_TRUE(succeeded(lowering.run(*module)));
  ptx::PtxOptions options;
  options.target = "sm_90a";
  FailureOr<std::string> ptx = ptx::emitPtx(*module, options);
  ASSERT_TRUE(succeeded(ptx));
  for (const char *text : golden)
    EXPECT_NE(ptx->find(text), std::string::npos) << text << "\n" << *ptx;
  if (ptx::findPtxas("").empty())
    GTEST_SKIP() << "no ptxas";
  ptx::PtxasOptions ptxas;
  ptxas.target = "sm_90a";
  EXPECT_TRUE(succeeded(ptx::assemble(*ptx, ptxas, loc)));
}
