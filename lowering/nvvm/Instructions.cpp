// Instructions written as PTX, and those that are plain LLVM.
#include "lowering/nvvm/NVVMEmit.h"
#include "lowering/nvvm/PtxAsm.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace qm;
using nvvm::LocBuilder;
using nvvm::PtxAsm;
using nvvm::Values;

static constexpr unsigned globalSpace = 1;

/// "bf16" or "f16", as PTX spells element types.
static StringRef ptxName(Type element) {
  return element.isBF16() ? "bf16" : "f16";
}

Values nvvm::ldmatrixX4(LocBuilder &b, Value base, unsigned swizzle,
                        int64_t offset, bool transposed) {
  std::string load =
      llvm::formatv("ldmatrix.sync.aligned.m8n8.x4{0}.shared.b16 "
                    "{{$0,$1,$2,$3}, [{1}+{2}];",
                    transposed ? ".trans" : "", swizzle ? "a" : "$4", offset);
  if (swizzle)
    load = llvm::formatv("{{ .reg .b32 a; xor.b32 a, $4, {0}; {1} }", swizzle,
                         load);
  return PtxAsm(b, load).results(4, b.getI32Type()).in(base).memory().emit();
}

/// mma of shape m16n8k`k` with operands of PTX type `type`; registers of a, b
/// and c as the ISA lists them.
static Values mma(LocBuilder &b, unsigned k, StringRef type, ValueRange a,
                  ValueRange bFragment, ValueRange c) {
  std::string text =
      llvm::formatv("mma.sync.aligned.m16n8k{0}.row.col.f32.{1}.{1}.f32 "
                    "{{$0,$1,$2,$3}, ",
                    k, type);
  bool four = a.size() == 4;
  text += four ? "{$4,$5,$6,$7}, {$8,$9}, " : "{$4,$5}, {$6}, ";
  // The accumulator is tied to the result: one register each, as the
  // instruction's own form has it.
  text += c.empty() ? (four ? "{$10,$10,$10,$10};" : "{$7,$7,$7,$7};")
                    : "{$0,$1,$2,$3};";
  PtxAsm ptx(b, text);
  ptx.results(4, b.getF32Type()).in(a).in(bFragment).ordered();
  if (c.empty())
    ptx.in(LLVM::ConstantOp::create(b, b.getF32FloatAttr(0.0f)));
  for (auto [index, value] : llvm::enumerate(c))
    ptx.tied(value, index);
  return ptx.emit();
}

Values nvvm::mmaM16N8K16(LocBuilder &b, Type element, ValueRange a,
                         ValueRange bFragment, ValueRange c) {
  return mma(b, 16, ptxName(element), a, bFragment, c);
}

Values nvvm::mmaM16N8K8(LocBuilder &b, Type element, ValueRange a,
                        ValueRange bFragment, ValueRange c) {
  return mma(b, 8, ptxName(element), a, bFragment, c);
}

Values nvvm::mmaTf32M16N8K8(LocBuilder &b, ValueRange a, ValueRange bFragment,
                            ValueRange c) {
  return mma(b, 8, "tf32", a, bFragment, c);
}

Value nvvm::roundToTf32(LocBuilder &b, Value x) {
  return PtxAsm(b, "cvt.rna.tf32.f32 $0, $1;")
      .results(1, b.getI32Type())
      .in(x)
      .emit()
      .front();
}

void nvvm::cpAsync16(LocBuilder &b, Value shared, int64_t sharedOffset,
                     Value global, int64_t globalOffset, Value bytes,
                     Value predicate) {
  std::string text = llvm::formatv(
      "{0}cp.async.cg.shared.global.L2::128B [$0+{1}], [$1+{2}], 16{3};",
      predicate ? (bytes ? "@$3 " : "@$2 ") : "", sharedOffset, globalOffset,
      bytes ? ", $2" : "");
  PtxAsm ptx(b, text);
  ptx.in(shared).in(global);
  if (bytes)
    ptx.in(bytes);
  if (predicate)
    ptx.in(predicate);
  ptx.memory().emit();
}

