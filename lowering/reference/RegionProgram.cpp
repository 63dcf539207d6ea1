//===- RegionProgram.cpp - a score or mask region as a list of steps ------===//
#include "lowering/reference/RegionProgram.h"

#include "dialect/AttnOps.h"
#include "dialect/Diagnostics.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace qm;
using namespace qm::reference;

namespace {

/// Ops whose step is named by the op alone. Casts that only change a width are
/// copies: the wrap to the result's width does the work.
const llvm::StringMap<StepKind> &stepTable() {
  static const llvm::StringMap<StepKind> table = {
      {"arith.addf", StepKind::AddF},
      {"arith.subf", StepKind::SubF},
      {"arith.mulf", StepKind::MulF},
      {"arith.divf", StepKind::DivF},
      {"arith.remf", StepKind::RemF},
      {"arith.maximumf", StepKind::MaximumF},
      {"arith.minimumf", StepKind::MinimumF},
      {"arith.maxnumf", StepKind::MaxNumF},
      {"arith.minnumf", StepKind::MinNumF},
      {"math.powf", StepKind::PowF},
      {"math.atan2", StepKind::Atan2},
      {"math.copysign", StepKind::CopySign},
      {"arith.negf", StepKind::NegF},
      {"math.absf", StepKind::AbsF},
      {"math.ceil", StepKind::Ceil},
      {"math.floor", StepKind::Floor},
      {"math.round", StepKind::Round},
      {"math.roundeven", StepKind::RoundEven},
      {"math.trunc", StepKind::Trunc},
      {"math.sqrt", StepKind::Sqrt},
      {"math.rsqrt", StepKind::Rsqrt},
      {"math.cbrt", StepKind::Cbrt},
      {"math.exp", StepKind::Exp},
      {"math.exp2", StepKind::Exp2},
      {"math.expm1", StepKind::ExpM1},
      {"math.log", StepKind::Log},
      {"math.log2", StepKind::Log2},
      {"math.log10", StepKind::Log10},
      {"math.log1p", StepKind::Log1p},
      {"math.sin", StepKind::Sin},
      {"math.cos", StepKind::Cos},
      {"math.tan", StepKind::Tan},
      {"math.asin", StepKind::Asin},
      {"math.acos", StepKind::Acos},
      {"math.atan", StepKind::Atan},
      {"math.sinh", StepKind::Sinh},
      {"math.cosh", StepKind::Cosh},
      {"math.tanh", StepKind::Tanh},
      {"math.erf", StepKind::Erf},
      {"arith.extf", StepKind::RoundToType},
      {"arith.truncf", StepKind::RoundToType},
      {"math.fma", StepKind::Fma},
      {"arith.addi", StepKind::AddI},
      {"arith.subi", StepKind::SubI},
      {"arith.muli", StepKind::MulI},
      {"arith.divsi", StepKind::DivSI},
      {"arith.divui", StepKind::DivUI},
      {"arith.floordivsi", StepKind::FloorDivSI},
      {"arith.ceildivsi", StepKind::CeilDivSI},
      {"arith.remsi", StepKind::RemSI},
      {"arith.remui", StepKind::RemUI},
      {"arith.andi", StepKind::AndI},
      {"arith.ori", StepKind::OrI},
      {"arith.xori", StepKind::XOrI},
      {"arith.shli", StepKind::ShlI},
      {"arith.shrsi", StepKind::ShrSI},
      {"arith.shrui", StepKind::ShrUI},
      {"arith.maxsi", StepKind::MaxSI},
      {"arith.minsi", StepKind::MinSI},
      {"arith.maxui", StepKind::MaxUI},
      {"arith.minui", StepKind::MinUI},
      {"math.absi", StepKind::AbsI},
      {"arith.extui", StepKind::ExtUI},
      {"arith.extsi", StepKind::CopyI},
      {"arith.trunci", StepKind::CopyI},
      {"arith.sitofp", StepKind::SIToFP},
      {"arith.uitofp", StepKind::UIToFP},
      {"arith.fptosi", StepKind::FPToSI},
      {"arith.fptoui", StepKind::FPToUI}};
  return table;
}

unsigned widthOf(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return integer ? integer.getWidth() : 64;
}

class Compiler {
public:
  FailureOr<RegionProgram> compile(Region &region) {
    Block &block = region.front();
    bindArguments(block);
    for (Operation &op : block.without_terminator())
      if (failed(compileOp(&op)))
        return failure();
    program.result = use(block.getTerminator()->getOperand(0));
    return program;
  }

private:
  struct Slot {
    int index;
    bool varies;
  };

  void bindArguments(Block &block) {
    bool hasScore = block.getNumArguments() == 5;
    if (hasScore)
      program.score = define(block.getArgument(0), /*varies=*/true);
    auto index = block.getArguments().drop_front(hasScore ? 1 : 0);
    program.batch = define(index[0], false);
    program.head = define(index[1], false);
    if (index.size() > 2) {
      program.row = define(index[2], false);
      program.key = define(index[3], true);
    }
    program.usesBatch = !index[0].use_empty();
    program.usesHead = !index[1].use_empty();
  }

