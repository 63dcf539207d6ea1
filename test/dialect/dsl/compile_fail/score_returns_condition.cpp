// A score function returns a number.
// expect: a score function returns a number
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(score_returns_condition) {
  spec.heads(8).headDim(64);
#ifdef QM_MISTAKE
  spec.score([](Score, Batch, Head, Query i, Key j) { return i >= j; });
#else
  spec.mask([](Batch, Head, Query i, Key j) { return i >= j; });
#endif
}
