// A computed number becomes a head on purpose only.
// expect: convert on purpose, as in slopes[Head(x)]
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(buffer_computed_index) {
  spec.heads(8).headDim(64);
  auto slopes = spec.buffer("slopes", f32, spec.heads());
  spec.score([=](Score s, Batch, Head h, Query, Key) {
#ifdef QM_MISTAKE
    return s + slopes[h + 1];
#else
    return s + slopes[Head(h + 1)];
#endif
  });
}
