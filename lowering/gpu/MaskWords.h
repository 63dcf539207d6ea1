// The mask of a block as one bit an element: a word holds the 32 columns that a
// thread has of a row (bit c is column c, at key offset 8 (c / 2) + c % 2 from
// the thread's first). Conditions that say where a row's keys begin and end
// give a word in a dozen instructions, those that repeat or stay the same for
// many keys are asked once for all of them, and what is read from memory by key
// is read once a warp. The machine tests seven bits of a word at a time, so a
// masked element costs little more than the selection.
#pragma once

#include "lowering/gpu/ColumnShape.h"
#include "lowering/gpu/ElementRegion.h"

namespace qm::gpu {

class MaskWords {
public:
  /// Keys of a block of which a thread has at most 32.
  static constexpr int64_t mostKeys = 128;

  /// Null where the mask has a condition without such a form.
  static std::unique_ptr<MaskWords> get(mlir::Block &body, int64_t blockKeys);

  /// Where the thread's elements are: indices of its rows and columns, first
  /// key and lane.
  struct Place {
    llvm::ArrayRef<mlir::Value> rows, columns;
    Int firstKey, lane;
  };
  /// Begins a block: emits what is read from memory. `region` is the mask's.
  void begin(LocBuilder &b, ElementRegion &region, const Place &place);
  /// The mask is a conjunction: of conditions on packed bits, which are read,
  /// and of others, which hold in most blocks.
  enum class Part { All, Bits, Others };
  bool readsBits() const;
  /// Whether `begin` loads anything.
  bool loads() const {
    return llvm::any_of(forms, [](auto &form) {
      return form.second == Form::Bits || form.second == Form::Lanes;
    });
  }
  /// Words of packed bits come with their pairs of columns in another order,
  /// as they are read: column c is at bit `transposed(c)`.
  static constexpr unsigned transposed(unsigned column) {
    return column / 2 % 4 * 8 + column / 8 * 2 + column % 2;
  }
  /// From one order to the other.
  static mlir::Value transpose(LocBuilder &b, mlir::Value word);
  /// The words of the thread's rows, i32: what `part` keeps; null: everything.
  llvm::SmallVector<mlir::Value> emit(LocBuilder &b, ElementRegion &region,
                                      const Place &place,
                                      Part part = Part::All);
  /// i1: `part` keeps every element of the thread. May be false where it does.
  mlir::Value emitKeepsAll(LocBuilder &b, ElementRegion &region,
                           const Place &place, Part part);

  /// The word of the columns whose offset is at least `offset`.
  static mlir::Value columnsFrom(LocBuilder &b, Int offset, int64_t blockKeys);
  /// Where the condition on an element is: the bit of a row's word.
  struct Bit {
    unsigned row, bit;
  };
  /// Replaces the elements whose bit is 0.
  static void select(LocBuilder &b, llvm::MutableArrayRef<mlir::Value> elements,
                     llvm::ArrayRef<mlir::Value> words,
                     llvm::function_ref<Bit(unsigned)> bitOf, mlir::Value fill);

private:
  enum class Form { Sampled, Ordered, Bits, Lanes, Combined };
  struct Emission;

  MaskWords(mlir::Block &body, int64_t blockKeys);
  bool analyze(mlir::Value predicate);
  std::optional<Form> formOf(mlir::Value predicate);
  bool isOrdered(mlir::arith::CmpIOp compare);
  bool isLanes(mlir::Value predicate);
  bool isOfKey(mlir::Value value) const;
  std::optional<llvm::SmallVector<unsigned>> samples(mlir::Value predicate);

  bool hasBits(mlir::Value predicate) const;
  llvm::SmallVector<mlir::Value> conjuncts(Part part) const;
  llvm::SmallVector<mlir::Value> readBits(Emission &emission,
                                          attn::LoadOp load);
  mlir::Value keepsAll(Emission &emission, mlir::Value predicate, unsigned row);
  mlir::Value emitWord(Emission &emission, mlir::Value predicate, unsigned row);
  mlir::Value emitSampled(Emission &emission, mlir::Value predicate,
                          unsigned row);
  mlir::Value emitOrdered(Emission &emission, mlir::arith::CmpIOp compare,
                          unsigned row);
  mlir::Value emitCombined(Emission &emission, mlir::Operation &op,
                           unsigned row);
  void emitLanes(Emission &emission, mlir::Value predicate);
  mlir::Value gatherPairs(Emission &emission,
                          llvm::ArrayRef<mlir::Value> words);
  mlir::Value gatherColumns(Emission &emission,
                            llvm::ArrayRef<mlir::Value> words);
  mlir::Value emitBits(Emission &emission, mlir::Value predicate, unsigned row,
                       bool inColumnOrder);

  mlir::Block &body;
  int64_t blockKeys;
  ColumnShapes shapes;
  llvm::DenseMap<mlir::Value, unsigned> dependence; ///< onRow, onKey
  llvm::MapVector<mlir::Value, Form> forms;
  /// What `begin` read, by predicate: for Bits the words of each row, for Lanes
  /// the lane's values of the keys, then the value of each row.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>> read;
};

} // namespace qm::gpu
