// The frame of a kernel: parameters, barriers, roles.
#include "lowering/sm90/KernelEmitter.h"

#include "lowering/sm90/Consumer.h"
#include "lowering/sm90/Epilogue.h"
#include "lowering/sm90/ExtremaTables.h"
#include "lowering/sm90/Producer.h"
#include "lowering/sm90/TileScheduler.h"

using namespace mlir;
using namespace qm;
using namespace qm::sm90;

static Thread readThread(LocBuilder &b) {
  Int index(b, nvvm::readSpecial(b, nvvm::Special::ThreadX));
  // Broadcast: ptxas then knows that these are uniform in the warp and keeps
  // what is derived from them, descriptors above all, in uniform registers.
  Int warp(b, nvvm::broadcastLane0(b, index / 32));
  return {warp / 4, warp % 4, index % 32, index % warpgroupThreads};
}

/// One thread initialises all barriers, then everyone may use them. Before, it
/// asks for the tensor maps: the first query tile arrives 0.8 us earlier.
static void initializeBarriers(KernelState &state, Rings &rings,
                               const TileQueue &queue) {
  LocBuilder &b = state.b;
  Value firstThread = arith::AndIOp::create(b, state.thread.warpgroup.equals(0),
                                            state.thread.inGroup.equals(0));
  emitIf(b, firstThread, [&] {
    for (Value map :
         {state.queryMap, state.keyMap, state.valueMap, state.outputMap})
      nvvm::prefetchTensorMap(b, map);
    for (const Ring *ring : {&rings.query, &rings.key, &rings.value})
      ring->initialize();
    Staged(state).initialize();
    queue.initialize();
    nvvm::mbarrierInitFence(b);
  });
  fillExtremaTables(state);
  nvvm::barrier(b);
}

FailureOr<LLVM::LLVMFuncOp> qm::sm90::emitKernel(attn::KernelOp kernel) {
  FailureOr<Plan> plan = Plan::get(kernel);
  if (failed(plan))
    return failure();
  FailureOr<Program> program = Program::get(kernel);
  if (failed(program))
    return failure();
  LocBuilder b(kernel.getLoc(), kernel);
  lowering::KernelInfo info = lowering::KernelInfo::get(kernel);
  LLVM::LLVMFuncOp function = nvvm::createKernel(
      b, kernel.getSymName(), info.slotCount(), plan->threads());
  function->setAttr("attn.shared_bytes",
                    b.getI64IntegerAttr(plan->sharedBytes()));
  Values maps = nvvm::addTensorMaps(b, function, info.tensorMaps.size());
  Arguments arguments(b, kernel, function.getArgument(0));
  Int shared(b, nvvm::dynamicShared(b, kernel->getParentOp()));
  KernelState state{b,      *plan,   *program, arguments, readThread(b),
                    shared, maps[0], maps[1],  maps[2],   maps[3]};
  Rings rings(state);
  TileOrder order(state);
  Value which =
      plan->tileCounters ? nvvm::addScalarParameter(b, function) : Value();
  TileQueue queue(state, order, which);
  initializeBarriers(state, rings, queue);

  Region &body = function.getBody();
  Block *producer = b.createBlock(&body), *load = b.createBlock(&body),
        *others = b.createBlock(&body), *store = b.createBlock(&body),
        *idle = b.createBlock(&body), *schedule = b.createBlock(&body),
        *consumer = b.createBlock(&body), *exit = b.createBlock(&body);
  b.setInsertionPointToEnd(&body.front());
  cf::CondBranchOp::create(b, state.thread.warpgroup.equals(0), producer,
                           consumer);

  b.setInsertionPointToEnd(producer);
  nvvm::setMaxRegisters(b, /*increase=*/false, plan->producerRegisters);
  // One warp loads, one for each consumer stores, one may schedule.
  cf::CondBranchOp::create(b, state.thread.warp.equals(0), load, others);
  b.setInsertionPointToEnd(load);
  emitProducer(state, rings, queue);
  cf::BranchOp::create(b, exit);

  b.setInsertionPointToEnd(others);
  cf::CondBranchOp::create(
      b, state.thread.warp.atMost(state.i32(plan->consumers)), store, idle);
  b.setInsertionPointToEnd(store);
  emitStorer(state, rings, queue);
  cf::BranchOp::create(b, exit);

  b.setInsertionPointToEnd(idle);
  Value schedules = plan->hasScheduler()
                        ? state.thread.warp.equals(plan->consumers + 1)
                        : state.boolean(false);
  cf::CondBranchOp::create(b, schedules, schedule, exit);
  b.setInsertionPointToEnd(schedule);
  if (plan->hasScheduler())
    emitScheduler(state, queue);
  cf::BranchOp::create(b, exit);

  b.setInsertionPointToEnd(consumer);
  nvvm::setMaxRegisters(b, /*increase=*/true, plan->consumerRegisters);
  emitConsumer(state, rings, queue, exit);

  b.setInsertionPointToEnd(exit);
  LLVM::ReturnOp::create(b, ValueRange());
  return function;
}
