// An additive bias is not a mask.
// expect: its function returns a Bool
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(mask_not_condition) {
  spec.heads(8).headDim(64);
#ifdef QM_MISTAKE
  spec.mask([](Batch, Head, Query i, Key j) { return i - j; });
#else
  spec.mask([](Batch, Head, Query i, Key j) { return i - j >= 0; });
#endif
}
