// A dilated window, as a lambda: every second key within 8 steps either way.
//
//   keep (i, j)  iff  |i - j| <= 8  and  |i - j| mod 2 = 0
//
// The compiler finds the empty blocks of a lambda as it does for a library
// mask.
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(dilated) {
  spec.heads(8).headDim(64).dtype(f16);
  spec.mask([=](Batch, Head, Query i, Key j) {
    Index distance = abs(i - j);
    return distance <= 8 && distance % 2 == 0;
  });
}
