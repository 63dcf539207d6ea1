//===- Table.cpp - aligned columns of text --------------------------------===//
#include "qmc/Table.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <cmath>

using namespace llvm;
using namespace qm::driver;

void Table::print(raw_ostream &os) const {
  SmallVector<size_t> widths;
  for (const auto &row : rows)
    for (size_t column = 0; column < row.size(); ++column) {
      if (column == widths.size())
        widths.push_back(0);
      widths[column] = std::max(widths[column], row[column].size());
    }
  for (const auto &row : rows) {
    std::string line;
    for (size_t column = 0; column < row.size(); ++column) {
      std::string padding(widths[column] - row[column].size(), ' ');
      line += (column ? "  " : "");
      line += column ? padding + row[column] : row[column] + padding;
    }
    os << StringRef(line).rtrim() << '\n';
  }
}

void Table::printJson(raw_ostream &os) const {
  json::Array objects;
  for (const auto &row : ArrayRef(rows).drop_front()) {
    json::Object object;
    for (auto [key, cell] : zip(rows.front(), row))
      object[key] = cell;
    objects.push_back(std::move(object));
  }
  os << formatv("{0:2}\n", json::Value(std::move(objects)));
}

std::string qm::driver::scientific(double value) {
  std::string text;
  raw_string_ostream(text) << format("%.2e", value);
  return text;
}

std::string qm::driver::threeDigits(double value) {
  std::string text;
  double magnitude = std::fabs(value);
  const char *pattern = magnitude >= 100   ? "%.0f"
                        : magnitude >= 10  ? "%.1f"
                        : magnitude >= 1   ? "%.2f"
                        : magnitude >= 0.1 ? "%.3f"
                                           : "%.3g";
  raw_string_ostream(text) << format(pattern, value);
  return text;
}

std::string qm::driver::grouped(int64_t value) {
  std::string digits = std::to_string(value);
  for (int64_t at = int64_t(digits.size()) - 3; at > (value < 0 ? 1 : 0);
       at -= 3)
    digits.insert(at, " ");
  return digits;
}
