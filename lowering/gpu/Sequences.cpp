// Sequences of different lengths.
#include "lowering/gpu/Sequences.h"

#include "lowering/gpu/ControlFlow.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace qm;
using namespace qm::gpu;

/// Element `index` of lengths or starts, at least `least` and at most `most`:
/// they are data, and wrong data must not lead out of a tensor.
static Int loadLength(LocBuilder &b, Arguments &arguments, Value lengths,
                      Int index, Int least, Int most) {
  return Int(b, arguments.loadClamped(lengths, ValueRange{index}))
      .min(most)
      .max(least);
}

PackedPlace qm::gpu::placePacked(LocBuilder &b, Arguments &arguments, Int index,
                                 int64_t tileM, int64_t rowBytes,
                                 bool longestFirst) {
  constexpr int64_t cacheBytes = 32 << 20;
  Int heads = arguments.extentOfCall(attn::Extent::Heads);
  Int count = arguments.extentOfCall(attn::Extent::Batch);
  Int tiles = arguments.extentOfCall(attn::Extent::Query) / tileM + count;
  // Average bytes times heads, compared without a division.
  Int keys = arguments.extentOfCall(attn::Extent::Key).wide() *
             arguments.extentOfCall(attn::Extent::KvHeads).wide();
  Value fits = (keys * rowBytes).atMost(count.wide() * cacheBytes);
  auto choose = [&](Int ifFits, Int otherwise) {
    return Int(b, arith::SelectOp::create(b, fits, ifFits, otherwise));
  };
  Int divisor = choose(heads, tiles);
  Int quotient = index / divisor, rest = index - quotient * divisor;
  Int head = choose(rest, quotient), tile = choose(quotient, rest);
  return {head, longestFirst ? tiles - 1 - tile : tile};
}

/// Sequences that lanes of a warp look at together, as far as they exist: how
/// many of them have tiles that begin no later than the wanted one. Those are
/// the first ones.
static Int countEarly(LocBuilder &b, Value exists, Value begins) {
  return {b, math::CtPopOp::create(
                 b, nvvm::ballot(b, arith::AndIOp::create(b, exists, begins)))};
}

/// The sequence of tile `wanted` of those that are no sequence's first, by the
/// number of such tiles before it (at most; see the header).
static Int searchSequence(LocBuilder &b, Arguments &arguments, Int lane,
                          Int wanted, Int &before, int64_t tileM) {
  constexpr int64_t lanes = 32;
  Int zero = Int::constant(b, 0), one = Int::constant(b, 1);
  Int rows = arguments.extentOfCall(attn::Extent::Query);
  Int count = arguments.extentOfCall(attn::Extent::Batch);
  auto tilesBefore = [&](Int sequence) {
    return loadLength(b, arguments, arguments.queryLengths(), sequence, zero,
                      rows) /
           tileM;
  };
  auto choose = [&](Value condition, Int yes, Int no) {
    return Int(b, arith::SelectOp::create(b, condition, yes, no));
  };

  // Sequences of one length: the number goes up evenly with the tile.
  auto real = [&](Int value) -> Value {
    return arith::SIToFPOp::create(b, b.getF32Type(), value);
  };
  Value share = nvvm::divApprox(b, real(count), real((rows / tileM).max(one)));
  Int even(
      b, arith::FPToSIOp::create(
             b, b.getI32Type(), arith::MulFOp::create(b, real(wanted), share)));
  Int begin = (even - lanes / 2).min(count - lanes).max(zero);
  Int probe = begin + lane;
  Int early =
      countEarly(b, probe.lessThan(count), tilesBefore(probe).atMost(wanted));
  // It is the last of the early ones, unless it lies outside of what was seen.
  Value isBefore = early.equals(0), isAfter = early.equals(lanes);
  Int first = choose(isBefore, zero, begin + early - 1);
  Int size = choose(isBefore, begin, choose(isAfter, count - first, one));

  Values found = emitWhile(
      b, {first.get(), size.get()},
      [&](ValueRange carried) -> Value {
        return one.lessThan(Int(b, carried[1]));
      },
      [&](ValueRange carried) {
        Int from(b, carried[0]), left(b, carried[1]);
        Int step = (left + (lanes - 1)) / lanes;
        Int offset = lane * step;
        Int earlyHere = countEarly(b, offset.lessThan(left),
                                   tilesBefore(from + offset).atMost(wanted));
        Int skipped =
            (earlyHere - 1).max(zero) * step; // the first one certainly does
        return Values{from + skipped, step.min(left - skipped)};
      });
  Int number(b, found[0]);
  before = tilesBefore(number);
  return number;
}

Int qm::gpu::findSequence(LocBuilder &b, Arguments &arguments, Int lane,
                          Int &tile, int64_t tileM) {
  Int zero = Int::constant(b, 0);
  Int count = arguments.extentOfCall(attn::Extent::Batch);
  SmallVector<Value> found =
      emitIf(b, count.atMost(tile), {tile, zero}, [&]() -> SmallVector<Value> {
        Int wanted = tile - count, before;
        Int number = searchSequence(b, arguments, lane, wanted, before, tileM);
        return {number, wanted - before + 1};
      });
  tile = {b, found[1]};
  return {b, found[0]};
}

/// First row and length of sequence `number` in `rows` rows.
static std::pair<Int, Int> readRows(LocBuilder &b, Arguments &arguments,
                                    Value lengths, Int number, Int rows) {
  Int zero = Int::constant(b, 0);
  Int first = loadLength(b, arguments, lengths, number, zero, rows);
  if (!arguments.isPacked())
    return {zero, first};
  Int end = loadLength(b, arguments, lengths, number + 1, first, rows);
  return {first, end - first};
}

Sequence qm::gpu::readSequence(LocBuilder &b, Arguments &arguments,
                               Int number) {
  auto [firstQuery, queries] =
      readRows(b, arguments, arguments.queryLengths(), number,
               arguments.extentOfCall(attn::Extent::Query));
  auto [firstKey, keys] = readRows(b, arguments, arguments.keyLengths(), number,
                                   arguments.extentOfCall(attn::Extent::Key));
  return {firstQuery, firstKey, queries, keys};
}
