// The classify and bounds regions against brute force: for random masks, no
// kept pair is ever skipped or out of bounds, and no block is called full that
// is not. Both sides are evaluated by the folders of the operations, so the
// test shares no code with the passes.
#include "dialect/AttnOps.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace qm;

namespace {

constexpr int rows = 21, keys = 18, tileM = 4, tileN = 5;
constexpr int batches = 3, heads = 4;

/// A captured buffer of the masks below; one extent for each dimension.
struct Buffer {
  const char *name, *type;
  bool sorted;
  std::vector<int64_t> shape, elements;
};

/// Buffers shorter and longer than the sequences, of every integer type. Sorted
/// ones repeat values, as document ids do; `wide` has elements that do not fit
/// in 32 bits, `table` is in no order.
std::vector<Buffer> makeBuffers(std::mt19937 &random) {
  std::vector<Buffer> buffers = {{"ids", "?xi32", true, {14}, {}},
                                 {"bytes", "2x?xi8", true, {2, 23}, {}},
                                 {"shorts", "?xi16", true, {18}, {}},
                                 {"wide", "?xi64", true, {20}, {}},
                                 {"table", "?xi32", false, {9}, {}},
                                 {"classes", "?x2xi8", false, {19, 2}, {}},
                                 {"large", "?xi64", false, {16}, {}},
                                 {"dense", "?x?xi8", false, {12, 15}, {}}};
  for (Buffer &buffer : buffers) {
    int64_t columns = buffer.shape.back(), count = 1;
    for (int64_t extent : buffer.shape)
      count *= extent;
    int64_t value = 0;
    for (int64_t at = 0; at < count; ++at) {
      int draw = int(random() % 8);
      if (at % columns == 0 || !buffer.sorted)
        value = int64_t(random() % 25) - 6;
      else if (draw > 4)
        value += draw - 4;
      buffer.elements.push_back(value);
    }
  }
  // Past 2^31, and in a third of the cases below -2^31 as well.
  std::vector<int64_t> &wide = buffers[3].elements;
  for (size_t at = wide.size() - random() % 6; at < wide.size(); ++at)
    wide[at] += int64_t(1) << 32;
  if (random() % 3 == 0)
    wide[0] -= int64_t(1) << 32;
  // Around the ends of 32 bits, of which the low ones count.
  for (int64_t &element : buffers[6].elements)
    if (random() % 4 == 0)
      element += (int64_t(1) << 31) * (int64_t(random() % 3) - 1);
  return buffers;
}

/// Writes random predicates over %i and %j with the operations that the front
/// end has.
class MaskGrammar {
public:
  explicit MaskGrammar(unsigned seed) : random(seed) {}

  /// The body of a mask region.
  std::string make() {
    text.clear(), next = 0;
    std::string result = predicate(3);
    return text + "  attn.yield " + result + " : i1\n";
  }

private:
  int pick(int n) {
    return std::uniform_int_distribution<int>(0, n - 1)(random);
  }

