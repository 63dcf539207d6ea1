"""Masks as values: `&`, `|`, `~`, `shift`; the masks that most models need, and the rest of the catalogue.

A mask says which pairs (query i, key j) are kept. The compiler derives from the whole which key blocks are empty, partial or
full, so a function of yours (`custom`) costs no more than a mask of this library, and a new length recompiles nothing.

In the formulas d = 0 for TOP_LEFT and d = Skv - Sq for BOTTOM_RIGHT, and p = i + d is the key position where query i stands;
division rounds down. A size or length is an integer or a `scalar`; ids, lengths and flags are arrays or `buffer`s. Names and
meaning are those of the C++ catalogue (dialect/dsl/CATALOGUE.md), where examples and what the compiler derives stand.
"""

from .arguments import Buffer, as_buffer
from .catalogue import BOTTOM_RIGHT, TOP_LEFT, Alignment, at_least, constant_of, position, require
from .canvases import *  # noqa: F403  neighbourhoods in images and videos
from .canvases import __all__ as _canvases
from .graph import boolean
from .mask import Mask, as_mask, custom, library_mask
from .values import Bool, Index

__all__ = [
    "BOTTOM_RIGHT", "Mask", "TOP_LEFT", "batch_window", "batchify", "block_causal", "block_diagonal", "block_diffusion",
    "causal", "chunked_causal", "custom", "dilated_window", "document", "document_causal_by_offsets", "document_relative",
    "flamingo", "full", "global_window", "image_bidirectional", "mini_causal", "packed_bits", "padding", "prefix",
    "row_threshold", "sampled_blocks", "shared_prefix", "sink_window", "sliding_window", "top_k_blocks", "tree", "var_scales",
]  # fmt: skip
__all__ += _canvases


def _ids(array, what):
    """Integers over [position] or [batch, position], read as ids(b, position)."""
    ids = as_buffer(array)
    if ids.rank not in (1, 2):
        raise TypeError(f"{what} are over [position] or [batch, position], not of {ids.rank} dimensions")
    # One array serves queries and keys, whatever axis it was declared over.
    return lambda b, at: ids[Index(at.node)] if ids.rank == 1 else ids[b, Index(at.node)]


def _over(array, rank, what):
    values = as_buffer(array)
    if values.rank != rank:
        raise TypeError(f"{what} has {rank} dimension{'s' * (rank > 1)}, not {values.rank}")
    return values


# The masks that most models need.


def full():
    """No mask. Keeps: every pair"""
    return library_mask(lambda b, h, i, j: Bool(boolean(True)))


def causal(alignment=None):
    """Keeps: i + d >= j. The alignment is not optional: with Sq != Skv both are in use."""
    if alignment is None:
        raise TypeError(
            "say where query 0 stands: causal(TOP_LEFT), or causal(BOTTOM_RIGHT) for decoding with a cache (the last query sees the "
            "last key)"
        )
    alignment = Alignment(alignment)
    return library_mask(lambda b, h, i, j: position(i, alignment) >= j)


def sliding_window(left, right=0, alignment=BOTTOM_RIGHT):
    """Keeps: i + d - left <= j <= i + d + right.

    Both ends are included: with right = 0 a query keeps itself and `left` keys before it. (A model card's "window 4096" often
    means 4096 keys in all: that is sliding_window(4095).) None is no bound; a negative bound shifts the window past the query.
    """
    alignment = Alignment(alignment)

    def function(b, h, i, j):
        if left is None and right is None:
            return True
        at = position(i, alignment)
        # Compared as distances: no bound, however large, can overflow.
        if right is None:
            return at - j <= left
        not_after = j - at <= right
        return not_after if left is None else (at - j <= left) & not_after

    return library_mask(function)


def prefix(length):
    """Keeps: j < length, or j < lengths[b] for an array. A prefix language model is prefix(n) | causal(TOP_LEFT)."""
    if isinstance(length, Buffer) or hasattr(length, "__dlpack__"):
        lengths = _over(length, 1, "prefix lengths, one a batch entry,")
        return library_mask(lambda b, h, i, j: j < lengths[b])
    return library_mask(lambda b, h, i, j: j < length)


def padding(lengths):
    """Keeps: j < lengths[b] for integers over [batch]; valid[b, j] for booleans over [batch, key]."""
    array = as_buffer(lengths)
    if array.argument.dtype == "i1":
        _over(array, 2, "a padding array of booleans, over [batch, key],")
        return library_mask(lambda b, h, i, j: array[b, j])
    _over(array, 1, "padding lengths, one a batch entry,")
    return library_mask(lambda b, h, i, j: j < array[b])


def document(query_ids, key_ids=None):
    """A token sees its own document. Keeps: query_ids[i] = key_ids[j]

    Ids over [position] or [batch, position]; one array of ids serves queries and keys where Sq = Skv.
    """
    shared = as_buffer(query_ids)
    queries = _ids(shared, "document ids")
    keys = queries if key_ids is None else _ids(key_ids, "document ids")
    return library_mask(lambda b, h, i, j: queries(b, i) == keys(b, j))


