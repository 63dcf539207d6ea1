// A sink function has two parameters.
// expect: a sink is a function of two arguments
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(sink_arity) {
  spec.heads(8).headDim(64);
#ifdef QM_MISTAKE
  spec.sink([](Head h) { return toFloat(h); });
#else
  spec.sink([](Batch, Head h) { return toFloat(h); });
#endif
}
