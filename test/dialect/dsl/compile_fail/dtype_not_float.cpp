// Operands are floating point.
// expect: q, k and v are f16, bf16 or f32
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(dtype_not_float) {
  spec.heads(8).headDim(64);
#ifdef QM_MISTAKE
  spec.dtype(i8);
#else
  spec.dtype(f16);
#endif
}
