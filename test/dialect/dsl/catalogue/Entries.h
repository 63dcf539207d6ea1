//===- Entries.h - one example of every mask of the catalogue ---*- C++ -*-===//
//
// An example is a line of a spec, the numbers it is called with, and the same
// mask written again in plain C++ on ints. CATALOGUE.md shows the lines.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "test/dialect/dsl/SpecText.h"

#include <qm/attention.h>

#include <functional>
#include <string>
#include <vector>

namespace qm::test {

using Keep = std::function<bool(int b, int h, int i, int j)>;

struct Entry {
  std::string name;    ///< "dilatedWindow", or "causal" of masks.h
  std::string example; ///< The expression below, as written.
  Mask mask;
  Keep keep;
  const char *golden = ""; ///< Its name in block_counts.json.
  int query = 1024;
};

/// A spec with the buffers that the examples read, and their data.
struct Captures {
  Captures();

  static constexpr int keys = 1024, drafted = 64, wordsARow = 32;
  Spec spec{"captures"};
  Call call;

  // clang-format off
  Buffer<Index, Batch> lengths = spec.buffer("lengths", i32, spec.batch());
  Buffer<Index, Batch> left = spec.buffer("left", i32, spec.batch());
  Buffer<Index, Batch> right = spec.buffer("right", i32, spec.batch());
  Buffer<Bool, Index> global = spec.buffer("global", i1, dynamic);
  Buffer<Index, Query> ids = spec.buffer("ids", i32, spec.queryLength()).sorted();
  Buffer<Index, Query> anyIds = spec.buffer("anyIds", i32, spec.queryLength());
  Buffer<Index, Index> offsets = spec.buffer("offsets", i32, dynamic).sorted();
  Buffer<Index, Index> prefixes = spec.buffer("prefixes", i32, dynamic);
  Buffer<Index, Batch, Query> scales = spec.buffer("scales", i32, spec.batch(), spec.queryLength()).sorted();
  Buffer<Index, Query> images = spec.buffer("images", i32, spec.queryLength());
  Buffer<Index, Index> begin = spec.buffer("begin", i32, dynamic).sorted();
  Buffer<Index, Index> end = spec.buffer("end", i32, dynamic).sorted();
  Buffer<Bool, Query, Index> ancestors = spec.buffer("ancestors", i1, spec.queryLength(), drafted);
  Buffer<Index, Query> counts = spec.buffer("counts", i32, spec.queryLength());
  Buffer<Index, Query, Index> words = spec.buffer("words", i32, spec.queryLength(), dynamic);
  Buffer<Index, Batch, Head, Index, Index> tiles = spec.buffer("tiles", i32, spec.batch(), spec.heads(), dynamic, 4);
  // clang-format on

  /// Every mask, over these buffers; one of them can be given to `spec`.
  std::vector<Entry> entries();

private:
  void fill(const char *name, std::vector<int64_t> shape,
            const std::function<double(int)> &element);
  const std::vector<double> &data(const char *name) {
    return call.buffers.at(name).elements;
  }
  std::vector<Entry> simple();
  std::vector<Entry> byToken();
  std::vector<Entry> onCanvases();
};

} // namespace qm::test
