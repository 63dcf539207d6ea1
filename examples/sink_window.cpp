// StreamingLLM: the first tokens stay visible as sinks, the rest is a window.
// Both lengths are given at launch: changing them recompiles nothing.
//
//   keep (i, j)  iff  j <= p  and  (j < sinks  or  p - j <= window),
//   p = i + (Skv - Sq)
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(sink_window) {
  spec.heads(32).kvHeads(8).headDim(128).dtype(bf16);
  auto sinks = spec.param("sinks", i32);
  auto window = spec.param("window", i32);
  spec.mask(causal(BottomRight) && (prefix(sinks) || slidingWindow(window)));
}
