// Hopper's instructions, as PTX: the NVVM dialect has no product with A in
// registers, and keeping a constant offset inside the instruction keeps it out
// of registers (see PtxAsm.h).
#include "lowering/nvvm/Hopper.h"

#include "lowering/nvvm/PtxAsm.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace qm;
using nvvm::LocBuilder;
using nvvm::PtxAsm;
using nvvm::Values;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

Values nvvm::addTensorMaps(LocBuilder &b, LLVM::LLVMFuncOp kernel,
                           unsigned count) {
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto array = LLVM::LLVMArrayType::get(b.getI64Type(), tensorMapBytes / 8);
  SmallVector<Type> types(kernel.getArgumentTypes());
  unsigned first = types.size();
  types.append(count, pointer);
  kernel.setFunctionType(LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(b.getContext()), types));
  SmallVector<Attribute> attributes(first + count, b.getDictionaryAttr({}));
  if (ArrayAttr present = kernel.getArgAttrsAttr())
    llvm::copy(present, attributes.begin());
  Values addresses;
  for (unsigned i = first; i < types.size(); ++i) {
    attributes[i] = b.getDictionaryAttr(
        {b.getNamedAttr(LLVM::LLVMDialect::getByValAttrName(),
                        TypeAttr::get(array)),
         b.getNamedAttr(LLVM::LLVMDialect::getAlignAttrName(),
                        b.getI64IntegerAttr(tensorMapAlignment)),
         b.getNamedAttr("nvvm.grid_constant", b.getUnitAttr())});
    Value argument =
        kernel.getBody().front().addArgument(pointer, kernel.getLoc());
    addresses.push_back(LLVM::PtrToIntOp::create(b, b.getI64Type(), argument));
  }
  kernel.setArgAttrsAttr(b.getArrayAttr(attributes));
  kernel->setAttr("nvvm.minctasm", b.getI32IntegerAttr(1));
  return addresses;
}

Value nvvm::addScalarParameter(LocBuilder &b, LLVM::LLVMFuncOp kernel) {
  Type i32 = b.getI32Type();
  SmallVector<Type> types(kernel.getArgumentTypes());
  types.push_back(i32);
  kernel.setFunctionType(LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(b.getContext()), types));
  if (ArrayAttr present = kernel.getArgAttrsAttr()) {
    SmallVector<Attribute> attributes(present.getValue());
    attributes.push_back(b.getDictionaryAttr({}));
    kernel.setArgAttrsAttr(b.getArrayAttr(attributes));
  }
  return kernel.getBody().front().addArgument(i32, kernel.getLoc());
}

Value nvvm::globalCounters(LocBuilder &b, Operation *module, unsigned count) {
  constexpr StringLiteral symbol = "qm_tile_counters";
  constexpr unsigned globalSpace = 1;
  if (!SymbolTable::lookupSymbolIn(module, symbol)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&module->getRegion(0).front());
    auto type = LLVM::LLVMArrayType::get(b.getI64Type(), count);
    auto zeros = DenseElementsAttr::get(
        RankedTensorType::get({int64_t(count)}, b.getI64Type()), int64_t(0));
    LLVM::GlobalOp::create(b, type, /*isConstant=*/false,
                           LLVM::Linkage::Internal, symbol, zeros,
                           /*alignment=*/8, globalSpace);
  }
  auto pointer = LLVM::LLVMPointerType::get(b.getContext(), globalSpace);
  Value address = LLVM::AddressOfOp::create(b, pointer, symbol);
  return LLVM::PtrToIntOp::create(b, b.getI64Type(), address);
}

void nvvm::setMaxRegisters(LocBuilder &b, bool increase, unsigned registers) {
  PtxAsm(b, llvm::formatv("setmaxnreg.{0}.sync.aligned.u32 {1};",
                          increase ? "inc" : "dec", registers))
      .memory()
      .emit();
}

//===----------------------------------------------------------------------===//
// mbarrier
//===----------------------------------------------------------------------===//

