//===- Canvases.cpp - neighbourhoods in images and videos -----------------===//
#include "dialect/dsl/Library.h"

#include <qm/catalogue/canvases.h>

using namespace qm::detail;

namespace qm {
namespace {

/// One axis of a canvas: its extent and the neighbourhood's, in pixels or
/// tiles.
struct Axis {
  Index extent, kernel;

  /// The first coordinate that x sees: the neighbourhood is moved inside the
  /// canvas, and keeps its size.
  Index first(const Index &x) const {
    return clamp(x - quotient(kernel, 2), 0, minus(extent, kernel));
  }
  Bool sees(const Index &x, const Index &y) const {
    Index from = first(x);
    return y >= from && y <= from + minus(kernel, 1);
  }
};

/// A size of a canvas in tiles; tiles that do not divide it are a mistake.
Index tilesOf(const IntArg &extent, const IntArg &tile, const char *function,
              const char *axis) {
  Index pixels = atLeast(extent, 1, function, axis),
        size = atLeast(tile, 1, function, "an extent of the tile");
  std::optional<long long> x = constantOf(pixels), y = constantOf(size);
  return require(quotient(pixels, size), !x || !y || *x % *y == 0,
                 std::string(function) + ": " + axis + " is " +
                     std::to_string(x.value_or(0)) +
                     ", not a multiple of tiles of " +
                     std::to_string(y.value_or(0)),
                 "choose a tile that divides the canvas");
}

Axis checkedAxis(const Index &extent, const IntArg &kernel, bool odd,
                 const char *function, const char *axis) {
  Index size = atLeast(kernel, 1, function, "an extent of the kernel");
  std::optional<long long> x = constantOf(extent), y = constantOf(size);
  size = require(size, !x || !y || *y <= *x,
                 std::string(function) + ": a kernel of " +
                     std::to_string(y.value_or(0)) + " is larger than " + axis +
                     ", " + std::to_string(x.value_or(0)),
                 "choose a kernel no larger than the canvas");
  size =
      require(size, !odd || !y || *y % 2 == 1,
              std::string(function) + ": a kernel of " +
                  std::to_string(y.value_or(0)) + " has no pixel in its middle",
              "choose an odd kernel");
  return {extent, size};
}

/// Rows and columns of the canvas with natten's kernels.
struct Neighbourhood {
  Axis rows, columns;
  Neighbourhood(const Index &height, const Index &width, const Size2 &kernel,
                const char *function)
      : rows(checkedAxis(height, kernel.rows, true, function, "the rows")),
        columns(checkedAxis(width, kernel.columns, true, function,
                            "the columns")) {}
};

Index evenBits(Index x) {
  x = x & 0x55555555;
  x = (x | (x >> 1)) & 0x33333333;
  x = (x | (x >> 2)) & 0x0f0f0f0f;
  x = (x | (x >> 4)) & 0x00ff00ff;
  return (x | (x >> 8)) & 0x0000ffff;
}

} // namespace

Mask natten2d(Size2 canvas, Size2 kernel, Where where) {
  return libraryMask(where, [=](Batch, Head, Query i, Key j) {
    Index height = atLeast(canvas.rows, 1, "natten2d", "the rows"),
          width = atLeast(canvas.columns, 1, "natten2d", "the columns");
    Neighbourhood near(height, width, kernel, "natten2d");
    return near.rows.sees(i / width, j / width) &&
           near.columns.sees(i % width, j % width);
  });
}

Mask tiledNatten2d(Size2 canvas, Size2 kernel, Size2 tile, Where where) {
  return libraryMask(where, [=](Batch, Head, Query i, Key j) {
    const char *name = "tiledNatten2d";
    Index down = tilesOf(canvas.rows, tile.rows, name, "the rows");
    Index across = tilesOf(canvas.columns, tile.columns, name, "the columns");
    Index tileRows(tile.rows.node), tileColumns(tile.columns.node);
    Neighbourhood near(times(down, tileRows), times(across, tileColumns),
                       kernel, name);
    Index volume = times(tileRows, tileColumns),
          rowVolume = times(volume, across);
    auto row = [&](const Index &x) {
      return x / rowVolume * tileRows + x % volume / tileColumns;
    };
    auto column = [&](const Index &x) {
      return x / volume % across * tileColumns + x % volume % tileColumns;
    };
    // The rows of tiles follow from the rows; said again in a form that the
    // compiler solves for the key.
    Index first = near.rows.first(row(i)), tileRow = j / rowVolume;
    Index last = first + minus(near.rows.kernel, 1);
    return tileRow >= first / tileRows && tileRow <= last / tileRows &&
           near.rows.sees(row(i), row(j)) &&
           near.columns.sees(column(i), column(j));
  });
}

Mask mortonNatten2d(IntArg side, Size2 kernel, Where where) {
  return libraryMask(where, [=](Batch, Head, Query i, Key j) {
    Index extent = atLeast(side, 1, "mortonNatten2d", "the side");
    long long x = constantOf(extent).value_or(1);
    extent = require(extent, (x & (x - 1)) == 0,
                     "mortonNatten2d: the side " + std::to_string(x) +
                         " is not a power of two",
                     "Morton order fills squares of 1, 2, 4, 8, ... pixels; "
                     "use tiledNatten2d for other canvases");
    Neighbourhood near(extent, extent, kernel, "mortonNatten2d");
    return near.rows.sees(evenBits(i >> 1), evenBits(j >> 1)) &&
           near.columns.sees(evenBits(i), evenBits(j));
  });
}

/// The axes are given from the outermost; an image has one frame.
static Mask slidingTiles(const char *name, const Size3 &canvas,
                         const Size3 &tile, const Size3 &kernel, Tail tail,
                         Where where) {
  return libraryMask(where, [=](Batch, Head, Query i, Key j) {
    Index frames = tilesOf(canvas.frames, tile.frames, name, "the frames"),
          rows = tilesOf(canvas.rows, tile.rows, name, "the rows"),
          columns = tilesOf(canvas.columns, tile.columns, name, "the columns");
    Index volume =
        times(Index(tile.frames.node),
              times(Index(tile.rows.node), Index(tile.columns.node)));
    Index rowVolume = times(volume, columns),
          frameVolume = times(rowVolume, rows);
    auto axis = [&](const Index &extent, const IntArg &size, const char *what) {
      return checkedAxis(extent, size, false, name, what);
    };
    Bool near = axis(columns, kernel.columns, "the tiles of a row")
                    .sees(i / volume % columns, j / volume % columns);
    // The outermost axis needs no remainder, which lets the compiler solve it
    // for the key.
    Axis vertical = axis(rows, kernel.rows, "the tiles of a column");
    if (constantOf(frames) == 1)
      near = vertical.sees(i / rowVolume, j / rowVolume) && near;
    else
      near = axis(frames, kernel.frames, "the tiles of the frames")
                 .sees(i / frameVolume, j / frameVolume) &&
             vertical.sees(i / rowVolume % rows, j / rowVolume % rows) && near;
    if (tail == NoText)
      return near;
    Index pixels = times(frameVolume, frames);
    return i >= pixels || j >= pixels || near;
  });
}

Mask sta2d(Size2 canvas, Size2 tile, Size2 kernel, Tail tail, Where where) {
  IntArg one(1, where);
  return slidingTiles("sta2d", {one, canvas.rows, canvas.columns},
                      {one, tile.rows, tile.columns},
                      {one, kernel.rows, kernel.columns}, tail, where);
}

Mask sta3d(Size3 canvas, Size3 tile, Size3 kernel, Tail tail, Where where) {
  return slidingTiles("sta3d", canvas, tile, kernel, tail, where);
}

Mask svgSpatial(IntArg prompt, IntArg frame, IntArg width, Sink sink,
                Where where) {
  return libraryMask(where, [=](Batch, Head, Query i, Key j) {
    Index begin = atLeast(prompt, 0, "svgSpatial", "the prompt"),
          size = atLeast(frame, 1, "svgSpatial", "the frame"),
          count = atLeast(width, 0, "svgSpatial", "the width");
    Index band = times(quotient(times(count, size), 128), 128);
    Index seen = sink == FirstFrame ? begin + size : begin;
    return j < seen || i < begin || (i - j < band && j - i < band);
  });
}

Mask svgTemporal(IntArg prompt, IntArg frame, IntArg frames, IntArg width,
                 Where where) {
  return libraryMask(where, [=](Batch, Head, Query i, Key j) {
    Index begin = atLeast(prompt, 0, "svgTemporal", "the prompt"),
          size = atLeast(frame, 1, "svgTemporal", "the frame"),
          count = atLeast(frames, 1, "svgTemporal", "the number of frames"),
          span = atLeast(width, 0, "svgTemporal", "the width");
    Index band = quotient(times(span, size), count);
    Index x = (i - begin) % size, y = (j - begin) % size;
    return j < begin || i < begin || (x - y < band && y - x < band);
  });
}

} // namespace qm
