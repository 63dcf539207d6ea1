// Tiles, fragments and control flow.
#include "lowering/sm90/KernelState.h"

using namespace mlir;
using namespace qm;
using namespace qm::sm90;

Values TilePlace::flatten() const {
  Values values{batch, head, row};
  if (sequence)
    llvm::append_range(values, Values{sequence->firstQuery, sequence->firstKey,
                                      sequence->queries, sequence->keys});
  return values;
}

TilePlace TilePlace::from(KernelState &state, ValueRange values) {
  auto word = [&](unsigned index) { return Int(state.b, values[index]); };
  TilePlace place{word(0), word(1), word(2), {}};
  if (state.plan.hasLengths)
    place.sequence = {word(3), word(4), word(5), word(6)};
  return place;
}

unsigned TilePlace::size(KernelState &state) {
  return state.plan.hasLengths ? 7 : 3;
}

void Tile::enter(KernelState &state) const {
  state.arguments.leave();
  if (sequence)
    state.arguments.enter(*sequence);
}

Int Tile::queryRow(Int ofSequence) const {
  return sequence ? sequence->firstQuery + ofSequence : ofSequence;
}
Int Tile::keyRow(Int ofSequence) const {
  return sequence ? sequence->firstKey + ofSequence : ofSequence;
}

Tile::Tile(KernelState &state, TilePlace place) : TilePlace(place) {
  enter(state);
  attn::TilePositionOp position = state.program.position;
  scalars.map(position.getBatch(), batch.get());
  scalars.map(position.getHead(), head.get());
  scalars.map(position.getRow(), row.get());
  for (BlockArgument argument : state.program.kernel.getArguments())
    if (!isa<RankedTensorType>(argument.getType()))
      scalars.map(argument, state.arguments.scalar(argument));
  for (Operation *op : state.program.scalars) {
    if (auto extent = dyn_cast<attn::ExtentOp>(op))
      scalars.map(extent.getResult(), state.extent(extent.getKind()).get());
    else
      state.b.clone(*op, scalars);
  }
}

Int qm::sm90::rowInConsumer(KernelState &state, unsigned row) {
  return state.thread.warp * 16 + state.thread.lane / 4 + int64_t(8 * row);
}

Int qm::sm90::firstColumn(KernelState &state) {
  return (state.thread.lane % 4) * 2;
}

Int qm::sm90::rowsLeft(const Tile &tile, Int consumer) {
  return tile.sequence->queries - tile.row - consumer * consumerRows;
}