  std::string emit(const std::string &line) {
    std::string name = "%t" + std::to_string(next++);
    text += "  " + name + " = " + line + "\n";
    return name;
  }
  std::string constant(int value) {
    return emit("arith.constant " + std::to_string(value) + " : i32");
  }
  std::string integer(int depth) {
    if (depth == 0 || pick(5) == 0) {
      static const char *leaves[] = {"%i", "%j", "%i", "%j", "%w", "%b", "%h"};
      static const char *extents[] = {"batch", "heads", "query", "key"};
      static const int extremes[] = {INT32_MIN,     INT32_MIN + 1, -(1 << 30),
                                     (1 << 30) - 3, INT32_MAX - 9, INT32_MAX};
      int leaf = pick(11);
      return leaf < 7    ? leaves[leaf]
             : leaf == 7 ? emit(std::string("attn.extent ") + extents[pick(4)] +
                                " : i32")
             : pick(12) > 0 ? constant(pick(41) - 20)
                            : constant(extremes[pick(std::size(extremes))]);
    }
    static const char *binary[] = {"addi", "subi", "muli", "minsi", "maxsi"};
    static const char *byConstant[] = {"floordivsi", "divsi", "ceildivsi",
                                       "remsi"};
    static const char *bits[] = {"andi", "ori", "xori"};
    std::string x = integer(depth - 1);
    switch (pick(14)) {
    case 12:
      return emit(std::string("arith.") + bits[pick(3)] + " " + x + ", " +
                  integer(depth - 1) + " : i32");
    case 13: // a divisor that is anything: 0 and less included
      return emit(std::string("arith.") + byConstant[pick(4)] + " " + x + ", " +
                  integer(depth - 1) + " : i32");
    case 9:
      return emit("attn.load %ids[" + place(x) + "] sorted : tensor<?xi32>");
    case 10:
      return emit("attn.load %table[" + place(x) + "] : tensor<?xi32>");
    case 11:
      return narrowLoad(place(x));
    case 0: { // floor modulo, as the front end writes it
      std::string n = constant(1 + pick(9));
      std::string q = emit("arith.floordivsi " + x + ", " + n + " : i32");
      std::string p = emit("arith.muli " + q + ", " + n + " : i32");
      return emit("arith.subi " + x + ", " + p + " : i32");
    }
    case 1:
      return emit("math.absi " + x + " : i32");
    case 2:
      return emit("arith.andi " + x + ", " + constant(pick(20)) + " : i32");
    case 3:
      return emit(std::string("arith.") + (pick(2) ? "shrsi " : "shli ") + x +
                  ", " + constant(pick(4)) + " : i32");
    case 4:
      return emit("arith.select " + predicate(depth - 1) + ", " + x + ", " +
                  integer(depth - 1) + " : i32");
    case 5:
    case 6:
      return emit(std::string("arith.") + byConstant[pick(4)] + " " + x + ", " +
                  constant(1 + pick(9)) + " : i32");
    default:
      return emit(std::string("arith.") + binary[pick(5)] + " " + x + ", " +
                  integer(depth - 1) + " : i32");
    }
  }
  /// An index of a gather, often outside of its buffer but no constant: one
  /// that is outside is refused.
  std::string place(const std::string &x) {
    return emit("arith.addi " + x + ", %w : i32");
  }
  std::string narrowLoad(const std::string &index) {
    switch (pick(5)) {
    case 0: {
      std::string byte = emit("attn.load %bytes[" + constant(pick(2)) + ", " +
                              index + "] sorted : tensor<2x?xi8>");
      return emit("arith.extsi " + byte + " : i8 to i32");
    }
    case 1: {
      std::string element =
          emit("attn.load %shorts[" + index + "] sorted : tensor<?xi16>");
      return emit("arith.extsi " + element + " : i16 to i32");
    }
    case 2: { // along the first dimension, in no order
      std::string element = emit("attn.load %classes[" + index + ", " +
                                 constant(pick(2)) + "] : tensor<?x2xi8>");
      return emit("arith.extsi " + element + " : i8 to i32");
    }
    case 3: {
      std::string element =
          emit("attn.load %large[" + index + "] : tensor<?xi64>");
      return emit("arith.trunci " + element + " : i64 to i32");
    }
    default: {
      std::string element =
          emit("attn.load %wide[" + index + "] sorted : tensor<?xi64>");
      return emit("arith.trunci " + element + " : i64 to i32");
    }
    }
  }
  std::string predicate(int depth) {
    static const char *compare[] = {"slt", "sle", "sgt", "sge",
                                    "eq",  "ne",  "ult", "uge"};
    static const char *logic[] = {"andi", "ori", "xori"};
    if (depth == 0 || pick(3) == 0) {
      std::string x = integer(2);
      switch (pick(12)) {
      case 0: { // flags of pairs
        std::string flag = emit("attn.load %dense[" + place(x) + ", " +
                                place(integer(1)) + "] : tensor<?x?xi8>");
        std::string zero = emit("arith.constant 0 : i8");
        return emit("arith.cmpi ne, " + flag + ", " + zero + " : i8");
      }
      case 1: { // floats of indices
        std::string a = emit("arith.sitofp " + x + " : i32 to f32");
        std::string b = emit("arith.sitofp " + integer(1) + " : i32 to f32");
        return emit("arith.cmpf olt, " + a + ", " + b + " : f32");
      }
      default:
        return emit(std::string("arith.cmpi ") + compare[pick(8)] + ", " + x +
                    ", " + integer(2) + " : i32");
      }
    }
    std::string x = predicate(depth - 1);
    if (pick(8) == 0)
      return emit("arith.select " + predicate(depth - 1) + ", " + x + ", " +
                  predicate(depth - 1) + " : i1");
    return emit(std::string("arith.") + logic[pick(3)] + " " + x + ", " +
                predicate(depth - 1) + " : i1");
  }

