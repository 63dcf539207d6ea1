//===- canvases.h - neighbourhoods in images and videos ---------*- C++ -*-===//
//
// A position x of the sequence is a pixel: its row is r(x), its column c(x),
// its frame f(x). Which pixel depends on the order of the tokens:
//
//   plain    rows from top to bottom, pixels of a row from left to right
//   tiled    tiles in the plain order of tiles, pixels of a tile in plain order
//   Morton   bits of the column in the even bits of x, of the row in the odd
//
// A neighbourhood is moved, never cut, at the border: it keeps its size. Each
// axis is limited by its own extent. Kernels of natten are odd and no larger
// than the canvas; tiles divide it. For Sq = Skv = pixels (plus text).
//
//===----------------------------------------------------------------------===//
#pragma once

#include <qm/catalogue/arguments.h>

namespace qm {

/// Neighbourhood attention in plain order, with a kernel of kernel.rows x
/// kernel.columns pixels; R = kernel.rows / 2, C = kernel.columns / 2.
/// Keeps: |clamp(r(i), R, rows - 1 - R) - r(j)| <= R and
///        |clamp(c(i), C, columns - 1 - C) - c(j)| <= C
Mask natten2d(Size2 canvas, Size2 kernel, Where where = Where::current());

/// Neighbourhood attention with the tokens in tiled order: neighbours are close
/// in the sequence too, so that fewer blocks are needed.
/// Keeps: as natten2d, with r and c of the tiled order
Mask tiledNatten2d(Size2 canvas, Size2 kernel, Size2 tile,
                   Where where = Where::current());

/// Neighbourhood attention with the tokens of a square canvas in Morton order;
/// `side`, a power of two, is its rows and columns.
/// Keeps: as natten2d, with r and c of the Morton order
Mask mortonNatten2d(detail::IntArg side, Size2 kernel,
                    Where where = Where::current());

/// Whether positions past the canvas exist: text that sees and is seen by all.
enum Tail { NoText, TextTail };

/// Sliding tile attention on an image in tiled order; `kernel` counts tiles.
/// On each axis t(x) is the number of the tile, K the kernel, N the canvas in
/// tiles, and m = clamp(t(i), K / 2, N - (K + 1) / 2).
/// Keeps: m - K / 2 <= t(j) <= m - K / 2 + K - 1 on both axes (or text)
Mask sta2d(Size2 canvas, Size2 tile, Size2 kernel, Tail tail = NoText,
           Where where = Where::current());

/// Sliding tile attention on a video in tiled order; see sta2d.
/// Keeps: m - K / 2 <= t(j) <= m - K / 2 + K - 1 on the three axes (or text)
Mask sta3d(Size3 canvas, Size3 tile, Size3 kernel, Tail tail = NoText,
           Where where = Where::current());

/// Whether the first frame of a video is visible to all queries.
enum Sink { NoSink, FirstFrame };

/// Sparse VideoGen, spatial heads: a prompt of `prompt` tokens, then frames of
/// `frame` tokens each; a band of about `width` frames. F = frame with
/// FirstFrame, 0 without:
/// Keeps: j < prompt + F or i < prompt or |i - j| < 128 (width * frame / 128)
Mask svgSpatial(detail::IntArg prompt, detail::IntArg frame,
                detail::IntArg width, Sink sink = NoSink,
                Where where = Where::current());

/// Sparse VideoGen, temporal heads: pixels near each other in any two of
/// `frames` frames; frame >= 1, frames >= 1.
/// Keeps: j < prompt or i < prompt or |(i - prompt) mod frame - (j - prompt)
/// mod frame| < width * frame / frames
Mask svgTemporal(detail::IntArg prompt, detail::IntArg frame,
                 detail::IntArg frames, detail::IntArg width,
                 Where where = Where::current());

} // namespace qm
