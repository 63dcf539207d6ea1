// ALiBi: a penalty that grows with distance, with one slope a head.
//
//   t = s + slopes[h] (j - i),   keep (i, j) iff i >= j
//
// The slopes are data: 2^(-8 (h + 1) / H) in the paper.
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(alibi) {
  spec.heads(8).headDim(64).dtype(f16);
  auto slopes = spec.buffer("slopes", f32, spec.heads());
  spec.score([=](Score s, Batch, Head h, Query i, Key j) {
    return s + slopes[h] * (j - i);
  });
  spec.mask(causal(TopLeft));
}
