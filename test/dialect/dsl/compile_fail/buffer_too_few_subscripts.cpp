// A row of a buffer is not a number.
// expect: dimensions that are not indexed yet
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(buffer_too_few_subscripts) {
  spec.heads(8).headDim(64);
  auto table = spec.buffer("table", f32, spec.heads(), dynamic);
  spec.score([=](Score s, Batch, Head h, Query i, Key j) {
#ifdef QM_MISTAKE
    return s + table[h];
#else
    return s + table[h][i - j];
#endif
  });
}