  std::mt19937 random;
  std::string text;
  int next = 0;
};

/// A spec with this mask, one run-time scalar, %w, and the buffers.
std::string kernelText(const std::string &mask) {
  std::string text =
      "func.func @f(%q: tensor<?x4x?x8xf32>, %k: tensor<?x1x?x8xf32>, %v: "
      "tensor<?x1x?x8xf32>, %w: i32, %ids: tensor<?xi32>, %bytes: "
      "tensor<2x?xi8>, %shorts: tensor<?xi16>, %wide: tensor<?xi64>, %table: "
      "tensor<?xi32>, %classes: tensor<?x2xi8>, %large: tensor<?xi64>, %dense: "
      "tensor<?x?xi8>) -> tensor<?x4x?x8xf32> {\n"
      "%o = attn.attention q(%q) k(%k) v(%v) mask (%b, %h, %i, %j) {\n";
  return text + mask +
         "} : tensor<?x4x?x8xf32>, tensor<?x1x?x8xf32>, tensor<?x1x?x8xf32> -> "
         "tensor<?x4x?x8xf32>\n"
         "return %o : tensor<?x4x?x8xf32>\n}\n";
}

/// Evaluates a region on constants with the folders of its operations.
class Folder {
public:
  Folder(attn::KernelOp kernel, const std::vector<Buffer> &buffers, int w)
      : builder(kernel.getContext()) {
    bind(kernel.getArguments()[3], w);
    bind(kernel.getPosition().getBatch(), std::abs(w) % batches);
    bind(kernel.getPosition().getHead(), std::abs(w) % heads);
    for (const auto &[at, buffer] : llvm::enumerate(buffers))
      data[kernel.getArguments()[4 + at]] = &buffer;
  }
  void bind(Value value, int64_t number) {
    values[value] = builder.getI32IntegerAttr(number);
  }
  SmallVector<int64_t> run(Block &block) {
    for (Operation &op : block.without_terminator()) {
      if (auto extrema = dyn_cast<attn::ExtremaOp>(op)) {
        evaluateExtrema(extrema);
        continue;
      }
      SmallVector<Attribute> operands =
          llvm::map_to_vector(op.getOperands(), [&](Value operand) {
            return values.lookup(operand);
          });
      SmallVector<OpFoldResult> results;
      Attribute constant;
      if (matchPattern(&op, m_Constant(&constant)))
        results.push_back(constant);
      else if (isa<attn::LoadOp, attn::SearchOp, attn::ExtentOp, arith::ExtSIOp,
                   arith::FloorDivSIOp, arith::CeilDivSIOp, arith::DivSIOp,
                   arith::RemSIOp>(op))
        results.push_back(evaluate(op));
      else if (failed(op.fold(operands, results)) || results.empty()) {
        ADD_FAILURE() << "no fold for " << op.getName().getStringRef().str();
        return SmallVector<int64_t>(block.getTerminator()->getNumOperands());
      }
      Attribute folded = dyn_cast<Attribute>(results.front());
      values[op.getResult(0)] =
          folded ? folded : values.lookup(cast<Value>(results.front()));
    }
    return llvm::map_to_vector(
        block.getTerminator()->getOperands(), [&](Value value) {
          APInt number = cast<IntegerAttr>(values.lookup(value)).getValue();
          return number.getBitWidth() == 1 ? int64_t(number.isOne())
                                           : number.getSExtValue();
        });
  }

private:
  int64_t number(Value value) {
    return cast<IntegerAttr>(values.lookup(value)).getValue().getSExtValue();
  }

  /// Where a row of `buffer` begins, by its leading indices, clamped.
  int64_t rowOf(const Buffer &buffer, OperandRange leading) {
    int64_t row = 0;
    for (auto [index, extent] : llvm::zip(leading, buffer.shape))
      row = row * extent + std::clamp<int64_t>(number(index), 0, extent - 1);
    return row * buffer.shape.back();
  }