# Windows, blocks and chunks.


def _within(a, b, radius):
    """|a - b| <= radius, as two comparisons: the compiler solves each for the key."""
    return (a - b <= radius) & (b - a <= radius)


def dilated_window(window, rate, alignment=BOTTOM_RIGHT):
    """Every `rate`th key within `window` steps either way. Keeps: |p - j| <= window and (p - j) mod rate = 0"""
    alignment = Alignment(alignment)

    def function(b, h, i, j):
        p = position(i, alignment)
        near = _within(p, j, at_least(window, 0, "dilated_window", "the window"))
        return near & ((p - j) % at_least(rate, 1, "dilated_window", "the rate") == 0)

    return library_mask(function)


def global_window(window, flags):
    """Longformer: a window, and tokens that see and are seen by all. Keeps: |i - j| <= window or flags[i] or flags[j]

    flags: booleans over [position] or [batch, position], for Sq = Skv.
    """
    flag = _ids(flags, "flags")

    def function(b, h, i, j):
        return _within(i, j, at_least(window, 0, "global_window", "the window")) | flag(b, i) | flag(b, j)

    return library_mask(function)


def sink_window(sinks, window, alignment=BOTTOM_RIGHT):
    """StreamingLLM: the first `sinks` keys, then window + 1 keys. Keeps: p >= j and (j < sinks or p - j <= window)"""
    alignment = Alignment(alignment)

    def function(b, h, i, j):
        p = position(i, alignment)
        first = j < at_least(sinks, 0, "sink_window", "the sink count")
        return (p >= j) & (first | (p - j <= at_least(window, 0, "sink_window", "the window")))

    return library_mask(function)


def batch_window(left, right, alignment=BOTTOM_RIGHT):
    """A window of its own for each batch entry, both ends included. Keeps: p - left[b] <= j <= p + right[b]"""
    alignment, left, right = Alignment(alignment), _over(left, 1, "left"), _over(right, 1, "right")

    def function(b, h, i, j):
        p = position(i, alignment)
        return (p - j <= left[b]) & (j - p <= right[b])

    return library_mask(function)


def block_causal(n, alignment=BOTTOM_RIGHT):
    """Causal between blocks of n positions, both ways inside a block. Keeps: p / n >= j / n"""
    alignment = Alignment(alignment)

    def function(b, h, i, j):
        block = at_least(n, 1, "block_causal", "the block")
        return position(i, alignment) // block >= j // block

    return library_mask(function)


