//===- BenchPicture.cpp - measured cells as bars --------------------------===//
#include "qmc/BenchPicture.h"
#include "qmc/Table.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <vector>

using namespace llvm;
using namespace qm::driver;

namespace {

struct Bar {
  std::string name;
  double value;
};

/// One cell: ours first.
struct Group {
  std::string cell, unit;
  std::vector<Bar> bars;
};

constexpr StringLiteral oursColour = "#1f5a96", peerColour = "#b9c6d3";
constexpr int width = 760, margin = 16, barHeight = 14, names = 150,
              values = 90;

} // namespace

static mlir::FailureOr<std::vector<Group>> readGroups(const json::Array &rows) {
  std::vector<Group> groups;
  for (const json::Value &value : rows) {
    const json::Object *row = value.getAsObject();
    auto cell = row ? row->getString("cell") : std::nullopt;
    auto ours = row ? row->getNumber("ours") : std::nullopt;
    if (!cell || !ours || *ours < 0)
      return mlir::failure();
    Group group{cell->str(), row->getString("unit").value_or("").str(), {}};
    group.bars.push_back({"ours", *ours});
    if (const json::Object *peers = row->getObject("peers"))
      for (const auto &[name, rate] : *peers)
        group.bars.push_back({name.str(), rate.getAsNumber().value_or(0)});
    groups.push_back(std::move(group));
  }
  return groups;
}

mlir::FailureOr<std::string>
qm::driver::makeBenchPicture(const json::Array &rows) {
  mlir::FailureOr<std::vector<Group>> groups = readGroups(rows);
  if (mlir::failed(groups))
    return mlir::failure();
  double most = 0;
  int height = 2 * margin;
  for (const Group &group : *groups) {
    height += int(group.bars.size() + 2) * barHeight;
    for (const Bar &bar : group.bars)
      most = std::max(most, bar.value);
  }
  std::string svg;
  raw_string_ostream os(svg);
  auto text = [&](double x, double y, StringRef words) {
    os << formatv("<text x=\"{0:f1}\" y=\"{1:f1}\">", x, y);
    printHTMLEscaped(words, os);
    os << "</text>\n";
  };
  os << formatv("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" "
                "height=\"{1}\" font-family=\"sans-serif\" "
                "font-size=\"11\">\n"
                "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
                width, height);
  double y = margin;
  for (const Group &group : *groups) {
    y += barHeight;
    text(margin, y - 3, group.cell + ", " + group.unit);
    for (const Bar &bar : group.bars) {
      double length =
          most > 0 ? bar.value / most * (width - 2 * margin - names - values)
                   : 0;
      text(margin + 8, y + barHeight - 4, bar.name);
      os << formatv("<rect x=\"{0}\" y=\"{1:f1}\" width=\"{2:f1}\" "
                    "height=\"{3}\" fill=\"{4}\"/>\n",
                    margin + names, y + 1, length, barHeight - 2,
                    bar.name == "ours" ? oursColour : peerColour);
      text(margin + names + length + 6, y + barHeight - 4,
           threeDigits(bar.value));
      y += barHeight;
    }
    y += barHeight;
  }
  os << "</svg>\n";
  return svg;
}