  /// By looking at every element whose index is in the range.
  void evaluateExtrema(attn::ExtremaOp op) {
    const Buffer &buffer = *data.lookup(op.getBuffer());
    int64_t dimension = op.getDimension(), extent = buffer.shape[dimension];
    auto clamp = [&](Value index) {
      return std::clamp<int64_t>(number(index), 0, extent - 1);
    };
    int64_t first = clamp(op.getIndices()[dimension]),
            last = clamp(op.getLast());
    int64_t least = INT32_MAX, greatest = INT32_MIN;
    for (int64_t at = 0; at < int64_t(buffer.elements.size()); ++at) {
      int64_t rest = at;
      bool inside = true;
      for (int64_t d = buffer.shape.size() - 1; d >= 0; --d) {
        int64_t index = rest % buffer.shape[d];
        rest /= buffer.shape[d];
        inside &= d == dimension
                      ? first <= index && index <= last
                      : index == std::clamp<int64_t>(number(op.getIndices()[d]),
                                                     0, buffer.shape[d] - 1);
      }
      if (!inside)
        continue;
      int64_t element = int32_t(buffer.elements[at]);
      least = std::min(least, element);
      greatest = std::max(greatest, element);
    }
    values[op.getLeast()] = builder.getI32IntegerAttr(least);
    values[op.getGreatest()] = builder.getI32IntegerAttr(greatest);
  }

  /// What has no folder, one that gives up (on a divisor of zero, near the ends
  /// of the type), or one that changes the operation instead.
  Attribute evaluate(Operation &op) {
    int64_t result = 0;
    if (auto load = dyn_cast<attn::LoadOp>(op)) {
      const Buffer &buffer = *data.lookup(load.getBuffer());
      int64_t column = std::clamp<int64_t>(number(load.getIndices().back()), 0,
                                           buffer.shape.back() - 1);
      result =
          buffer
              .elements[rowOf(buffer, load.getIndices().drop_back()) + column];
    } else if (auto search = dyn_cast<attn::SearchOp>(op)) {
      const Buffer &buffer = *data.lookup(search.getBuffer());
      int64_t row = rowOf(buffer, search.getIndices());
      int64_t value = number(search.getValue()), extent = buffer.shape.back();
      while (result < extent &&
             (search.getAbove() ? buffer.elements[row + result] <= value
                                : buffer.elements[row + result] < value))
        ++result;
      result = result == extent ? int64_t(1) << 30 : result;
    } else if (auto extent = dyn_cast<attn::ExtentOp>(op)) {
      result = extent.getKind() == attn::Extent::Batch   ? batches
               : extent.getKind() == attn::Extent::Heads ? heads
               : extent.getKind() == attn::Extent::Query ? rows
                                                         : keys;
    } else if (isa<arith::ExtSIOp>(op)) {
      result = number(op.getOperand(0));
    } else if (int64_t x = number(op.getOperand(0)),
               y = number(op.getOperand(1));
               y != 0) { // by zero: 0, as GuardDivision makes it
      bool inexact = x % y != 0, below = (x < 0) != (y < 0);
      if (isa<arith::RemSIOp>(op))
        result = x % y;
      else if (isa<arith::FloorDivSIOp>(op))
        result = x / y - (inexact && below);
      else if (isa<arith::CeilDivSIOp>(op))
        result = x / y + (inexact && !below);
      else
        result = x / y;
      result = int32_t(result); // -2^31 / -1 wraps
    }
    Type type = op.getResult(0).getType();
    return IntegerAttr::get(type, APInt(type.getIntOrFloatBitWidth(), result,
                                        /*isSigned=*/true));
  }

  Builder builder;
  DenseMap<Value, Attribute> values;
  DenseMap<Value, const Buffer *> data;
};

class MaskAnalysisTest : public testing::Test {
protected:
  MaskAnalysisTest() {
    context.loadDialect<attn::AttnDialect, arith::ArithDialect,
                        func::FuncDialect, math::MathDialect>();
  }

