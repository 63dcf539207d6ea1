//===- CallData.cpp - the arguments of one call ---------------------------===//
#include "qmc/CallDataBuilder.h"
#include "qmc/Console.h"
#include "qmc/NearestName.h"
#include "qmc/RandomData.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace qm;
using namespace qm::driver;
using reference::Argument;
using reference::DType;
using reference::HostTensor;
using reference::TensorView;

StringRef qm::driver::getLayoutName(Layout layout) {
  return layout == Layout::Bshd ? "[B,S,H,D]" : "[B,H,S,D]";
}

std::vector<Argument> CallData::inputsAndOutputs() const {
  std::vector<Argument> all = arguments;
  all.push_back(output->view());
  for (const HostTensor *statistic : {logSums.get(), maxima.get()})
    if (statistic)
      all.push_back(statistic->view());
  return all;
}

FailureOr<CallData> CallData::create(func::FuncOp spec, const Options &options,
                                     Layout layout, bool values) {
  return CallDataBuilder(spec, options, layout, values).build();
}

LogicalResult CallDataBuilder::readFlags(ArrayRef<std::string> flags,
                                         StringRef flag,
                                         llvm::StringMap<std::string> &into) {
  for (const std::string &text : flags) {
    auto assignment = splitAssignment(text, flag);
    if (failed(assignment))
      return failure();
    if (!llvm::is_contained(data.argumentNames, assignment->first)) {
      std::string nearest = nearestName(assignment->first, data.argumentNames);
      return reportError(
          diag::Id::UnknownInput,
          "'" + spec.getName() + "' has no argument '" + assignment->first +
              "'; it has " + llvm::join(data.argumentNames, ", "),
          assignment->first,
          nearest.empty() ? "" : "did you mean '" + nearest + "'?");
    }
    into[assignment->first] = assignment->second;
  }
  return success();
}

LogicalResult CallDataBuilder::addScalar(BlockArgument argument,
                                         StringRef name) {
  auto given = params.find(name);
  if (given == params.end())
    return reportError(diag::Id::MissingValue,
                       "run-time scalar '" + name + "' of '" + spec.getName() +
                           "' has no value",
                       "", "add --param " + name + "=VALUE");
  StringRef text = given->second;
  int32_t integer;
  double real;
  if (argument.getType().isF32() && !text.getAsDouble(real))
    data.arguments.push_back(static_cast<float>(real));
  else if (argument.getType().isInteger(32) && !text.getAsInteger(0, integer))
    data.arguments.push_back(integer);
  else
    return reportError(diag::Id::BadFlagValue,
                       "--param " + name + " takes a value of type " +
                           (argument.getType().isF32() ? "f32" : "i32") +
                           ", not '" + text + "'",
                       text, "write a plain number");
  return success();
}

SmallVector<unsigned> CallDataBuilder::orderOf(unsigned rank, bool operand) {
  if (operand && layout == Layout::Bshd)
    return {0, 2, 1, 3};
  return llvm::to_vector(llvm::seq<unsigned>(0, rank));
}

void CallDataBuilder::fill(const TensorView &tensor, BlockArgument argument,
                           StringRef name) {
  if (reference::isFloat(tensor.dtype)) {
    if (values)
      fillNormal(tensor, options.seed, name);
    return;
  }
  IntegerFill fill = IntegerFill::Documents;
  if (isSorted(argument))
    fill = IntegerFill::Documents;
  else if (tensor.dtype == DType::I8)
    fill = IntegerFill::Flags;
  else if (tensor.rank() == 1 && howIndexed(argument, 0) == Indexed::Batch)
    fill = IntegerFill::Lengths;
  fillIntegers(tensor, options.seed, name, fill, skv);
}

LogicalResult CallDataBuilder::addTensor(BlockArgument argument,
                                         StringRef name) {
  auto type = cast<RankedTensorType>(argument.getType());
  if (!files.contains(name) && addLengths(argument))
    return success();
  if (auto file = files.find(name); file != files.end())
    return success(succeeded(addFile(file->second, type, name)) &&
                   succeeded(checkSorted(argument, name)));
  FailureOr<SmallVector<int64_t>> shape = extentsOf(argument, name);
  if (failed(shape))
    return failure();
  DType dtype = *reference::dtypeOf(type.getElementType());
  if (failed(addMemory(dtype, *shape, name)))
    return failure();
  HostTensor &tensor = data.tensors.emplace_back(
      dtype, *shape, orderOf(type.getRank(), argument.getArgNumber() < 3));
  fill(tensor.view(), argument, name);
  data.arguments.push_back(tensor.view());
  return success();
}

FailureOr<CallData> CallDataBuilder::build() {
  for (unsigned index = 0; index < spec.getNumArguments(); ++index)
    data.argumentNames.push_back(reference::argumentName(spec, index));
  if (failed(readFlags(options.inputs, "--input", inputs)) ||
      failed(readFlags(options.params, "--param", params)) ||
      failed(readFlags(options.extents, "--extent", extents)) ||
      failed(readFiles()) || failed(readSizes()))
    return failure();
  for (BlockArgument argument : spec.getArguments()) {
    StringRef name = data.argumentNames[argument.getArgNumber()];
    if (failed(isa<RankedTensorType>(argument.getType())
                   ? addTensor(argument, name)
                   : addScalar(argument, name)))
      return failure();
  }
  int64_t entries = packed() ? 1 : batch, rows = rowsOf(0);
  auto oType = cast<RankedTensorType>(spec.getResultTypes()[0]);
  DType outputType = *reference::dtypeOf(oType.getElementType());
  int64_t shape[] = {entries, oType.getDimSize(1), rows, oType.getDimSize(3)};
  if (failed(addMemory(outputType, shape, "o")))
    return failure();
  data.output = std::make_unique<HostTensor>(outputType, shape,
                                             orderOf(4, /*operand=*/true));
  auto makeStatistic = [&] {
    return std::make_unique<HostTensor>(
        DType::F32, ArrayRef<int64_t>{entries, oType.getDimSize(1), rows});
  };
  for (attn::AttentionOp op : spec.getOps<attn::AttentionOp>()) {
    if (op.getLse())
      data.logSums = makeStatistic();
    if (op.getMax())
      data.maxima = makeStatistic();
  }
  return std::move(data);
}
