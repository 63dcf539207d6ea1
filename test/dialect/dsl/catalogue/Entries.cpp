//===- Entries.cpp - examples of the catalogue, and what they mean --------===//
#include "test/dialect/dsl/catalogue/Entries.h"

#include <cstdlib>

namespace qm::test {
namespace {

const int documentLengths[] = {100, 156, 1, 127, 128, 200, 312};

bool pseudoRandom(int i, int j) { return (i * 7919u + j * 104729u) >> 7 & 1; }

/// Whether node `a` of a binary tree, whose node n has the parent (n - 1) / 2,
/// is `n` or above it.
bool isAncestor(int a, int n) {
  while (n > a)
    n = (n - 1) / 2;
  return n == a;
}

std::string nameOf(const std::string &example) {
  return example.substr(0, example.find('('));
}

} // namespace

#define QM_MASK(example, condition, ...)                                       \
  Entry {                                                                      \
    nameOf(#example), #example, example,                                       \
        [=](int b, int h, int i, int j) -> bool { return condition; },         \
        ##__VA_ARGS__                                                          \
  }

void Captures::fill(const char *name, std::vector<int64_t> shape,
                    const std::function<double(int)> &element) {
  Array &array = call.buffers[name];
  array.shape = std::move(shape);
  int64_t count = 1;
  for (int64_t extent : array.shape)
    count *= extent;
  for (int64_t at = 0; at < count; ++at)
    array.elements.push_back(element(static_cast<int>(at)));
}

Captures::Captures() {
  spec.heads(2).headDim(64);
  call.batch = 2, call.heads = 2, call.kvHeads = 2;
  call.query = call.key = keys;
  fill("lengths", {2}, [](int b) { return b ? 1024 : 700; });
  fill("left", {2}, [](int b) { return b ? 20 : 100; });
  fill("right", {2}, [](int b) { return b ? 0 : 30; });
  fill("global", {keys}, [](int at) { return at % 200 == 0; });
  std::vector<double> begins{0}, documents;
  for (int d = 0; d < 7; ++d) {
    documents.insert(documents.end(), documentLengths[d], d);
    begins.push_back(begins.back() + documentLengths[d]);
  }
  fill("ids", {keys}, [&](int at) { return documents[at]; });
  fill("anyIds", {keys}, [&](int at) { return documents[at]; });
  fill("offsets", {7}, [&](int d) { return begins[d]; });
  fill("prefixes", {7},
       [](int d) { return d == 0 || d == 3 ? -1 : d / 4 * 3; });
  fill("scales", {2, keys}, [](int at) {
    int scale = 0;
    for (int begin = 0; begin + (scale + 1) * (scale + 1) <= at % keys; ++scale)
      begin += (scale + 1) * (scale + 1);
    return scale;
  });
  fill("images", {keys}, [](int at) {
    return at >= 100 && at < 356 ? 0 : at >= 400 && at < 656 ? 1 : -1;
  });
  fill("begin", {8}, [](int m) { return 128 * m; });
  fill("end", {8}, [](int m) { return 128 * m + 256; });
  fill("ancestors", {drafted, drafted},
       [](int at) { return isAncestor(at % drafted, at / drafted); });
  fill("counts", {keys}, [](int i) { return i * 37 % 1025; });
  fill("words", {keys, wordsARow}, [](int at) {
    uint32_t word = 0;
    for (int bit = 0; bit < 32; ++bit)
      word |= uint32_t(pseudoRandom(at / wordsARow, at % wordsARow * 32 + bit))
              << bit;
    return static_cast<int32_t>(word);
  });
  fill("tiles", {2, 2, 16, 4}, [](int at) {
    int slot = at % 4, row = at / 4 % 16, plane = at / 64;
    return slot == 3 ? -1 : (row * 5 + slot * 3 + plane) % 16;
  });
}

std::vector<Entry> Captures::simple() {
  auto id = [=, this](int at) { return int(data("ids")[at]); };
  return {
      QM_MASK(full(), true, "full"),
      QM_MASK(causal(BottomRight), i >= j, "causal"),
      QM_MASK(slidingWindow(256), i - 256 <= j && j <= i, "window_256_0"),
      QM_MASK(slidingWindow(64, 64), std::abs(i - j) <= 64, "band_64"),
      QM_MASK(prefix(300) || causal(TopLeft), j < 300 || i >= j, "prefix_300"),
      QM_MASK(padding(lengths), j < (b ? 1024 : 700), "key_padding_700"),
      QM_MASK(document(anyIds), id(i) == id(j), "document"),
      QM_MASK(document(ids), id(i) == id(j), "document"),
      QM_MASK(document(ids) && causal(TopLeft), id(i) == id(j) && i >= j,
              "document_causal"),
      QM_MASK(dilatedWindow(256, 4),
              std::abs(i - j) <= 256 && std::abs(i - j) % 4 == 0,
              "dilated_256_4"),
      QM_MASK(globalWindow(64, global),
              std::abs(i - j) <= 64 || i % 200 == 0 || j % 200 == 0),
      QM_MASK(sinkWindow(4, 256), i >= j && (j < 4 || i - j <= 256),
              "sink_4_window_256"),
      QM_MASK(batchWindow(left, right),
              b ? i - 20 <= j && j <= i : i - 100 <= j && j <= i + 30),
      QM_MASK(blockCausal(64), i / 64 >= j / 64, "block_causal_64"),
      QM_MASK(chunkedCausal(256), i / 256 == j / 256 && i >= j,
              "chunked_causal_256"),
      QM_MASK(blockDiagonal(96), i / 96 == j / 96),
      QM_MASK(batchify(128, causal(TopLeft)),
              i / 128 == j / 128 && i % 128 >= j % 128, "batchify_128_causal"),
      QM_MASK(sampledBlocks(256, 96),
              j < 256 ||
                  (i >= 256 && (i - 256) / 96 == (j - 256) / 96 && i >= j)),
      QM_MASK(miniCausal(128), i % 128 >= j % 128),
      QM_MASK(blockDiffusion(512, 32),
              ((i < 512) == (j < 512) && i % 512 / 32 == j % 512 / 32) ||
                  (i < 512 && j >= 512 && i % 512 / 32 > j % 512 / 32) ||
                  (i >= 512 && j >= 512 && i % 512 / 32 >= j % 512 / 32)),
  };
}

std::vector<Entry> Captures::byToken() {
  auto id = [=, this](int at) { return int(data("ids")[at]); };
  auto offset = [=, this](int d) { return int(data("offsets")[d]); };
  auto prefixOf = [](int d) { return d == 0 || d == 3 ? -1 : d < 4 ? 0 : 3; };
  auto scale = [=, this](int at) { return int(data("scales")[at]); };
  auto image = [](int at) {
    return at >= 100 && at < 356 ? 0 : at >= 400 && at < 656 ? 1 : -1;
  };
  return {
      QM_MASK(documentCausalByOffsets(ids, offsets),
              offset(id(i)) <= j && j <= i, "document_causal"),
      QM_MASK(documentRelative(ids, offsets, slidingWindow(16, 0, TopLeft)),
              id(i) == id(j) && j <= i && i - j <= 16),
      QM_MASK(sharedPrefix(ids, prefixes),
              (id(i) == id(j) && i >= j) || id(j) == prefixOf(id(i))),
      QM_MASK(varScales(scales), scale(i) >= scale(j)),
      QM_MASK(imageBidirectional(images),
              i >= j || (image(i) == image(j) && image(i) >= 0)),
      QM_MASK(flamingo(begin, end, 128),
              128 * (j / 128) <= i && i < 128 * (j / 128) + 256),
      QM_MASK(tree(960, ancestors), j < 960 || isAncestor(j - 960, i), "",
              drafted),
      QM_MASK(rowThreshold(counts), j < i * 37 % 1025),
      QM_MASK(packedBits(words), pseudoRandom(i, j)),
      QM_MASK(topKBlocks(tiles, 64, 4),
              (i / 64 * 5 + 2 * b + h) % 16 == j / 64 ||
                  (i / 64 * 5 + 3 + 2 * b + h) % 16 == j / 64 ||
                  (i / 64 * 5 + 6 + 2 * b + h) % 16 == j / 64),
  };
}

namespace {

/// The neighbourhood of x among n, on one axis, by trying every place for it.
bool near(int x, int y, int kernel, int n) {
  int first = x - kernel / 2;
  while (first < 0)
    ++first;
  while (first + kernel > n)
    --first;
  return y >= first && y < first + kernel;
}

int tiledRow(int x) { return x / 256 * 8 + x % 64 / 8; }
int tiledColumn(int x) { return x % 256 / 64 * 8 + x % 8; }

/// The other bits of x, from the lowest on.
int everyOtherBit(int x, int from) {
  int result = 0;
  for (int bit = 0; bit < 16; ++bit)
    result |= (x >> (2 * bit + from) & 1) << bit;
  return result;
}

/// Frames, rows and columns of tiles of 4 x 4 x 4 in a video of 8 x 8 x 12.
bool nearTiles(int i, int j) {
  int x = i / 64, y = j / 64;
  return near(x / 6, y / 6, 1, 2) && near(x / 3 % 2, y / 3 % 2, 2, 2) &&
         near(x % 3, y % 3, 2, 3);
}

} // namespace

std::vector<Entry> Captures::onCanvases() {
  return {
      QM_MASK(natten2d({32, 32}, {7, 7}),
              near(i / 32, j / 32, 7, 32) && near(i % 32, j % 32, 7, 32),
              "natten_32x32_7"),
      QM_MASK(natten2d({.rows = 16, .columns = 64}, {3, 5}),
              near(i / 64, j / 64, 3, 16) && near(i % 64, j % 64, 5, 64)),
      QM_MASK(tiledNatten2d({32, 32}, {7, 7}, {8, 8}),
              near(tiledRow(i), tiledRow(j), 7, 32) &&
                  near(tiledColumn(i), tiledColumn(j), 7, 32)),
      QM_MASK(mortonNatten2d(32, {7, 7}),
              near(everyOtherBit(i, 1), everyOtherBit(j, 1), 7, 32) &&
                  near(everyOtherBit(i, 0), everyOtherBit(j, 0), 7, 32)),
      QM_MASK(sta2d({32, 32}, {8, 8}, {3, 2}),
              near(i / 256, j / 256, 3, 4) &&
                  near(i / 64 % 4, j / 64 % 4, 2, 4)),
      QM_MASK(sta3d({8, 8, 12}, {4, 4, 4}, {1, 2, 2}, TextTail),
              i >= 768 || j >= 768 || nearTiles(i, j)),
      QM_MASK(svgSpatial(64, 192, 2, FirstFrame),
              j < 256 || i < 64 || std::abs(i - j) < 384),
      QM_MASK(svgTemporal(64, 192, 5, 2),
              j < 64 || i < 64 ||
                  std::abs((i - 64) % 192 - (j - 64) % 192) < 76),
  };
}

std::vector<Entry> Captures::entries() {
  std::vector<Entry> all = simple();
  for (auto more : {byToken(), onCanvases()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

} // namespace qm::test
