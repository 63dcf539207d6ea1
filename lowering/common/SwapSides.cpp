// The order turned round.
#include "lowering/common/SwapSides.h"

using mlir::arith::CmpIPredicate;

CmpIPredicate qm::lowering::swapSides(CmpIPredicate predicate) {
  switch (predicate) {
  case CmpIPredicate::slt:
    return CmpIPredicate::sgt;
  case CmpIPredicate::sle:
    return CmpIPredicate::sge;
  case CmpIPredicate::sgt:
    return CmpIPredicate::slt;
  case CmpIPredicate::sge:
    return CmpIPredicate::sle;
  default:
    return predicate;
  }
}