void nvvm::mbarrierInit(LocBuilder &b, Value address, int64_t offset,
                        unsigned arrivals) {
  PtxAsm(b, llvm::formatv("mbarrier.init.shared::cta.b64 [$0+{0}], {1};",
                          offset, arrivals))
      .in(address)
      .memory()
      .emit();
}

void nvvm::prefetchTensorMap(LocBuilder &b, Value map) {
  PtxAsm(b, "prefetch.tensormap [$0];").in(map).memory().emit();
}

void nvvm::mbarrierInitFence(LocBuilder &b) {
  PtxAsm(b, "fence.mbarrier_init.release.cluster;").memory().emit();
}

void nvvm::mbarrierArrive(LocBuilder &b, Value predicate, Value address,
                          int64_t offset) {
  PtxAsm(b, llvm::formatv("@$0 mbarrier.arrive.shared::cta.b64 _, [$1+{0}];",
                          offset))
      .in(predicate)
      .in(address)
      .memory()
      .emit();
}

void nvvm::mbarrierExpect(LocBuilder &b, Value predicate, Value address,
                          int64_t offset, unsigned bytes) {
  PtxAsm(b,
         llvm::formatv(
             "@$0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [$1+{0}], {1};",
             offset, bytes))
      .in(predicate)
      .in(address)
      .memory()
      .emit();
}

void nvvm::mbarrierExpect(LocBuilder &b, Value predicate, Value address,
                          int64_t offset, Value bytes) {
  PtxAsm(b,
         llvm::formatv(
             "@$0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [$1+{0}], $2;",
             offset))
      .in(predicate)
      .in(address)
      .in(bytes)
      .memory()
      .emit();
}

void nvvm::mbarrierWait(LocBuilder &b, Value address, int64_t offset,
                        Value parity) {
  // try_wait sleeps up to the time given (ns); labels are local to the braces.
  PtxAsm(b, llvm::formatv(
                "{{ .reg .pred p; "
                "W: mbarrier.try_wait.parity.shared::cta.b64 p, [$0+{0}], $1, "
                "0x989680; @p bra.uni E; bra.uni W; E: }",
                offset))
      .in(address)
      .in(parity)
      .memory()
      .emit();
}

//===----------------------------------------------------------------------===//
// Tensor copies
//===----------------------------------------------------------------------===//

void nvvm::tensorLoad(LocBuilder &b, Value predicate, Value shared,
                      int64_t offset, Value map, ValueRange coordinates,
                      Value barrier, int64_t barrierOffset) {
  PtxAsm(b, llvm::formatv(
                "{{ .reg .b32 d, m; add.u32 d, $1, {0}; add.u32 m, $3, {1}; "
                "@$0 cp.async.bulk.tensor.4d.shared::cluster.global."
                "mbarrier::complete_tx::bytes "
                "[d], [$2, {{$4,$5,$6,$7}], [m]; }",
                offset, barrierOffset))
      .in(predicate)
      .in(shared)
      .in(map)
      .in(barrier)
      .in(coordinates)
      .memory()
      .emit();
}

void nvvm::tensorStore(LocBuilder &b, Value predicate, Value map,
                       ValueRange coordinates, Value shared, int64_t offset) {
  PtxAsm(b, llvm::formatv(
                "{{ .reg .b32 s; add.u32 s, $2, {0}; "
                "@$0 cp.async.bulk.tensor.4d.global.shared::cta.bulk_group "
                "[$1, {{$3,$4,$5,$6}], [s]; }",
                offset))
      .in(predicate)
      .in(map)
      .in(shared)
      .in(coordinates)
      .memory()
      .emit();
}

void nvvm::bulkCommit(LocBuilder &b) {
  PtxAsm(b, "cp.async.bulk.commit_group;").memory().emit();
}

void nvvm::bulkWaitRead(LocBuilder &b) {
  PtxAsm(b, "cp.async.bulk.wait_group.read 0;").memory().emit();
}

void nvvm::fenceAsyncProxy(LocBuilder &b) {
  PtxAsm(b, "fence.proxy.async.shared::cta;").memory().emit();
}

