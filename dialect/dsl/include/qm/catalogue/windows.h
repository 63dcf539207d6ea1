//===- windows.h - windows, blocks and chunks -------------------*- C++ -*-===//
//
// In the formulas p = i + d is the key position where query i stands: d = 0 for
// TopLeft, d = Skv - Sq for BottomRight. Division rounds down and `mod` is
// never negative.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <qm/catalogue/arguments.h>

namespace qm {

/// Every `rate`th key within `window` steps either way; rate >= 1.
/// Keeps: |p - j| <= window and (p - j) mod rate = 0
Mask dilatedWindow(detail::IntArg window, detail::IntArg rate,
                   Alignment alignment = BottomRight,
                   Where where = Where::current());

/// Longformer: a window, and tokens that see and are seen by all. `global` is
/// an i1 buffer over [position] or [batch, position], for Sq = Skv.
/// Keeps: |i - j| <= window or global[i] or global[j]
Mask globalWindow(detail::IntArg window, detail::Flags global,
                  Where where = Where::current());

/// StreamingLLM: the first `sinks` keys stay visible, the rest is a window of
/// window + 1 keys, the query's own among them.
/// Keeps: p >= j and (j < sinks or p - j <= window)
Mask sinkWindow(detail::IntArg sinks, detail::IntArg window,
                Alignment alignment = BottomRight,
                Where where = Where::current());

/// A window of its own for each batch entry, both ends included.
/// Keeps: p - left[b] <= j <= p + right[b]
Mask batchWindow(detail::Over<Index, Batch> left,
                 detail::Over<Index, Batch> right,
                 Alignment alignment = BottomRight,
                 Where where = Where::current());

/// Causal between blocks of n positions, both ways inside a block; n >= 1.
/// Keeps: p / n >= j / n
Mask blockCausal(detail::IntArg n, Alignment alignment = BottomRight,
                 Where where = Where::current());

/// Llama 4: causal inside chunks of n positions, blind between them; n >= 1.
/// Keeps: p / n = j / n and p >= j
Mask chunkedCausal(detail::IntArg n, Alignment alignment = BottomRight,
                   Where where = Where::current());

/// Sequences of n positions laid end to end, each blind to the others; n >= 1.
/// Keeps: i / n = j / n
Mask blockDiagonal(detail::IntArg n, Where where = Where::current());

/// Sequences of n positions laid end to end, `mask` inside each; n >= 1.
/// Keeps: i / n = j / n and mask(i mod n, j mod n)
Mask batchify(detail::IntArg n, const Mask &mask,
              Where where = Where::current());

/// Training of a drafter (JetSpec): a context of `context` keys that all see,
/// then blocks of n drafted positions, each blind to the others; n >= 1.
/// Keeps: j < context or
///        (i - context) / n = (j - context) / n and i >= j
Mask sampledBlocks(detail::IntArg context, detail::IntArg n,
                   Where where = Where::current());

/// The causal triangle of n positions, repeated both ways; n >= 1.
/// Keeps: i mod n >= j mod n
Mask miniCausal(detail::IntArg n, Where where = Where::current());

/// Block diffusion (BD3-LM) training: n noised tokens followed by the same n
/// clean ones, in blocks of `block`; Sq = Skv = 2 n, n a multiple of block.
/// Noised blocks see themselves and the clean blocks before them; clean blocks
/// are causal between blocks. With B(x) = (x mod n) / block:
/// Keeps: (i < n) = (j < n) and B(i) = B(j), or i < n <= j and B(i) > B(j), or
/// n <= i and n <= j and B(i) >= B(j)
Mask blockDiffusion(detail::IntArg n, detail::IntArg block,
                    Where where = Where::current());

} // namespace qm