void nvvm::cpAsyncWaitIf(LocBuilder &b, Value predicate, unsigned pending) {
  PtxAsm(b, llvm::formatv("@$0 cp.async.wait_group {0};", pending))
      .in(predicate)
      .memory()
      .emit();
}

void nvvm::namedBarrierSync(LocBuilder &b, Value choice, unsigned ifTrue,
                            unsigned ifFalse, unsigned threads) {
  PtxAsm(b, llvm::formatv("{{ @$0 bar.sync {0}, {2}; @!$0 bar.sync {1}, {2}; }",
                          ifTrue, ifFalse, threads))
      .in(choice)
      .memory()
      .emit();
}

void nvvm::namedBarrierArriveIf(LocBuilder &b, Value predicate, unsigned number,
                                unsigned threads) {
  PtxAsm(b, llvm::formatv("@$0 bar.arrive {0}, {1};", number, threads))
      .in(predicate)
      .memory()
      .emit();
}

void nvvm::exitIf(LocBuilder &b, Value predicate) {
  PtxAsm(b, "@$0 exit;").in(predicate).memory().emit();
}

void nvvm::storeShared64(LocBuilder &b, Value shared, int64_t offset,
                         Value value) {
  PtxAsm(b, llvm::formatv("st.shared.b64 [$0+{0}], $1;", offset))
      .in(shared)
      .in(value)
      .memory()
      .emit();
}

Value nvvm::loadShared64(LocBuilder &b, Value shared, int64_t offset) {
  return PtxAsm(b, llvm::formatv("ld.shared.b64 $0, [$1+{0}];", offset))
      .results(1, b.getI64Type())
      .in(shared)
      .memory()
      .emit()
      .front();
}

void nvvm::storeShared32(LocBuilder &b, Value shared, int64_t offset,
                         Value value) {
  PtxAsm(b, llvm::formatv("st.shared.b32 [$0+{0}], $1;", offset))
      .in(shared)
      .in(value)
      .memory()
      .emit();
}

void nvvm::storeShared128(LocBuilder &b, Value predicate, Value shared,
                          int64_t offset, ValueRange words) {
  PtxAsm ptx(b, llvm::formatv("{0}st.shared.v4.b32 [$0+{1}], {{$1,$2,$3,$4};",
                              predicate ? "@$5 " : "", offset));
  ptx.in(shared).in(words);
  if (predicate)
    ptx.in(predicate);
  ptx.memory().emit();
}

Values nvvm::loadShared128(LocBuilder &b, Value shared, int64_t offset) {
  return PtxAsm(b, llvm::formatv("ld.shared.v4.b32 {{$0,$1,$2,$3}, [$4+{0}];",
                                 offset))
      .results(4, b.getI32Type())
      .in(shared)
      .memory()
      .emit();
}

Value nvvm::loadSharedF32(LocBuilder &b, Value base, unsigned swizzle,
                          int64_t offset) {
  std::string load = llvm::formatv("ld.shared.f32 $0, [{0}+{1}];",
                                   swizzle ? "a" : "$1", offset);
  if (swizzle)
    load = llvm::formatv("{{ .reg .b32 a; xor.b32 a, $1, {0}; {1} }", swizzle,
                         load);
  return PtxAsm(b, load)
      .results(1, b.getF32Type())
      .in(base)
      .memory()
      .emit()
      .front();
}

void nvvm::storeGlobal2xF32(LocBuilder &b, Value predicate, Value global,
                            int64_t offset, Value first, Value second) {
  PtxAsm(b, llvm::formatv("@$0 st.global.v2.f32 [$1+{0}], {{$2,$3};", offset))
      .in(predicate)
      .in(global)
      .in(first)
      .in(second)
      .memory()
      .emit();
}

void nvvm::storeGlobal128(LocBuilder &b, Value predicate, Value global,
                          ValueRange words) {
  PtxAsm(b, "@$0 st.global.v4.b32 [$1], {$2,$3,$4,$5};")
      .in(predicate)
      .in(global)
      .in(words)
      .memory()
      .emit();
}

static Value globalPointer(LocBuilder &b, Value address) {
  return LLVM::IntToPtrOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext(), globalSpace), address);
}

Value nvvm::loadGlobalConstant(LocBuilder &b, Type type, Value global) {
  auto load = LLVM::LoadOp::create(b, type, globalPointer(b, global));
  load.setInvariant(true);
  return load;
}

