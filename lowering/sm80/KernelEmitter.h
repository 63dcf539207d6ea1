// Emits one scheduled attn.kernel as an LLVM function in the NVVM dialect,
// operation after operation: what an operation of the attn dialect becomes is
// decided here, how it is done in the files named after the concern (CopyTiles,
// Products, Softmax, ElementRegion, KeyBlocks, Epilogue).
#pragma once

#include "dialect/Diagnostics.h"
#include "lowering/gpu/ElementRegion.h"
#include "lowering/sm80/KeyBlocks.h"
#include "lowering/sm80/Products.h"
#include "lowering/sm80/Softmax.h"

namespace qm::sm80 {

/// Emits `kernel` before itself for `machine` and returns the function, or
/// reports why it cannot be done.
mlir::FailureOr<mlir::LLVM::LLVMFuncOp>
emitKernel(attn::KernelOp kernel, const Plan &plan, const Machine &machine);

/// Whether tiles of late rows should start first: they see more keys under a
/// mask.
bool longestFirst(attn::KernelOp kernel);

class KernelEmitter {
public:
  KernelEmitter(attn::KernelOp kernel, KernelState &state)
      : kernel(kernel), state(state), b(state.b), plan(state.plan) {}

  mlir::LogicalResult emitBody() { return emitBlock(kernel.getBody().front()); }

private:
  mlir::LogicalResult emitBlock(mlir::Block &block);
  mlir::LogicalResult emit(mlir::Operation &op);
  mlir::LogicalResult emit(attn::TilePositionOp op);
  mlir::LogicalResult emit(attn::LoadTileOp op);
  mlir::LogicalResult emit(attn::FillOp op);
  mlir::LogicalResult emit(attn::KeyBlocksOp op);
  mlir::LogicalResult emit(attn::DotOp op);
  mlir::LogicalResult emit(attn::MapOp op);
  mlir::LogicalResult emit(attn::MaskOp op);
  mlir::LogicalResult emit(attn::OnlineSoftmaxOp op);
  mlir::LogicalResult emit(attn::CastOp op);
  mlir::LogicalResult emit(attn::AccumulateOp op);
  mlir::LogicalResult emit(attn::NormalizeOp op);
  mlir::LogicalResult emit(attn::StoreTileOp op);

  /// The fragment of a tile, computed now if it was put off; null (with an
  /// error at `user`) if it is not of this kind.
  template <class T>
  T *get(mlir::Value tile, mlir::Operation *user);
  void set(mlir::Value tile, Fragment fragment) {
    fragments[tile] = std::make_unique<Fragment>(std::move(fragment));
  }
  mlir::InFlightDiagnostic unsupported(mlir::Operation *op) {
    return diag::error(op, diag::Id::KernelShapeNotSupported);
  }

  mlir::FailureOr<Fragment> spread(attn::KeyBlocksOp loop, unsigned index);
  mlir::LogicalResult prepareLoop(attn::KeyBlocksOp loop);
  llvm::SmallVector<mlir::Value> gather(attn::KeyBlocksOp loop);
  void scatter(attn::KeyBlocksOp loop, mlir::ValueRange values);
  /// scf.while and scf.if over the state that `gather` lists.
  mlir::LogicalResult emitWhile(attn::KeyBlocksOp loop,
                                llvm::function_ref<mlir::Value()> condition,
                                llvm::function_ref<mlir::LogicalResult()> body);
  mlir::LogicalResult emitWhere(attn::KeyBlocksOp loop, mlir::Value condition,
                                llvm::function_ref<mlir::LogicalResult()> then,
                                llvm::function_ref<void()> otherwise);
  mlir::Value blockExists();
  mlir::LogicalResult emitBody(attn::KeyBlocksOp loop);
  mlir::LogicalResult emitStep(attn::KeyBlocksOp loop, KeyBlockList &blocks);
  mlir::LogicalResult emitRun(attn::KeyBlocksOp loop, KeyBlockList &blocks);
  mlir::LogicalResult emitRing(attn::KeyBlocksOp loop);
  void readNextKeys();
  // In PingPongLoop.cpp.
  mlir::LogicalResult emitPingPong(attn::KeyBlocksOp loop);
  mlir::LogicalResult emitPending(attn::AccumulateOp accumulate,
                                  TileSupply::Visible values,
                                  llvm::function_ref<void()> enter);
  TileSupply::Visible acquirePendingValues();
  llvm::SmallVector<mlir::Value> flatten(mlir::ValueRange tiles);
  void unflatten(mlir::ValueRange tiles, mlir::ValueRange like,
                 mlir::ValueRange values);
  void maskAbsentKeys(Accumulator &scores);
  mlir::Value isPresent(const Thread &thread, unsigned column);
  void readCoordinatesAgain();

  attn::KernelOp kernel;
  KernelState &state;
  LocBuilder &b;
  const Plan &plan;
  llvm::DenseMap<mlir::Value, std::unique_ptr<Fragment>> fragments;
  /// Computations put off until their result is needed: probabilities are
  /// computed behind the barrier of the value tile, so that they overlap its
  /// product.
  llvm::DenseMap<mlir::Value, std::function<mlir::LogicalResult()>> deferred;
  llvm::DenseMap<mlir::Operation *, std::unique_ptr<ElementRegion>> regions;

  // The loop under way.
  std::unique_ptr<TileSupply> supply;
  std::unique_ptr<QueryFragments> query;
  KeyBlock block, nextBlock;
  bool blockIsFull = false;                     ///< known where code is emitted
  llvm::SmallVector<mlir::Value> position;      ///< in the list of blocks
  std::optional<FirstFragments> firstFragments; ///< of the next key tile, where
                                                ///< they were read early
  std::optional<Packed> pending; ///< ping-pong: probabilities of the block
                                 ///< whose product is put off
  llvm::DenseSet<mlir::Value>
      withoutAbsentKeys; ///< scores whose absent keys are -inf already
};

template <class T>
T *KernelEmitter::get(mlir::Value tile, mlir::Operation *user) {
  if (auto put = deferred.find(tile); put != deferred.end()) {
    auto compute = std::move(put->second);
    deferred.erase(put);
    if (mlir::failed(compute()))
      return nullptr;
  }
  auto found = fragments.find(tile);
  if (found != fragments.end())
    if (T *fragment = std::get_if<T>(found->second.get()))
      return fragment;
  unsupported(user) << "an operand of " << user->getName()
                    << " is not where this target needs it";
  return nullptr;
}

} // namespace qm::sm80
