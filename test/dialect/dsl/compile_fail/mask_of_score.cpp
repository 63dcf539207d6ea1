// A mask cannot depend on the score.
// expect: a mask function takes four arguments
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(mask_of_score) {
  spec.heads(8).headDim(64);
#ifdef QM_MISTAKE
  spec.mask([](Score s, Batch, Query, Key) { return s > 0; });
#else
  spec.score([](Score s, Batch, Head, Query, Key) { return select(s > 0, s, -infinity); });
#endif
}
