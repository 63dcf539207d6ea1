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
    auto roles = isa<attn::MapOp>(op) ? gpu::ElementRegion::Roles{1, 2}
                                      : gpu::ElementRegion::Roles{0, 1};
    auto makeRegion = [&](gpu::Case which) {
      auto region = std::make_unique<gpu::ElementRegion>(
          op->getRegion(0), roles, state.arguments, scalars, state.program.loop,
          which);
      region->setColumnOffsets(llvm::map_to_vector(
          llvm::seq<unsigned>(state.plan.scoreRegisters() / 2), columnOffset));
      region->emitUniform(state.b);
      return region;
    };
    regions[op].general = makeRegion(gpu::Case::General);
    if (!gpu::findUsualCases(op->getRegion(0).front()).empty())
      regions[op].usual = makeRegion(gpu::Case::Usual);
    if (auto map = dyn_cast<attn::MapOp>(op))
      loads[op] = std::make_unique<TileLoads>(state, map);
    else if (auto masks = gpu::MaskWords::get(op->getRegion(0).front(),
                                              state.plan.tileN))
      words[op] = std::move(masks);
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
  SmallVector<gpu::ElementRegion *> all{&region(op)};
  if (gpu::ElementRegion *usual = regions[op].usual.get())
    all.push_back(usual);
  loads[op]->emit(all, scalars, rowIndices(op.getRow()),
                  columnIndices(op.getColumn()));
}

void ScoreChain::begin(Int firstKey, bool masked) {
  tile.enter(state);
  scalars.map(state.program.loop.getBody().getArgument(0), firstKey.get());
  for (Operation *op : state.program.chain) {
    region(op).startBlock();
    if (gpu::ElementRegion *usual = regions[op].usual.get())
      usual->startBlock();
    if (auto map = dyn_cast<attn::MapOp>(op);
        map && !masked && loadsAhead(*loads[op]))
      load(map);
    if (auto mask = dyn_cast<attn::MaskOp>(op); mask && masked && words[op]) {
      Values rows = rowIndices(mask.getRow()),
             columns = columnIndices(mask.getColumn());
      words[op]->begin(state.b, region(op),
                       {rows, columns, firstKey, state.thread.lane});
    }
  }
}

void ScoreChain::findKept(Int firstKey, bool masked) {
  if (!masked || !hasWords() || readsBits())
    return;
  Value present = columnsBefore(keysLeft(firstKey));
  kept = keptBy({present, present}, gpu::MaskWords::Part::All, firstKey);
}

/// Which elements are emitted together: where reciprocals are shared four
/// neighbours in a row, which are NaN together or not at all.
static SmallVector<SmallVector<unsigned, 4>>
groupElements(gpu::ElementRegion &region, unsigned from, unsigned to) {
  SmallVector<SmallVector<unsigned, 4>> groups;
  bool shares = region.sharesReciprocals();
  for (unsigned e = from; e < to; e += shares ? 8 : 1)
    if (shares)
      for (unsigned row : {0, 2})
        groups.push_back({e + row, e + row + 1, e + row + 4, e + row + 5});
    else
      groups.push_back({e});
  return groups;
}

/// What a map's region is given for an element.
gpu::ElementRegion::Place ScoreChain::place(const BlockScores &scores,
                                            unsigned element, ValueRange rows,
                                            ValueRange columns) {
  unsigned row = Fragment::rowOf(element), column = Fragment::columnOf(element);
  // The terms of a map before this one are part of its argument.
  Value argument = scores.elements.values[element];
  if (Value term = scores.rowTerms[row])
    argument = arith::AddFOp::create(state.b, argument, term);
  return {{argument, rows[row], columns[column]}, row, column};
}

void ScoreChain::applyMap(attn::MapOp op, gpu::ElementRegion &region,
                          BlockScores &scores, unsigned from, unsigned to) {
  LocBuilder &b = state.b;
  Values rows = rowIndices(op.getRow());
  Values columns = columnIndices(op.getColumn());
  Values terms(2);
  for (ArrayRef<unsigned> group : groupElements(region, from, to)) {
    SmallVector<gpu::ElementRegion::Place> places;
    for (unsigned e : group)
      places.push_back(place(scores, e, rows, columns));
    for (auto [e, split] : llvm::zip(group, region.emitSplit(b, places))) {
      scores.elements.values[e] = split.element;
      terms[Fragment::rowOf(e)] = split.row;
    }
  }
  scores.rowTerms = terms;
}

