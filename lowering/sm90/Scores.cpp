// Score modifier and mask on fragments.
#include "lowering/sm90/Scores.h"

#include "llvm/ADT/Sequence.h"

#include <limits>

using namespace mlir;
using namespace qm;
using namespace qm::sm90;

ScoreChain::ScoreChain(KernelState &state, Tile &tile)
    : state(state), tile(tile), scalars(tile.scalars) {
  tile.enter(state);
  for (Operation *op : state.program.chain) {
    auto roles = isa<attn::MapOp>(op) ? sm80::ElementRegion::Roles{1, 2}
                                      : sm80::ElementRegion::Roles{0, 1};
    auto &region = regions[op];
    region = std::make_unique<sm80::ElementRegion>(
        op->getRegion(0), roles, state.arguments, scalars, state.program.loop);
    region->setColumnOffsets(llvm::map_to_vector(
        llvm::seq<unsigned>(state.plan.scoreRegisters() / 2), columnOffset));
    region->emitUniform(state.b);
    if (auto map = dyn_cast<attn::MapOp>(op))
      loads[op] = std::make_unique<TileLoads>(state, map);
  }
}

Values ScoreChain::rowIndices(Value corner) {
  Int first(state.b, scalars.lookupOrDefault(corner));
  Int consumer = state.thread.warpgroup - 1;
  Values rows;
  for (unsigned row = 0; row < 2; ++row)
    rows.push_back(first + consumer * consumerRows + rowInConsumer(state, row));
  return rows;
}

Values ScoreChain::columnIndices(Value corner) {
  Int first =
      Int(state.b, scalars.lookupOrDefault(corner)) + firstColumn(state);
  Values columns;
  for (unsigned column = 0; column < state.plan.tileN / 4; ++column)
    columns.push_back(first + columnOffset(column));
  return columns;
}

/// Whether there are registers for what is loaded while both products run.
bool ScoreChain::loadsAhead(TileLoads &loads) const {
  return loads.registers() <= state.plan.spareRegisters();
}

void ScoreChain::load(attn::MapOp op) {
  loads[op]->emit(*regions[op], scalars, rowIndices(op.getRow()),
                  columnIndices(op.getColumn()));
}

void ScoreChain::begin(Int firstKey, bool masked) {
  tile.enter(state);
  scalars.map(state.program.loop.getBody().getArgument(0), firstKey.get());
  for (Operation *op : state.program.chain) {
    regions[op]->startBlock();
    if (auto map = dyn_cast<attn::MapOp>(op);
        map && !masked && loadsAhead(*loads[op]))
      load(map);
  }
}

void ScoreChain::applyMap(attn::MapOp op, BlockScores &scores) {
  LocBuilder &b = state.b;
  Values rows = rowIndices(op.getRow());
  Values columns = columnIndices(op.getColumn());
  sm80::ElementRegion &region = *regions[op];
  Values terms(2);
  for (auto [e, value] : llvm::enumerate(scores.elements.values)) {
    unsigned row = Fragment::rowOf(e), column = Fragment::columnOf(e);
    // The terms of a map before this one are part of its argument.
    Value argument = value;
    if (Value term = scores.rowTerms[row])
      argument = arith::AddFOp::create(b, argument, term);
    auto split = region.emitSplit(b, {argument, rows[row], columns[column]},
                                  row, column);
    value = split.element;
    terms[row] = split.row;
  }
  scores.rowTerms = terms;
}

void ScoreChain::applyMask(attn::MaskOp op, Fragment &scores) {
  LocBuilder &b = state.b;
  Values rows = rowIndices(op.getRow());
  Values columns = columnIndices(op.getColumn());
  Value minusInfinity = state.f32(-std::numeric_limits<float>::infinity());
  sm80::ElementRegion &region = *regions[op];
  for (auto [e, value] : llvm::enumerate(scores.values)) {
    unsigned row = Fragment::rowOf(e), column = Fragment::columnOf(e);
    Value keep =
        region.emit(b, {rows[row], columns[column]}, row, column).front();
    value = arith::SelectOp::create(b, keep, value, minusInfinity);
  }
}

void ScoreChain::maskAbsentKeys(Fragment &scores, Int firstKey) {
  LocBuilder &b = state.b;
  Value minusInfinity = state.f32(-std::numeric_limits<float>::infinity());
  Int left = state.extent(attn::Extent::Key) - firstKey - firstColumn(state);
  Values present;
  for (unsigned column = 0; column < scores.columns(); ++column)
    present.push_back(state.i32(columnOffset(column)).lessThan(left));
  for (auto [e, value] : llvm::enumerate(scores.values))
    value = arith::SelectOp::create(b, present[Fragment::columnOf(e)], value,
                                    minusInfinity);
}

void ScoreChain::apply(BlockScores &scores, Int firstKey, bool masked) {
  LocBuilder &b = state.b;
  Location saved = b.getLoc();
  tile.enter(state);
  for (Operation *op : state.program.chain) {
    b.setLoc(op->getLoc());
    if (auto map = dyn_cast<attn::MapOp>(op)) {
      if (!masked && !loadsAhead(*loads[op]))
        load(map);
      applyMap(map, scores);
    } else if (masked)
      applyMask(cast<attn::MaskOp>(op), scores.elements);
  }
  b.setLoc(saved);
  if (masked)
    maskAbsentKeys(scores.elements, firstKey);
}
