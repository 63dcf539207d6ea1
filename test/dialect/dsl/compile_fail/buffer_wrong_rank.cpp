// Every dimension gets one subscript.
// expect: the number of subscripts is not the number of dimensions
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(buffer_wrong_rank) {
  spec.heads(8).headDim(64);
  auto table = spec.buffer("table", f32, spec.heads(), dynamic);
  spec.score([=](Score s, Batch, Head h, Query i, Key j) {
#ifdef QM_MISTAKE
    return s + table(h, i, j);
#else
    return s + table(h, i);
#endif
  });
}
