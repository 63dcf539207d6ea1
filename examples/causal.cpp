// Causal self-attention with grouped queries: token i sees tokens 0 ... i.
//
//   keep (i, j)  iff  i + (Skv - Sq) >= j
//
// BottomRight aligns the last query with the last key, so the same kernel does
// prefill (Sq = Skv) and decoding with a cache (Sq = 1).
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(causal_gqa) {
  spec.heads(32).kvHeads(8).headDim(128).dtype(bf16);
  spec.mask(causal(BottomRight));
  spec.returnLse();
}