  OwningOpRef<ModuleOp> lift(const std::string &mask) {
    auto module = parseSourceString<ModuleOp>(kernelText(mask), &context);
    if (!module)
      return {};
    PassManager manager(&context);
    manager.addNestedPass<func::FuncOp>(passes::createToOnline());
    manager.addPass(passes::createTileAttention());
    manager.addNestedPass<attn::KernelOp>(passes::createLiftMask());
    manager.addNestedPass<attn::KernelOp>(passes::createBoundKeys());
    return succeeded(manager.run(*module)) ? std::move(module) : nullptr;
  }

  /// What a mask keeps, pair by pair.
  std::vector<std::vector<bool>> evaluate(attn::KernelOp kernel,
                                          attn::MaskOp mask, int w) {
    Block &body = mask.getBody().front();
    std::vector<std::vector<bool>> kept(rows, std::vector<bool>(keys));
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < keys; ++j) {
        Folder folder(kernel, buffers, w);
        folder.bind(body.getArgument(0), i);
        folder.bind(body.getArgument(1), j);
        kept[i][j] = folder.run(body)[0];
      }
    return kept;
  }

  /// Runs a classify or bounds region on index ranges.
  SmallVector<int64_t> run(attn::KernelOp kernel, Region &region,
                           ArrayRef<int> ranges, int w) {
    Folder folder(kernel, buffers, w);
    for (auto [argument, bound] : llvm::zip(region.getArguments(), ranges))
      folder.bind(argument, bound);
    return folder.run(region.front());
  }

  /// Checks soundness; counts blocks called partial that are empty or full, and
  /// tiles whose bounds leave out no key that they could.
  int check(ModuleOp module, int w) {
    attn::KernelOp kernel = *module.getOps<attn::KernelOp>().begin();
    attn::KeyBlocksOp loop = kernel.getKeyBlocks();
    attn::MaskOp mask = *loop.getBody().getOps<attn::MaskOp>().begin();
    std::vector<std::vector<bool>> keep = evaluate(kernel, mask, w);
    int loose = 0;
    for (int i0 = 0; i0 < rows; i0 += tileM) {
      int i1 = std::min(i0 + tileM, rows) - 1;
      int first = keys, last = -1;
      for (int j0 = 0; j0 < keys; j0 += tileN) {
        int j1 = std::min(j0 + tileN, keys) - 1;
        int kept = 0, pairs = (i1 - i0 + 1) * (j1 - j0 + 1);
        for (int i = i0; i <= i1; ++i)
          for (int j = j0; j <= j1; ++j)
            if (keep[i][j]) {
              ++kept;
              first = std::min(first, j), last = std::max(last, j);
            }
        SmallVector<int64_t> verdict =
            run(kernel, loop.getClassify(), {i0, i1, j0, j1}, w);
        bool any = verdict[0], all = verdict[1];
        EXPECT_TRUE(any || kept == 0)
            << "a kept pair would be skipped in block " << i0 << ", " << j0;
        EXPECT_TRUE(!all || kept == pairs)
            << "block " << i0 << ", " << j0 << " is not full";
        loose += (any && kept == 0) || (!all && kept == pairs);
      }
      loose += checkBounds(kernel, loop, {i0, i1}, first, last, w);
    }
    return loose;
  }

  /// Keys first .. last are kept by some row of the tile. True if the bounds
  /// are wider, inside the sequence.
  bool checkBounds(attn::KernelOp kernel, attn::KeyBlocksOp loop,
                   ArrayRef<int> tile, int first, int last, int w) {
    if (loop.getBounds().empty())
      return false;
    bounded = true;
    SmallVector<int64_t> bounds = run(kernel, loop.getBounds(), tile, w);
    if (first > last)
      return std::max<int64_t>(bounds[0], 0) <=
             std::min<int64_t>(bounds[1], keys - 1);
    EXPECT_TRUE(bounds[0] <= first && last <= bounds[1])
        << "keys " << first << " to " << last << " are kept, the bounds are "
        << bounds[0] << " to " << bounds[1];
    return std::max<int64_t>(bounds[0], 0) < first ||
           std::min<int64_t>(bounds[1], keys - 1) > last;
  }

  bool bounded = false; ///< some mask so far had bounds
  std::vector<Buffer> buffers;
  MLIRContext context;
};