//===----------------------------------------------------------------------===//
// Warpgroup products
//===----------------------------------------------------------------------===//

/// High word of a descriptor: 1024 bytes (in units of 16) between groups of 8
/// rows, and layout 1 in bits 62-63: 128-byte swizzle (PTX ISA, "Matrix
/// descriptor").
static constexpr unsigned descriptorHigh = (1024 >> 4) | (1u << 30);

Value nvvm::matrixDescriptor(LocBuilder &b, Value address,
                             unsigned leadingBytes) {
  return PtxAsm(b, llvm::formatv("{{ .reg .b32 a; shr.u32 a, $1, 4; or.b32 $0, "
                                 "a, {0}; }",
                                 leadingBytes >> 4 << 16))
      .results(1, b.getI32Type())
      .in(address)
      .emit()
      .front();
}

/// "$0,$1,...": `count` operands from `first`.
static std::string operandList(unsigned first, unsigned count) {
  return llvm::join(
      llvm::map_range(llvm::seq(first, first + count),
                      [](unsigned i) { return "$" + std::to_string(i); }),
      ",");
}

/// Emits asm whose results replace `registers`, each in the register it was in.
static void passThrough(PtxAsm asmText,
                        ArrayRef<MutableArrayRef<Value>> registers) {
  for (MutableArrayRef<Value> values : registers)
    if (!values.empty())
      asmText.results(values.size(), values.front().getType());
  unsigned index = 0;
  for (MutableArrayRef<Value> values : registers)
    for (Value value : values)
      asmText.tied(value, index++);
  Values results = asmText.memory().emit();
  index = 0;
  for (MutableArrayRef<Value> values : registers)
    for (Value &value : values)
      value = results[index++];
}

void nvvm::wgmmaFence(LocBuilder &b,
                      ArrayRef<MutableArrayRef<Value>> registers) {
  passThrough(PtxAsm(b, "wgmma.fence.sync.aligned;"), registers);
}

void nvvm::wgmmaCommit(LocBuilder &b) {
  PtxAsm(b, "wgmma.commit_group.sync.aligned;").memory().emit();
}

void nvvm::wgmmaOrder(LocBuilder &b, Value value) {
  // A branch that is never taken, but only we know. The vote makes it uniform:
  // after a divergent one ptxas takes no value for uniform any more.
  PtxAsm(b, "{ .reg .pred p; setp.lt.f32 p, $0, 0f00000000; "
            "vote.sync.any.pred p, p, 0xffffffff; @!p bra.uni E; "
            "nanosleep.u32 1; E: }")
      .in(value)
      .memory()
      .emit();
}

void nvvm::wgmmaWait(LocBuilder &b, unsigned pending,
                     MutableArrayRef<Value> accumulator) {
  passThrough(
      PtxAsm(b, llvm::formatv("wgmma.wait_group.sync.aligned {0};", pending)),
      accumulator);
}

/// The instruction's text for an accumulator of `registers` registers; operand
/// A as given, transposition of the operands.
static std::string wgmmaText(Type element, unsigned registers,
                             StringRef prepare, StringRef a, bool fresh,
                             StringRef transpose) {
  StringRef type = element.isBF16() ? "bf16" : "f16";
  return llvm::formatv("{{ .reg .pred p; .reg .b32 l; .reg .b64 da, db; {0} "
                       "setp.ne.b32 p, {1}, 0; "
                       "wgmma.mma_async.sync.aligned.m64n{2}k16.f32.{3}.{3} "
                       "{{{4}}, {5}, db, p, 1, 1, {6}; }",
                       prepare, fresh ? 0 : 1, 2 * registers, type,
                       operandList(0, registers), a, transpose);
}

/// PTX that makes descriptor `name` of operand `operand` moved by `offset`
/// bytes.
static std::string descriptorText(StringRef name, unsigned operand,
                                  int64_t offset) {
  return llvm::formatv("add.u32 l, ${0}, {1}; mov.b64 {2}, {{l, {3}};", operand,
                       offset >> 4, name, descriptorHigh);
}

