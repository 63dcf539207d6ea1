// A spec is not copied.
// expect: capture by reference, [&]
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(spec_captured_by_value) {
  spec.heads(8).headDim(64);
#ifdef QM_MISTAKE
  spec.mask([=](Batch, Head, Query, Key j) { return j < spec.keyLength() - 1; });
#else
  spec.mask([&](Batch, Head, Query, Key j) { return j < spec.keyLength() - 1; });
#endif
}
