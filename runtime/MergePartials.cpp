//===- MergePartials.cpp - join attention over parts of the keys ----------===//

#include "runtime/MergePartials.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace qm::runtime;

static constexpr float minusInfinity = -std::numeric_limits<float>::infinity();

/// Weighted mean of a row over the parts that have keys, of which there are at
/// least two. `largest` is the largest lse; subtracted first, no exponential
/// overflows.
static void mergeRow(const Partial *parts, int64_t count, int64_t row,
                     int64_t columns, float largest, float *o, float *lse) {
  double sum = 0;
  for (int64_t p = 0; p < count; ++p)
    sum += std::exp(double(parts[p].lse[row]) - largest);
  for (int64_t c = 0; c < columns; ++c) {
    double mean = 0;
    // A part without keys may hold anything in o, and 0 * NaN is NaN.
    for (int64_t p = 0; p < count; ++p)
      if (parts[p].lse[row] != minusInfinity)
        mean += std::exp(double(parts[p].lse[row]) - largest) / sum *
                parts[p].o[row * columns + c];
    o[row * columns + c] = static_cast<float>(mean);
  }
  lse[row] = static_cast<float>(largest + std::log(sum));
}

void qm::runtime::mergePartials(const Partial *parts, int64_t count,
                                int64_t rows, int64_t columns, float *o,
                                float *lse) {
  for (int64_t row = 0; row < rows; ++row) {
    float largest = minusInfinity;
    int64_t withKeys = 0, last = 0;
    for (int64_t p = 0; p < count; ++p) {
      float value = parts[p].lse[row];
      if (value == minusInfinity)
        continue;
      ++withKeys;
      last = p;
      // Written so that NaN is kept.
      if (!(value <= largest))
        largest = value;
    }
    float *out = o + row * columns;
    if (withKeys == 0) {
      std::fill_n(out, columns, 0.0f);
      lse[row] = minusInfinity;
    } else if (withKeys == 1) {
      // Element by element: the output may be the part itself.
      const float *in = parts[last].o + row * columns;
      for (int64_t c = 0; c < columns; ++c)
        out[c] = in[c];
      lse[row] = parts[last].lse[row];
    } else {
      mergeRow(parts, count, row, columns, largest, o, lse);
    }
  }
}
