// attn.extrema by a warp.
#include "lowering/gpu/Extrema.h"

#include "lowering/common/KernelTarget.h"
#include "lowering/gpu/ControlFlow.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <limits>

using namespace mlir;
using namespace qm;
using namespace qm::gpu;

static constexpr int64_t lanes = 32;
/// Ranges that are read at once, and loads of each: what hides the latency of
/// memory and fits the registers of a warp that has few.
static constexpr int64_t rangesAtOnce = 2, loadsAtOnce = 4;

namespace {

/// Elements from one index to another, both of them too.
struct IndexRange {
  Int first, last;
};

struct Extrema {
  Value least, greatest;
};

class RangeReader {
public:
  RangeReader(LocBuilder &b, Arguments &arguments, attn::ExtremaOp op,
              ValueRange firsts)
      : b(b), op(op),
        stride(arguments.stride(op.getBuffer(), op.getDimension())),
        limit(arguments.extent(op.getBuffer(), op.getDimension()) - 1),
        lane(Int(b, nvvm::readSpecial(b, nvvm::Special::ThreadX)) % lanes) {
    SmallVector<Int> row;
    for (auto [dimension, index] : llvm::enumerate(firsts)) {
      Int end = arguments.extent(op.getBuffer(), dimension) - 1;
      row.push_back(dimension == op.getDimension()
                        ? Int::constant(b, 0)
                        : Int(b, index).min(end).max(Int::constant(b, 0)));
    }
    base = arguments.elementAddress(op.getBuffer(), row);
  }

  Int clamp(Int index) { return index.min(limit).max(Int::constant(b, 0)); }

  /// Of several ranges, each the same in all lanes.
  SmallVector<Extrema> read(ArrayRef<IndexRange> ranges);

private:
  Value element(Int index);
  Extrema reduce(Value least, Value greatest);

  LocBuilder &b;
  attn::ExtremaOp op;
  Int stride, limit, lane, base;
};

} // namespace

Value RangeReader::element(Int index) {
  Type type = cast<RankedTensorType>(op.getBuffer().getType()).getElementType();
  int64_t width = op.getElementWidth();
  Int address = base + index.wide() * stride * (width / 8);
  Value value = nvvm::loadGlobalConstant(b, type, address);
  if (width < 32)
    return arith::ExtSIOp::create(b, b.getI32Type(), value);
  if (width > 32)
    return arith::TruncIOp::create(b, b.getI32Type(), value);
  return value;
}

/// Of all lanes.
Extrema RangeReader::reduce(Value least, Value greatest) {
  const lowering::TargetInfo *target =
      lowering::getTarget(op->getParentOfType<attn::KernelOp>());
  if (target->sm >= 80)
    return {nvvm::warpMin(b, least), nvvm::warpMax(b, greatest)};
  for (unsigned distance = lanes / 2; distance; distance /= 2) {
    least =
        arith::MinSIOp::create(b, least, nvvm::shuffleXor(b, least, distance));
    greatest = arith::MaxSIOp::create(b, greatest,
                                      nvvm::shuffleXor(b, greatest, distance));
  }
  return {least, greatest};
}

SmallVector<Extrema> RangeReader::read(ArrayRef<IndexRange> ranges) {
  Int longest = ranges[0].last - ranges[0].first;
  for (const IndexRange &range : ranges.drop_front())
    longest = longest.max(range.last - range.first);
  // Offset, then least and greatest of each range.
  SmallVector<Value> inits{Int::constant(b, 0)};
  for (size_t n = 0; n < ranges.size(); ++n) {
    inits.push_back(
        Int::constant(b, std::numeric_limits<int32_t>::max()).get());
    inits.push_back(
        Int::constant(b, std::numeric_limits<int32_t>::min()).get());
  }
  Values found = emitWhile(
      b, inits,
      [&](ValueRange carried) -> Value {
        return Int(b, carried.front()).atMost(longest);
      },
      [&](ValueRange carried) {
        Int offset(b, carried.front());
        Values next{offset + lanes * loadsAtOnce};
        for (auto [n, range] : llvm::enumerate(ranges)) {
          Value least = carried[1 + 2 * n], greatest = carried[2 + 2 * n];
          for (int64_t load = 0; load < loadsAtOnce; ++load) {
            // Past the end the last element is read again: it is among them.
            Value read = element(
                (range.first + offset + lane + load * lanes).min(range.last));
            least = arith::MinSIOp::create(b, least, read);
            greatest = arith::MaxSIOp::create(b, greatest, read);
          }
          next.append({least, greatest});
        }
        return next;
      });
  SmallVector<Extrema> result;
  for (size_t n = 0; n < ranges.size(); ++n)
    result.push_back(reduce(found[1 + 2 * n], found[2 + 2 * n]));
  return result;
}

std::pair<Value, Value>
qm::gpu::emitExtrema(LocBuilder &b, Arguments &arguments, attn::ExtremaOp op,
                     ValueRange firsts, Value last, bool lanesAgree,
                     int64_t maxElements) {
  RangeReader reader(b, arguments, op, firsts);
  IndexRange own{reader.clamp({b, firsts[op.getDimension()]}),
                 reader.clamp({b, last})};
  Value isRead = (own.last - own.first).lessThan(Int::constant(b, maxElements));
  // One element of a range that is not read.
  own.last = {b, arith::SelectOp::create(b, isRead, own.last, own.first)};
  auto orTypeEnds = [&](Extrema found) {
    return std::pair<Value, Value>(
        arith::SelectOp::create(b, isRead, found.least,
                                Int::constant(b, op.getTypeMinimum())),
        arith::SelectOp::create(b, isRead, found.greatest,
                                Int::constant(b, op.getTypeMaximum())));
  };
  if (lanesAgree)
    return orTypeEnds(reader.read(own).front());

  Value zero = Int::constant(b, 0);
  auto loop = scf::ForOp::create(
      b, zero, Int::constant(b, lanes), Int::constant(b, rangesAtOnce),
      ValueRange{zero, zero}, [](OpBuilder &, Location, Value, ValueRange) {});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    SmallVector<IndexRange> ranges;
    for (int64_t n = 0; n < rangesAtOnce; ++n) {
      Int from = Int(b, loop.getInductionVar()) + n;
      ranges.push_back({{b, nvvm::broadcastLane(b, own.first, from)},
                        {b, nvvm::broadcastLane(b, own.last, from)}});
    }
    SmallVector<Extrema> found = reader.read(ranges);
    Value least = loop.getRegionIterArg(0), greatest = loop.getRegionIterArg(1);
    Int lane = Int(b, nvvm::readSpecial(b, nvvm::Special::ThreadX)) % lanes;
    for (auto [n, extrema] : llvm::enumerate(found)) {
      Value isOwn = lane.equals(Int(b, loop.getInductionVar()) + n);
      least = arith::SelectOp::create(b, isOwn, extrema.least, least);
      greatest = arith::SelectOp::create(b, isOwn, extrema.greatest, greatest);
    }
    scf::YieldOp::create(b, ValueRange{least, greatest});
  }
  return orTypeEnds({loop.getResult(0), loop.getResult(1)});
}
