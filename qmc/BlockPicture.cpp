//===- BlockPicture.cpp - a mask's blocks as text and as SVG --------------===//
#include "qmc/BlockPicture.h"
#include "qmc/Table.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace qm;
using namespace qm::driver;

BlockPicture::BlockPicture(const reference::BlockMap &map, int64_t limit)
    : map(map) {
  scale = std::max<int64_t>(
      1, divideCeil(std::max(map.rowTiles, map.keyBlocks), limit));
  rows = divideCeil(map.rowTiles, scale);
  columns = divideCeil(map.keyBlocks, scale);
  cells.resize(rows * columns);
  for (int64_t tile = 0; tile < map.rowTiles; ++tile)
    for (int64_t block = 0; block < map.keyBlocks; ++block) {
      Cell &cell = cells[tile / scale * columns + block / scale];
      cell.kept += map.keptIn(tile, block);
      cell.pairs += map.pairsIn(tile, block);
    }
}

double BlockPicture::density() const {
  double kept = 0, pairs = 0;
  for (const Cell &cell : cells)
    kept += cell.kept, pairs += cell.pairs;
  return pairs > 0 ? kept / pairs : 0;
}

void BlockPicture::print(raw_ostream &os, StringRef indent) const {
  for (int64_t row = 0; row < rows; ++row) {
    os << indent;
    for (int64_t column = 0; column < columns; ++column) {
      const Cell &cell = at(row, column);
      if (cell.kept == 0)
        os << '.';
      else if (cell.kept == cell.pairs)
        os << '#';
      else
        os << char('0' + 10 * cell.kept / cell.pairs);
    }
    os << '\n';
  }
}

static constexpr StringLiteral fullColour = "#1f5a96", emptyColour = "#f2f2f2";

/// From a pale to a strong orange as `part` goes from 0 to 1.
static std::string partialColour(double part) {
  auto mix = [&](int from, int to) { return int(from + part * (to - from)); };
  return formatv("#{0:x-2}{1:x-2}{2:x-2}", mix(253, 217), mix(224, 95),
                 mix(180, 14));
}

std::string BlockPicture::makeSvg(StringRef title) const {
  constexpr int64_t size = 640, top = 56, left = 16, legend = 40;
  double side = double(size) / std::max<int64_t>({rows, columns, 1});
  double width = side * columns, height = side * rows;
  std::string svg;
  raw_string_ostream os(svg);
  auto rectangle = [&](double x, double y, double w, double h,
                       StringRef colour) {
    os << formatv("<rect x=\"{0:f2}\" y=\"{1:f2}\" width=\"{2:f2}\" "
                  "height=\"{3:f2}\" fill=\"{4}\"/>\n",
                  x, y, w, h, colour);
  };
  auto text = [&](double x, double y, const Twine &words) {
    os << formatv("<text x=\"{0:f2}\" y=\"{1:f2}\">", x, y);
    printHTMLEscaped(words.str(), os);
    os << "</text>\n";
  };
  os << formatv("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" "
                "height=\"{1}\" font-family=\"sans-serif\" "
                "font-size=\"13\">\n",
                2 * left + size, int64_t(top + height) + legend);
  rectangle(0, 0, 2 * left + size, top + height + legend, "#ffffff");
  text(left, 20, title);
  text(left, 40,
       Twine(map.queries) + " queries x " + Twine(map.keys) +
           " keys, blocks of " + Twine(map.tileM) + " x " + Twine(map.tileN) +
           (scale > 1 ? ", " + Twine(scale) + " x " + Twine(scale) + " a cell"
                      : Twine()) +
           ", " + threeDigits(100 * density()) + " % of pairs kept");
  rectangle(left, top, width, height, emptyColour);
  // Neighbours of one colour in a row are one rectangle.
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0, next; column < columns; column = next) {
      const Cell &cell = at(row, column);
      next = column + 1;
      if (cell.kept == 0)
        continue;
      bool full = cell.kept == cell.pairs;
      while (full && next < columns &&
             at(row, next).kept == at(row, next).pairs)
        ++next;
      rectangle(left + column * side, top + row * side, (next - column) * side,
                side,
                full ? fullColour.str()
                     : partialColour(double(cell.kept) / cell.pairs));
    }
  double y = top + height + 14;
  double x = left;
  for (auto [colour, words] :
       {std::pair(fullColour.str(), "full"),
        {partialColour(0.5), "partial, darker: more pairs kept"},
        {emptyColour.str(), "empty, skipped"}}) {
    rectangle(x, y, 13, 13, colour);
    text(x + 18, y + 11, words);
    x += 40 + 8 * StringRef(words).size();
  }
  os << "</svg>\n";
  return svg;
}
