// Two score functions of the library, one after the other, and sinks with a
// window.
//
//   t = 30 tanh(s / 30) + slopes[h] (j - i)
//   keep (i, j)  iff  j <= p  and  (j < 4  or  p - j <= 1023),
//   p = i + (Skv - Sq)
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(softcap_alibi) {
  spec.heads(16).kvHeads(4).headDim(64).dtype(bf16);
  auto slopes = spec.buffer("slopes", f32, spec.heads());
  spec.score(softcap(30).then(alibi(slopes)));
  spec.mask(sinkWindow(4, 1023));
}
