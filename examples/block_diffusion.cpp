// Block diffusion (BD3-LM) in training: a sequence of n noised tokens, then the
// same n tokens clean. A noised block sees itself and the clean blocks before
// it; clean blocks are causal.
//
//   blk(x) = (x mod n) / 32
//   keep (i, j)  iff  same half and blk(i) = blk(j),
//                or   i noised, j clean and blk(i) > blk(j),
//                or   both clean and blk(i) >= blk(j)
//
// The sequence has an even length, 2 n, given by the call.
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(block_diffusion) {
  spec.heads(12).headDim(64).dtype(bf16);
  spec.mask(blockDiffusion(spec.queryLength() / 2, 32));
}
