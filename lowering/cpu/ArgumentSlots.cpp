//===- ArgumentSlots.cpp - a call's arguments in the CPU entry ------------===//

#include "lowering/cpu/ArgumentSlots.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace qm;
using namespace qm::cpu;

Value TensorSlots::rowAddress(VectorBuilder &b, Value batch, Value head,
                              Value row) const {
  Value offset = b.add(b.mul(batch, strides[0]), b.mul(head, strides[1]));
  return b.address(pointer, elementType, b.add(offset, b.mul(row, strides[2])));
}

ArgumentSlots::ArgumentSlots(VectorBuilder &b, attn::KernelOp kernel,
                             Value slots)
    : queryArgument(kernel.getQ()), keyArgument(kernel.getK()),
      position(kernel.getPosition()) {
  auto info = lowering::KernelInfo::get(kernel);
  auto pointerType = LLVM::LLVMPointerType::get(b.getContext());
  auto load = [&](unsigned slot, Type type) -> Value {
    return LLVM::LoadOp::create(b, type, b.address(slots, b.getI64Type(), slot),
                                /*alignment=*/8);
  };
  for (BlockArgument value : kernel.getArguments()) {
    const lowering::ArgumentInfo &argument =
        info.arguments[value.getArgNumber()];
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type) {
      // Scalars are 32 bits wide in the low half of their slot.
      scalarValues[value] = load(argument.slot, value.getType());
      continue;
    }
    TensorSlots tensor;
    tensor.pointer = load(argument.slot, pointerType);
    for (unsigned i = 0; i < argument.rank(); ++i) {
      tensor.extents.push_back(load(argument.extentSlot(i), b.getI64Type()));
      tensor.strides.push_back(load(argument.strideSlot(i), b.getI64Type()));
    }
    tensor.elementType = type.getElementType();
    tensors[value] = std::move(tensor);
  }
}

Value ArgumentSlots::extent(VectorBuilder &b, attn::Extent kind) const {
  const TensorSlots &q = tensor(queryArgument);
  const TensorSlots &k = tensor(keyArgument);
  switch (kind) {
  case attn::Extent::Batch:
    return isPacked() ? b.sub(queryLengths()->extents[0], b.i64(1))
                      : q.extents[0];
  case attn::Extent::Heads:
    return q.extents[1];
  case attn::Extent::Query:
    return sequence ? sequence->queries : q.extents[2];
  case attn::Extent::KvHeads:
    return k.extents[1];
  case attn::Extent::Key:
    return sequence ? sequence->keys : k.extents[2];
  }
  llvm_unreachable("covered switch");
}

Value qm::cpu::emitCapturedLoad(VectorBuilder &b, const TensorSlots &buffer,
                                ArrayRef<Value> indices) {
  bool gather = llvm::any_of(
      indices, [](Value index) { return isa<VectorType>(index.getType()); });
  auto widen = [&](Value value) { return gather ? b.splat(value) : value; };
  Type i64 = gather ? Type(b.vectorOf(b.getI64Type())) : b.getI64Type();
  Value zero = widen(b.i64(0)), offset = zero;
  for (auto [index, extent, stride] :
       llvm::zip_equal(indices, buffer.extents, buffer.strides)) {
    Value wide = arith::ExtSIOp::create(b, i64, widen(index));
    Value last = widen(b.sub(extent, b.i64(1)));
    // Upper bound first: the index into an empty dimension is then 0, not -1.
    Value inside = arith::MaxSIOp::create(b, b.min(wide, last), zero);
    offset = b.add(offset, b.mul(inside, widen(stride)));
  }

  if (!gather) {
    auto load = LLVM::LoadOp::create(
        b, buffer.elementType,
        b.address(buffer.pointer, buffer.elementType, offset));
    load.setInvariant(true);
    return load;
  }
  auto pointers = VectorType::get(b.lanes(), buffer.pointer.getType());
  Value addresses =
      LLVM::GEPOp::create(b, pointers, buffer.elementType, buffer.pointer,
                          ArrayRef<LLVM::GEPArg>{offset});
  Value all = arith::ConstantOp::create(
      b, DenseElementsAttr::get(b.vectorOf(b.getI1Type()), true));
  auto load = LLVM::masked_gather::create(
      b, b.vectorOf(buffer.elementType), addresses, all, ValueRange(),
      b.getI32IntegerAttr(buffer.elementType.getIntOrFloatBitWidth() / 8));
  load->setAttr(invariantLoadAttr, b.getUnitAttr());
  return load;
}
