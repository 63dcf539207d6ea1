// What every NVIDIA matrix unit asks of #attn.precision.
#include "lowering/common/MatrixPrecision.h"
#include "dialect/Diagnostics.h"

using namespace mlir;
using namespace qm;

LogicalResult qm::lowering::checkMatrixPrecision(attn::KernelOp kernel,
                                                 Type element,
                                                 StringRef instruction) {
  attn::PrecisionAttr precision = kernel.getPrecisionAttr();
  if (!precision)
    return success();
  auto check = [&](StringRef field, Type type, Type wanted) -> LogicalResult {
    if (type == wanted)
      return success();
    return diag::help(
        diag::error(kernel, diag::Id::PrecisionNotSupported)
            << "precision." << field << " = " << type
            << " is not supported on NVIDIA targets: " << instruction
            << " takes operands of type " << element
            << " and accumulates in f32, so it is " << wanted,
        "leave precision." + field + " at its default, or use --arch=cpu");
  };
  Type f32 = Float32Type::get(kernel.getContext());
  return success(succeeded(check("qk", precision.getQk(), element)) &&
                 succeeded(check("pv", precision.getPv(), element)) &&
                 succeeded(check("p", precision.getP(), element)) &&
                 succeeded(check("score", precision.getScore(), f32)) &&
                 succeeded(check("stat", precision.getStat(), f32)) &&
                 succeeded(check("acc", precision.getAcc(), f32)));
}
