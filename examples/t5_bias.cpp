// T5's learned position bias: 16 buckets of distance for each direction, exact
// below 8 and logarithmic up to 128.
//
//   t = s + table[bucket(j - i)][h]
//
// T5 does not scale its scores. The helper is ordinary C++, run while the spec
// is traced: its loop becomes seven comparisons.
#include <qm/attention.h>
using namespace qm;

static Index bucket(Index distance) {
  // Distance 8 * 16^(k / 8) starts bucket 8 + k. Integers, because a logarithm
  // rounds differently from machine to machine at 16, 32 and 64.
  const int starts[] = {12, 16, 23, 32, 46, 64, 91};
  Index n = abs(distance), far = 8;
  for (int start : starts)
    far += toInt(n >= start);
  return select(distance > 0, 16, 0) + select(n < 8, n, far);
}

QM_ATTENTION(t5_encoder) {
  spec.heads(8).headDim(64).dtype(bf16).scale(1.f);
  auto table = spec.buffer("table", f32, 32, spec.heads());
  spec.score([=](Score s, Batch, Head h, Query i, Key j) {
    return s + table[bucket(j - i)][h];
  });
}
