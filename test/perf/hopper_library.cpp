// Operators of a library that hopper_forward.py times beside kernels launched
// by name: what a program that links the library gets, the choice of the kernel
// by length included.
//
//   qmc build hopper_library.cpp --emit=shared --arch=sm_90a -o out/hopper
#include <qm/attention.h>
using namespace qm;

QM_ATTENTION(causal_d64) {
  spec.heads(32).headDim(64).dtype(bf16);
  spec.mask(causal(BottomRight));
}
