// T5's learned position bias: distances share 32 buckets, exact when small and
// logarithmic beyond.
//
//   t = s + table[bucket(j - i)][h]
//
// T5 does not scale its scores.
#include <qm/attention.h>
using namespace qm;

static Index bucket(Index distance) {
  Index side = select(distance > 0, 16, 0); // 16 buckets for each direction
  Index n = abs(distance);
  // 8 exact buckets, then 8 up to distance 128; ln(128 / 8) = 2.7725887
  Float large = 8 + log(max(n, 1) / 8.f) * (8 / 2.7725887f);
  return side + select(n < 8, n, min(toInt(large), 15));
}

QM_ATTENTION(t5_encoder) {
  spec.heads(8).headDim(64).dtype(bf16).scale(1.f);
  auto table = spec.buffer("table", f32, 32, spec.heads());
  spec.score([=](Score s, Batch, Head h, Query i, Key j) {
    return s + table[bucket(j - i)][h];
  });
}