def chunked_causal(n, alignment=BOTTOM_RIGHT):
    """Llama 4: causal inside chunks of n positions, blind between them. Keeps: p / n = j / n and p >= j"""
    alignment = Alignment(alignment)

    def function(b, h, i, j):
        chunk, p = at_least(n, 1, "chunked_causal", "the chunk"), position(i, alignment)
        return (p // chunk == j // chunk) & (p >= j)

    return library_mask(function)


def block_diagonal(n):
    """Sequences of n positions laid end to end, each blind to the others. Keeps: i / n = j / n"""

    def function(b, h, i, j):
        block = at_least(n, 1, "block_diagonal", "the block")
        return i // block == j // block

    return library_mask(function)


def batchify(n, mask):
    """Sequences of n positions laid end to end, `mask` inside each. Keeps: i / n = j / n and mask(i mod n, j mod n)"""
    mask = as_mask(mask)

    def function(b, h, i, j):
        length = at_least(n, 1, "batchify", "the length")
        inside = mask(b, h, i % length, j % length)
        return (i // length == j // length) & inside

    return library_mask(function)


def mini_causal(n):
    """The causal triangle of n positions, repeated both ways. Keeps: i mod n >= j mod n"""

    def function(b, h, i, j):
        block = at_least(n, 1, "mini_causal", "the block")
        return i % block >= j % block

    return library_mask(function)


def sampled_blocks(context, n):
    """Training of a drafter (JetSpec): `context` keys that all see, then blocks of n drafted positions, each blind to the others.

    Keeps: j < context or (i - context) / n = (j - context) / n and i >= j
    """

    def function(b, h, i, j):
        length, block = at_least(context, 0, "sampled_blocks", "the context"), at_least(n, 1, "sampled_blocks", "the block")
        own = (i - length) // block == (j - length) // block
        return (j < length) | (own & (i >= j))

    return library_mask(function)


def block_diffusion(n, block):
    """Block diffusion (BD3-LM) training: n noised tokens, then the same n clean, in blocks of `block`; Sq = Skv = 2 n.

    With B(x) = (x mod n) / block. Keeps: (i < n) = (j < n) and B(i) = B(j), or i < n <= j and B(i) > B(j), or n <= i and n <= j
    and B(i) >= B(j)
    """

    def function(b, h, i, j):
        half = at_least(n, 1, "block_diffusion", "the number of tokens")
        size = at_least(block, 1, "block_diffusion", "the block")
        x, y = constant_of(half), constant_of(size)
        require(
            x is None or y is None or x % y == 0,
            f"block_diffusion: {x} tokens are not a multiple of blocks of {y}",
            "pad the sequence to whole blocks",
        )
        # Blocks of clean keys compared by their ends, which the compiler solves for the key: B(j) < m iff j < n + m block.
        noised_block, clean_block = i // size, (i - half) // size
        noised, clean_key = i < half, j >= half
        own = (j < half) & (noised_block == j // size)
        before = clean_key & (j < half + noised_block * size)
        up_to = clean_key & (j < half + (clean_block + 1) * size)
        return (noised & (own | before)) | (~noised & up_to)

    return library_mask(function)


# What the tokens are. Ids are integers over [position] or [batch, position], for Sq = Skv.


def document_causal_by_offsets(ids, offsets):
    """Packed documents, causal inside each, by where each begins (`offsets` over [document]). Keeps: offsets[ids[i]] <= j <= i"""
    ids, offsets = _ids(ids, "document ids"), _over(offsets, 1, "offsets")
    return library_mask(lambda b, h, i, j: (offsets[ids(b, i)] <= j) & (j <= i))


def document_relative(ids, offsets, mask):
    """Packed documents with `mask` inside each, in positions relative to the document's first.

    Keeps: ids[i] = ids[j] and mask(i - offsets[ids[i]], j - offsets[ids[j]])
    """
    ids, offsets, mask = _ids(ids, "document ids"), _over(offsets, 1, "offsets"), as_mask(mask)

    def function(b, h, i, j):
        own = ids(b, i)
        begin = offsets[own]
        inside = mask(b, h, i - begin, j - begin)
        return (own == ids(b, j)) & inside

    return library_mask(function)


def shared_prefix(ids, prefixes):
    """Documents that continue a shared prefix; `prefixes` over [document] holds that document's id, or -1.

    Keeps: ids[i] = ids[j] and i >= j, or ids[j] = prefixes[ids[i]] >= 0
    """
    ids, prefixes = _ids(ids, "document ids"), _over(prefixes, 1, "prefixes")

    def function(b, h, i, j):
        own, seen = ids(b, i), ids(b, j)
        before = prefixes[own]
        return ((own == seen) & (i >= j)) | ((seen == before) & (before >= 0))

    return library_mask(function)


def var_scales(scales):
    """VAR: a token sees the tokens of its own scale and of coarser ones. Keeps: scales[i] >= scales[j]"""
    scales = _ids(scales, "scales")
    return library_mask(lambda b, h, i, j: scales(b, i) >= scales(b, j))


def image_bidirectional(images):
    """Gemma 3: causal text, and images (number >= 0) that see themselves whole. Keeps: i >= j or images[i] = images[j] >= 0"""
    images = _ids(images, "image numbers")

    def function(b, h, i, j):
        image = images(b, i)
        return (i >= j) | ((image == images(b, j)) & (image >= 0))

    return library_mask(function)


def flamingo(begin, end, tokens):
    """Flamingo's cross-attention: image m is `tokens` keys, seen by queries begin[m] to end[m] - 1.

    Keeps: begin[j / tokens] <= i < end[j / tokens]
    """
    begin, end = _over(begin, 1, "begin"), _over(end, 1, "end")

    def function(b, h, i, j):
        image = j // at_least(tokens, 1, "flamingo", "the tokens of an image")
        return (begin[image] <= i) & (i < end[image])

    return library_mask(function)


def tree(context, ancestors):
    """Speculative decoding of a tree: all of the context, then the ancestors (booleans over [query, drafted key]).

    Keeps: j < context or ancestors[i][j - context]
    """
    ancestors = _over(ancestors, 2, "ancestors")

    def function(b, h, i, j):
        length = at_least(context, 0, "tree", "the context")
        return (j < length) | ancestors[i, j - length]

    return library_mask(function)


def row_threshold(counts):
    """A number of visible keys for each query, over [query] or [batch, query]. Keeps: j < counts[i]"""
    counts = _ids(counts, "counts")
    return library_mask(lambda b, h, i, j: j < counts(b, i))


def packed_bits(words):
    """Any mask at all, one bit a pair; `words` is an i32 array over [query, word].

    Keeps: (words[i][j / 32] >> j mod 32) & 1 = 1
    """
    words = _over(words, 2, "words")
    return library_mask(lambda b, h, i, j: (words[i, j >> 5] >> (j & 31)) & 1 == 1)


def top_k_blocks(tiles, tile, count):
    """Video sparse attention: each tile of queries names the key tiles it sees, over [batch, head, query tile, slot]; -1: unused.

    Keeps: tiles[b][h][i / tile][n] = j / tile for some n < count
    """
    tiles = _over(tiles, 4, "tiles")

    def function(b, h, i, j):
        size = at_least(tile, 1, "top_k_blocks", "the tile")
        require(count >= 1, f"top_k_blocks: the slot count is {count}, at least 1 is needed", "write the number of slots in use")
        row, seen = i // size, j // size
        kept = tiles[b, h, row, 0] == seen
        for slot in range(1, count):
            kept = kept | (tiles[b, h, row, slot] == seen)
        return kept

    return library_mask(function)
