// Document ids are one a position, not one a batch entry.
// expect: document ids are declared over positions
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(document_of_lengths) {
  spec.heads(8).headDim(64);
#ifdef QM_MISTAKE
  spec.mask(document(spec.buffer("ids", i32, spec.batch())));
#else
  spec.mask(document(spec.buffer("ids", i32, spec.batch(), spec.keyLength())));
#endif
}
