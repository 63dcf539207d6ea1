// A score function has five parameters.
// expect: a score function takes five arguments
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(score_arity) {
  spec.heads(8).headDim(64);
#ifdef QM_MISTAKE
  spec.score([](Score s, Query, Key) { return s; });
#else
  spec.score([](Score s, Batch, Head, Query, Key) { return s; });
#endif
}
