// Branches and loops of the program being emitted.
#include "lowering/gpu/ControlFlow.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace qm::gpu;

void qm::gpu::emitIf(LocBuilder &b, Value condition,
                     function_ref<void()> then) {
  auto op = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.thenBlock());
  then();
}

Values qm::gpu::emitIf(LocBuilder &b, Value condition, ValueRange otherwise,
                       function_ref<Values()> then) {
  return emitEither(b, condition, otherwise.getTypes(), then,
                    [&] { return Values(otherwise); });
}

Values qm::gpu::emitEither(LocBuilder &b, Value condition, TypeRange types,
                           function_ref<Values()> then,
                           function_ref<Values()> otherwise) {
  auto op = scf::IfOp::create(b, types, condition, /*addThenBlock=*/true,
                              /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.thenBlock());
  scf::YieldOp::create(b, then());
  b.setInsertionPointToStart(op.elseBlock());
  scf::YieldOp::create(b, otherwise());
  return Values(op.getResults());
}

Values qm::gpu::emitWhile(LocBuilder &b, ValueRange inits,
                          function_ref<Value(ValueRange)> condition,
                          function_ref<Values(ValueRange)> body) {
  auto types = llvm::to_vector(inits.getTypes());
  SmallVector<Location> locations(types.size(), b.getLoc());
  auto loop = scf::WhileOp::create(b, types, inits);
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&loop.getBefore(), {}, types, locations);
  Value holds = condition(before->getArguments());
  scf::ConditionOp::create(b, holds, before->getArguments());
  Block *after = b.createBlock(&loop.getAfter(), {}, types, locations);
  scf::YieldOp::create(b, body(after->getArguments()));
  return Values(loop.getResults());
}
