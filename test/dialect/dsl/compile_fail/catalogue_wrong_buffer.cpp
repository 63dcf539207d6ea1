// A library score function takes a buffer over its own axis.
// expect: no matching function for call to 'headBias'
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(head_bias_of_keys) {
  spec.heads(8).headDim(64);
#ifdef QM_MISTAKE
  spec.score(headBias(spec.buffer("bias", f32, spec.keyLength())));
#else
  spec.score(headBias(spec.buffer("bias", f32, spec.heads())));
#endif
}
