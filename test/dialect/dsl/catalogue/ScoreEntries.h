//===- ScoreEntries.h - one example of every score function -----*- C++ -*-===//
#pragma once

#include "test/dialect/dsl/SpecText.h"

#include <qm/attention.h>

#include <functional>
#include <string>
#include <vector>

namespace qm::test {

using Formula = std::function<double(double s, int b, int h, int i, int j)>;

struct ScoreEntry {
  std::string name, example;
  ScoreFunction score;
  Formula formula; ///< Written again in double precision.
};

/// A spec with the buffers that the examples read, and their data, for 2 batch
/// entries, 4 heads, 40 queries and 48 keys.
struct ScoreCaptures {
  ScoreCaptures();

  Spec spec{"captures"};
  Call call;

  // clang-format off
  Buffer<Float, Head> slopes = spec.buffer("slopes", f32, spec.heads());
  Buffer<Float, Batch> perBatch = spec.buffer("per_batch", f32, spec.batch());
  Buffer<Float, Query> perQuery = spec.buffer("per_query", f32, spec.queryLength());
  Buffer<Float, Head, Index> table = spec.buffer("table", f32, spec.heads(), 17);
  Buffer<Float, Index, Head> buckets = spec.buffer("buckets", f32, 32, spec.heads());
  Buffer<Float, Batch, Head, Query, Key> bias = spec.buffer("bias", f32, spec.batch(), spec.heads(), spec.queryLength(), spec.keyLength());
  Buffer<Float, Head, Query, Key> shared = spec.buffer("shared", f32, spec.heads(), spec.queryLength(), spec.keyLength());
  Buffer<Index, Batch, Query, Key> distance = spec.buffer("distance", i32, spec.batch(), spec.queryLength(), spec.keyLength());
  Buffer<Float, Index, Head, Index> edges = spec.buffer("edges", f32, 3, spec.heads(), dynamic);
  Buffer<Index, Batch, Query, Key, Index> types = spec.buffer("types", i32, spec.batch(), spec.queryLength(), spec.keyLength(), 3);
  Buffer<Float, Batch, Head, Query, Index> rotaryQ = spec.buffer("rotary_q", f32, spec.batch(), spec.heads(), spec.queryLength(), 3);
  Buffer<Float, Batch, KvHead, Key, Index> rotaryK = spec.buffer("rotary_k", f32, spec.batch(), spec.kvHeads(), spec.keyLength(), 3);
  Float weight = spec.param("weight", f32);
  // clang-format on

  std::vector<ScoreEntry> entries();

private:
  void fill(const char *name, std::vector<int64_t> shape);
  double at(const char *name, int offset) const {
    return call.buffers.at(name).elements[offset];
  }
};

} // namespace qm::test
