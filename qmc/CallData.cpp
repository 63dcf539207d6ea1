//===- CallData.cpp - the arguments of one call ---------------------------===//
#include "qmc/CallData.h"
#include "qmc/Console.h"
#include "qmc/NearestName.h"
#include "qmc/Npy.h"
#include "qmc/RandomData.h"

#include "dialect/AttnOps.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <utility>

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

namespace qm::driver {

class CallDataBuilder {
public:
  CallDataBuilder(func::FuncOp spec, const Options &options, Layout layout,
                  bool values)
      : spec(spec), options(options), layout(layout), values(values) {}
  FailureOr<CallData> build();

private:
  /// What the first use of dimension `dimension` of a buffer says about it.
  enum class Indexed { Batch, Head, Row, Key, Unknown };
  Indexed howIndexed(BlockArgument buffer, unsigned dimension);
  int64_t defaultExtent(Indexed indexed);

  LogicalResult readFlags(ArrayRef<std::string> flags, StringRef flag,
                          llvm::StringMap<std::string> &into);
  LogicalResult readFiles();
  LogicalResult readSizes();
  LogicalResult makeLengths();
  bool addLengths(BlockArgument argument);
  int64_t rowsOf(unsigned which);
  LogicalResult addScalar(BlockArgument argument, StringRef name);
  LogicalResult addTensor(BlockArgument argument, StringRef name);
  LogicalResult addFile(HostTensor &file, RankedTensorType type,
                        StringRef name);
  LogicalResult checkSorted(BlockArgument argument, StringRef name);
  FailureOr<SmallVector<int64_t>> extentsOf(BlockArgument argument,
                                            StringRef name);
  void fill(const TensorView &tensor, BlockArgument argument, StringRef name);
  SmallVector<unsigned> orderOf(unsigned rank, bool operand);

  func::FuncOp spec;
  const Options &options;
  Layout layout;
  bool values;
  CallData data;
  llvm::StringMap<std::string> inputs, params, extents;
  llvm::StringMap<HostTensor> files;
  int64_t batch = 1, sq = 1024, skv = 1024;
  /// The operator whose sequences have lengths of their own, or null.
  attn::AttentionOp sequences;
  /// Its lengths, or starts, of the queries and of the keys.
  std::vector<int64_t> lengths[2];
  bool packed() { return sequences && sequences.getPacked(); }
};

} // namespace qm::driver

FailureOr<CallData> CallData::create(func::FuncOp spec, const Options &options,
                                     Layout layout, bool values) {
  return CallDataBuilder(spec, options, layout, values).build();
}

CallDataBuilder::Indexed CallDataBuilder::howIndexed(BlockArgument buffer,
                                                     unsigned dimension) {
  for (Operation *user : buffer.getUsers()) {
    auto load = dyn_cast<attn::LoadOp>(user);
    if (!load)
      continue;
    auto index = dyn_cast<BlockArgument>(load.getIndices()[dimension]);
    if (!index || !isa<attn::AttentionOp>(index.getOwner()->getParentOp()))
      continue;
    // Arguments are b, h, i, j, after a score if there are five; b and h of a
    // sink.
    unsigned score = index.getOwner()->getNumArguments() == 5;
    return static_cast<Indexed>(index.getArgNumber() - score);
  }
  return Indexed::Unknown;
}