/// Whether an element of the thread exceeds the limit of a usual case.
/// Magnitudes are ordered as the integers that their bits are; NaN may be
/// either: both cases make it NaN.
Value ScoreChain::exceeds(attn::MapOp op, gpu::UsualRange range,
                          const BlockScores &scores) {
  LocBuilder &b = state.b;
  Values rows = rowIndices(op.getRow());
  Values columns = columnIndices(op.getColumn());
  auto magnitude = [&](unsigned e) -> Value {
    auto [arguments, row, column] = place(scores, e, rows, columns);
    return math::AbsFOp::create(
        b, region(op).emitValue(b, range.value, arguments, row, column));
  };
  // Two elements by one instruction, whose operands may be magnitudes, then
  // three such by one of integers.
  Int largest;
  for (unsigned e = 0; e < scores.elements.values.size(); e += 2) {
    Value pair = arith::MaxNumFOp::create(b, magnitude(e), magnitude(e + 1));
    Int bits(b, arith::BitcastOp::create(b, b.getI32Type(), pair));
    largest = largest ? largest.max(bits) : bits;
  }
  Int limit(
      b, arith::BitcastOp::create(b, b.getI32Type(), state.f32(range.limit)));
  return limit.lessThan(largest);
}

/// Leaves a map with a usual case to the softmax.
LateMap ScoreChain::leaveMap(attn::MapOp op, const BlockScores &scores) {
  LocBuilder &b = state.b;
  Value unusual;
  for (arith::SelectOp select : gpu::findUsualCases(op.getBody().front())) {
    Value found = exceeds(op, gpu::getUsualRange(select), scores);
    unusual =
        unusual ? arith::OrIOp::create(b, unusual, found).getResult() : found;
  }
  auto apply = [this, op](BlockScores &part, unsigned from, unsigned to,
                          gpu::Case which) {
    gpu::ElementRegion &chosen =
        which == gpu::Case::Usual ? *regions[op].usual : region(op);
    chosen.startBranch();
    applyMap(op, chosen, part, from, to);
  };
  return {nvvm::voteAny(b, unusual), apply};
}

void ScoreChain::applyMask(attn::MaskOp op, Fragment &scores, Value fill) {
  LocBuilder &b = state.b;
  Values rows = rowIndices(op.getRow());
  Values columns = columnIndices(op.getColumn());
  for (auto [e, value] : llvm::enumerate(scores.values)) {
    unsigned row = Fragment::rowOf(e), column = Fragment::columnOf(e);
    Value keep =
        region(op).emit(b, {rows[row], columns[column]}, row, column).front();
    value = arith::SelectOp::create(b, keep, value, fill);
  }
}

bool ScoreChain::beginsAhead(bool masked) const {
  return !masked || llvm::any_of(words, [](auto &ofMask) {
    return ofMask.second && ofMask.second->loads();
  });
}

bool ScoreChain::hasWords() const {
  return state.plan.tileN <= gpu::MaskWords::mostKeys;
}

/// Keys from the thread's first column on.
Int ScoreChain::keysLeft(Int firstKey) {
  return state.extent(attn::Extent::Key) - firstKey - firstColumn(state);
}

bool ScoreChain::readsBits() const {
  return llvm::any_of(words, [](auto &ofMask) {
    return ofMask.second && ofMask.second->readsBits();
  });
}

/// The word of the columns that are there where `left` keys are.
Value ScoreChain::columnsBefore(Int left) {
  LocBuilder &b = state.b;
  return Int(b, gpu::MaskWords::columnsFrom(b, left, state.plan.tileN)) ^
         int64_t(-1);
}

/// Calls `visit` for each mask that has words, with its place.
void ScoreChain::forWords(Int firstKey,
                          function_ref<void(attn::MaskOp, gpu::MaskWords &,
                                            const gpu::MaskWords::Place &)>
                              visit) {
  for (Operation *op : state.program.chain) {
    auto mask = dyn_cast<attn::MaskOp>(op);
    if (!mask || !words[op])
      continue;
    Values rows = rowIndices(mask.getRow()),
           columns = columnIndices(mask.getColumn());
    visit(mask, *words[op], {rows, columns, firstKey, state.thread.lane});
  }
}

/// `kept` and what a part of the masks keeps.
Values ScoreChain::keptBy(Values kept, gpu::MaskWords::Part part,
                          Int firstKey) {
  LocBuilder &b = state.b;
  forWords(firstKey, [&](attn::MaskOp mask, gpu::MaskWords &ofMask,
                         const gpu::MaskWords::Place &place) {
    region(mask).startBranch();
    for (auto [word, further] :
         llvm::zip(kept, ofMask.emit(b, region(mask), place, part)))
      if (further)
        word = word ? arith::AndIOp::create(b, word, further).getResult()
                    : further;
    region(mask).startBranch();
  });
  return kept;
}

