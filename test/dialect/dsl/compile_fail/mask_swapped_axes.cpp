// Queries and keys cannot be exchanged.
// expect: a mask function takes four arguments
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(mask_swapped_axes) {
  spec.heads(8).headDim(64);
#ifdef QM_MISTAKE
  spec.mask([](Batch, Head, Key j, Query i) { return i >= j; });
#else
  spec.mask([](Batch, Head, Query i, Key j) { return i >= j; });
#endif
}
