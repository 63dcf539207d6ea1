"""Masks for images and videos; part of qimeng_attention.masks.

A position x of the sequence is a pixel: its row is r(x), its column c(x), its frame f(x). Which pixel depends on the order of the
tokens: plain (row by row), tiled (tile by tile, pixels of a tile in plain order), or Morton (bits of the column in the even bits of
x, of the row in the odd). A neighbourhood is moved, never cut, at the border. For Sq = Skv = pixels (plus text).

Canvases, kernels and tiles are (rows, columns) or (frames, rows, columns), of integers or `scalar`s.
"""

from .catalogue import at_least, constant_of, minus, quotient, require, times
from .functions import clamp
from .graph import integer
from .mask import library_mask
from .values import Index

__all__ = ["morton_natten_2d", "natten_2d", "sta_2d", "sta_3d", "svg_spatial", "svg_temporal", "tiled_natten_2d"]


class _Axis:
    """One axis of a canvas: its extent and the neighbourhood's, in pixels or tiles."""

    def __init__(self, extent, kernel):
        self.extent = extent
        self.kernel = kernel

    def first(self, x):
        """The first coordinate that x sees: the neighbourhood is moved inside the canvas."""
        return clamp(x - quotient(self.kernel, Index(integer(2))), 0, minus(self.extent, self.kernel))

    def sees(self, x, y):
        first = self.first(x)
        return (y >= first) & (y <= first + minus(self.kernel, Index(integer(1))))


def _checked_axis(extent, kernel, odd, function, axis):
    size = at_least(kernel, 1, function, "an extent of the kernel")
    x, y = constant_of(extent), constant_of(size)
    require(
        x is None or y is None or y <= x,
        f"{function}: a kernel of {y} is larger than {axis}, {x}",
        "choose a kernel no larger than the canvas",
    )
    require(not odd or y is None or y % 2 == 1, f"{function}: a kernel of {y} has no pixel in its middle", "choose an odd kernel")
    return _Axis(extent, size)


def _tiles_of(extent, tile, function, axis):
    """A size of a canvas in tiles."""
    pixels, size = at_least(extent, 1, function, axis), at_least(tile, 1, function, "an extent of the tile")
    x, y = constant_of(pixels), constant_of(size)
    require(
        x is None or y is None or x % y == 0,
        f"{function}: {axis} is {x}, not a multiple of tiles of {y}",
        "choose a tile that divides the canvas",
    )
    return quotient(pixels, size)


def _neighbourhood(height, width, kernel, function):
    """Rows and columns of the canvas with natten's kernels."""
    return (
        _checked_axis(height, kernel[0], True, function, "the rows"),
        _checked_axis(width, kernel[1], True, function, "the columns"),
    )


