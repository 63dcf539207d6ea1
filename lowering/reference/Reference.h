//===- Reference.h - attention in double precision --------------*- C++ -*-===//
//
// The oracle: a function at the spec level, evaluated as its definition reads.
// Nothing is tiled, streamed or fused, and no code is shared with the passes
// or the lowerings, so an agreement between the two means something.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "lowering/reference/RegionEvaluator.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace qm::reference {

enum class Arithmetic {
  /// Inputs read exactly, everything else in double precision.
  Double,
  /// The yardstick of the numerics contract: scores, statistics and sums in
  /// f32, each operation rounded; normalised probabilities and the output
  /// rounded to the input type.
  InputRounded
};

/// Results in row-major order, whatever the layout of the inputs. Rows of no
/// sequence, which a kernel leaves as they are, are NaN.
struct Output {
  int64_t batch = 0, heads = 0, rows = 0, columns = 0;
  std::vector<double> o;      ///< [batch, heads, rows, columns]
  std::vector<double> lse;    ///< [batch, heads, rows], natural logarithm
  std::vector<double> rowMax; ///< [batch, heads, rows]; -inf: no kept key
};

/// What a mask keeps, summed over batches and heads.
struct MaskCounts {
  int64_t fullBlocks = 0, partialBlocks = 0, emptyBlocks = 0;
  int64_t keptPairs = 0, emptyRows = 0;
};

/// What a mask keeps of one head of one sequence, block by block.
struct BlockMap {
  int64_t tileM = 1, tileN = 1, queries = 0, keys = 0;
  int64_t rowTiles = 0, keyBlocks = 0;
  std::vector<int64_t> kept; ///< pairs, [row tile, key block]

  int64_t keptIn(int64_t tile, int64_t block) const {
    return kept[tile * keyBlocks + block];
  }
  /// All pairs of a block, fewer at the ends.
  int64_t pairsIn(int64_t tile, int64_t block) const {
    return std::min(tileM, queries - tile * tileM) *
           std::min(tileN, keys - block * tileN);
  }
};

/// A sequence of a call; rows count from the start of its batch entry.
struct Sequence {
  int64_t number = 0, batch = 0;
  int64_t firstQuery = 0, queries = 0, firstKey = 0, keys = 0;
};

/// A spec made ready to evaluate. Holds no reference to the IR.
class Reference {
public:
  /// `function` returns the results of its one `attn.attention`. Otherwise, or
  /// for an op that has no meaning here, emits a diagnostic.
  static mlir::FailureOr<Reference> create(mlir::func::FuncOp function);

  /// Checks rank, element type and extents of each argument against the
  /// function's types, and that the extents of the call agree; a failure is a
  /// diagnostic at the function.
  mlir::LogicalResult check(llvm::ArrayRef<Argument> arguments) const;

  /// Evaluates on checked arguments with `threads` threads (0: all cores).
  Output evaluate(llvm::ArrayRef<Argument> arguments, Arithmetic arithmetic,
                  unsigned threads = 0) const;

  /// Classifies every tileM x tileN block by evaluating the mask at each pair.
  /// A block is full if all its pairs inside the matrix are kept.
  MaskCounts countBlocks(llvm::ArrayRef<Argument> arguments, int64_t tileM,
                         int64_t tileN, unsigned threads = 0) const;

  /// The same for head 0 of the call's first sequence, block by block.
  BlockMap mapBlocks(llvm::ArrayRef<Argument> arguments, int64_t tileM,
                     int64_t tileN, unsigned threads = 0) const;

  /// The extents of the call; with lengths, those of memory.
  Extents extentsOf(llvm::ArrayRef<Argument> arguments) const;
  /// The batch entries, or what the lengths make of them.
  std::vector<Sequence> sequencesOf(llvm::ArrayRef<Argument> arguments) const;
  bool hasMask() const { return mask.has_value(); }
  bool hasScore() const { return score.has_value(); }
  bool returnsLse() const { return lse; }
  bool returnsRowMax() const { return rowMax; }
  /// Position of q, k, v among the function's arguments.
  unsigned qArgument() const { return q; }
  unsigned kArgument() const { return k; }
  unsigned vArgument() const { return v; }

private:
  explicit Reference(mlir::Location loc) : loc(loc) {}
  mlir::LogicalResult checkLengths(llvm::ArrayRef<Argument> arguments) const;
  template <typename Real>
  Output evaluateAs(llvm::ArrayRef<Argument> arguments, unsigned threads) const;

  mlir::Location loc;
  llvm::SmallVector<mlir::Type> argumentTypes;
  llvm::SmallVector<std::string> argumentNames;
  unsigned q = 0, k = 1, v = 2;
  llvm::SmallVector<unsigned, 2> lengths; ///< arguments: queries', keys'
  bool packed = false;
  float scale = 1;
  bool lse = false, rowMax = false;
  std::optional<RegionProgram> score, mask, sink;
};

/// The name of a function argument: its `attn.name`, else q, k, v or argN.
std::string argumentName(mlir::func::FuncOp function, unsigned index);

} // namespace qm::reference
