//===- documents.h - masks by what the tokens are ---------------*- C++ -*-===//
//
// Ids are integer buffers over [position] or [batch, position], for Sq = Skv.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <qm/catalogue/arguments.h>

namespace qm {

/// Packed documents, causal inside each, by the position where each begins:
/// `offsets` over [document]. The same as document(ids) && causal(TopLeft), but
/// an interval: what precedes the document is skipped without a look.
/// Keeps: offsets[ids[i]] <= j <= i
Mask documentCausalByOffsets(detail::Ids ids,
                             detail::Over<Index, Index> offsets,
                             Where where = Where::current());

/// Packed documents with `mask` inside each, in positions relative to the
/// document's first: `offsets` over [document].
/// Keeps: ids[i] = ids[j] and mask(i - offsets[ids[i]], j - offsets[ids[j]])
Mask documentRelative(detail::Ids ids, detail::Over<Index, Index> offsets,
                      const Mask &mask, Where where = Where::current());

/// Documents that continue a shared prefix: causal inside a document, and all
/// of the document that is its prefix. `prefixes` over [document] holds that
/// document's id, or -1 for none.
/// Keeps: ids[i] = ids[j] and i >= j, or ids[j] = prefixes[ids[i]] >= 0
Mask sharedPrefix(detail::Ids ids, detail::Over<Index, Index> prefixes,
                  Where where = Where::current());

/// VAR: a token sees the tokens of its own scale and of coarser ones.
/// Keeps: scales[i] >= scales[j]
Mask varScales(detail::Ids scales, Where where = Where::current());

/// Gemma 3, PaliGemma: causal text, and images that see themselves whole.
/// `images` holds the image's number, or a negative number for text.
/// Keeps: i >= j or images[i] = images[j] >= 0
Mask imageBidirectional(detail::Ids images, Where where = Where::current());

/// Flamingo's cross-attention: image m is keys m * tokens to (m + 1) * tokens -
/// 1, seen by the queries begin[m] to end[m] - 1; tokens >= 1.
/// Keeps: begin[j / tokens] <= i < end[j / tokens]
Mask flamingo(detail::Over<Index, Index> begin, detail::Over<Index, Index> end,
              detail::IntArg tokens, Where where = Where::current());

/// Speculative decoding of a tree (EAGLE, JetSpec): all of the context of
/// `context` keys, then the ancestors. `ancestors` is an i1 buffer over [query,
/// drafted key].
/// Keeps: j < context or ancestors[i][j - context]
Mask tree(detail::IntArg context, detail::Over<Bool, Query, Index> ancestors,
          Where where = Where::current());

/// A number of visible keys for each query: `counts` over [query] or [batch,
/// query]. Negate it for what lies at or past a threshold.
/// Keeps: j < counts[i]
Mask rowThreshold(detail::Ids counts, Where where = Where::current());

/// Any mask at all, one bit a pair: bit j mod 32 of word j / 32 of row i, the
/// lowest bit first. `words` is an i32 buffer over [query, word].
/// Keeps: (words[i][j / 32] >> j mod 32) & 1 = 1
Mask packedBits(detail::Over<Index, Query, Index> words,
                Where where = Where::current());

/// The fine pass of video sparse attention (VSA): each tile of queries names
/// the tiles of keys that it sees. `tiles` over [batch, head, query tile, slot]
/// holds key tiles, -1 in slots not used; the first `count` slots count.
/// tile >= 1, count >= 1.
/// Keeps: tiles[b][h][i / tile][n] = j / tile for some n < count
Mask topKBlocks(detail::Over<Index, Batch, Head, Index, Index> tiles,
                detail::IntArg tile, int count, Where where = Where::current());

} // namespace qm
