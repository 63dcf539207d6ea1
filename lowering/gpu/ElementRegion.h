// The element-wise region of an attn.map or attn.mask (or a classify region),
// emitted for one element after another. An operation is emitted as often as it
// can differ: once before the loop over key blocks if it depends on nothing but
// captures and uniform values, once a row or once a column of a block, else
// once an element. So a gather by row costs four loads a thread and block,
// not 64.
#pragma once

#include "lowering/common/FloatRange.h"
#include "lowering/gpu/Arguments.h"
#include "lowering/gpu/UsualCase.h"

#include "mlir/IR/IRMapping.h"

#include <functional>

namespace qm::gpu {

class ElementRegion {
public:
  /// Which of the region's arguments are the row index and the column index
  /// (the others differ from element to element).
  struct Roles {
    unsigned row, column;
  };

  /// `outer` maps values of the kernel's body to emitted ones; it is read at
  /// each emission. Values defined inside `loop` (null: none) change from block
  /// to block. `which`: the case to emit of functions that have a usual one.
  ElementRegion(mlir::Region &region, Roles roles, Arguments &arguments,
                const mlir::IRMapping &outer, mlir::Operation *loop,
                Case which = Case::General);

  /// How many keys each of the thread's columns lies beyond column 0. An
  /// integer that grows in step with the column is then made a float for column
  /// 0 of a row only (if that column is emitted first); the others add a
  /// constant, which is exact up to 2^24, as the conversion is.
  void setColumnOffsets(llvm::SmallVector<int64_t> offsets) {
    columnOffsets = std::move(offsets);
  }

  /// Who knows extrema without reading the buffer: gets the operation and its
  /// indices as emitted, and may give nothing.
  using ExtremaReader =
      std::function<std::optional<std::pair<mlir::Value, mlir::Value>>(
          attn::ExtremaOp, mlir::ValueRange)>;
  void setExtremaReader(ExtremaReader reader) {
    readExtrema = std::move(reader);
  }

  /// Of the kernel whose buffers the region reads.
  Arguments &getArguments() { return arguments; }

  /// Emits what depends on neither element, row, column nor block. Call once,
  /// where it dominates every emission.
  void emitUniform(LocBuilder &b);
  /// Forgets rows and columns: the next emissions are in another block of keys.
  void startBlock();
  /// Forgets them, but not what was loaded: the next emissions are in a branch.
  void startBranch();
  /// What a load of the region gives for an element of this block; it is not
  /// emitted then.
  void setLoaded(attn::LoadOp load, unsigned row, unsigned column,
                 mlir::Value value) {
    loaded[{load.getOperation(), {row, column}}] = value;
  }
  /// Emits one element and returns what the region yields. `row` and `column`
  /// number the thread's rows and columns.
  llvm::SmallVector<mlir::Value> emit(LocBuilder &b, mlir::ValueRange arguments,
                                      unsigned row, unsigned column);

  /// One value of the region, and nothing that it does not need.
  mlir::Value emitValue(LocBuilder &b, mlir::Value value,
                        mlir::ValueRange arguments, unsigned row,
                        unsigned column);

  /// A float as the sum of a part that differs from element to element and one
  /// that is the same in all of the thread's elements of a row of a block
  /// (null: none).
  struct Split {
    mlir::Value element, row;
  };
  /// An element to emit: its arguments and its number in the thread.
  struct Place {
    llvm::SmallVector<mlir::Value, 3> arguments;
    unsigned row, column;
  };
  /// Emits elements of a region that yields one float, and leaves to the
  /// caller to add what is the same in the row: whoever takes a row's maximum
  /// can do that once a row. Elements of a group share reciprocals.
  llvm::SmallVector<Split> emitSplit(LocBuilder &b,
                                     llvm::ArrayRef<Place> group);
  /// Whether elements of a group share reciprocals. A NaN in one of them is
  /// then one in all.
  bool sharesReciprocals();

private:
  enum Dependence : unsigned { Uniform = 0, Row = 1, Column = 2, Element = 3 };

  unsigned dependenceOf(mlir::Value value) const;
  void choose(Case which);
  mlir::Value chosen(mlir::Value value) const;
  std::optional<int64_t> columnStep(mlir::Value value) const;
  bool differsByLane(attn::ExtremaOp op) const;
  /// The values of one element.
  struct Emission;
  mlir::Value lookUp(LocBuilder &b, Emission &element, mlir::Value value);
  void emitBody(LocBuilder &b, llvm::MutableArrayRef<Emission> group);
  bool sharesReciprocal(mlir::Operation &op);
  void emitShared(LocBuilder &b, llvm::MutableArrayRef<Emission> group,
                  mlir::Operation &op);
  void emitNeeded(LocBuilder &b, Emission &element, mlir::Value value);
  std::optional<Split> splitOperation(LocBuilder &b, Emission &element,
                                      mlir::Operation &op);
  void emitOperation(LocBuilder &b, mlir::Operation &op, mlir::IRMapping &into,
                     llvm::function_ref<mlir::Value(mlir::Value)> lookup);

  mlir::Block &body;
  Arguments &arguments;
  const mlir::IRMapping &outer;
  mlir::Operation *loop;
  llvm::DenseMap<mlir::Value, unsigned> dependence;
  /// Results of selects between two cases, and what they stand for.
  llvm::DenseMap<mlir::Value, mlir::Value> choices;
  /// The operations that this case does not need.
  llvm::DenseSet<mlir::Operation *> skipped;
  lowering::FloatRanges ranges;
  ExtremaReader readExtrema;
  mlir::Value columnArgument; ///< null: there is none
  llvm::SmallVector<int64_t> columnOffsets;
  /// Conversions of integers that grow in step with the column, and by how
  /// much.
  llvm::DenseMap<mlir::Operation *, int64_t> steps;
  /// Their results for the first column of a row that was emitted, and which.
  llvm::DenseMap<std::pair<mlir::Operation *, unsigned>,
                 std::pair<mlir::Value, unsigned>>
      bases;
  llvm::DenseMap<std::pair<mlir::Operation *, std::pair<unsigned, unsigned>>,
                 mlir::Value>
      loaded;
  mlir::IRMapping uniform;
  llvm::DenseMap<unsigned, mlir::IRMapping> rows, columns;
};

/// Whether `op` of a region has machine code here; if not, why not.
std::optional<std::string> whyUnsupported(mlir::Operation &op);

} // namespace qm::gpu
