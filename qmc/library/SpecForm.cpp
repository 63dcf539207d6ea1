//===- SpecForm.cpp - a spec for another type, head dim or head count -----===//
#include "qmc/library/SpecForm.h"

#include "dialect/AttnOps.h"
#include "dialect/Diagnostics.h"

#include "mlir/IR/Verifier.h"

#include <cmath>

using namespace mlir;
using namespace qm;
using namespace qm::driver;

namespace {

/// One spec while its types change.
class Rewriter {
public:
  Rewriter(func::FuncOp spec, attn::AttentionOp attention, const SpecForm &form)
      : spec(spec), attention(attention), form(form) {}

  LogicalResult run() {
    if (failed(checkType()) || failed(checkHeadDim()) || failed(checkHeads()))
      return failure();
    for (Value operand : {attention.getQ(), attention.getK(), attention.getV()})
      change(operand, operand == attention.getQ());
    change(attention.getO(), /*isQuery=*/true);
    for (Value statistic : attention.getStatistics())
      changeStatistic(statistic);
    auto results = llvm::to_vector(
        spec.getBody().front().getTerminator()->getOperandTypes());
    spec.setFunctionType(FunctionType::get(
        spec.getContext(), spec.getBody().front().getArgumentTypes(), results));
    return verify(spec);
  }

private:
  static RankedTensorType typeOf(Value value) {
    return cast<RankedTensorType>(value.getType());
  }

  LogicalResult refuse(Location where, const Twine &why, const Twine &way) {
    diag::help(diag::error(where, diag::Id::SpecFormNotPossible)
                   << "'" << spec.getSymName() << "' " << why.str(),
               way);
    return failure();
  }

  LogicalResult checkType() {
    if (form.dtype.empty())
      return success();
    Type q = typeOf(attention.getQ()).getElementType();
    for (Value other : {attention.getK(), attention.getV(), attention.getO()})
      if (typeOf(other).getElementType() != q)
        return refuse(attention.getLoc(),
                      "mixes the element types of q, k, v and o: --dtype=" +
                          Twine(form.dtype) + " cannot replace them",
                      "build it without --dtype, in a library of its own");
    return success();
  }

  LogicalResult checkHeadDim() {
    int64_t now = typeOf(attention.getQ()).getShape().back();
    if (!form.headDim || *form.headDim == now)
      return success();
    int64_t value = typeOf(attention.getV()).getShape().back();
    if (value != now)
      return refuse(attention.getLoc(),
                    "has value heads of " + Twine(value) + " beside head dim " +
                        Twine(now) + ": --head-dim cannot say what they become",
                    "write a spec a head dim, or build it without --head-dim");
    // A scale that is 1/sqrt(D) in other words would be wrong for another D;
    // any other is a decision of the model, and stays.
    if (auto scale = attention.getScaleAttr())
      if (std::abs(scale.getValueAsDouble() * std::sqrt(double(now)) - 1) <
          1e-5)
        return refuse(attention.getLoc(),
                      "fixes the scale at 1/sqrt(" + Twine(now) +
                          "), which is wrong for head dim " +
                          Twine(*form.headDim),
                      "leave scale out: 1/sqrt(head dim) is the default");
    return success();
  }

  LogicalResult checkHeads() {
    if (!form.heads)
      return success();
    int64_t heads = typeOf(attention.getQ()).getDimSize(1);
    int64_t kvHeads = typeOf(attention.getK()).getDimSize(1);
    if (std::pair(heads, kvHeads) == *form.heads)
      return success();
    for (BlockArgument argument : spec.getArguments()) {
      auto type = dyn_cast<RankedTensorType>(argument.getType());
      if (!type || isOperand(argument))
        continue;
      for (int64_t extent : type.getShape())
        if (extent == heads || extent == kvHeads)
          return refuse(argument.getLoc(),
                        "has a buffer with an extent of " + Twine(extent) +
                            ", which may be its head count: --heads cannot "
                            "tell",
                        "declare the extent as qm::dynamic, or write a spec a "
                        "head count");
    }
    return success();
  }

  bool isOperand(Value value) {
    return value == attention.getQ() || value == attention.getK() ||
           value == attention.getV();
  }

  void change(Value value, bool isQuery) {
    RankedTensorType type = typeOf(value);
    auto shape = llvm::to_vector(type.getShape());
    Type element = type.getElementType();
    if (form.headDim)
      shape.back() = *form.headDim;
    if (form.heads)
      shape[1] = isQuery ? form.heads->first : form.heads->second;
    Builder builder(spec.getContext());
    if (form.dtype == "bf16")
      element = builder.getBF16Type();
    else if (form.dtype == "f16")
      element = builder.getF16Type();
    else if (form.dtype == "f32")
      element = builder.getF32Type();
    value.setType(RankedTensorType::get(shape, element));
  }

  void changeStatistic(Value value) {
    RankedTensorType type = typeOf(value);
    auto shape = llvm::to_vector(type.getShape());
    if (form.heads)
      shape[1] = form.heads->first;
    value.setType(RankedTensorType::get(shape, type.getElementType()));
  }

  func::FuncOp spec;
  attn::AttentionOp attention;
  const SpecForm &form;
};

} // namespace

LogicalResult qm::driver::applyForm(func::FuncOp spec, const SpecForm &form) {
  auto attentions = spec.getOps<attn::AttentionOp>();
  if (attentions.empty()) {
    diag::help(diag::error(spec, diag::Id::NotASpec)
                   << "'" << spec.getSymName() << "' holds no attn.attention",
               "a library is built from spec-level functions");
    return failure();
  }
  return Rewriter(spec, *attentions.begin(), form).run();
}