int64_t CallDataBuilder::defaultExtent(Indexed indexed) {
  switch (indexed) {
  case Indexed::Batch:
    return batch;
  case Indexed::Head:
    return cast<RankedTensorType>(spec.getArgumentTypes()[0]).getDimSize(1);
  case Indexed::Row:
    return std::max<int64_t>(sq, 1);
  case Indexed::Key:
    return std::max<int64_t>(skv, 1);
  case Indexed::Unknown:
    return std::max<int64_t>({sq, skv, 1});
  }
  llvm_unreachable("covered switch");
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

LogicalResult CallDataBuilder::readFiles() {
  for (const auto &entry : inputs) {
    FailureOr<HostTensor> tensor = readNpy(entry.second);
    if (failed(tensor))
      return failure();
    files.try_emplace(entry.first(), std::move(*tensor));
  }
  return success();
}

/// Batch and lengths: from given q, k, v, else from flags.
LogicalResult CallDataBuilder::readSizes() {
  for (auto [flag, value] : {std::pair("--batch", options.batch),
                             {"--sq", options.sq},
                             {"--skv", options.skv}})
    if (value && (*value < 0 || *value > INT32_MAX))
      return reportError(diag::Id::BadFlagValue,
                         llvm::Twine(flag) + " must be in 0.." +
                             llvm::Twine(INT32_MAX) + ", not " +
                             llvm::Twine(*value),
                         flag, "a length or a batch is 0 or more");
  for (attn::AttentionOp op : spec.getOps<attn::AttentionOp>())
    if (!op.getLengths().empty())
      sequences = op;
  auto extentIn = [&](StringRef name, unsigned dimension,
                      int64_t otherwise) -> int64_t {
    auto file = files.find(name);
    return file != files.end() && file->second.view().rank() == 4
               ? file->second.view().extents[dimension]
               : otherwise;
  };
  batch = options.batch.value_or(sequences ? 4 : 1);
  for (StringRef name : {"v", "k", "q"})
    batch = packed() ? batch : extentIn(name, 0, batch);
  sq = extentIn("q", 2, options.sq.value_or(1024));
  skv = extentIn("k", 2, extentIn("v", 2, options.skv.value_or(sq)));
  return sequences ? makeLengths() : success();
}

/// Lengths from files, or made up: the first sequence is the longest, one in
/// eight is empty, the others are between.
LogicalResult CallDataBuilder::makeLengths() {
  if (packed())
    for (Value value : sequences.getLengths())
      if (auto file = files.find(
              data.argumentNames[cast<BlockArgument>(value).getArgNumber()]);
          file != files.end() && file->second.view().rank() == 1)
        batch = std::max<int64_t>(file->second.view().extents[0] - 1, 0);
  for (unsigned which : {0, 1}) {
    auto argument = cast<BlockArgument>(sequences.getLengths()[which]);
    StringRef name = data.argumentNames[argument.getArgNumber()];
    std::vector<int64_t> &all = lengths[which];
    int64_t longest = which == 0 ? sq : skv;
    if (auto file = files.find(name); file != files.end()) {
      const TensorView &view = file->second.view();
      for (int64_t at = 0; view.rank() == 1 && at < view.extents[0]; ++at)
        all.push_back(loadInteger(view, view.offset({at})));
      continue;
    }
    HostTensor made(DType::I32, {batch});
    fillIntegers(made.view(), options.seed, name, IntegerFill::Ragged, longest);
    for (int64_t at = 0; at < batch; ++at)
      all.push_back(loadInteger(made.view(), at));
    if (!packed())
      continue;
    int64_t start = 0;
    for (int64_t &length : all)
      start += std::exchange(length, start);
    all.push_back(start);
    if (start > INT32_MAX)
      return reportError(diag::Id::BadFlagValue,
                         llvm::Twine(batch) + " sequences of up to " +
                             llvm::Twine(longest) + " have " +
                             llvm::Twine(start) + " tokens; starts are i32",
                         "--batch", "give fewer or shorter sequences");
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

/// Rows of q (0) or of k and v (1) in memory.
int64_t CallDataBuilder::rowsOf(unsigned which) {
  for (StringRef name : {"q", "k", "v"})
    if (auto file = files.find(name); (name == "q") == (which == 0) &&
                                      file != files.end() &&
                                      file->second.view().rank() == 4)
      return file->second.view().extents[2];
  if (packed())
    return lengths[which].empty() ? 0
                                  : std::max<int64_t>(lengths[which].back(), 0);
  return which == 0 ? sq : skv;
}

FailureOr<SmallVector<int64_t>>
CallDataBuilder::extentsOf(BlockArgument argument, StringRef name) {
  auto type = cast<RankedTensorType>(argument.getType());
  unsigned number = argument.getArgNumber();
  SmallVector<int64_t> result(type.getShape());
  if (number < 3) {
    result[0] = packed() ? 1 : batch;
    result[2] = rowsOf(number == 0 ? 0 : 1);
    return result;
  }
  SmallVector<StringRef> given;
  if (auto flag = extents.find(name); flag != extents.end())
    StringRef(flag->second).split(given, ',');
  unsigned used = 0;
  for (auto [dimension, extent] : llvm::enumerate(result)) {
    if (ShapedType::isStatic(extent))
      continue;
    if (used < given.size() &&
        (given[used].getAsInteger(10, extent) || extent < 1))
      return reportError(diag::Id::BadFlagValue,
                         "--extent " + name + " takes positive numbers, not '" +
                             given[used] + "'",
                         given[used], "a buffer has at least one element");
    if (used >= given.size())
      extent = defaultExtent(howIndexed(argument, dimension));
    ++used;
  }
  if (given.size() > used)
    return reportError(diag::Id::BadFlagValue,
                       "--extent " + name + " gives " +
                           llvm::Twine(given.size()) + " extents, '" + name +
                           "' has " + llvm::Twine(used) +
                           " that are known only at run time",
                       name);
  return result;
}

SmallVector<unsigned> CallDataBuilder::orderOf(unsigned rank, bool operand) {
  if (operand && layout == Layout::Bshd)
    return {0, 2, 1, 3};
  return llvm::to_vector(llvm::seq<unsigned>(0, rank));
}

/// Whether the spec takes the buffer to be sorted along its last dimension.
static bool isSorted(BlockArgument buffer) {
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

/// Adds lengths that were made up; false for any other tensor.
bool CallDataBuilder::addLengths(BlockArgument argument) {
  if (!sequences)
    return false;
  for (auto [which, value] : llvm::enumerate(sequences.getLengths())) {
    if (value != argument)
      continue;
    const std::vector<int64_t> &all = lengths[which];
    HostTensor &tensor =
        data.tensors.emplace_back(DType::I32, int64_t(all.size()));
    for (auto [at, number] : llvm::enumerate(all))
      storeInteger(tensor.view(), at, number);
    data.arguments.push_back(tensor.view());
    return true;
  }
  return false;
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
  HostTensor &tensor = data.tensors.emplace_back(
      *reference::dtypeOf(type.getElementType()), *shape,
      orderOf(type.getRank(), argument.getArgNumber() < 3));
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
  data.output = std::make_unique<HostTensor>(
      *reference::dtypeOf(oType.getElementType()),
      ArrayRef<int64_t>{entries, oType.getDimSize(1), rows,
                        oType.getDimSize(3)},
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
