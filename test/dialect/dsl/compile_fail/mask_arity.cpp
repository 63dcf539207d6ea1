// A mask function has four parameters.
// expect: a mask function takes four arguments
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(mask_arity) {
  spec.heads(8).headDim(64);
#ifdef QM_MISTAKE
  spec.mask([](Query i, Key j) { return i >= j; });
#else
  spec.mask([](Batch, Head, Query i, Key j) { return i >= j; });
#endif
}
