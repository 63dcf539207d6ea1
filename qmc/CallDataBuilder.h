//===- CallDataBuilder.h - how the arguments of a call are made -*- C++ -*-===//
#pragma once

#include "qmc/CallData.h"

#include "dialect/AttnOps.h"

#include "llvm/ADT/StringMap.h"

namespace qm::driver {

/// Makes a CallData: CallSizes.cpp decides extents and lengths, CallFiles.cpp
/// takes what --input names, CallData.cpp puts the arguments together.
class CallDataBuilder {
public:
  CallDataBuilder(mlir::func::FuncOp spec, const Options &options,
                  Layout layout, bool values)
      : spec(spec), options(options), layout(layout), values(values) {}
  mlir::FailureOr<CallData> build();

private:
  /// What the first use of dimension `dimension` of a buffer says about it.
  enum class Indexed { Batch, Head, Row, Key, Unknown };
  Indexed howIndexed(mlir::BlockArgument buffer, unsigned dimension);
  int64_t defaultExtent(Indexed indexed);

  mlir::LogicalResult readFlags(llvm::ArrayRef<std::string> flags,
                                llvm::StringRef flag,
                                llvm::StringMap<std::string> &into);
  mlir::LogicalResult readFiles();
  mlir::LogicalResult readSizes();
  mlir::LogicalResult makeLengths();
  bool addLengths(mlir::BlockArgument argument);
  int64_t rowsOf(unsigned which);
  mlir::LogicalResult addScalar(mlir::BlockArgument argument,
                                llvm::StringRef name);
  mlir::LogicalResult addTensor(mlir::BlockArgument argument,
                                llvm::StringRef name);
  mlir::LogicalResult addFile(reference::HostTensor &file,
                              mlir::RankedTensorType type,
                              llvm::StringRef name);
  /// Whether the spec takes the buffer to be sorted along its last dimension.
  static bool isSorted(mlir::BlockArgument buffer);
  mlir::LogicalResult checkSorted(mlir::BlockArgument argument,
                                  llvm::StringRef name);
  mlir::FailureOr<llvm::SmallVector<int64_t>>
  extentsOf(mlir::BlockArgument argument, llvm::StringRef name);
  /// What the tensors made so far take, with one more; fails past what there
  /// is.
  mlir::LogicalResult addMemory(reference::DType type,
                                llvm::ArrayRef<int64_t> shape,
                                llvm::StringRef name);
  void fill(const reference::TensorView &tensor, mlir::BlockArgument argument,
            llvm::StringRef name);
  llvm::SmallVector<unsigned> orderOf(unsigned rank, bool operand);

  mlir::func::FuncOp spec;
  const Options &options;
  Layout layout;
  bool values;
  CallData data;
  llvm::StringMap<std::string> inputs, params, extents;
  llvm::StringMap<reference::HostTensor> files;
  int64_t batch = 1, sq = 1024, skv = 1024;
  int64_t memory = 0; ///< bytes of the tensors made so far
  /// The operator whose sequences have lengths of their own, or null.
  attn::AttentionOp sequences;
  /// Its lengths, or starts, of the queries and of the keys.
  std::vector<int64_t> lengths[2];
  bool packed() { return sequences && sequences.getPacked(); }
};

} // namespace qm::driver