  int define(Value value, bool varies) {
    int index = isa<FloatType>(value.getType()) ? program.floatRegisters++
                                                : program.intRegisters++;
    slots[value] = {index, varies};
    return index;
  }

  /// The register of `value`; a run-time scalar is read at its first use.
  int use(Value value) {
    auto found = slots.find(value);
    if (found != slots.end())
      return found->second.index;
    auto argument = cast<BlockArgument>(value);
    Step step;
    step.kind = isa<FloatType>(value.getType()) ? StepKind::FloatArgument
                                                : StepKind::IntArgument;
    step.argument = argument.getArgNumber();
    return append(std::move(step), value, /*varies=*/false);
  }

  int append(Step step, Value result, bool varies) {
    step.result = define(result, varies);
    step.givesInteger = isa<IntegerType>(result.getType());
    int index = step.result;
    (varies ? program.keySteps : program.rowSteps).push_back(std::move(step));
    return index;
  }

  /// Fills `step.operands` and says whether one of them varies by key.
  bool useOperands(ValueRange values, Step &step) {
    bool varies = false;
    for (auto [position, value] : llvm::enumerate(values)) {
      step.operands[position] = use(value);
      varies |= slots.lookup(value).varies;
    }
    return varies;
  }

  LogicalResult compileOp(Operation *op);
  LogicalResult compileLoad(attn::LoadOp load);
  LogicalResult unsupported(Operation *op) {
    diag::help(diag::error(op, diag::Id::ReferenceUnsupportedOp)
                   << "the reference interpreter does not know '"
                   << op->getName().getStringRef() << "' in a score or mask",
               "use the scalar arith and math ops of dialect/README.md");
    return failure();
  }

  RegionProgram program;
  DenseMap<Value, Slot> slots;
};

LogicalResult Compiler::compileLoad(attn::LoadOp load) {
  auto buffer = dyn_cast<BlockArgument>(load.getBuffer());
  if (!buffer || !isa<func::FuncOp>(buffer.getOwner()->getParentOp()))
    return unsupported(load);
  Step step;
  step.kind =
      isa<FloatType>(load.getType()) ? StepKind::LoadFloat : StepKind::LoadInt;
  step.argument = buffer.getArgNumber();
  bool varies = false;
  for (Value value : load.getIndices()) {
    step.indices.push_back(use(value));
    varies |= slots.lookup(value).varies;
  }
  append(std::move(step), load.getResult(), varies);
  return success();
}

LogicalResult Compiler::compileOp(Operation *op) {
  if (auto load = dyn_cast<attn::LoadOp>(op))
    return compileLoad(load);
  if (op->getNumResults() != 1 || op->getNumOperands() > 3 ||
      !isa<FloatType, IntegerType>(op->getResult(0).getType()))
    return unsupported(op);

  Value result = op->getResult(0);
  Step step;
  step.width = widthOf(result.getType());
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (auto value = dyn_cast<FloatAttr>(constant.getValue())) {
      step.kind = StepKind::FloatConstant;
      step.floatValue = value.getValue().convertToDouble();
    } else if (auto value = dyn_cast<IntegerAttr>(constant.getValue())) {
      step.kind = StepKind::IntConstant;
      step.intValue = value.getValue().getSExtValue();
    } else {
      return unsupported(op);
    }
  } else if (auto extent = dyn_cast<attn::ExtentOp>(op)) {
    step.kind = StepKind::Extent;
    step.intValue = static_cast<int64_t>(extent.getKind());
  } else if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    step.kind = StepKind::CmpI;
    step.predicate = static_cast<uint8_t>(compare.getPredicate());
    step.width = widthOf(compare.getLhs().getType());
  } else if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
    step.kind = StepKind::CmpF;
    step.predicate = static_cast<uint8_t>(compare.getPredicate());
  } else if (isa<arith::SelectOp>(op)) {
    step.kind = isa<FloatType>(result.getType()) ? StepKind::SelectF
                                                 : StepKind::SelectI;
  } else {
    auto known = stepTable().find(op->getName().getStringRef());
    if (known == stepTable().end())
      return unsupported(op);
    step.kind = known->second;
    if (step.kind == StepKind::RoundToType)
      step.roundType = *dtypeOf(result.getType());
    if (step.kind == StepKind::ExtUI || step.kind == StepKind::UIToFP)
      step.width = widthOf(op->getOperand(0).getType());
  }
  bool varies = useOperands(op->getOperands(), step);
  append(std::move(step), result, varies);
  return success();
}

} // namespace

FailureOr<RegionProgram> qm::reference::compileRegion(Region &region) {
  return Compiler().compile(region);
}
