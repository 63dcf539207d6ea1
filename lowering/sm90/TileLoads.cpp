// Loads along the keys, without clamps.
#include "lowering/sm90/TileLoads.h"

using namespace mlir;
using namespace qm;
using namespace qm::sm90;

/// Arguments of a map's region.
static constexpr unsigned rowArgument = 1, columnArgument = 2;
/// Rows between the two of a thread.
static constexpr int64_t rowDistance = 8;

int64_t TileLoads::Access::bytes() {
  return llvm::divideCeil(load.getType().getIntOrFloatBitWidth(), 8);
}

static bool dependsOn(Value value, Value argument) {
  if (value == argument)
    return true;
  Operation *op = value.getDefiningOp();
  return op && llvm::any_of(op->getOperands(), [&](Value operand) {
           return dependsOn(operand, argument);
         });
}

/// What an integer grows by with `argument`, if that is always the same.
static std::optional<int64_t> stepOf(Value value, Value argument) {
  if (value == argument)
    return 1;
  if (!dependsOn(value, argument))
    return 0;
  Operation *op = value.getDefiningOp();
  if (!isa<arith::AddIOp, arith::SubIOp>(op))
    return std::nullopt;
  auto lhs = stepOf(op->getOperand(0), argument),
       rhs = stepOf(op->getOperand(1), argument);
  if (!lhs || !rhs)
    return std::nullopt;
  return isa<arith::AddIOp>(op) ? *lhs + *rhs : *lhs - *rhs;
}

static bool hasLoad(Value value, Block &body) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != &body)
    return false;
  return isa<attn::LoadOp>(op) ||
         llvm::any_of(op->getOperands(),
                      [&](Value operand) { return hasLoad(operand, body); });
}

TileLoads::TileLoads(KernelState &state, attn::MapOp map)
    : state(state), body(map.getBody().front()) {
  for (auto load : body.getOps<attn::LoadOp>())
    if (std::optional<Access> access = analyze(load))
      accesses.push_back(*access);
}

std::optional<TileLoads::Access> TileLoads::analyze(attn::LoadOp load) {
  Value row = body.getArgument(rowArgument);
  Value column = body.getArgument(columnArgument);
  if (load.getIndices().empty() ||
      llvm::any_of(load.getIndices(),
                   [&](Value index) { return hasLoad(index, body); }))
    return std::nullopt;
  Value last = load.getIndices().back();
  auto others = load.getIndices().drop_back();
  if (!last.getType().isInteger(32) || stepOf(last, column) != 1 ||
      llvm::any_of(others,
                   [&](Value index) { return dependsOn(index, column); }))
    return std::nullopt;
  std::optional<int64_t> rowStep = stepOf(last, row);
  if (!rowStep)
    return std::nullopt;
  Access access{load, *rowStep, true, 1};
  access.sharesRows =
      llvm::none_of(others, [&](Value index) { return dependsOn(index, row); });
  // A thread's columns come in pairs, which start at even keys.
  if (*rowStep == 0 && (access.bytes() == 2 || access.bytes() == 4))
    access.perLoad = 2;
  return access;
}

Value TileLoads::emitIndex(Value index, const IRMapping &scalars, Int row,
                           Int column) {
  if (index == body.getArgument(rowArgument))
    return row;
  if (index == body.getArgument(columnArgument))
    return column;
  Operation *op = index.getDefiningOp();
  if (!op || op->getBlock() != &body)
    return scalars.lookupOrDefault(index);
  if (auto extent = dyn_cast<attn::ExtentOp>(op))
    return state.extent(extent.getKind());
  auto operands = llvm::map_to_vector(op->getOperands(), [&](Value operand) {
    return emitIndex(operand, scalars, row, column);
  });
  OperationState copy(op->getLoc(), op->getName(), operands,
                      op->getResultTypes(), op->getAttrs());
  return state.b.create(copy)->getResult(0);
}

