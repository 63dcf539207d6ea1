// A single number is a parameter.
// expect: use spec.param(name, type)
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(buffer_of_no_dimension) {
  spec.heads(8).headDim(64);
#ifdef QM_MISTAKE
  auto x = spec.buffer("x", f32);
#else
  auto x = spec.param("x", f32);
#endif
  (void)x;
}
