// The kinds of extents are deduced from arguments.
// expect: write the extents without braces
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(extents_in_braces) {
  spec.heads(8).headDim(64);
#ifdef QM_MISTAKE
  auto x = spec.buffer("x", f32, {spec.heads()});
#else
  auto x = spec.buffer("x", f32, spec.heads());
#endif
  (void)x;
}
