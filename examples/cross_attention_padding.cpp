// Cross-attention of a decoder to a padded batch of encoder outputs.
//
//   keep (i, j)  iff  j < lengths[b]
//
// Keys past the length get no weight, whatever they hold. An entry of length 0
// gives O = 0 and lse = -inf.
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(cross_attention) {
  spec.heads(12).headDim(64).dtype(f16);
  auto lengths = spec.buffer("lengths", i32, spec.batch());
  spec.mask(padding(lengths));
  spec.returnLse();
}
