// A condition is not an additive bias.
// expect: a Bool is not a number
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(condition_as_bias) {
  spec.heads(8).headDim(64);
  spec.score([=](Score s, Batch, Head, Query i, Key j) {
#ifdef QM_MISTAKE
    return s + (i > j);
#else
    return s + toFloat(i > j);
#endif
  });
}
