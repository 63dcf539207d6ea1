//===- Recipes.cpp - scores that are part of a larger operator ------------===//
#include "dialect/dsl/Library.h"

#include <qm/catalogue/recipes.h>

using namespace qm::detail;

namespace qm {

ScoreFunction addedDot(Over<Float, Batch, Head, Query, Index> q,
                       Over<Float, Batch, KvHead, Key, Index> k, int width,
                       FloatArg weight, Where where) {
  return libraryScore(where, [=](Score s, Batch b, Head h, Query i, Key j) {
    Float factor = require(Float(weight.node), width >= 1,
                           "addedDot: the width is " + std::to_string(width) +
                               ", at least 1 is needed",
                           "write the number of dims that q and k have");
    Index group = Index(extent("heads", Where::current())) /
                  Index(extent("kv_heads", Where::current()));
    KvHead kvHead(h / group);
    Float sum = 0;
    for (int d = 0; d < width; ++d)
      sum += q(b, h, i, Index(d)) * k(b, kvHead, j, Index(d));
    return s + factor * sum;
  });
}

ScoreFunction logActivation(FloatArg offset, Where where) {
  return libraryScore(where, [=](Score s, Batch, Head, Query, Key) {
    return log(max(s, 0.f) + Float(offset.node));
  });
}

} // namespace qm
