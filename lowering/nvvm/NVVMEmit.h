// NVIDIA instructions as plain functions: one function an instruction. The only
// face of the NVVM dialect, whose header takes 14 s to compile; nothing outside
// this folder includes it.
//
// Addresses of shared memory are i32 (shared window), of global memory i64.
// `offset` is in bytes and becomes part of the instruction. Lane layouts are
// those of the PTX ISA, "Matrix fragments for mma.m16n8k16".
#pragma once

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir {
class DialectRegistry;
}

namespace qm::nvvm {
using LocBuilder = mlir::ImplicitLocOpBuilder;
using Values = llvm::SmallVector<mlir::Value>;

/// The NVVM dialect alone, for a pass's dependent dialects.
void insertDialects(mlir::DialectRegistry &registry);
/// The NVVM dialect and the translations of LLVM and NVVM to LLVM IR.
void registerNvvm(mlir::DialectRegistry &registry);

// --- Matrix product ---

/// ldmatrix.x4 of 16-bit elements: four 8x8 matrices, one i32 of each a lane.
/// The address is `(base ^ swizzle) + offset`, formed in the instruction's own
/// asm so that it takes no register across a loop.
Values ldmatrixX4(LocBuilder &b, mlir::Value base, unsigned swizzle,
                  int64_t offset, bool transposed);

/// d = a b + c for one 16x8 tile, f32 accumulation, `element` f16 or bf16. a: 4
/// registers, b: 2; c: 4 f32, or empty: zero.
Values mmaM16N8K16(LocBuilder &b, mlir::Type element, mlir::ValueRange a,
                   mlir::ValueRange bFragment, mlir::ValueRange c);
/// The same with k = 8 (sm_75: f16 only). a: 2 registers, b: 1.
Values mmaM16N8K8(LocBuilder &b, mlir::Type element, mlir::ValueRange a,
                  mlir::ValueRange bFragment, mlir::ValueRange c);

/// d = a b + c for one 16x8 tile and 8 columns of tf32. a: 4 registers (i32),
/// b: 2; c: 4 f32, or empty: zero.
Values mmaTf32M16N8K8(LocBuilder &b, mlir::ValueRange a,
                      mlir::ValueRange bFragment, mlir::ValueRange c);
/// f32 rounded to tf32 (to nearest, ties away from zero), as i32.
mlir::Value roundToTf32(LocBuilder &b, mlir::Value x);

// --- Memory ---

/// 16 bytes, global to shared, past L1. Bytes from `bytes` (i32, 0 or 16) on
/// are zeros and not read; null: all 16. `predicate` (i1): whether to copy at
/// all; null: yes.
void cpAsync16(LocBuilder &b, mlir::Value shared, int64_t sharedOffset,
               mlir::Value global, int64_t globalOffset, mlir::Value bytes,
               mlir::Value predicate = {});
void cpAsyncCommit(LocBuilder &b);
/// Waits until at most `pending` of the groups this thread committed are under
/// way.
void cpAsyncWait(LocBuilder &b, unsigned pending);
void cpAsyncWaitIf(LocBuilder &b, mlir::Value predicate, unsigned pending);
void storeShared64(LocBuilder &b, mlir::Value shared, int64_t offset,
                   mlir::Value value);
mlir::Value loadShared64(LocBuilder &b, mlir::Value shared, int64_t offset);
void storeShared32(LocBuilder &b, mlir::Value shared, int64_t offset,
                   mlir::Value value);
/// 16 bytes from four registers (i32 or f32), if `predicate`; null: always.
void storeShared128(LocBuilder &b, mlir::Value predicate, mlir::Value shared,
                    int64_t offset, mlir::ValueRange words);
Values loadShared128(LocBuilder &b, mlir::Value shared, int64_t offset);
/// f32 at `(base ^ swizzle) + offset`, formed as in ldmatrixX4.
mlir::Value loadSharedF32(LocBuilder &b, mlir::Value base, unsigned swizzle,
                          int64_t offset);
/// 16 bytes from four i32, if `predicate`.
void storeGlobal128(LocBuilder &b, mlir::Value predicate, mlir::Value global,
                    mlir::ValueRange words);
/// 8 bytes from two f32, if `predicate`.
void storeGlobal2xF32(LocBuilder &b, mlir::Value predicate, mlir::Value global,
                      int64_t offset, mlir::Value first, mlir::Value second);
/// A scalar of a buffer that no one writes while the kernel runs
/// (ld.global.nc).
mlir::Value loadGlobalConstant(LocBuilder &b, mlir::Type type,
                               mlir::Value global);
/// A load that keeps its place among barriers, of memory that is not written
/// while the kernel runs either: ptxas delays the other kind until its first
/// use.
mlir::Value loadGlobalInPlace(LocBuilder &b, mlir::Type type,
                              mlir::Value global);
/// Neighbouring i32, 2 or 4, by one such load.
Values loadWordsInPlace(LocBuilder &b, unsigned count, mlir::Value global);
void storeGlobal(LocBuilder &b, mlir::Value global, mlir::Value value);
/// lhs + rhs (i32 or i64) that LLVM cannot see through: it makes no induction
/// variables of its multiples.
mlir::Value opaqueAdd(LocBuilder &b, mlir::Value lhs, mlir::Value rhs);
/// base + factor * constant on i64, opaque as well: the product of a stride in
/// constant memory is formed where it is used and takes no register across a
/// loop.
mlir::Value opaqueMulAdd(LocBuilder &b, mlir::Value factor, int64_t constant,
                         mlir::Value base);

/// value << amount on i32; 0 from 32 on. The amount is not negative.
mlir::Value shiftLeftClamped(LocBuilder &b, mlir::Value value,
                             mlir::Value amount);
/// lhs - rhs on i32, the nearest number where that is none.
mlir::Value subtractSaturating(LocBuilder &b, mlir::Value lhs, mlir::Value rhs);

// --- Threads ---

enum class Special { ThreadX, BlockX };
/// Reads a special register (i32). `again`: a read that is not merged with an
/// earlier one, so that what is derived from it need not live in between.
mlir::Value readSpecial(LocBuilder &b, Special special, bool again = false);
/// Ends the threads where `predicate` holds: all of a warp or none.
void exitIf(LocBuilder &b, mlir::Value predicate);
/// bar.sync 0: all threads of the CTA.
void barrier(LocBuilder &b);
/// bar.sync on named barrier `ifTrue` or `ifFalse`, as `choice` (i1, uniform in
/// the warp) says; `threads`: those that wait and those that only arrive.
void namedBarrierSync(LocBuilder &b, mlir::Value choice, unsigned ifTrue,
                      unsigned ifFalse, unsigned threads);
void namedBarrierArriveIf(LocBuilder &b, mlir::Value predicate, unsigned number,
                          unsigned threads);
void warpBarrier(LocBuilder &b);
/// f32 of the lane whose number differs in the bits of `mask`.
mlir::Value shuffleXor(LocBuilder &b, mlir::Value value, unsigned mask);
/// i32 or i64 of lane 0: tells ptxas that the value is uniform in the warp.
mlir::Value broadcastLane0(LocBuilder &b, mlir::Value value);
/// i32 of lane number `lane` (i32, the same in all lanes).
mlir::Value broadcastLane(LocBuilder &b, mlir::Value value, mlir::Value lane);
/// The least and the greatest i32 of the warp's lanes (redux.sync, sm_80).
mlir::Value warpMin(LocBuilder &b, mlir::Value value);
mlir::Value warpMax(LocBuilder &b, mlir::Value value);
mlir::Value voteAny(LocBuilder &b, mlir::Value predicate);
/// One bit a lane, i32.
mlir::Value ballot(LocBuilder &b, mlir::Value predicate);

// --- Arithmetic on f32 ---

mlir::Value exp2Approx(LocBuilder &b, mlir::Value x); ///< ex2.approx.ftz: 2 ulp
mlir::Value log2Approx(
    LocBuilder &b,
    mlir::Value x); ///< lg2.approx: 2^-22, absolute in (0.5, 2), else relative
mlir::Value tanhApprox(LocBuilder &b,
                       mlir::Value x); ///< tanh.approx: relative 2^-11
mlir::Value rcpApprox(LocBuilder &b, mlir::Value x); ///< rcp.approx.ftz: 1 ulp
mlir::Value divApprox(LocBuilder &b, mlir::Value x,
                      mlir::Value y);                 ///< div.full: 2 ulp
mlir::Value sqrtApprox(LocBuilder &b, mlir::Value x); ///< sqrt.approx: 1 ulp
mlir::Value rsqrtApprox(LocBuilder &b,
                        mlir::Value x); ///< rsqrt.approx: 2^-22.9 relative
/// x y + z, limited to 0 to 1; NaN becomes 0.
mlir::Value fmaSaturated(LocBuilder &b, mlir::Value x, mlir::Value y,
                         mlir::Value z);
/// Two f32 rounded to `element` (f16 or bf16) in one i32, `low` in the low
/// half.
mlir::Value packPair(LocBuilder &b, mlir::Type element, mlir::Value low,
                     mlir::Value high);

// --- Kernels ---

/// An entry point whose one parameter is an array of `slots` i64 in constant
/// memory.
mlir::LLVM::LLVMFuncOp createKernel(LocBuilder &b, llvm::StringRef name,
                                    unsigned slots, unsigned threads);
/// The i32 address of the CTA's dynamic shared memory, aligned to 1024 bytes;
/// declares it in `module` once.
mlir::Value dynamicShared(LocBuilder &b, mlir::Operation *module);

} // namespace qm::nvvm
