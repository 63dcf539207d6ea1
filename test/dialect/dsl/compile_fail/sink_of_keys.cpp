// A sink belongs to a head, not to a key.
// expect: sinks are one a query head
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(sink_of_keys) {
  spec.heads(8).headDim(64);
  auto ofHeads = spec.buffer("of_heads", f32, spec.heads());
  [[maybe_unused]] auto ofKeys = spec.buffer("of_keys", f32, spec.keyLength());
#ifdef QM_MISTAKE
  spec.sink(ofKeys);
#else
  spec.sink(ofHeads);
#endif
}
