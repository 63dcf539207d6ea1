//===- Reference.cpp - attention in double precision ----------------------===//
#include "lowering/reference/Reference.h"

#include "dialect/AttnOps.h"
#include "dialect/Diagnostics.h"
#include "lowering/reference/ParallelRows.h"

#include <cmath>
#include <limits>
#include <memory>

using namespace mlir;
using namespace qm;
using namespace qm::reference;

std::string qm::reference::argumentName(func::FuncOp function, unsigned index) {
  if (auto name = function.getArgAttrOfType<StringAttr>(index, "attn.name"))
    return name.str();
  static constexpr llvm::StringLiteral operands[] = {"q", "k", "v"};
  return index < 3 ? operands[index].str() : ("arg" + llvm::Twine(index)).str();
}

//===----------------------------------------------------------------------===//
// From IR
//===----------------------------------------------------------------------===//

FailureOr<Reference> Reference::create(func::FuncOp function) {
  SmallVector<attn::AttentionOp> ops(function.getOps<attn::AttentionOp>());
  if (ops.size() != 1 ||
      !llvm::equal(function.front().getTerminator()->getOperands(),
                   ops.front()->getResults())) {
    diag::help(diag::error(function, diag::Id::NotASpec)
                   << "'" << function.getName()
                   << "' is not one attn.attention whose results are returned",
               "give the spec level: a func.func of dialect/README.md");
    return failure();
  }
  attn::AttentionOp op = ops.front();
  Reference result(function.getLoc());
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    result.argumentTypes.push_back(type);
    result.argumentNames.push_back(argumentName(function, index));
  }
  result.q = cast<BlockArgument>(op.getQ()).getArgNumber();
  result.k = cast<BlockArgument>(op.getK()).getArgNumber();
  result.v = cast<BlockArgument>(op.getV()).getArgNumber();
  for (Value value : op.getLengths())
    result.lengths.push_back(cast<BlockArgument>(value).getArgNumber());
  result.packed = op.getPacked();
  result.scale = op.getScaleOrDefault();
  result.lse = static_cast<bool>(op.getLse());
  result.rowMax = op.getRowMax();
  for (auto [region, program] : {std::pair(&op.getScore(), &result.score),
                                 {&op.getMask(), &result.mask},
                                 {&op.getSink(), &result.sink}}) {
    if (region->empty())
      continue;
    FailureOr<RegionProgram> compiled = compileRegion(*region);
    if (failed(compiled))
      return failure();
    *program = std::move(*compiled);
  }
  return result;
}

LogicalResult Reference::check(llvm::ArrayRef<Argument> arguments) const {
  auto mismatch = [&](unsigned index) {
    return diag::error(loc, diag::Id::ArgumentMismatch)
           << "argument '" << argumentNames[index] << "' ";
  };
  if (arguments.size() != argumentTypes.size())
    return diag::error(loc, diag::Id::ArgumentMismatch)
           << arguments.size() << " arguments given, " << argumentTypes.size()
           << " needed";
  for (auto [index, type] : llvm::enumerate(argumentTypes)) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    const auto *view = std::get_if<TensorView>(&arguments[index]);
    if (!tensor) {
      if (view ||
          std::holds_alternative<float>(arguments[index]) != type.isF32())
        return mismatch(index) << "must be a scalar of type " << type;
      continue;
    }
    if (!view || view->rank() != tensor.getRank())
      return mismatch(index) << "must have rank " << tensor.getRank();
    if (view->dtype != dtypeOf(tensor.getElementType()))
      return mismatch(index) << "holds " << runtime::dataTypeName(view->dtype)
                             << ", " << tensor.getElementType() << " needed";
    for (auto [dimension, extent] : llvm::enumerate(tensor.getShape()))
      if (ShapedType::isStatic(extent) && view->extents[dimension] != extent)
        return mismatch(index)
               << "has extent " << view->extents[dimension] << " in dimension "
               << dimension << ", " << extent << " needed";
  }
  auto extent = [&](unsigned argument, unsigned dimension) {
    return std::get<TensorView>(arguments[argument]).extents[dimension];
  };
  for (unsigned other : {k, v})
    if (extent(other, 0) != extent(q, 0))
      return mismatch(other)
             << "has batch " << extent(other, 0) << ", q has " << extent(q, 0);
  if (extent(k, 2) != extent(v, 2))
    return mismatch(v) << "has " << extent(v, 2) << " keys, k has "
                       << extent(k, 2);
  return checkLengths(arguments);
}