Value nvvm::loadGlobalInPlace(LocBuilder &b, Type type, Value global) {
  return LLVM::LoadOp::create(b, type, globalPointer(b, global));
}

Values nvvm::loadWordsInPlace(LocBuilder &b, unsigned count, Value global) {
  Type i32 = b.getI32Type();
  Value loaded = LLVM::LoadOp::create(b, VectorType::get(count, i32),
                                      globalPointer(b, global));
  Values words;
  for (unsigned word = 0; word < count; ++word)
    words.push_back(LLVM::ExtractElementOp::create(
        b, loaded,
        LLVM::ConstantOp::create(b, i32, b.getI32IntegerAttr(word))));
  return words;
}

void nvvm::storeGlobal(LocBuilder &b, Value global, Value value) {
  LLVM::StoreOp::create(b, value, globalPointer(b, global));
}

Value nvvm::opaqueAdd(LocBuilder &b, Value lhs, Value rhs) {
  bool wide = lhs.getType().isInteger(64);
  return PtxAsm(b, wide ? "add.s64 $0, $1, $2;" : "add.s32 $0, $1, $2;")
      .results(1, lhs.getType())
      .in(lhs)
      .in(rhs)
      .ordered()
      .emit()
      .front();
}

Value nvvm::opaqueMulAdd(LocBuilder &b, Value factor, int64_t constant,
                         Value base) {
  return PtxAsm(b, llvm::formatv("mad.lo.s64 $0, $1, {0}, $2;", constant))
      .results(1, b.getI64Type())
      .in(factor)
      .in(base)
      .ordered()
      .emit()
      .front();
}

static Value binary(LocBuilder &b, const char *mnemonic, Value lhs, Value rhs) {
  return PtxAsm(b, llvm::formatv("{0} $0, $1, $2;", mnemonic))
      .results(1, b.getI32Type())
      .in(lhs)
      .in(rhs)
      .emit()
      .front();
}

Value nvvm::shiftLeftClamped(LocBuilder &b, Value value, Value amount) {
  return binary(b, "shl.b32", value, amount);
}

Value nvvm::subtractSaturating(LocBuilder &b, Value lhs, Value rhs) {
  return binary(b, "sub.sat.s32", lhs, rhs);
}

static Value unary(LocBuilder &b, const char *mnemonic, Value x) {
  return PtxAsm(b, llvm::formatv("{0} $0, $1;", mnemonic))
      .results(1, b.getF32Type())
      .in(x)
      .emit()
      .front();
}

Value nvvm::fmaSaturated(LocBuilder &b, Value x, Value y, Value z) {
  return PtxAsm(b, "fma.rn.sat.f32 $0, $1, $2, $3;")
      .results(1, b.getF32Type())
      .in(x)
      .in(y)
      .in(z)
      .emit()
      .front();
}

Value nvvm::exp2Approx(LocBuilder &b, Value x) {
  return unary(b, "ex2.approx.ftz.f32", x);
}
Value nvvm::log2Approx(LocBuilder &b, Value x) {
  return unary(b, "lg2.approx.f32", x);
}
Value nvvm::tanhApprox(LocBuilder &b, Value x) {
  return unary(b, "tanh.approx.f32", x);
}
Value nvvm::sqrtApprox(LocBuilder &b, Value x) {
  return unary(b, "sqrt.approx.f32", x);
}
Value nvvm::rsqrtApprox(LocBuilder &b, Value x) {
  return unary(b, "rsqrt.approx.f32", x);
}

Value nvvm::divApprox(LocBuilder &b, Value x, Value y) {
  return PtxAsm(b, "div.full.f32 $0, $1, $2;")
      .results(1, b.getF32Type())
      .in(x)
      .in(y)
      .emit()
      .front();
}

Value nvvm::packPair(LocBuilder &b, Type element, Value low, Value high) {
  return PtxAsm(b,
                llvm::formatv("cvt.rn.{0}x2.f32 $0, $1, $2;", ptxName(element)))
      .results(1, b.getI32Type())
      .in(high)
      .in(low)
      .emit()
      .front();
}
