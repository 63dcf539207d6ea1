// The alignment of a causal mask is not guessed.
// expect: say where query 0 stands
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(causal_without_alignment) {
  spec.heads(8).headDim(64);
#ifdef QM_MISTAKE
  spec.mask(causal());
#else
  spec.mask(causal(BottomRight));
#endif
}
