// Only integers are sorted: masks compare them.
// expect: only buffers of integers can be sorted()
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(sorted_floats) {
  spec.heads(8).headDim(64);
#ifdef QM_MISTAKE
  auto ids = spec.buffer("ids", f32, spec.queryLength()).sorted();
  spec.mask([=](Batch, Head, Query i, Key) { return ids[i] > 0; });
#else
  auto ids = spec.buffer("ids", i32, spec.queryLength()).sorted();
  spec.mask(document(ids));
#endif
}
