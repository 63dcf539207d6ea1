// Instructions that came with Hopper (sm_90a): tensor copies (TMA), transaction
// barriers, warpgroup products, register budgets. As in NVVMEmit.h: one
// function an instruction, addresses of shared memory are i32, `offset` is in
// bytes and becomes part of the instruction. Where a function takes a predicate
// (i1), only threads for which it holds execute it.
#pragma once

#include "lowering/nvvm/NVVMEmit.h"

namespace qm::nvvm {

// --- Kernels
// ---------------------------------------------------------------------------------------------------------

constexpr unsigned tensorMapBytes = 128, tensorMapAlignment = 64;

/// Gives an entry point `count` more parameters, one CUtensorMap each, and says
/// that one CTA fills a multiprocessor (setmaxnreg is ignored without that).
/// Returns their addresses, i64.
Values addTensorMaps(LocBuilder &b, mlir::LLVM::LLVMFuncOp kernel,
                     unsigned count);
/// Gives an entry point an i32 parameter and returns it.
mlir::Value addScalarParameter(LocBuilder &b, mlir::LLVM::LLVMFuncOp kernel);
/// i64 address of an array of `count` i64 in global memory that starts as
/// zeros; declares it in `module` once.
mlir::Value globalCounters(LocBuilder &b, mlir::Operation *module,
                           unsigned count);
/// Changes the register budget of every warp of the warpgroup.
void setMaxRegisters(LocBuilder &b, bool increase, unsigned registers);

// --- mbarrier: `address` + offset is an 8-byte word of shared memory
// -------------------------------------------------

void mbarrierInit(LocBuilder &b, mlir::Value address, int64_t offset,
                  unsigned arrivals);
/// Fetches a tensor map, for whose first use memory is not waited for then.
void prefetchTensorMap(LocBuilder &b, mlir::Value map);
/// Makes initialised barriers visible to tensor copies.
void mbarrierInitFence(LocBuilder &b);
void mbarrierArrive(LocBuilder &b, mlir::Value predicate, mlir::Value address,
                    int64_t offset);
/// Arrives and says that tensor copies of so many bytes will be counted on this
/// barrier.
void mbarrierExpect(LocBuilder &b, mlir::Value predicate, mlir::Value address,
                    int64_t offset, unsigned bytes);
/// The same for `bytes` (i32) that are known at run time.
void mbarrierExpect(LocBuilder &b, mlir::Value predicate, mlir::Value address,
                    int64_t offset, mlir::Value bytes);
/// Waits until the phase of parity `parity` (i32) has completed.
void mbarrierWait(LocBuilder &b, mlir::Value address, int64_t offset,
                  mlir::Value parity);

// --- Tensor copies: a box of a 4-D tensor map at `coordinates` (i32, innermost
// first) --------------------------------

void tensorLoad(LocBuilder &b, mlir::Value predicate, mlir::Value shared,
                int64_t offset, mlir::Value map, mlir::ValueRange coordinates,
                mlir::Value barrier, int64_t barrierOffset);
void tensorStore(LocBuilder &b, mlir::Value predicate, mlir::Value map,
                 mlir::ValueRange coordinates, mlir::Value shared,
                 int64_t offset);
void bulkCommit(LocBuilder &b);
/// Waits until this thread's stores have read their shared memory.
void bulkWaitRead(LocBuilder &b);
/// Orders this thread's ordinary accesses to shared memory before tensor copies
/// and warpgroup products.
void fenceAsyncProxy(LocBuilder &b);

// --- Warpgroup products
// ----------------------------------------------------------------------------------------------

/// The low word of a matrix descriptor at `address` (16-byte aligned): the
/// operand's rows of 128 bytes have the 128-byte swizzle, groups of 8 rows are
/// 1024 bytes apart. `leadingBytes`: from one group of 64 columns to the next,
/// where the operand is transposed. Adding bytes / 16 moves the operand.
mlir::Value matrixDescriptor(LocBuilder &b, mlir::Value address,
                             unsigned leadingBytes);

/// Registers given are read or written by the products that follow; they are
/// the same values afterwards, but nothing that computes them moves below the
/// fence.
void wgmmaFence(LocBuilder &b,
                llvm::ArrayRef<llvm::MutableArrayRef<mlir::Value>> registers);
void wgmmaCommit(LocBuilder &b);
/// ptxas starts nothing below before `value` (f32, not negative) is there. It
/// would move a wait above the arithmetic that is to run in the shadow of the
/// product waited for.
void wgmmaOrder(LocBuilder &b, mlir::Value value);
/// Waits until at most `pending` committed groups are under way; uses of
/// `accumulator` stay below.
void wgmmaWait(LocBuilder &b, unsigned pending,
               llvm::MutableArrayRef<mlir::Value> accumulator);

/// accumulator (64 x n, f32, n / 2 registers) = or += A (64 x 16) B (n x 16,
/// transposed), both in shared memory with k contiguous; offsets in bytes.
/// Replaces the values of `accumulator`; `fresh`: starts from zero.
void wgmmaShared(LocBuilder &b, mlir::Type element, mlir::Value a,
                 int64_t aOffset, mlir::Value bMatrix, int64_t bOffset,
                 bool fresh, llvm::MutableArrayRef<mlir::Value> accumulator);
/// accumulator += A (64 x 16, 4 registers) B (16 x n) with n contiguous in
/// shared memory.
void wgmmaRegisters(LocBuilder &b, mlir::Type element, mlir::ValueRange a,
                    mlir::Value bMatrix, int64_t bOffset,
                    llvm::MutableArrayRef<mlir::Value> accumulator);

// --- Threads and shared memory
// ---------------------------------------------------------------------------------------

/// CTAs of the launch, i32.
mlir::Value gridSize(LocBuilder &b);

/// Named barrier `id` (i32, 1 to 15) of `threads` threads: those that wait and
/// those that only arrive together.
void syncNamedBarrier(LocBuilder &b, mlir::Value id, unsigned threads);
void arriveNamedBarrier(LocBuilder &b, mlir::Value id, unsigned threads);

/// i32 at `shared`.
mlir::Value loadShared32(LocBuilder &b, mlir::Value shared, int64_t offset);
/// Adds to an i32 of global memory where the predicate holds and returns what
/// was there (elsewhere the result has no meaning). `ordered`: what this thread
/// did before comes before, what it does after comes after, for the whole GPU.
mlir::Value atomicAdd(LocBuilder &b, mlir::Value predicate, mlir::Value global,
                      int64_t offset, int32_t increment, bool ordered);

/// f32 where the predicate holds, without a branch.
void storeGlobalIf(LocBuilder &b, mlir::Value predicate, mlir::Value global,
                   mlir::Value value);

/// Stores 8x8 matrices of 16-bit elements, one of `words` (2 or 4 of them)
/// each; lane i gives the address of row i % 8 of matrix i / 8. The address is
/// `(base ^ swizzle) + offset`.
void stmatrix(LocBuilder &b, mlir::Value base, unsigned swizzle, int64_t offset,
              mlir::ValueRange words);

} // namespace qm::nvvm
