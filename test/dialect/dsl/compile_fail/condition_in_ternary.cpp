// A symbolic condition cannot steer C++ control flow.
// expect: write select(condition, a, b)
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(condition_in_ternary) {
  spec.heads(8).headDim(64);
  spec.score([=](Score s, Batch, Head, Query i, Key j) {
#ifdef QM_MISTAKE
    return i > j ? s * 2.f : s * 3.f;
#else
    return select(i > j, s * 2.f, s * 3.f);
#endif
  });
}
