// Slots of the kernel parameter.
#include "lowering/gpu/Arguments.h"

using namespace mlir;
using namespace qm;
using namespace qm::gpu;

static constexpr unsigned slotBytes = 8;

/// `type` from the low bytes of a slot.
Value Arguments::slot(unsigned index, Type type) {
  Value address =
      LLVM::GEPOp::create(b, slots.getType(), b.getI8Type(), slots,
                          ArrayRef<LLVM::GEPArg>{int32_t(slotBytes * index)});
  auto load = LLVM::LoadOp::create(b, type, address);
  load.setInvariant(true);
  return load;
}

const lowering::ArgumentInfo &Arguments::infoOf(Value argument) const {
  return info.arguments[cast<BlockArgument>(argument).getArgNumber()];
}

Int Arguments::pointer(Value tensor) {
  return {b, slot(infoOf(tensor).slot, b.getI64Type())};
}

Int Arguments::extent(Value tensor, unsigned dimension) {
  const lowering::ArgumentInfo &argument = infoOf(tensor);
  if (argument.shape[dimension] >= 0)
    return Int::constant(b, argument.shape[dimension]);
  return {b, slot(argument.extentSlot(dimension), b.getI32Type())};
}

Int Arguments::stride(Value tensor, unsigned dimension) {
  return {b, slot(infoOf(tensor).strideSlot(dimension), b.getI64Type())};
}

Value Arguments::scalar(Value argument) {
  return slot(infoOf(argument).slot, argument.getType());
}

Int Arguments::extentOfCall(attn::Extent extent) {
  switch (extent) {
  case attn::Extent::Batch:
    return isPacked() ? this->extent(queryLengths(), 0) - 1
                      : this->extent(kernel.getQ(), 0);
  case attn::Extent::Heads:
    return this->extent(kernel.getQ(), 1);
  case attn::Extent::KvHeads:
    return this->extent(kernel.getK(), 1);
  case attn::Extent::Query:
    return sequence ? sequence->queries : this->extent(kernel.getQ(), 2);
  case attn::Extent::Key:
    return sequence ? sequence->keys : this->extent(kernel.getK(), 2);
  }
  llvm_unreachable("covered switch");
}

Int Arguments::elementAddress(Value tensor, ArrayRef<Int> indices) {
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  Int address = pointer(tensor);
  for (auto [dimension, index] : llvm::enumerate(indices)) {
    Int wide = index.get().getType().isInteger(64) ? index : index.wide();
    address = address + wide * stride(tensor, dimension) * bytes;
  }
  return address;
}

Int Arguments::rowAddress(Value tensor, Int batch, Int head, Int row,
                          bool ofKeys) {
  if (sequence && isPacked()) {
    Int first = ofKeys ? sequence->firstKey : sequence->firstQuery;
    batch = Int::constant(b, 0);
    row = row ? first + row : first;
  }
  SmallVector<Int> indices{batch, head};
  if (row)
    indices.push_back(row);
  return elementAddress(tensor, indices);
}

Value Arguments::loadClamped(Value tensor, ValueRange indices) {
  SmallVector<Int> clamped;
  for (auto [dimension, index] : llvm::enumerate(indices)) {
    Int last = extent(tensor, dimension) - 1;
    clamped.push_back(Int(b, index).min(last).max(Int::constant(b, 0)));
  }
  Int address = elementAddress(tensor, clamped);
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  return nvvm::loadGlobalConstant(b, element, address);
}