static void emitWgmma(PtxAsm asmText, bool fresh,
                      MutableArrayRef<Value> accumulator) {
  if (!fresh)
    for (auto [index, value] : llvm::enumerate(accumulator))
      asmText.tied(value, index);
  llvm::copy(asmText.ordered().emit(), accumulator.begin());
}

void nvvm::wgmmaShared(LocBuilder &b, Type element, Value a, int64_t aOffset,
                       Value bMatrix, int64_t bOffset, bool fresh,
                       MutableArrayRef<Value> accumulator) {
  unsigned count = accumulator.size();
  std::string prepare = descriptorText("da", count, aOffset) + " " +
                        descriptorText("db", count + 1, bOffset);
  PtxAsm asmText(b, wgmmaText(element, count, prepare, "da", fresh, "0, 0"));
  asmText.results(count, b.getF32Type()).in(a).in(bMatrix);
  emitWgmma(std::move(asmText), fresh, accumulator);
}

void nvvm::wgmmaRegisters(LocBuilder &b, Type element, ValueRange a,
                          Value bMatrix, int64_t bOffset,
                          MutableArrayRef<Value> accumulator) {
  unsigned count = accumulator.size();
  PtxAsm asmText(b, wgmmaText(element, count,
                              descriptorText("db", count + 4, bOffset),
                              "{" + operandList(count, 4) + "}",
                              /*fresh=*/false, "1"));
  asmText.results(count, b.getF32Type()).in(a).in(bMatrix);
  emitWgmma(std::move(asmText), /*fresh=*/false, accumulator);
}

//===----------------------------------------------------------------------===//
// Threads and shared memory
//===----------------------------------------------------------------------===//

Value nvvm::gridSize(LocBuilder &b) {
  return PtxAsm(b, "mov.u32 $0, %nctaid.x;")
      .results(1, b.getI32Type())
      .emit()
      .front();
}

void nvvm::storeGlobalIf(LocBuilder &b, Value predicate, Value global,
                         Value value) {
  PtxAsm(b, "@$0 st.global.f32 [$1], $2;")
      .in(predicate)
      .in(global)
      .in(value)
      .memory()
      .emit();
}

Value nvvm::loadShared32(LocBuilder &b, Value shared, int64_t offset) {
  return PtxAsm(b, llvm::formatv("ld.shared.b32 $0, [$1+{0}];", offset))
      .results(1, b.getI32Type())
      .in(shared)
      .memory()
      .emit()
      .front();
}

Value nvvm::atomicAdd(LocBuilder &b, Value predicate, Value global,
                      int64_t offset, int32_t increment, bool ordered) {
  return PtxAsm(b, llvm::formatv("{{ mov.b32 $0, 0; @$1 "
                                 "atom.{2}.gpu.global.add.u32 $0, [$2+{0}], "
                                 "{1}; }",
                                 offset, increment,
                                 ordered ? "acq_rel" : "relaxed"))
      .results(1, b.getI32Type())
      .in(predicate)
      .in(global)
      .memory()
      .emit()
      .front();
}

static void namedBarrier(LocBuilder &b, StringRef action, Value id,
                         unsigned threads) {
  PtxAsm(b, llvm::formatv("bar.{0} $0, {1};", action, threads))
      .in(id)
      .memory()
      .emit();
}

void nvvm::syncNamedBarrier(LocBuilder &b, Value id, unsigned threads) {
  namedBarrier(b, "sync", id, threads);
}

void nvvm::arriveNamedBarrier(LocBuilder &b, Value id, unsigned threads) {
  namedBarrier(b, "arrive", id, threads);
}

void nvvm::stmatrix(LocBuilder &b, Value base, unsigned swizzle, int64_t offset,
                    ValueRange words) {
  PtxAsm(b, llvm::formatv("{{ .reg .b32 a; xor.b32 a, $0, {0}; "
                          "stmatrix.sync.aligned.m8n8.x{1}.shared.b16 "
                          "[a+{2}], {{{3}}; }",
                          swizzle, words.size(), offset,
                          operandList(1, words.size())))
      .in(base)
      .in(words)
      .memory()
      .emit();
}
