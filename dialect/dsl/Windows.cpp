//===- Windows.cpp - windows, blocks and chunks ---------------------------===//
#include "dialect/dsl/Library.h"

#include <qm/catalogue/windows.h>

using namespace qm::detail;

namespace qm {
namespace {

/// |a - b| <= radius, as two comparisons: the compiler solves each for the key.
Bool within(const Index &a, const Index &b, const Index &radius) {
  return a - b <= radius && b - a <= radius;
}

} // namespace

Mask dilatedWindow(IntArg window, IntArg rate, Alignment alignment,
                   Where where) {
  return libraryMask(where, [=](Batch, Head, Query i, Key j) {
    Index p = position(i, alignment);
    return within(p, j, atLeast(window, 0, "dilatedWindow", "the window")) &&
           (p - j) % atLeast(rate, 1, "dilatedWindow", "the rate") == 0;
  });
}

Mask globalWindow(IntArg window, Flags global, Where where) {
  return libraryMask(where, [=](Batch b, Head, Query i, Key j) {
    return within(i, j, atLeast(window, 0, "globalWindow", "the window")) ||
           global(b, i) || global(b, j);
  });
}

Mask sinkWindow(IntArg sinks, IntArg window, Alignment alignment, Where where) {
  return libraryMask(where, [=](Batch, Head, Query i, Key j) {
    Index p = position(i, alignment);
    return p >= j && (j < atLeast(sinks, 0, "sinkWindow", "the sink count") ||
                      p - j <= atLeast(window, 0, "sinkWindow", "the window"));
  });
}

Mask batchWindow(Over<Index, Batch> left, Over<Index, Batch> right,
                 Alignment alignment, Where where) {
  return libraryMask(where, [=](Batch b, Head, Query i, Key j) {
    Index p = position(i, alignment);
    return p - j <= left(b) && j - p <= right(b);
  });
}

Mask blockCausal(IntArg n, Alignment alignment, Where where) {
  return libraryMask(where, [=](Batch, Head, Query i, Key j) {
    Index block = atLeast(n, 1, "blockCausal", "the block");
    return position(i, alignment) / block >= j / block;
  });
}

Mask chunkedCausal(IntArg n, Alignment alignment, Where where) {
  return libraryMask(where, [=](Batch, Head, Query i, Key j) {
    Index chunk = atLeast(n, 1, "chunkedCausal", "the chunk"),
          p = position(i, alignment);
    return p / chunk == j / chunk && p >= j;
  });
}

Mask blockDiagonal(IntArg n, Where where) {
  return libraryMask(where, [=](Batch, Head, Query i, Key j) {
    Index block = atLeast(n, 1, "blockDiagonal", "the block");
    return i / block == j / block;
  });
}

Mask batchify(IntArg n, const Mask &mask, Where where) {
  return libraryMask(where, [=](Batch b, Head h, Query i, Key j) {
    Index length = atLeast(n, 1, "batchify", "the length");
    Bool inside = mask(b, h, Query(i % length), Key(j % length));
    return i / length == j / length && inside;
  });
}

Mask sampledBlocks(IntArg context, IntArg n, Where where) {
  return libraryMask(where, [=](Batch, Head, Query i, Key j) {
    Index length = atLeast(context, 0, "sampledBlocks", "the context"),
          block = atLeast(n, 1, "sampledBlocks", "the block");
    Bool own = (i - length) / block == (j - length) / block;
    return j < length || (own && i >= j);
  });
}

Mask miniCausal(IntArg n, Where where) {
  return libraryMask(where, [=](Batch, Head, Query i, Key j) {
    Index block = atLeast(n, 1, "miniCausal", "the block");
    return i % block >= j % block;
  });
}

Mask blockDiffusion(IntArg n, IntArg block, Where where) {
  return libraryMask(where, [=](Batch, Head, Query i, Key j) {
    Index half = atLeast(n, 1, "blockDiffusion", "the number of tokens"),
          size = atLeast(block, 1, "blockDiffusion", "the block");
    std::optional<long long> x = constantOf(half), y = constantOf(size);
    half = require(half, !x || !y || *x % *y == 0,
                   "blockDiffusion: " + std::to_string(x.value_or(0)) +
                       " tokens are not a multiple of blocks of " +
                       std::to_string(y.value_or(0)),
                   "pad the sequence to whole blocks");
    // Blocks of clean keys compared by their ends, which the compiler solves
    // for the key: B(j) < m iff j < n + m block.
    Index noisedBlock = i / size, cleanBlock = (i - half) / size;
    Bool noised = i < half, cleanKey = j >= half;
    Bool own = j < half && noisedBlock == j / size;
    Bool before = cleanKey && j < half + noisedBlock * size;
    Bool upTo = cleanKey && j < half + (cleanBlock + 1) * size;
    return (noised && (own || before)) || (!noised && upTo);
  });
}

} // namespace qm
