//===- CallSizes.cpp - extents and lengths of the arguments of a call -----===//
#include "qmc/CallDataBuilder.h"
#include "qmc/Console.h"
#include "qmc/RandomData.h"

#include "llvm/ADT/StringSwitch.h"

#include <unistd.h>
#include <utility>

using namespace mlir;
using namespace qm;
using namespace qm::driver;
using reference::DType;
using reference::HostTensor;
using reference::TensorView;

CallDataBuilder::Indexed CallDataBuilder::howIndexed(BlockArgument buffer,
                                                     unsigned dimension) {
  // What the spec declares, else what the first gather says.
  if (auto follows = spec.getArgAttrOfType<ArrayAttr>(buffer.getArgNumber(),
                                                      "attn.follows");
      follows && dimension < follows.size())
    if (auto name = dyn_cast<StringAttr>(follows[dimension]);
        name && !name.empty())
      return llvm::StringSwitch<Indexed>(name)
          .Case("batch", Indexed::Batch)
          .Case("query", Indexed::Row)
          .Case("key", Indexed::Key)
          .Default(Indexed::Unknown);
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

/// Batch and lengths: from given q, k, v, else from flags.
LogicalResult CallDataBuilder::readSizes() {
  // Sums and differences of two lengths fit i32.
  constexpr int64_t longest = (1 << 30) - 1;
  for (auto [flag, value] : {std::pair("--batch", options.batch),
                             {"--sq", options.sq},
                             {"--skv", options.skv}})
    if (value && (*value < 0 || *value > longest))
      return reportError(diag::Id::BadFlagValue,
                         llvm::Twine(flag) + " must be in 0.." +
                             llvm::Twine(longest) + ", not " +
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

LogicalResult CallDataBuilder::addMemory(DType type, ArrayRef<int64_t> shape,
                                         StringRef name) {
  int64_t bytes = runtime::bytesPerElement(type);
  bool tooMuch = false;
  for (int64_t extent : shape)
    tooMuch |= __builtin_mul_overflow(bytes, extent, &bytes);
  tooMuch |= __builtin_add_overflow(memory, bytes, &memory);
  int64_t all = int64_t(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  if (!tooMuch && memory <= all)
    return success();
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "'" << name << "' of '" << spec.getName() << "' is ";
  llvm::interleave(shape, os, " x ");
  os << " " << runtime::dataTypeName(type)
     << ": the arguments need more than the " << (all >> 30)
     << " GiB of memory of this machine";
  return reportError(diag::Id::RuntimeOutOfMemory, text, "",
                     "give a smaller --batch, --sq, --skv or --extent");
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
                       name, "give one number for each");
  return result;
}
