//===- BlockPicture.h - a mask's blocks as text and as SVG ------*- C++ -*-===//
#pragma once

#include "lowering/reference/Reference.h"

#include "llvm/Support/raw_ostream.h"

#include <string>

namespace qm::driver {

/// The picture's cells: blocks of the schedule, or squares of several where
/// there are more than fit. Counts are of pairs, so densities are exact.
class BlockPicture {
public:
  /// At most `limit` cells a side.
  BlockPicture(const reference::BlockMap &map, int64_t limit);

  /// One line a row of cells, after `indent`: `#` full, `.` empty, a digit for
  /// the tenths of its pairs that a partial cell keeps.
  void print(llvm::raw_ostream &os, llvm::StringRef indent) const;
  /// A drawing of the same, with a title and a legend.
  std::string makeSvg(llvm::StringRef title) const;

  /// The part of all pairs that is kept.
  double density() const;

private:
  struct Cell {
    int64_t kept = 0, pairs = 0;
  };
  const Cell &at(int64_t row, int64_t column) const {
    return cells[row * columns + column];
  }

  int64_t rows, columns;
  int64_t scale; ///< blocks along the side of a cell
  std::vector<Cell> cells;
  reference::BlockMap map;
};

} // namespace qm::driver
