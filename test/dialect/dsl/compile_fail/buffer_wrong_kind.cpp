// A buffer over heads is not read at a key.
// expect: this dimension was declared over another axis
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(buffer_wrong_kind) {
  spec.heads(8).headDim(64);
  auto slopes = spec.buffer("slopes", f32, spec.heads());
  spec.score([=](Score s, Batch, Head h, Query, Key j) {
#ifdef QM_MISTAKE
    return s + slopes[j];
#else
    return s + slopes[h];
#endif
  });
}
