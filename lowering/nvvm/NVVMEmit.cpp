// Instructions that are operations of the NVVM dialect, kernels, and
// registration.
#include "lowering/nvvm/NVVMEmit.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"

using namespace mlir;
using namespace qm;
using nvvm::LocBuilder;

static constexpr int32_t allLanes = -1;
static constexpr unsigned sharedSpace = 3;

static Value constant(LocBuilder &b, int32_t value) {
  return LLVM::ConstantOp::create(b, b.getI32Type(), value);
}

void nvvm::insertDialects(DialectRegistry &registry) {
  registry.insert<NVVM::NVVMDialect, LLVM::LLVMDialect>();
}

void nvvm::registerNvvm(DialectRegistry &registry) {
  insertDialects(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

void nvvm::cpAsyncCommit(LocBuilder &b) {
  NVVM::CpAsyncCommitGroupOp::create(b);
}

void nvvm::cpAsyncWait(LocBuilder &b, unsigned pending) {
  NVVM::CpAsyncWaitGroupOp::create(b, pending);
}

void nvvm::barrier(LocBuilder &b) { NVVM::BarrierOp::create(b); }

void nvvm::warpBarrier(LocBuilder &b) {
  NVVM::SyncWarpOp::create(b, constant(b, allLanes));
}

Value nvvm::shuffleXor(LocBuilder &b, Value value, unsigned mask) {
  return NVVM::ShflOp::create(b, value.getType(), constant(b, allLanes), value,
                              constant(b, mask), constant(b, 31),
                              NVVM::ShflKind::bfly, UnitAttr());
}

Value nvvm::broadcastLane0(LocBuilder &b, Value value) {
  auto broadcast = [&](Value word) -> Value {
    return NVVM::ShflOp::create(b, word.getType(), constant(b, allLanes), word,
                                constant(b, 0), constant(b, 31),
                                NVVM::ShflKind::idx, UnitAttr());
  };
  if (!value.getType().isInteger(64))
    return broadcast(value);
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  Value shift = LLVM::ConstantOp::create(b, i64, 32);
  Value low = broadcast(LLVM::TruncOp::create(b, i32, value));
  Value high = broadcast(
      LLVM::TruncOp::create(b, i32, LLVM::LShrOp::create(b, value, shift)));
  return LLVM::OrOp::create(
      b, LLVM::ZExtOp::create(b, i64, low),
      LLVM::ShlOp::create(b, LLVM::ZExtOp::create(b, i64, high), shift));
}

Value nvvm::broadcastLane(LocBuilder &b, Value value, Value lane) {
  return NVVM::ShflOp::create(b, value.getType(), constant(b, allLanes), value,
                              lane, constant(b, 31), NVVM::ShflKind::idx,
                              UnitAttr());
}

Value nvvm::warpMin(LocBuilder &b, Value value) {
  return NVVM::ReduxOp::create(b, value.getType(), value, NVVM::ReduxKind::MIN,
                               constant(b, allLanes));
}

Value nvvm::warpMax(LocBuilder &b, Value value) {
  return NVVM::ReduxOp::create(b, value.getType(), value, NVVM::ReduxKind::MAX,
                               constant(b, allLanes));
}

Value nvvm::voteAny(LocBuilder &b, Value predicate) {
  return NVVM::VoteSyncOp::create(b, b.getI1Type(), constant(b, allLanes),
                                  predicate, NVVM::VoteSyncKind::any);
}

Value nvvm::ballot(LocBuilder &b, Value predicate) {
  return NVVM::VoteSyncOp::create(b, b.getI32Type(), constant(b, allLanes),
                                  predicate, NVVM::VoteSyncKind::ballot);
}

LLVM::LLVMFuncOp nvvm::createKernel(LocBuilder &b, StringRef name,
                                    unsigned slots, unsigned threads) {
  MLIRContext *context = b.getContext();
  auto pointer = LLVM::LLVMPointerType::get(context);
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), {pointer});
  auto function = LLVM::LLVMFuncOp::create(b, name, type);
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                    b.getUnitAttr());
  function->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                    b.getDenseI32ArrayAttr({int32_t(threads), 1, 1}));
  auto array = LLVM::LLVMArrayType::get(b.getI64Type(), slots);
  function.setArgAttr(0, LLVM::LLVMDialect::getByValAttrName(),
                      TypeAttr::get(array));
  function.setArgAttr(0, LLVM::LLVMDialect::getAlignAttrName(),
                      b.getI64IntegerAttr(8));
  function.setArgAttr(0, NVVM::NVVMDialect::getGridConstantAttrName(),
                      b.getUnitAttr());
  b.setInsertionPointToStart(function.addEntryBlock(b));
  return function;
}

Value nvvm::dynamicShared(LocBuilder &b, Operation *module) {
  constexpr StringLiteral symbol = "qm_shared";
  auto pointer = LLVM::LLVMPointerType::get(b.getContext(), sharedSpace);
  if (!SymbolTable::lookupSymbolIn(module, symbol)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&module->getRegion(0).front());
    LLVM::GlobalOp::create(b, LLVM::LLVMArrayType::get(b.getI8Type(), 0),
                           /*isConstant=*/false, LLVM::Linkage::External,
                           symbol, Attribute(), /*alignment=*/1024,
                           sharedSpace);
  }
  Value address = LLVM::AddressOfOp::create(b, pointer, symbol);
  return LLVM::PtrToIntOp::create(b, b.getI32Type(), address);
}

Value nvvm::rcpApprox(LocBuilder &b, Value x) {
  return NVVM::RcpApproxFtzF32Op::create(b, b.getF32Type(), x);
}

Value nvvm::readSpecial(LocBuilder &b, Special special, bool again) {
  bool thread = special == Special::ThreadX;
  if (again) {
    auto op = LLVM::InlineAsmOp::create(
        b, TypeRange(b.getI32Type()), ValueRange(),
        thread ? "mov.u32 $0, %tid.x;" : "mov.u32 $0, %ctaid.x;", "=r",
        /*has_side_effects=*/true, /*is_align_stack=*/false,
        LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
    return op.getRes();
  }
  if (thread)
    return NVVM::ThreadIdXOp::create(b, b.getI32Type());
  return NVVM::BlockIdXOp::create(b, b.getI32Type());
}
