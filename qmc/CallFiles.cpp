//===- CallFiles.cpp - arguments of a call that come from files -----------===//
#include "qmc/CallDataBuilder.h"
#include "qmc/Console.h"
#include "qmc/Npy.h"

using namespace mlir;
using namespace qm;
using namespace qm::driver;
using reference::DType;
using reference::HostTensor;
using reference::TensorView;

LogicalResult CallDataBuilder::readFiles() {
  for (const auto &entry : inputs) {
    FailureOr<HostTensor> tensor = readNpy(entry.second);
    if (failed(tensor))
      return failure();
    files.try_emplace(entry.first(), std::move(*tensor));
  }
  return success();
}

/// A file's data in the spec's element type and layout. Floats are rounded;
/// integers must fit.
LogicalResult CallDataBuilder::addFile(HostTensor &file, RankedTensorType type,
                                       StringRef name) {
  const TensorView &from = file.view();
  DType dtype = *reference::dtypeOf(type.getElementType());
  std::string typeText;
  llvm::raw_string_ostream(typeText) << type;
  auto mismatch = [&](const llvm::Twine &what) {
    return reportError(diag::Id::ArgumentMismatch,
                       "'" + name + "': the file " + what, inputs[name],
                       "the spec has it as " + typeText);
  };
  if (from.rank() != type.getRank())
    return mismatch("has rank " + llvm::Twine(from.rank()) + ", " +
                    llvm::Twine(type.getRank()) + " needed");
  for (auto [dimension, extent] : llvm::enumerate(type.getShape()))
    if (ShapedType::isStatic(extent) && extent != from.extents[dimension])
      return mismatch("has extent " + llvm::Twine(from.extents[dimension]) +
                      " in dimension " + llvm::Twine(dimension) + ", " +
                      llvm::Twine(extent) + " needed");
  if (reference::isFloat(from.dtype) != reference::isFloat(dtype))
    return mismatch("holds " + StringRef(runtime::dataTypeName(from.dtype)) +
                    ", " + runtime::dataTypeName(dtype) + " needed");
  bool operand = name == "q" || name == "k" || name == "v";
  HostTensor &to = data.tensors.emplace_back(dtype, from.extents,
                                             orderOf(from.rank(), operand));
  SmallVector<int64_t> index(from.rank(), 0);
  for (int64_t left = from.numElements(); left > 0; --left) {
    int64_t source = from.offset(index), target = to.view().offset(index);
    if (reference::isFloat(dtype)) {
      storeFloat(to.view(), target, loadFloat(from, source));
    } else {
      // A truth value is 0 or 1 in a wider integer, not 0 or -1.
      int64_t value = loadInteger(from, source);
      value = from.dtype == DType::I1 && dtype != DType::I1 ? -value : value;
      storeInteger(to.view(), target, value);
      if (loadInteger(to.view(), target) != value)
        return mismatch("holds " + llvm::Twine(value) +
                        ", which does not fit into " +
                        runtime::dataTypeName(dtype));
    }
    for (int d = from.rank() - 1; d >= 0 && ++index[d] == from.extents[d]; --d)
      index[d] = 0;
  }
  data.arguments.push_back(to.view());
  return success();
}

bool CallDataBuilder::isSorted(BlockArgument buffer) {
  return llvm::any_of(buffer.getUsers(), [](Operation *user) {
    auto load = dyn_cast<attn::LoadOp>(user);
    return load && load.getSorted();
  });
}

/// Kernels trust the promise; here it costs nothing to look.
LogicalResult CallDataBuilder::checkSorted(BlockArgument argument,
                                           StringRef name) {
  if (!isSorted(argument))
    return success();
  const TensorView &view = std::get<TensorView>(data.arguments.back());
  int64_t columns = view.extents.back(), previous = 0;
  SmallVector<int64_t> index(view.rank(), 0);
  for (int64_t at = 0; at < view.numElements(); ++at) {
    for (int64_t d = view.rank() - 1, rest = at; d >= 0; --d) {
      index[d] = rest % view.extents[d];
      rest /= view.extents[d];
    }
    int64_t value = loadInteger(view, view.offset(index));
    if (at % columns != 0 && value < previous)
      return reportError(
          diag::Id::ArgumentMismatch,
          "'" + name + "': the spec takes it to be sorted, and " +
              llvm::Twine(value) + " follows " + llvm::Twine(previous) +
              " at element " + llvm::Twine(index.back()),
          inputs[name], "sort it, or leave out .sorted() in the spec");
    previous = value;
  }
  return success();
}
