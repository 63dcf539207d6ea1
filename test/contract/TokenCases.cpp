// Masks by what tokens are: documents, blocks, lists of blocks, trees, heads.
#include "test/contract/RowCases.h"

#include <algorithm>

using namespace qm;
using namespace qm::contract;

/// Ids of documents of these lengths, one after the other, from 0.
static std::vector<int64_t> idsOf(llvm::ArrayRef<int64_t> lengths) {
  std::vector<int64_t> ids;
  for (auto [id, length] : llvm::enumerate(lengths))
    ids.insert(ids.end(), length, id);
  return ids;
}

// Few queries, many heads, and a mask that is another for each.
static RowCase maskOfEachHead() {
  RowCase result{"Row15_MaskOfEachHead", 32, 8, [](Spec &spec) {
                   spec.mask([](Batch, Head h, Query i, Key j) {
                     return h != 0 && j <= i + 2 * h;
                   });
                 }};
  for (auto [queries, keys] : {std::pair(8, 8), {1, 100}, {8, 90}})
    result.calls.push_back(
        probe(queries, keys, [](int64_t, int64_t h, int64_t i, int64_t j) {
          return h != 0 && j <= i + 2 * h;
        }));
  return result;
}

// One flag for all, for each batch entry, for each head, for both: the same
// mask where the flags are the same.
static RowCase broadcast(const std::string &name, bool batches, bool heads) {
  RowCase result{"Row16_Flags" + name, 3, 1, [=](Spec &spec) {
                   auto make = [&](auto b, auto h) {
                     auto flags = spec.buffer("flags", i1, b, h);
                     spec.mask([=](Batch at, Head of, Query i, Key j) {
                       Bool on = flags(Index(at), Index(of));
                       return select(on, i >= j, j < 3);
                     });
                   };
                   make(batches ? 2 : 1, heads ? 3 : 1);
                 }};
  Tensor flags(Element::I8, {batches ? 2 : 1, heads ? 3 : 1});
  auto on = [=](int64_t b, int64_t h) {
    return ((batches ? b : 0) + (heads ? h : 0)) % 2 == 0;
  };
  flags.forEach([&](auto at) {
    storeInteger(flags.view, flags.view.offset(at), on(at[0], at[1]));
  });
  result.calls.push_back(probe(70, 70,
                               [=](int64_t b, int64_t h, int64_t i, int64_t j) {
                                 return on(b, h) ? i >= j : j < 3;
                               },
                               2, {flags}));
  return result;
}

// The list of blocks decides, and nothing else.
static RowCase blockLists() {
  RowCase result{"Row17_BlockLists", 2, 1, [](Spec &spec) {
                   auto tiles = spec.buffer("tiles", i32, spec.batch(),
                                            spec.heads(), dynamic, 2);
                   spec.mask(topKBlocks(tiles, 64, 2));
                 }};
  static const int64_t lists[4][2] = {{0, 2}, {1, 3}, {0, 3}, {2, 3}};
  Tensor tiles(Element::I32, {1, 2, 4, 2});
  tiles.forEach([&](auto at) {
    storeInteger(tiles.view, tiles.view.offset(at),
                 lists[(at[2] + at[1]) % 4][at[3]]);
  });
  result.calls.push_back(probe(256, 256,
                               [](int64_t, int64_t h, int64_t i, int64_t j) {
                                 const int64_t *list = lists[(i / 64 + h) % 4];
                                 return list[0] == j / 64 || list[1] == j / 64;
                               },
                               1, {tiles}));
  return result;
}

/// Packed documents, with the ids said to be sorted and not.
static RowCase documents(const std::string &name, bool sorted, bool isCausal) {
  RowCase result{name, 2, 1, [=](Spec &spec) {
                   auto ids = spec.buffer("ids", i32, spec.queryLength());
                   Mask mask = document(sorted ? ids.sorted() : ids);
                   spec.mask(isCausal ? mask && causal(TopLeft) : mask);
                 }};
  std::vector<int64_t> lengths[] = {
      {9, 8, 12, 8, 12}, {1, 1, 300}, {200, 64, 64, 1, 130}, {}};
  lengths[3].assign(60, 17);
  for (const auto &packed : lengths) {
    std::vector<int64_t> ids = idsOf(packed);
    int64_t tokens = ids.size();
    result.calls.push_back(probe(tokens, tokens,
                                 [=](int64_t, int64_t, int64_t i, int64_t j) {
                                   return ids[i] == ids[j] &&
                                          (!isCausal || i >= j);
                                 },
                                 1, {vectorOf(Element::I32, ids)}));
  }
  return result;
}

