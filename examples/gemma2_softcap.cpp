// The local layers of Gemma-2 27B: scores capped softly at 50, and a window.
//
//   t = 50 tanh(s / 50)
//   keep (i, j)  iff  p - 4095 <= j <= p,  p = i + (Skv - Sq)
//
// The model's window of 4096 counts the query itself; slidingWindow counts the
// keys before it.
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(gemma2_local) {
  spec.heads(32).kvHeads(16).headDim(128).dtype(bf16);
  spec.scale(1 / 12.f); // query_pre_attn_scalar = 144
  spec.score(
      [=](Score s, Batch, Head, Query, Key) { return 50.f * tanh(s / 50.f); });
  spec.mask(causal(BottomRight) && slidingWindow(4095));
}
