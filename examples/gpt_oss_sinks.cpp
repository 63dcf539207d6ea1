// GPT-OSS: every head has a learned logit beside its keys, the attention sink,
// which takes weight and has no value; every second layer sees a window of 128
// keys. The largest score of each row comes back too, for clipping (MuonClip).
//
//   O = sum of e^t v / (e^sink[h] + sum of e^t),  t = q.k / sqrt(64)
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(gpt_oss_layer) {
  spec.heads(64).kvHeads(8).headDim(64).dtype(bf16);
  auto sinks = spec.buffer("sinks", bf16, spec.heads());
  spec.sink(sinks).mask(slidingWindow(127));
  spec.returnLse().returnRowMax();
}
