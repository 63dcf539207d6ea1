// Builds one llvm.inline_asm that holds PTX.
#include "lowering/nvvm/PtxAsm.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace qm::nvvm;

/// The register class of LLVM's NVPTX back end that holds `type`.
static char registerClass(Type type) {
  if (type.isF32())
    return 'f';
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return 'b';
  case 16:
    return 'h';
  case 32:
    return 'r';
  default:
    return 'l';
  }
}

PtxAsm &PtxAsm::results(unsigned count, Type type) {
  resultTypes.append(count, type);
  return *this;
}

PtxAsm &PtxAsm::in(Value value) {
  operands.push_back(value);
  inputConstraints.push_back(std::string(1, registerClass(value.getType())));
  return *this;
}

PtxAsm &PtxAsm::in(ValueRange values) {
  for (Value value : values)
    in(value);
  return *this;
}

PtxAsm &PtxAsm::tied(Value value, unsigned index) {
  operands.push_back(value);
  inputConstraints.push_back(std::to_string(index));
  return *this;
}

PtxAsm &PtxAsm::ordered() {
  sideEffects = true;
  return *this;
}

PtxAsm &PtxAsm::memory() {
  sideEffects = clobbersMemory = true;
  return *this;
}

SmallVector<Value> PtxAsm::emit() {
  SmallVector<std::string> constraints;
  for (Type type : resultTypes)
    constraints.push_back(std::string("=") + registerClass(type));
  llvm::append_range(constraints, inputConstraints);
  if (clobbersMemory)
    constraints.push_back("~{memory}");

  Type type;
  if (resultTypes.size() == 1)
    type = resultTypes.front();
  else if (!resultTypes.empty())
    type = LLVM::LLVMStructType::getLiteral(builder.getContext(), resultTypes);
  auto op = LLVM::InlineAsmOp::create(
      builder, type ? TypeRange(type) : TypeRange(), operands, text,
      llvm::join(constraints, ","), sideEffects, /*is_align_stack=*/false,
      LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
  if (resultTypes.size() < 2)
    return SmallVector<Value>(op->getResults());
  SmallVector<Value> values;
  for (int64_t i = 0, e = resultTypes.size(); i < e; ++i)
    values.push_back(LLVM::ExtractValueOp::create(builder, op.getRes(), i));
  return values;
}