// QM_LIFT_MASKS masks (10,000 by default) from seed QM_SEED.
TEST_F(MaskAnalysisTest, RandomMasksAreSound) {
  const char *seedText = std::getenv("QM_SEED"),
             *countText = std::getenv("QM_LIFT_MASKS");
  unsigned seed = seedText ? std::atoi(seedText) : 20260101;
  int count = countText ? std::atoi(countText) : 10000;
  std::cout << "seed " << seed << ", " << count << " masks\n";
  MaskGrammar grammar(seed);
  std::mt19937 random(seed);
  for (int n = 0; n < count; ++n) {
    buffers = makeBuffers(random);
    std::string mask = grammar.make();
    auto module = lift(mask);
    ASSERT_TRUE(module) << mask;
    check(*module, n % 13 - 4);
    ASSERT_FALSE(HasFailure()) << "mask " << n << " of seed " << seed << ":\n"
                               << mask;
  }
}

// Masks whose blocks are classified exactly, and whose bounds are the first and
// last kept key of every tile.
TEST_F(MaskAnalysisTest, CommonMasksAreTight) {
  const char *exact[] = {
      "%c = arith.cmpi sge, %i, %j : i32\nattn.yield %c : i1\n",
      "%c = arith.cmpi sge, %i, %j : i32\n%d = arith.subi %i, %j : i32\n%e = "
      "arith.cmpi sle, %d, %w : i32\n"
      "%f = arith.andi %c, %e : i1\nattn.yield %f : i1\n",
      "%c = arith.cmpi slt, %j, %w : i32\n%d = arith.cmpi sge, %i, %j : "
      "i32\n%e = arith.ori %c, %d : i1\nattn.yield %e : i1\n",
      "%n = arith.constant 7 : i32\n%a = arith.floordivsi %i, %n : i32\n%b2 = "
      "arith.floordivsi %j, %n : i32\n"
      "%c = arith.cmpi sge, %a, %b2 : i32\nattn.yield %c : i1\n",
      "%d = arith.subi %i, %j : i32\n%a = math.absi %d : i32\n%c = arith.cmpi "
      "sle, %a, %w : i32\nattn.yield %c : i1\n",
      // Documents, causal or not, and a document's past.
      "%a = attn.load %shorts[%i] sorted : tensor<?xi16>\n%x = arith.extsi %a "
      ": "
      "i16 to i32\n%b2 = attn.load %shorts[%j] sorted : tensor<?xi16>\n%y = "
      "arith.extsi %b2 : i16 to i32\n%c = arith.cmpi eq, %x, %y : i32\n"
      "attn.yield %c : i1\n",
      "%a = attn.load %shorts[%i] sorted : tensor<?xi16>\n%x = arith.extsi %a "
      ": "
      "i16 to i32\n%b2 = attn.load %shorts[%j] sorted : tensor<?xi16>\n%y = "
      "arith.extsi %b2 : i16 to i32\n%c = arith.cmpi eq, %x, %y : i32\n%d = "
      "arith.cmpi sge, %i, %j : i32\n%e = arith.andi %c, %d : i1\nattn.yield "
      "%e : i1\n",
      "%a = attn.load %shorts[%i] sorted : tensor<?xi16>\n%x = arith.extsi %a "
      ": "
      "i16 to i32\n%b2 = attn.load %shorts[%j] sorted : tensor<?xi16>\n%y = "
      "arith.extsi %b2 : i16 to i32\n%c = arith.cmpi sgt, %x, %y : i32\n"
      "attn.yield %c : i1\n",
  };
  std::mt19937 random(1);
  buffers = makeBuffers(random);
  // Ids of every key.
  buffers[2].elements = {0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 4, 4, 4, 5, 9, 9, 9, 9};
  for (const char *mask : exact) {
    auto module = lift(mask);
    ASSERT_TRUE(module);
    EXPECT_FALSE((*module->getOps<attn::KernelOp>().begin())
                     .getKeyBlocks()
                     .getBounds()
                     .empty())
        << mask;
    for (int w : {0, 3, 9})
      EXPECT_EQ(check(*module, w), 0) << mask << "w = " << w;
  }
}

} // namespace