def natten_2d(canvas, kernel):
    """Neighbourhood attention in plain order; R = kernel[0] // 2, C = kernel[1] // 2.

    Keeps: |clamp(r(i), R, rows - 1 - R) - r(j)| <= R and |clamp(c(i), C, columns - 1 - C) - c(j)| <= C
    """

    def function(b, h, i, j):
        height = at_least(canvas[0], 1, "natten_2d", "the rows")
        width = at_least(canvas[1], 1, "natten_2d", "the columns")
        rows, columns = _neighbourhood(height, width, kernel, "natten_2d")
        return rows.sees(i // width, j // width) & columns.sees(i % width, j % width)

    return library_mask(function)


def tiled_natten_2d(canvas, kernel, tile):
    """Neighbourhood attention with the tokens in tiled order. Keeps: as natten_2d, with r and c of the tiled order"""

    def function(b, h, i, j):
        name = "tiled_natten_2d"
        down, across = _tiles_of(canvas[0], tile[0], name, "the rows"), _tiles_of(canvas[1], tile[1], name, "the columns")
        tile_rows, tile_columns = (at_least(t, 1, name, "an extent of the tile") for t in tile)
        rows, columns = _neighbourhood(times(down, tile_rows), times(across, tile_columns), kernel, name)
        volume = times(tile_rows, tile_columns)
        row_volume = times(volume, across)

        def row(x):
            return x // row_volume * tile_rows + x % volume // tile_columns

        def column(x):
            return x // volume % across * tile_columns + x % volume % tile_columns

        # The rows of tiles follow from the rows; said again in a form that the compiler solves for the key.
        first, tile_row = rows.first(row(i)), j // row_volume
        last = first + minus(rows.kernel, Index(integer(1)))
        near = (tile_row >= first // tile_rows) & (tile_row <= last // tile_rows)
        return near & rows.sees(row(i), row(j)) & columns.sees(column(i), column(j))

    return library_mask(function)


def _even_bits(x):
    x = x & 0x55555555
    x = (x | (x >> 1)) & 0x33333333
    x = (x | (x >> 2)) & 0x0F0F0F0F
    x = (x | (x >> 4)) & 0x00FF00FF
    return (x | (x >> 8)) & 0x0000FFFF


def morton_natten_2d(side, kernel):
    """Neighbourhood attention on a square canvas in Morton order; `side` is a power of two. Keeps: as natten_2d, in that order"""

    def function(b, h, i, j):
        extent = at_least(side, 1, "morton_natten_2d", "the side")
        known = constant_of(extent)
        require(
            known is None or known & (known - 1) == 0,
            f"morton_natten_2d: the side {known} is not a power of two",
            "Morton order fills squares of 1, 2, 4, 8, ... pixels; use tiled_natten_2d for other canvases",
        )
        rows, columns = _neighbourhood(extent, extent, kernel, "morton_natten_2d")
        return rows.sees(_even_bits(i >> 1), _even_bits(j >> 1)) & columns.sees(_even_bits(i), _even_bits(j))

    return library_mask(function)


def _sliding_tiles(name, canvas, tile, kernel, text):
    """The axes are given from the outermost; an image has one frame."""

    def function(b, h, i, j):
        frames, rows, columns = (
            _tiles_of(extent, size, name, what) for extent, size, what in zip(canvas, tile, ("the frames", "the rows", "the columns"))
        )
        sizes = [at_least(t, 1, name, "an extent of the tile") for t in tile]
        volume = times(sizes[0], times(sizes[1], sizes[2]))
        row_volume = times(volume, columns)
        frame_volume = times(row_volume, rows)

        def axis(extent, size, what):
            return _checked_axis(extent, size, False, name, what)

        near = axis(columns, kernel[2], "the tiles of a row").sees(i // volume % columns, j // volume % columns)
        # The outermost axis needs no remainder, which lets the compiler solve it for the key.
        vertical = axis(rows, kernel[1], "the tiles of a column")
        if constant_of(frames) == 1:
            near = vertical.sees(i // row_volume, j // row_volume) & near
        else:
            outer = axis(frames, kernel[0], "the tiles of the frames").sees(i // frame_volume, j // frame_volume)
            near = outer & vertical.sees(i // row_volume % rows, j // row_volume % rows) & near
        if not text:
            return near
        pixels = times(frame_volume, frames)
        return (i >= pixels) | (j >= pixels) | near

    return library_mask(function)


def sta_2d(canvas, tile, kernel, text=False):
    """Sliding tile attention on an image in tiled order; `kernel` counts tiles.

    On each axis t(x) is the number of the tile, K the kernel, N the canvas in tiles, m = clamp(t(i), K / 2, N - (K + 1) / 2).
    Keeps: m - K / 2 <= t(j) <= m - K / 2 + K - 1 on both axes (with text=True also what lies past the canvas, which sees all)
    """
    return _sliding_tiles("sta_2d", (1, *canvas), (1, *tile), (1, *kernel), text)


def sta_3d(canvas, tile, kernel, text=False):
    """Sliding tile attention on a video in tiled order; see sta_2d. Keeps: as sta_2d, on the three axes"""
    return _sliding_tiles("sta_3d", canvas, tile, kernel, text)


def svg_spatial(prompt, frame, width, first_frame=False):
    """Sparse VideoGen, spatial heads: a prompt, then frames of `frame` tokens; a band of about `width` frames.

    With F = frame where first_frame is set, else 0. Keeps: j < prompt + F or i < prompt or |i - j| < 128 (width * frame / 128)
    """

    def function(b, h, i, j):
        begin = at_least(prompt, 0, "svg_spatial", "the prompt")
        size = at_least(frame, 1, "svg_spatial", "the frame")
        count = at_least(width, 0, "svg_spatial", "the width")
        block = Index(integer(128))
        band = times(quotient(times(count, size), block), block)
        seen = begin + size if first_frame else begin
        return (j < seen) | (i < begin) | ((i - j < band) & (j - i < band))

    return library_mask(function)


def svg_temporal(prompt, frame, frames, width):
    """Sparse VideoGen, temporal heads: pixels near each other in any two of `frames` frames.

    Keeps: j < prompt or i < prompt or |(i - prompt) mod frame - (j - prompt) mod frame| < width * frame / frames
    """

    def function(b, h, i, j):
        begin = at_least(prompt, 0, "svg_temporal", "the prompt")
        size = at_least(frame, 1, "svg_temporal", "the frame")
        count = at_least(frames, 1, "svg_temporal", "the number of frames")
        span = at_least(width, 0, "svg_temporal", "the width")
        band = quotient(times(span, size), count)
        x, y = (i - begin) % size, (j - begin) % size
        return (j < begin) | (i < begin) | ((x - y < band) & (y - x < band))

    return library_mask(function)