/// Lengths are not negative and starts ascend, inside the tensors.
LogicalResult
Reference::checkLengths(llvm::ArrayRef<Argument> arguments) const {
  for (auto [place, index] : llvm::enumerate(lengths)) {
    auto wrong = [&] {
      return diag::error(loc, diag::Id::ArgumentMismatch)
             << "argument '" << argumentNames[index] << "' ";
    };
    const auto &view = std::get<TensorView>(arguments[index]);
    const auto &rows = std::get<TensorView>(arguments[place == 0 ? q : k]);
    int64_t count = view.extents[0];
    int64_t wanted =
        packed ? std::get<TensorView>(arguments[lengths[0]]).extents[0]
               : rows.extents[0];
    if (count != wanted || (packed && count == 0))
      return wrong() << "has " << count << " elements, "
                     << std::max<int64_t>(wanted, 1) << " needed";
    int64_t least = 0;
    for (int64_t at = 0; at < count; ++at) {
      int64_t value = loadInteger(view, view.offset({at}));
      if (value < least || value > rows.extents[2])
        return wrong() << "has " << value << " at " << at << ", not in "
                       << least << ".." << rows.extents[2];
      least = packed ? value : 0;
    }
  }
  return success();
}

std::vector<Sequence>
Reference::sequencesOf(llvm::ArrayRef<Argument> arguments) const {
  Extents extents = extentsOf(arguments);
  std::vector<Sequence> sequences;
  if (lengths.empty()) {
    for (int64_t b = 0; b < extents.batch; ++b)
      sequences.push_back({b, b, 0, extents.query, 0, extents.key});
    return sequences;
  }
  const auto &ofQueries = std::get<TensorView>(arguments[lengths[0]]);
  const auto &ofKeys = std::get<TensorView>(arguments[lengths[1]]);
  auto at = [](const TensorView &view, int64_t index) {
    return loadInteger(view, view.offset({index}));
  };
  for (int64_t s = 0; s < ofQueries.extents[0] - packed; ++s) {
    if (!packed) {
      sequences.push_back({s, s, 0, at(ofQueries, s), 0, at(ofKeys, s)});
      continue;
    }
    int64_t query = at(ofQueries, s), key = at(ofKeys, s);
    sequences.push_back({s, 0, query, at(ofQueries, s + 1) - query, key,
                         at(ofKeys, s + 1) - key});
  }
  return sequences;
}

