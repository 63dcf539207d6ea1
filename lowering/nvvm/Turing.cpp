// Instructions of kernels for sm_75, written as PTX.
#include "lowering/nvvm/Turing.h"
#include "lowering/nvvm/PtxAsm.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace qm;
using nvvm::LocBuilder;
using nvvm::PtxAsm;
using nvvm::Values;

Values nvvm::loadGlobal128(LocBuilder &b, Value predicate, Value global,
                           int64_t offset) {
  // Ordered but no memory access: what it reads does not change.
  std::string load =
      llvm::formatv("ld.global.nc.v4.b32 {{$0,$1,$2,$3}, [$4+{0}];", offset);
  if (predicate)
    load =
        "{ mov.b32 $0, 0; mov.b32 $1, 0; mov.b32 $2, 0; mov.b32 $3, 0; @$5 " +
        load + " }";
  PtxAsm ptx(b, load);
  ptx.results(4, b.getI32Type()).in(global);
  if (predicate)
    ptx.in(predicate);
  return ptx.ordered().emit();
}

Values nvvm::loadShared4xF32(LocBuilder &b, Value shared, int64_t offset) {
  return PtxAsm(b, llvm::formatv("ld.shared.v4.f32 {{$0,$1,$2,$3}, [$4+{0}];",
                                 offset))
      .results(4, b.getF32Type())
      .in(shared)
      .memory()
      .emit();
}

Value nvvm::packHalves(LocBuilder &b, Value low, Value high) {
  return PtxAsm(b, "{ .reg .b16 low, high; cvt.rn.f16.f32 low, $1; "
                   "cvt.rn.f16.f32 high, $2; mov.b32 $0, {low, high}; }")
      .results(1, b.getI32Type())
      .in(low)
      .in(high)
      .emit()
      .front();
}

Value nvvm::selectInOrder(LocBuilder &b, Value condition, Value ifTrue,
                          Value ifFalse) {
  return PtxAsm(b, "selp.f32 $0, $1, $2, $3;")
      .results(1, b.getF32Type())
      .in(ifTrue)
      .in(ifFalse)
      .in(condition)
      .memory()
      .emit()
      .front();
}