void TileLoads::narrow(Tile &tile, Int &first, Int &last) {
  LocBuilder &b = state.b;
  const Plan &plan = state.plan;
  for (Access &access : accesses) {
    Value buffer = access.load.getBuffer();
    unsigned dimension = access.load.getIndices().size() - 1;
    // The last index is that of key 0 and the tile's first row, plus the key,
    // plus this for a further row.
    Int origin(b, emitIndex(access.load.getIndices().back(), tile.scalars,
                            tile.row, state.i32(0)));
    int64_t acrossRows = access.rowStep * (plan.tileM - 1);
    Int least = state.i32(-std::min<int64_t>(acrossRows, 0)) - origin;
    Int most = state.arguments.extent(buffer, dimension) - plan.tileN -
               std::max<int64_t>(acrossRows, 0) - origin;
    Int stride = state.arguments.stride(buffer, dimension);
    Value fits = stride.equals(1);
    if (access.perLoad > 1) {
      // Every row starts at a multiple of what one instruction loads.
      Int pointer = state.arguments.pointer(buffer);
      Int odd = pointer >> llvm::Log2_64(access.bytes());
      auto add = [&](Int value) {
        odd = {b, arith::OrIOp::create(b, odd, value)};
      };
      add(origin.wide());
      for (unsigned other = 0; other < dimension; ++other)
        add(state.arguments.stride(buffer, other));
      fits = arith::AndIOp::create(
          b, fits, (odd & int64_t(access.perLoad - 1)).equals(0));
    }
    most = {b, arith::SelectOp::create(b, fits, most, state.i32(-1))};
    first = first ? first.max(least) : least;
    last = last ? last.min(most) : most;
  }
}

int64_t TileLoads::registers() {
  int64_t columns = state.plan.tileN / 4, total = 0;
  for (Access &access : accesses) {
    // Rows that differ by a shift along the keys share all loads but a few.
    bool shifted =
        access.sharesRows && (access.rowStep == 1 || access.rowStep == -1);
    bool same = access.sharesRows && access.rowStep == 0;
    int64_t loads = same ? columns : shifted ? columns + 2 : 2 * columns;
    total += access.perLoad > 1 ? loads * access.bytes() / 4 : loads;
  }
  return total;
}

/// The address of the element that a row and column of the tile load.
Int TileLoads::emitAddress(Access &access, const IRMapping &scalars, Int row,
                           Int column) {
  LocBuilder &b = state.b;
  Value buffer = access.load.getBuffer();
  SmallVector<Int> others;
  for (auto [dimension, index] :
       llvm::enumerate(access.load.getIndices().drop_back())) {
    Int emitted(b, emitIndex(index, scalars, row, column));
    Int last = state.arguments.extent(buffer, dimension) - 1;
    others.push_back(emitted.min(last).max(state.i32(0)));
  }
  Int along(b,
            emitIndex(access.load.getIndices().back(), scalars, row, column));
  return state.arguments.elementAddress(buffer, others) +
         along.wide() * access.bytes();
}

/// Element `index` of the `count` that lie side by side in `word`.
static Value extract(LocBuilder &b, Value word, unsigned index, unsigned count,
                     Type element) {
  if (count == 1)
    return word;
  unsigned bits = element.getIntOrFloatBitWidth();
  Int shifted = Int(b, word) >> int64_t(index * bits);
  Value part = arith::TruncIOp::create(b, b.getIntegerType(bits), shifted);
  return isa<FloatType>(element) ? arith::BitcastOp::create(b, element, part)
                                 : part;
}

void TileLoads::emit(ArrayRef<gpu::ElementRegion *> regions,
                     const IRMapping &scalars, ValueRange rows,
                     ValueRange columns) {
  LocBuilder &b = state.b;
  for (Access &access : accesses) {
    Type element = access.load.getType();
    Type word = access.perLoad == 1
                    ? element
                    : Type(b.getIntegerType(access.perLoad *
                                            element.getIntOrFloatBitWidth()));
    Values addresses;
    for (Value row : access.sharesRows ? rows.take_front(1) : rows)
      addresses.push_back(
          emitAddress(access, scalars, Int(b, row), Int(b, columns.front())));
    llvm::DenseMap<std::pair<unsigned, int64_t>, Value> words;
    for (unsigned row = 0; row < rows.size(); ++row)
      for (unsigned column = 0; column < columns.size(); ++column) {
        unsigned part = column % access.perLoad, from = column - part;
        unsigned base = access.sharesRows ? 0 : row;
        int64_t further = columnOffset(from);
        if (access.sharesRows)
          further += row * rowDistance * access.rowStep;
        Value &loaded = words[{base, further}];
        if (!loaded)
          loaded = nvvm::loadGlobalInPlace(
              b, word, Int(b, addresses[base]) + further * access.bytes());
        Value value = extract(b, loaded, part, access.perLoad, element);
        for (gpu::ElementRegion *region : regions)
          region->setLoaded(access.load, row, column, value);
      }
  }
}
