// Requests of a server in one call: sequences of different lengths, one after
// the other without padding.
//
// q is [T, 16, D] and k and v are [Tkv, 4, D]; cu_q and cu_kv say where each
// sequence starts and the last one ends, as FlashAttention's cu_seqlens do.
// They are data: new lengths compile nothing and build no list of blocks. In
// masks and scores b is the number of the sequence, and query and key count
// from its start, so this mask is the one of a sequence alone:
//
//   keep(b, i, j) = j < prompt[b]              the prompt sees all of itself
//                or i + Skv_b - Sq_b >= j      a token sees what came before
//
// A sequence may have more keys than queries (a cache) or no queries at all.
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(packed_sequences) {
  spec.heads(16).kvHeads(4).headDim(64).dtype(bf16).returnLse();
  auto prompt = spec.buffer("prompt", i32, spec.batch());
  spec.packed().mask(prefix(prompt) || causal(BottomRight));
}
