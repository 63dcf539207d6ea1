//===- Extrema.cpp - least and greatest of a range of elements ------------===//

#include "lowering/cpu/Extrema.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace qm;
using namespace qm::cpu;
using arith::CmpIPredicate;

std::pair<Value, Value> qm::cpu::emitExtrema(VectorBuilder &b,
                                             attn::ExtremaOp op,
                                             const TensorSlots &buffer,
                                             ArrayRef<Value> indices,
                                             Value last) {
  Type i32 = b.getI32Type();
  int64_t dimension = op.getDimension();
  Value zero = b.i64(0), one = b.i64(1);
  Value limit = b.sub(buffer.extents[dimension], one);
  auto clamp = [&](Value index) -> Value {
    return arith::MaxSIOp::create(b, b.min(b.toI64(index), limit), zero);
  };
  Value from = clamp(indices[dimension]);
  Value end = b.add(clamp(last), one);
  Value isRead = arith::CmpIOp::create(b, CmpIPredicate::sle, b.sub(end, from),
                                       b.i64(attn::ExtremaOp::maxElements));
  // A range that is not read is an empty one here.
  end = arith::SelectOp::create(b, isRead, end, from);
  Value least = b.i32(op.getTypeMinimum()),
        greatest = b.i32(op.getTypeMaximum());
  SmallVector<Value> found =
      b.loop(from, end, 1, {greatest, least}, [&](Value at, ValueRange so) {
        SmallVector<Value> place(indices);
        place[dimension] = b.toI32(at);
        Value element = emitCapturedLoad(b, buffer, place);
        unsigned width = op.getElementWidth();
        if (width < 32)
          element = arith::ExtSIOp::create(b, i32, element);
        if (width > 32)
          element = arith::TruncIOp::create(b, i32, element);
        return SmallVector<Value>{arith::MinSIOp::create(b, so[0], element),
                                  arith::MaxSIOp::create(b, so[1], element)};
      });
  auto orEnd = [&](Value value, Value typeEnd) -> Value {
    return arith::SelectOp::create(b, isRead, value, typeEnd);
  };
  return {orEnd(found[0], least), orEnd(found[1], greatest)};
}
