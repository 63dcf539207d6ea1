// A symbolic condition cannot steer C++ control flow.
// expect: write select(condition, a, b)
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(condition_in_if) {
  spec.heads(8).headDim(64);
  spec.score([=](Score s, Batch, Head, Query i, Key j) {
#ifdef QM_MISTAKE
    if (i > j) return s + 1; else return s + 0;
#else
    return select(i > j, s + 1, s + 0);
#endif
  });
}
