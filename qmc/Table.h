//===- Table.h - aligned columns of text ------------------------*- C++ -*-===//
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace qm::driver {

/// Rows of cells; the first column is aligned left, the others right.
class Table {
public:
  explicit Table(std::vector<std::string> header) : rows{std::move(header)} {}
  void addRow(std::vector<std::string> cells) {
    rows.push_back(std::move(cells));
  }
  void print(llvm::raw_ostream &os) const;
  /// An array with an object a row, the header's words as keys.
  void printJson(llvm::raw_ostream &os) const;

private:
  std::vector<std::vector<std::string>> rows;
};

/// "3.1e-07"
std::string scientific(double value);
/// "12.34", with as many digits as make sense: three significant ones.
std::string threeDigits(double value);
/// "1 234 567"
std::string grouped(int64_t value);

} // namespace qm::driver
