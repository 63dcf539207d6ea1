// A prefix language model: the prompt sees itself in both directions, the
// answer is causal. Each batch entry has its own prompt length.
//
//   keep (i, j)  iff  j < prompt[b]  or  i >= j
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(prefix_lm) {
  spec.heads(16).headDim(64).dtype(bf16);
  auto prompt = spec.buffer("prompt", i32, spec.batch());
  spec.mask(prefix(prompt) || causal(TopLeft));
}
