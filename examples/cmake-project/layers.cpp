// The attention of two layers of a model: one full, one with a sliding window
// and a soft cap. Types and head dims come from the build.
#include "window.h"

#include <qm/attention.h>

using namespace qm;

QM_ATTENTION(full) {
  spec.heads(8).kvHeads(2).headDim(64);
  spec.mask(causal(BottomRight));
}

QM_ATTENTION(local) {
  spec.heads(8).kvHeads(2).headDim(64);
  Float cap = spec.param("cap", f32);
  spec.score(
      [&](Score s, Batch, Head, Query, Key) { return cap * tanh(s / cap); });
  spec.mask(causal(BottomRight) && slidingWindow(slidingWindowKeys));
  spec.returnLse();
}