// Cross-attention between packed documents, ids of two element types.
static RowCase crossDocuments() {
  RowCase result{
      "Row53_CrossDocuments", 2, 1, [](Spec &spec) {
        auto ofQueries =
            spec.buffer("of_queries", i64, spec.queryLength()).sorted();
        auto ofKeys = spec.buffer("of_keys", i16, spec.keyLength()).sorted();
        spec.mask(document(ofQueries, ofKeys));
      }};
  // Ids that only one side has, and an end without keys.
  for (auto [queryLengths, keyLengths] :
       {std::pair(std::vector<int64_t>{100, 0, 70, 30},
                  std::vector<int64_t>{20, 30, 27}),
        {{1}, {0, 300}},
        {{130, 70}, {77}}}) {
    std::vector<int64_t> q = idsOf(queryLengths), k = idsOf(keyLengths);
    result.calls.push_back(probe(
        q.size(), k.size(),
        [=](int64_t, int64_t, int64_t i, int64_t j) { return q[i] == k[j]; }, 1,
        {vectorOf(Element::I64, q), vectorOf(Element::I16, k)}));
  }
  return result;
}

// Tiles are skipped by the real mask: a prefix allows more than the past, a
// tree less.
static RowCase prefixLm() {
  RowCase result{"Row30_PrefixLm", 2, 1, [](Spec &spec) {
                   Index length = spec.param("length", i32);
                   spec.mask(prefix(length) || causal(TopLeft));
                 }};
  for (int32_t length : {0, 1, 150, 299}) {
    result.calls.push_back(probe(300, 300,
                                 [=](int64_t, int64_t, int64_t i, int64_t j) {
                                   return j < length || i >= j;
                                 },
                                 1, {length}));
    result.calls.back().name += "_prefix" + std::to_string(length);
  }
  return result;
}

static bool isAncestor(int64_t above, int64_t node) {
  while (node > above)
    node = (node - 1) / 2;
  return node == above;
}

static RowCase draftTree() {
  static constexpr int64_t drafted = 63;
  RowCase result{"Row30_Tree", 2, 1, [](Spec &spec) {
                   Index context = spec.param("context", i32);
                   auto ancestors = spec.buffer("ancestors", i1,
                                                spec.queryLength(), drafted);
                   spec.mask(tree(context, ancestors));
                 }};
  Tensor ancestors(Element::I8, {drafted, drafted});
  ancestors.forEach([&](auto at) {
    storeInteger(ancestors.view, ancestors.view.offset(at),
                 isAncestor(at[1], at[0]));
  });
  for (int32_t context : {0, 237})
    result.calls.push_back(probe(drafted, context + drafted,
                                 [=](int64_t, int64_t, int64_t i, int64_t j) {
                                   return j < context ||
                                          isAncestor(j - context, i);
                                 },
                                 1, {context, ancestors}));
  return result;
}

// One kernel for all lengths.
static RowCase manyLengths() {
  RowCase result{"Row38_ManyLengths", 2, 1, [](Spec &spec) {
                   auto shifts = spec.buffer("shifts", i32, spec.batch());
                   spec.mask([=](Batch b, Head, Query i, Key j) {
                     return j <= i + shifts[b];
                   });
                 }};
  for (int64_t extent = 100; extent <= 400; extent += 37)
    result.calls.push_back(probe(extent, extent,
                                 [](int64_t b, int64_t, int64_t i, int64_t j) {
                                   return j <= i + (b ? -5 : 9);
                                 },
                                 2, {vectorOf(Element::I32, {9, -5})}));
  return result;
}

// Blocks of a mask need not be tiles of the kernel; a size of 0 is no crash.
static RowCase oddBlocks(const std::string &name, bool isCausal) {
  RowCase result{name, 2, 1, [=](Spec &spec) {
                   Index size = spec.param("size", i32);
                   spec.mask(isCausal ? blockCausal(size)
                                      : blockDiagonal(size));
                 }};
  for (int32_t size : {1, 8, 16, 48, 64, 100, 0}) {
    result.calls.push_back(probe(200, 200,
                                 [=](int64_t, int64_t, int64_t i, int64_t j) {
                                   int64_t a = size ? i / size : 0,
                                           b = size ? j / size : 0;
                                   return isCausal ? a >= b : a == b;
                                 },
                                 1, {size}));
    result.calls.back().name += "_size" + std::to_string(size);
  }
  return result;
}

std::vector<RowCase> qm::contract::tokenCases() {
  return {
      maskOfEachHead(),
      broadcast("OfAll", false, false),
      broadcast("OfBatch", true, false),
      broadcast("OfHead", false, true),
      broadcast("OfBoth", true, true),
      blockLists(),
      documents("Row28_Documents", true, false),
      documents("Row28_DocumentsCausal", true, true),
      documents("Row28_DocumentsUnsorted", false, true),
      prefixLm(),
      draftTree(),
      manyLengths(),
      crossDocuments(),
      oddBlocks("Row54_BlockCausal", true),
      oddBlocks("Row54_BlockDiagonal", false),
  };
}