Extents Reference::extentsOf(llvm::ArrayRef<Argument> arguments) const {
  const auto &queries = std::get<TensorView>(arguments[q]);
  const auto &keys = std::get<TensorView>(arguments[k]);
  return {queries.extents[0], queries.extents[1], keys.extents[1],
          queries.extents[2], keys.extents[2]};
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

namespace {

/// One [rows, columns] matrix of `view` at (batch, head), as Real, row-major;
/// transposed on request, so that the inner loops run along the keys.
template <typename Real>
std::vector<Real> readMatrix(const TensorView &view, int64_t batch,
                             int64_t head, bool transposed) {
  int64_t rows = view.extents[2], columns = view.extents[3];
  std::vector<Real> matrix(rows * columns);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      matrix[transposed ? column * rows + row : row * columns + column] =
          static_cast<Real>(
              loadFloat(view, view.offset({batch, head, row, column})));
  return matrix;
}

/// scores[j] = q . k[j] for `keys` keys of `stride`, each sum in the order of
/// the head dim.
template <typename Real>
void dotRow(const Real *q, const Real *keysTransposed, int64_t stride,
            int64_t headDim, int64_t keys, Real *scores) {
  constexpr int64_t chunk = 512; // scores of a chunk stay in the L1 cache
  for (int64_t first = 0; first < keys; first += chunk) {
    int64_t count = std::min(chunk, keys - first);
    Real *out = scores + first;
    std::fill_n(out, count, Real(0));
    for (int64_t d = 0; d < headDim; ++d) {
      const Real *key = keysTransposed + d * stride + first;
      for (int64_t j = 0; j < count; ++j)
        out[j] += q[d] * key[j];
    }
  }
}

} // namespace

template <typename Real>
Output Reference::evaluateAs(llvm::ArrayRef<Argument> arguments,
                             unsigned threads) const {
  constexpr bool rounded = std::is_same_v<Real, float>;
  constexpr Real minusInfinity = -std::numeric_limits<Real>::infinity();
  const auto &queryView = std::get<TensorView>(arguments[q]);
  const auto &keyView = std::get<TensorView>(arguments[k]);
  const auto &valueView = std::get<TensorView>(arguments[v]);
  const Extents extents = extentsOf(arguments);
  const int64_t headDim = queryView.extents[3];
  const int64_t columns = valueView.extents[3];
  const int64_t group = extents.heads / extents.kvHeads;

  int64_t matrices = extents.batch * extents.kvHeads;
  std::vector<std::vector<Real>> keys(matrices), values(matrices);
  parallelFor(matrices, threads, [&] {
    return [&](int64_t matrix) {
      int64_t b = matrix / extents.kvHeads, h = matrix % extents.kvHeads;
      keys[matrix] = readMatrix<Real>(keyView, b, h, /*transposed=*/true);
      values[matrix] = readMatrix<Real>(valueView, b, h, /*transposed=*/false);
    };
  });

  Output output;
  output.batch = extents.batch;
  output.heads = extents.heads;
  output.rows = extents.query;
  output.columns = columns;
  int64_t rows = extents.batch * extents.heads * extents.query;
  output.o.assign(rows * columns, std::numeric_limits<double>::quiet_NaN());
  output.lse.assign(rows, std::numeric_limits<double>::quiet_NaN());
  output.rowMax = output.lse;
  const std::vector<Sequence> sequences = sequencesOf(arguments);
  std::vector<const Sequence *> sequenceOf(extents.batch * extents.query);
  for (const Sequence &sequence : sequences)
    std::fill_n(sequenceOf.begin() + sequence.batch * extents.query +
                    sequence.firstQuery,
                sequence.queries, &sequence);

  parallelFor(rows, threads, [&] {
    using ScoreEvaluator = RegionEvaluator<Real>;
    // A mask is decided by f32 semantics, in the oracle too: a comparison of
    // floats must fall on the same side here and in a kernel.
    using MaskEvaluator = RegionEvaluator<float>;
    auto inside = std::make_shared<Extents>(extents);
    inside->batch = sequences.size();
    auto scoreEvaluator =
        score ? std::make_shared<ScoreEvaluator>(*score, arguments, *inside)
              : nullptr;
    auto maskEvaluator =
        mask ? std::make_shared<MaskEvaluator>(*mask, arguments, *inside)
             : nullptr;
    auto sinkEvaluator =
        sink ? std::make_shared<ScoreEvaluator>(*sink, arguments, *inside)
             : nullptr;
    return [&, inside, scoreEvaluator, maskEvaluator, sinkEvaluator,
            scores = std::vector<Real>(), query = std::vector<Real>(headDim),
            sums = std::vector<Real>(columns)](int64_t item) mutable {
      int64_t row = item % extents.query;
      int64_t h = item / extents.query % extents.heads;
      int64_t batch = item / extents.query / extents.heads;
      const Sequence *sequence = sequenceOf[batch * extents.query + row];
      if (!sequence)
        return;
      int64_t b = sequence->number, i = row - sequence->firstQuery;
      inside->query = sequence->queries;
      inside->key = sequence->keys;
      scores.resize(sequence->keys);
      output.lse[item] = -std::numeric_limits<double>::infinity();
      output.rowMax[item] = output.lse[item];
      std::fill_n(output.o.begin() + item * columns, columns, 0.0);

      int64_t matrix = batch * extents.kvHeads + h / group;
      for (int64_t d = 0; d < headDim; ++d)
        query[d] = static_cast<Real>(
            loadFloat(queryView, queryView.offset({batch, h, row, d})));
      dotRow(query.data(), keys[matrix].data() + sequence->firstKey,
             extents.key, headDim, sequence->keys, scores.data());
      for (Real &s : scores)
        s *= static_cast<Real>(scale);

      if (scoreEvaluator)
        scoreEvaluator->setRow(b, h, i);
      if (maskEvaluator)
        maskEvaluator->setRow(b, h, i);
      constexpr int lanes = MaskEvaluator::lanes;
      for (int64_t first = 0; first < sequence->keys; first += lanes) {
        int count =
            static_cast<int>(std::min<int64_t>(lanes, sequence->keys - first));
        if (scoreEvaluator)
          scoreEvaluator->score(first, count, scores.data() + first);
        if (!maskEvaluator)
          continue;
        bool keep[lanes];
        maskEvaluator->mask(first, count, keep);
        for (int lane = 0; lane < count; ++lane)
          if (!keep[lane])
            scores[first + lane] = minusInfinity;
      }

      // Softmax. A NaN score must reach the result, so it may not be lost in
      // the maximum.
      Real maximum = minusInfinity;
      for (Real s : scores)
        maximum = s > maximum || std::isnan(s) ? s : maximum;
      output.rowMax[item] = maximum;
      Real sum = 0, logit = minusInfinity;
      if (sinkEvaluator)
        logit = sinkEvaluator->sink(b, h);
      if (logit > maximum)
        maximum = logit;
      if (maximum == minusInfinity)
        return;
      for (Real &s : scores)
        sum += s = std::exp(s - maximum);
      if (sinkEvaluator)
        sum += std::exp(logit - maximum);
      output.lse[item] = maximum + std::log(sum);

      std::fill(sums.begin(), sums.end(), Real(0));
      const Real *value = values[matrix].data() + sequence->firstKey * columns;
      for (int64_t j = 0; j < sequence->keys; ++j, value += columns) {
        Real p = scores[j] / sum;
        if constexpr (rounded)
          p = static_cast<Real>(roundTo(queryView.dtype, p));
        if (scores[j] == 0) // no weight, whatever v holds
          continue;
        for (int64_t d = 0; d < columns; ++d)
          sums[d] += p * value[d];
      }
      for (int64_t d = 0; d < columns; ++d)
        output.o[item * columns + d] =
            rounded ? roundTo(queryView.dtype, sums[d]) : sums[d];
    };
  });
  return output;
}

Output Reference::evaluate(llvm::ArrayRef<Argument> arguments,
                           Arithmetic arithmetic, unsigned threads) const {
  return arithmetic == Arithmetic::Double
             ? evaluateAs<double>(arguments, threads)
             : evaluateAs<float>(arguments, threads);
}
