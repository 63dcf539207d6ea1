// Packed documents: several texts in one sequence, each blind to the others.
//
//   keep (i, j)  iff  ids[b][i] = ids[b][j]  and  i >= j
//
// New documents are new ids, not a new kernel. Packed documents have ids in
// order: said to be sorted, they cost the blocks that they need and no others.
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(packed_documents) {
  spec.heads(16).kvHeads(4).headDim(64).dtype(bf16);
  auto ids = spec.buffer("ids", i32, spec.batch(), spec.queryLength()).sorted();
  spec.mask(document(ids) && causal(TopLeft));
  spec.returnLse();
}
