// What is said of a mask's values along the keys of a block holds for every key
// of it: random expressions of the DSL's kind, evaluated key by key.
#include "lowering/gpu/ColumnShape.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"

#include <gtest/gtest.h>

#include <random>

using namespace mlir;
using namespace qm;
using gpu::ColumnShape;

namespace {

class ColumnShapeTest : public testing::Test {
protected:
  ColumnShapeTest() {
    context.loadDialect<arith::ArithDialect, func::FuncDialect>();
    builder.setInsertionPointToStart(module->getBody());
    auto i32 = builder.getI32Type();
    auto function = func::FuncOp::create(
        builder, loc, "mask", builder.getFunctionType({i32, i32}, {}));
    body = function.addEntryBlock();
    builder.setInsertionPointToStart(body);
  }

  unsigned below(unsigned end) {
    return std::uniform_int_distribution<unsigned>(0, end - 1)(random);
  }
  Value constant(int64_t value) {
    return arith::ConstantIntOp::create(builder, loc, builder.getI32Type(),
                                        value);
  }
  template <class Op>
  Value make(Value x, Value y) {
    return Op::create(builder, loc, x, y);
  }

  /// Adds a random operation on values that are there.
  Value grow(const std::vector<Value> &values) {
    Value x = values[below(values.size())], y = values[below(values.size())];
    int64_t divisors[] = {2, 4, 8, 12, 16, 32, 48, 64, 96, 128, 256, 1500};
    Value divisor = constant(divisors[below(std::size(divisors))]);
    switch (below(9)) {
    case 0:
      return make<arith::AddIOp>(x, y);
    case 1:
      return make<arith::SubIOp>(x, y);
    case 2:
      return make<arith::AddIOp>(x, constant(int64_t(below(300)) - 150));
    case 3:
      return make<arith::FloorDivSIOp>(x, divisor);
    case 4:
      return make<arith::ShRSIOp>(x, constant(below(9)));
    case 5:
      return make<arith::AndIOp>(x, constant((1 << below(9)) - 1));
    case 6: {
      Value quotient = make<arith::FloorDivSIOp>(x, divisor);
      return make<arith::SubIOp>(x, make<arith::MulIOp>(quotient, divisor));
    }
    case 7:
      return make<arith::MaxSIOp>(x, y);
    default:
      return make<arith::MulIOp>(x, constant(below(5)));
    }
  }

  static int32_t evaluate(Value value, int32_t i, int32_t j) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return argument.getArgNumber() ? j : i;
    APInt known;
    if (matchPattern(value, m_ConstantInt(&known)))
      return int32_t(known.getSExtValue());
    Operation *op = value.getDefiningOp();
    int32_t x = evaluate(op->getOperand(0), i, j),
            y = evaluate(op->getOperand(1), i, j);
    if (isa<arith::AddIOp>(op))
      return int32_t(uint32_t(x) + uint32_t(y));
    if (isa<arith::SubIOp>(op))
      return int32_t(uint32_t(x) - uint32_t(y));
    if (isa<arith::MulIOp>(op))
      return int32_t(uint32_t(x) * uint32_t(y));
    if (isa<arith::FloorDivSIOp>(op))
      return x / y - (x % y < 0);
    if (isa<arith::ShRSIOp>(op))
      return x >> y;
    if (isa<arith::AndIOp>(op))
      return x & y;
    return std::max(x, y);
  }

  void expectShape(Value value, ColumnShape shape, int32_t i, int32_t first,
                   int64_t keys) {
    auto at = [&](int64_t key) {
      return evaluate(value, i, int32_t(first + key));
    };
    std::string text;
    llvm::raw_string_ostream(text) << value << " in blocks of " << keys;
    SCOPED_TRACE(text);
    if (shape.isLinear()) {
      ASSERT_EQ(at(0) % shape.align, 0);
    }
    for (int64_t key = 0; key < keys; ++key) {
      if (shape.kind == ColumnShape::Steps) {
        ASSERT_EQ(at(key), at(key / shape.size * shape.size));
      }
      if (shape.kind == ColumnShape::Periodic) {
        ASSERT_EQ(at(key), at(key % shape.size));
      }
      if (shape.isLinear()) {
        ASSERT_EQ(at(key), at(0) + shape.step * key);
      }
    }
  }

  MLIRContext context;
  OpBuilder builder{&context};
  Location loc = builder.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  Block *body;
  std::mt19937 random{7};
};

TEST_F(ColumnShapeTest, HoldsForEveryKeyOfABlock) {
  std::map<ColumnShape::Kind, int> seen;
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<Value> values{body->getArgument(0), body->getArgument(1)};
    for (int n = 0; n < 8; ++n)
      values.push_back(grow(values));
    Operation *end = func::ReturnOp::create(builder, loc);
    for (int64_t keys : {128, 96, 64, 32}) {
      gpu::ColumnShapes shapes(*body, keys);
      for (Value value : values) {
        ColumnShape shape = shapes.of(value);
        ++seen[shape.kind];
        for (int n = 0; n < 4; ++n) {
          // The last block and row that an index below 2^30 can have too.
          int32_t most = n ? 1 << 14 : (1 << 30) - 1;
          expectShape(
              value, shape, n ? int32_t(below(most)) : most,
              int32_t((n ? below(most) : most) / keys * keys - (n ? 0 : keys)),
              keys);
          if (HasFatalFailure())
            return;
        }
      }
    }
    end->erase();
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*body)))
      op.erase();
    builder.setInsertionPointToStart(body);
  }
  // None of the claims is idle.
  EXPECT_GT(seen[ColumnShape::Steps], 100);
  EXPECT_GT(seen[ColumnShape::Linear], 100);
  EXPECT_GT(seen[ColumnShape::Periodic], 100);
}

// What the catalogue's masks rely on, in blocks of 128 keys.
TEST_F(ColumnShapeTest, KnowsBlocksAndPeriods) {
  Value i = body->getArgument(0), j = body->getArgument(1);
  Value distance = make<arith::SubIOp>(i, j);
  Value chunk = make<arith::ShRSIOp>(j, constant(13));
  Value step = make<arith::ShRSIOp>(j, constant(5));
  Value column = make<arith::AndIOp>(j, constant(127));
  Value phase = make<arith::AndIOp>(distance, constant(3));
  func::ReturnOp::create(builder, loc);
  gpu::ColumnShapes shapes(*body, 128);
  EXPECT_EQ(shapes.of(distance).step, -1);
  EXPECT_TRUE(shapes.isConstant(chunk));
  EXPECT_FALSE(shapes.isConstant(step));
  EXPECT_EQ(shapes.of(step).size, 32);
  EXPECT_EQ(shapes.of(column).step, 1);
  EXPECT_EQ(shapes.of(phase).kind, ColumnShape::Periodic);
  EXPECT_EQ(shapes.of(phase).size, 4);
}

} // namespace