/// Of packed bits most blocks have some 0, or none; the other conditions and
/// the end of the keys seldom mask anything, and are left out where they do
/// not.
void ScoreChain::applyBits(Fragment &scores, Int firstKey, Int left,
                           Value fill) {
  LocBuilder &b = state.b;
  using Part = gpu::MaskWords::Part;
  Value others = state.i32(state.plan.tileN - 1).lessThan(left), all = others;
  forWords(firstKey, [&](attn::MaskOp mask, gpu::MaskWords &ofMask,
                         const gpu::MaskWords::Place &place) {
    auto keeps = [&](Part part) {
      return ofMask.emitKeepsAll(b, region(mask), place, part);
    };
    others = arith::AndIOp::create(b, others, keeps(Part::Others));
    all = arith::AndIOp::create(b, all, keeps(Part::Bits));
  });
  auto some = [&](Value condition) {
    return nvvm::voteAny(
        b, arith::XOrIOp::create(b, condition, state.boolean(true)));
  };
  all = arith::AndIOp::create(b, all, others);
  scores.values = emitIf(b, some(all), scores.values, [&] {
    Values kept = keptBy(Values(2), Part::Bits, firstKey);
    kept = emitIf(b, some(others), kept, [&] {
      Value present = columnsBefore(left);
      Values further = keptBy({present, present}, Part::Others, firstKey);
      for (auto [word, bits] : llvm::zip(further, kept))
        word =
            arith::AndIOp::create(b, bits, gpu::MaskWords::transpose(b, word));
      return further;
    });
    Values selected = scores.values;
    gpu::MaskWords::select(
        b, selected, kept,
        [](unsigned e) -> gpu::MaskWords::Bit {
          return {Fragment::rowOf(e),
                  gpu::MaskWords::transposed(Fragment::columnOf(e))};
        },
        fill);
    return selected;
  });
}

/// What the masks with a word a row and the end of the keys leave.
void ScoreChain::applyWords(Fragment &scores, Int firstKey, Value fill) {
  if (readsBits())
    return applyBits(scores, firstKey, keysLeft(firstKey), fill);
  gpu::MaskWords::select(
      state.b, scores.values, kept,
      [](unsigned e) -> gpu::MaskWords::Bit {
        return {Fragment::rowOf(e), Fragment::columnOf(e)};
      },
      fill);
}

void ScoreChain::maskAbsentKeys(Fragment &scores, Int firstKey, Value fill) {
  LocBuilder &b = state.b;
  Int left = keysLeft(firstKey);
  Values present;
  for (unsigned column = 0; column < scores.columns(); ++column)
    present.push_back(state.i32(columnOffset(column)).lessThan(left));
  for (auto [e, value] : llvm::enumerate(scores.values))
    value =
        arith::SelectOp::create(b, present[Fragment::columnOf(e)], value, fill);
}

/// Masks that are not applied one by one, and the end of the keys.
void ScoreChain::applyRest(Fragment &scores, Int firstKey, Value fill) {
  if (hasWords())
    applyWords(scores, firstKey, fill);
  else
    maskAbsentKeys(scores, firstKey, fill);
}

/// Whether a masked element, whose score may be NaN, would be in the reciprocal
/// of others.
bool ScoreChain::sharesReciprocals() {
  return llvm::any_of(state.program.chain, [&](Operation *op) {
    return isa<attn::MapOp>(op) && region(op).sharesReciprocals();
  });
}

void ScoreChain::apply(BlockScores &scores, Int firstKey, bool masked,
                       bool late) {
  LocBuilder &b = state.b;
  Location saved = b.getLoc();
  tile.enter(state);
  scores.masked = masked;
  auto applyMasks = [&](attn::MaskOp mask, Value fill) {
    if (masked && mask && !words[mask])
      applyMask(mask, scores.elements, fill);
  };
  if (masked && sharesReciprocals()) {
    for (Operation *op : state.program.chain)
      applyMasks(dyn_cast<attn::MaskOp>(op), state.f32(0.0f));
    applyRest(scores.elements, firstKey, state.f32(0.0f));
  }
  attn::MapOp lastMap;
  for (Operation *op : state.program.chain)
    if (auto map = dyn_cast<attn::MapOp>(op))
      lastMap = map;
  Value minusInfinity = state.f32(-std::numeric_limits<float>::infinity());
  for (Operation *op : state.program.chain) {
    b.setLoc(op->getLoc());
    if (auto map = dyn_cast<attn::MapOp>(op)) {
      if (!masked && !loadsAhead(*loads[op]))
        load(map);
      if (late && !masked && map == lastMap && regions[op].usual)
        scores.late = leaveMap(map, scores);
      else
        applyMap(map, region(op), scores, 0, scores.elements.values.size());
    }
    applyMasks(dyn_cast<attn::MaskOp>(op), minusInfinity);
  }
  b.setLoc(saved);
  if (masked)
    applyRest(scores.elements, firstKey, minusInfinity);
}
