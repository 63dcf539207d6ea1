//===- TileOrder.cpp - which rows a tile number means ---------------------===//

#include "lowering/cpu/TileOrder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace qm;
using namespace qm::cpu;

static Value clamp(VectorBuilder &b, Value value, Value least, Value most) {
  return arith::MaxSIOp::create(b, b.min(value, most), least);
}

/// Element `index` of lengths or starts, at least `least` and at most `most`:
/// they are data, and wrong data must not lead out of a tensor.
static Value loadLength(VectorBuilder &b, const TensorSlots &lengths,
                        Value index, Value least, Value most) {
  Value address = b.address(lengths.pointer, lengths.elementType,
                            b.mul(index, lengths.strides[0]));
  Value value = b.toI64(b.loadScalar(address, lengths.elementType));
  return clamp(b, value, least, most);
}

/// The sequence of tile `place` of a head. Sequence s has the tile numbers from
/// floor(start / tileM) + s up to those of the next: at least as many as it has
/// tiles, and no table is needed to find them.
static Sequence findPacked(VectorBuilder &b, const ArgumentSlots &slots,
                           Value queryRows, Value keyRows, Value &place,
                           int64_t tileM) {
  const TensorSlots &starts = *slots.queryLengths();
  Value zero = b.i64(0), one = b.i64(1);
  Value last = b.sub(slots.extent(b, attn::Extent::Batch), one);
  auto startOf = [&](Value sequence) {
    return loadLength(b, starts, sequence, zero, queryRows);
  };
  auto firstTile = [&](Value sequence) {
    Value tiles = arith::DivUIOp::create(b, startOf(sequence), b.i64(tileM));
    return b.add(tiles, sequence);
  };
  // Bit by bit, the largest number whose tiles begin no later than `place`.
  Value number =
      b.loop(zero, b.i64(31), 1, {zero}, [&](Value step, ValueRange found) {
        Value bit = arith::ShLIOp::create(b, one, b.sub(b.i64(30), step));
        Value next = b.add(found[0], bit);
        Value exists =
            arith::CmpIOp::create(b, arith::CmpIPredicate::sle, next, last);
        Value begins = arith::CmpIOp::create(
            b, arith::CmpIPredicate::sle, firstTile(b.min(next, last)), place);
        Value taken = arith::AndIOp::create(b, exists, begins);
        return VectorBuilder::Values{
            arith::SelectOp::create(b, taken, next, found[0])};
      })[0];
  place = b.sub(place, firstTile(number));
  auto rowsOf = [&](const TensorSlots &lengths, Value most) {
    Value start = loadLength(b, lengths, number, zero, most);
    Value end = loadLength(b, lengths, b.add(number, one), start, most);
    return std::pair(start, b.sub(end, start));
  };
  auto [firstQuery, queries] = rowsOf(starts, queryRows);
  auto [firstKey, keys] = rowsOf(*slots.keyLengths(), keyRows);
  return {number, zero, firstQuery, firstKey, queries, keys};
}

TileRows qm::cpu::findTile(VectorBuilder &b, ArgumentSlots &slots, Value tile,
                           int64_t tileM, bool longestFirst) {
  slots.leave();
  Value heads = slots.extent(b, attn::Extent::Heads);
  Value queryRows = slots.extent(b, attn::Extent::Query);
  Value keyRows = slots.extent(b, attn::Extent::Key);
  Value size = b.i64(tileM);
  Value perHead = slots.isPacked()
                      ? b.add(arith::DivUIOp::create(b, queryRows, size),
                              slots.extent(b, attn::Extent::Batch))
                      : Value(arith::CeilDivSIOp::create(b, queryRows, size));
  Value plane = arith::DivSIOp::create(b, tile, perHead);
  Value place = arith::RemSIOp::create(b, tile, perHead);
  if (longestFirst)
    place = b.sub(b.sub(perHead, b.i64(1)), place);

  TileRows rows;
  rows.batch = arith::DivSIOp::create(b, plane, heads);
  rows.head = arith::RemSIOp::create(b, plane, heads);
  Value zero = b.i64(0), queries = queryRows;
  if (slots.isPacked()) {
    slots.enter(findPacked(b, slots, queryRows, keyRows, place, tileM));
    rows.batch = zero;
  } else if (slots.queryLengths()) {
    slots.enter(
        {rows.batch, rows.batch, zero, zero,
         loadLength(b, *slots.queryLengths(), rows.batch, zero, queryRows),
         loadLength(b, *slots.keyLengths(), rows.batch, zero, keyRows)});
  }
  rows.first = rows.firstInMemory = b.mul(place, size);
  if (const Sequence *sequence = slots.getSequence()) {
    queries = sequence->queries;
    rows.firstInMemory = b.add(sequence->firstQuery, rows.first);
  }
  rows.count = b.min(b.sub(queries, rows.first), size);
  return rows;
}
