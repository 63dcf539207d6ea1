// A buffer is indexed by integers.
// expect: use toInt(x)
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(buffer_float_index) {
  spec.heads(8).headDim(64);
  auto slopes = spec.buffer("slopes", f32, spec.heads());
  spec.score([=](Score s, Batch, Head, Query, Key) {
#ifdef QM_MISTAKE
    return s + slopes[s];
#else
    return s + slopes[Head(toInt(s))];
#endif
  });
}
