// Extrema of captured buffers by key block.
#include "lowering/sm90/ExtremaTables.h"

#include "lowering/gpu/Extrema.h"

#include <limits>

using namespace mlir;
using namespace qm;
using namespace qm::sm90;

/// Before the entries: entries of a row, and the logarithm of the blocks that
/// one stands for.
static constexpr int64_t headerBytes = 8, entryBytes = tableEntryBytes;
static constexpr int64_t lanes = 32;

SmallVector<attn::ExtremaOp>
qm::sm90::getTabledExtrema(attn::KeyBlocksOp loop) {
  SmallVector<attn::ExtremaOp> result;
  if (loop.getClassify().empty())
    return result;
  Block &body = loop.getClassify().front();
  for (auto op : body.getOps<attn::ExtremaOp>())
    if (op.getIndices()[op.getDimension()] == body.getArgument(2) &&
        op.getLast() == body.getArgument(3))
      result.push_back(op);
  return result;
}

namespace {

/// One table, and the buffer it is of.
class Table {
public:
  Table(KernelState &state, attn::ExtremaOp op, int64_t number)
      : state(state), b(state.b), op(op),
        offset(state.plan.tablesOffset() +
               number * (headerBytes + state.plan.tableEntries * entryBytes)) {}

  void fill();
  std::pair<Value, Value> read(ValueRange indices);

private:
  Int extent(unsigned dimension) {
    return state.arguments.extent(op.getBuffer(), dimension);
  }
  /// Dimensions that a row of the table is chosen by.
  template <class Visitor>
  void forEachOther(Visitor visit) {
    for (int64_t d = 0, rank = op.getIndices().size(); d < rank; ++d)
      if (d != int64_t(op.getDimension()))
        visit(d);
  }
  Int countRows();
  Int addressOf(Int entry) {
    return state.shared + (entry * entryBytes + headerBytes);
  }
  void fillRow(Int row, Int keys, Int shift, Int entries, Int perRow);

  KernelState &state;
  LocBuilder &b;
  attn::ExtremaOp op;
  int64_t offset;
};

} // namespace

/// Rows of the buffer, or one more than there are entries.
Int Table::countRows() {
  Int most = state.i32(state.plan.tableEntries + 1), rows = state.i32(1);
  forEachOther(
      [&](int64_t d) { rows = (rows * extent(d).min(most)).min(most); });
  return rows;
}

void Table::fillRow(Int row, Int keys, Int shift, Int entries, Int perRow) {
  int64_t warps = state.plan.threads() / lanes;
  Int warp =
      state.thread.warpgroup * (warpgroupThreads / lanes) + state.thread.warp;
  // The buffer's other indices, the last one first.
  SmallVector<Value> indices(op.getIndices().size());
  Int rest = row;
  SmallVector<int64_t> others;
  forEachOther([&](int64_t d) { others.push_back(d); });
  for (int64_t d : llvm::reverse(others)) {
    Int size = extent(d).max(state.i32(1));
    indices[d] = rest % size;
    rest = rest / size;
  }
  emitWhile(
      b, {warp * lanes},
      [&](ValueRange v) -> Value { return Int(b, v[0]).lessThan(entries); },
      [&](ValueRange v) -> Values {
        Int entry = Int(b, v[0]) + state.thread.lane;
        Int firstKey = (entry << shift) * state.plan.tileN;
        Int endKey = (firstKey + (state.i32(state.plan.tileN) << shift));
        SmallVector<Value> firsts(indices);
        firsts[op.getDimension()] = firstKey;
        auto [least, greatest] = gpu::emitExtrema(
            b, state.arguments, op, firsts, endKey.min(keys) - 1,
            /*lanesAgree=*/false, std::numeric_limits<int32_t>::max());
        emitIf(b, entry.lessThan(entries), [&] {
          Int address = addressOf(row * perRow + entry);
          nvvm::storeShared32(b, address, offset, least);
          nvvm::storeShared32(b, address, offset + 4, greatest);
        });
        return {Int(b, v[0]) + warps * lanes};
      });
}

void Table::fill() {
  Int rows = countRows(), one = state.i32(1);
  Int perRow = state.i32(state.plan.tableEntries) / rows.max(one);
  Int keys = state.extent(attn::Extent::Key);
  Int blocks = (keys + (state.plan.tileN - 1)) / state.plan.tileN;
  // The least power of two of blocks an entry with which a row has room.
  Int divisor = perRow.max(one);
  Int blocksAnEntry = ((blocks + divisor - 1) / divisor).max(one);
  Int shift = state.i32(lanes) -
              Int(b, math::CountLeadingZerosOp::create(b, blocksAnEntry - 1));
  Int entries = (blocks + ((one << shift) - 1)) >> shift;
  emitIf(b, state.thread.inGroup.equals(0), [&] {
    nvvm::storeShared32(b, state.shared, offset, perRow);
    nvvm::storeShared32(b, state.shared, offset + 4, shift);
  });
  Value hasRoom = state.i32(0).lessThan(perRow);
  Int filled(b, arith::SelectOp::create(b, hasRoom, rows, state.i32(0)));
  emitWhile(
      b, {state.i32(0)},
      [&](ValueRange v) -> Value { return Int(b, v[0]).lessThan(filled); },
      [&](ValueRange v) -> Values {
        fillRow({b, v[0]}, keys, shift, entries, perRow);
        return {Int(b, v[0]) + 1};
      });
}

std::pair<Value, Value> Table::read(ValueRange indices) {
  Int zero = state.i32(0);
  Int perRow(b, nvvm::loadShared32(b, state.shared, offset));
  Int shift(b, nvvm::loadShared32(b, state.shared, offset + 4));
  Int row = zero;
  forEachOther([&](int64_t d) {
    Int inside = Int(b, indices[d]).min(extent(d) - 1).max(zero);
    row = row * extent(d) + inside;
  });
  Value hasRoom = zero.lessThan(perRow);
  // Blocks past the last key read some entry; they are not there.
  Int block = Int(b, indices[op.getDimension()]) / state.plan.tileN;
  Int entry = row * perRow + (block >> shift).min(perRow - 1).max(zero);
  Int address =
      addressOf({b, arith::SelectOp::create(b, hasRoom, entry, zero)});
  auto orTypeEnd = [&](int64_t at, int64_t typeEnd) -> Value {
    Value found = nvvm::loadShared32(b, address, offset + at);
    return arith::SelectOp::create(b, hasRoom, found, state.i32(typeEnd));
  };
  Value least = orTypeEnd(0, op.getTypeMinimum());
  return {least, orTypeEnd(4, op.getTypeMaximum())};
}

void qm::sm90::fillExtremaTables(KernelState &state) {
  if (!state.plan.tableEntries)
    return;
  for (auto [number, op] :
       llvm::enumerate(getTabledExtrema(state.program.loop)))
    Table(state, op, number).fill();
}

std::optional<std::pair<Value, Value>>
qm::sm90::readExtremaTable(KernelState &state, attn::ExtremaOp op,
                           ValueRange indices) {
  if (!state.plan.tableEntries)
    return std::nullopt;
  for (auto [number, tabled] :
       llvm::enumerate(getTabledExtrema(state.program.loop)))
    if (tabled == op)
      return Table(state, op, number).read(indices);
  return std::nullopt;
}
