//===- Documents.cpp - masks by what the tokens are -----------------------===//
#include "dialect/dsl/Library.h"

#include <qm/catalogue/documents.h>

using namespace qm::detail;

namespace qm {

Mask documentCausalByOffsets(Ids ids, Over<Index, Index> offsets, Where where) {
  return libraryMask(where, [=](Batch b, Head, Query i, Key j) {
    return offsets(ids(b, i)) <= j && j <= i;
  });
}

Mask documentRelative(Ids ids, Over<Index, Index> offsets, const Mask &mask,
                      Where where) {
  return libraryMask(where, [=](Batch b, Head h, Query i, Key j) {
    Index document = ids(b, i), begin = offsets(document);
    Bool inside = mask(b, h, Query(i - begin), Key(j - begin));
    return document == ids(b, j) && inside;
  });
}

Mask sharedPrefix(Ids ids, Over<Index, Index> prefixes, Where where) {
  return libraryMask(where, [=](Batch b, Head, Query i, Key j) {
    Index document = ids(b, i), seen = ids(b, j), prefix = prefixes(document);
    return (document == seen && i >= j) || (seen == prefix && prefix >= 0);
  });
}

Mask varScales(Ids scales, Where where) {
  return libraryMask(where, [=](Batch b, Head, Query i, Key j) {
    return scales(b, i) >= scales(b, j);
  });
}

Mask imageBidirectional(Ids images, Where where) {
  return libraryMask(where, [=](Batch b, Head, Query i, Key j) {
    Index image = images(b, i);
    return i >= j || (image == images(b, j) && image >= 0);
  });
}

Mask flamingo(Over<Index, Index> begin, Over<Index, Index> end, IntArg tokens,
              Where where) {
  return libraryMask(where, [=](Batch, Head, Query i, Key j) {
    Index image = j / atLeast(tokens, 1, "flamingo", "the tokens of an image");
    return begin(image) <= i && i < end(image);
  });
}

Mask tree(IntArg context, Over<Bool, Query, Index> ancestors, Where where) {
  return libraryMask(where, [=](Batch, Head, Query i, Key j) {
    Index length = atLeast(context, 0, "tree", "the context");
    return j < length || ancestors(i, j - length);
  });
}

Mask rowThreshold(Ids counts, Where where) {
  return libraryMask(
      where, [=](Batch b, Head, Query i, Key j) { return j < counts(b, i); });
}

Mask packedBits(Over<Index, Query, Index> words, Where where) {
  return libraryMask(where, [=](Batch, Head, Query i, Key j) {
    return ((words(i, j >> 5) >> (j & 31)) & 1) == 1;
  });
}

Mask topKBlocks(Over<Index, Batch, Head, Index, Index> tiles, IntArg tile,
                int count, Where where) {
  return libraryMask(where, [=](Batch b, Head h, Query i, Key j) {
    Index size = atLeast(tile, 1, "topKBlocks", "the tile");
    Index first = require(Index(0), count >= 1,
                          "topKBlocks: the slot count is " +
                              std::to_string(count) + ", at least 1 is needed",
                          "write the number of slots in use");
    Index row = i / size, seen = j / size;
    Bool kept = tiles(b, h, row, first) == seen;
    for (int slot = 1; slot < count; ++slot)
      kept = kept || tiles(b, h, row, Index(slot)) == seen;
    return kept;
  });
}

} // namespace qm
