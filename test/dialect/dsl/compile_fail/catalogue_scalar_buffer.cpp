// A size is one number, not one a batch entry.
// expect: this buffer has dimensions that are not indexed yet
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(chunks_of_buffer) {
  spec.heads(8).headDim(64);
#ifdef QM_MISTAKE
  spec.mask(chunkedCausal(spec.buffer("chunks", i32, spec.batch())));
#else
  spec.mask(chunkedCausal(spec.param("chunk", i32)));
#endif
}
