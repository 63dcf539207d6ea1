// Neighbourhood attention on an image of 90 x 160 pixels in row-major order:
// each pixel sees the 7 x 13 pixels around it, moved inside the image at its
// border.
//
//   keep (i, j)  iff  |clamp(r(i), 3, 86) - r(j)| <= 3  and
//                     |clamp(c(i), 6, 153) - c(j)| <= 6,
//   r(x) = x / 160, c(x) = x mod 160
//
// Rows are limited by the height and columns by the width; naming them keeps
// the two apart.
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(natten) {
  spec.heads(8).headDim(64).dtype(f16);
  spec.mask(natten2d({.rows = 90, .columns = 160}, {.rows = 7, .columns = 13}));
}
