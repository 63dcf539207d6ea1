// Registration of the attn dialect, and its types and attributes.
#include "dialect/AttnOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FoldInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace qm::attn;

#include "dialect/AttnDialect.cpp.inc"
#include "dialect/AttnEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/AttnTypes.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/AttnAttrs.cpp.inc"

namespace {
/// Folded constants stay inside the region that uses them, so that a mask or
/// score region reads as it was written.
struct AttnFoldInterface : DialectFoldInterface {
  using DialectFoldInterface::DialectFoldInterface;
  bool shouldMaterializeInto(Region *) const final { return true; }
};
} // namespace

void AttnDialect::initialize() {
  addInterfaces<AttnFoldInterface>();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/AttnTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/AttnAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/AttnOps.cpp.inc"
      >();
}

Type TileType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/true) ||
      parser.parseType(elementType) || parser.parseGreater())
    return {};
  return parser.getChecked<TileType>(parser.getContext(), shape, elementType);
}

void TileType::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printDimensionList(getShape());
  printer << 'x' << getElementType() << '>';
}

LogicalResult TileType::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<int64_t> shape, Type elementType) {
  if (shape.empty() || shape.size() > 2)
    return emitError() << "a tile has one or two dimensions, not "
                       << shape.size();
  for (int64_t extent : shape)
    if (!ShapedType::isDynamic(extent) && extent < 1)
      return emitError() << "a tile extent must be positive or '?'";
  if (!isa<Float16Type, BFloat16Type, FloatTF32Type, Float32Type>(elementType))
    return emitError() << "a tile holds f16, bf16, tf32 or f32, not "
                       << elementType;
  return success();
}
