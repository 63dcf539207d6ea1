// attn.search by a warp.
#include "lowering/gpu/SearchSorted.h"

#include "lowering/gpu/ControlFlow.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace qm;
using namespace qm::gpu;

static constexpr int64_t lanes = 32;
static constexpr int64_t none = int64_t(1) << 30; ///< no element qualifies

Value qm::gpu::emitSearch(LocBuilder &b, Arguments &arguments,
                          attn::SearchOp op, ValueRange indices, Value value) {
  Value buffer = op.getBuffer();
  Int extent = arguments.extent(buffer, indices.size());
  Int lane = Int(b, nvvm::readSpecial(b, nvvm::Special::ThreadX)) % lanes;
  Type i32 = b.getI32Type();

  // The answer lies in [low, high]; `high` is the extent until an element
  // qualifies.
  Values range = emitWhile(
      b, {Int::constant(b, 0).get(), extent.get()},
      [&](ValueRange carried) -> Value {
        return Int(b, carried[0]).lessThan(Int(b, carried[1]));
      },
      [&](ValueRange carried) {
        Int low(b, carried[0]), high(b, carried[1]);
        // Lane n reads the last element of the n-th of 32 equal parts. Those
        // before the answer come first, so their number says which part has it.
        Int part = (high - low + (lanes - 1)) / lanes;
        Int probe = (low + lane * part + part - 1).min(high - 1);
        SmallVector<Value> at(indices);
        at.push_back(probe);
        Value element = arguments.loadClamped(buffer, at);
        if (!element.getType().isInteger(32))
          element = arith::ExtSIOp::create(b, i32, element);
        Value precedes =
            arith::CmpIOp::create(b,
                                  op.getAbove() ? arith::CmpIPredicate::sle
                                                : arith::CmpIPredicate::slt,
                                  element, value);
        Int count(b, math::CtPopOp::create(b, nvvm::ballot(b, precedes)));
        Int newLow = (low + count * part).min(high);
        Int newHigh = (newLow + part - 1).min(high);
        return Values{newLow, newHigh};
      });
  Int found(b, range[0]);
  return arith::SelectOp::create(b, found.lessThan(extent), found,
                                 Int::constant(b, none));
}
