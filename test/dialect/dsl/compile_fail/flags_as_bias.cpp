// A boolean buffer is not an additive bias.
// expect: a Bool is not a number
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(flags_as_bias) {
  spec.heads(8).headDim(64);
  auto flags = spec.buffer("flags", i1, spec.keyLength());
  spec.score([=](Score s, Batch, Head, Query, Key j) {
#ifdef QM_MISTAKE
    return s + flags[j];
#else
    return select(flags[j], s, -infinity);
#endif
  });
}
