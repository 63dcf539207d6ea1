// A sink belongs to a head, not to a key.
// expect: sinks are one a query head
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(sink_of_keys) {
  spec.heads(8).headDim(64);
#ifdef QM_MISTAKE
  auto sinks = spec.buffer("sinks", f32, spec.keyLength());
#else
  auto sinks = spec.buffer("sinks", f32, spec.heads());
#endif
  spec.sink(sinks);
}
