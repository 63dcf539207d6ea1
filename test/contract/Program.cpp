//===- Program.cpp - a C++ spec, compiled for this CPU --------------------===//
#include "test/contract/Program.h"

#include "lowering/common/KernelInfo.h"
#include "lowering/cpu/Jit.h"
#include "lowering/cpu/Pipeline.h"
#include "lowering/reference/Reference.h"
#include "passes/Pipelines.h"
#include "runtime/ParallelTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/bit.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace qm;
using namespace qm::contract;
using mlir::ModuleOp;

std::string qm::contract::specText(const std::string &name, Element type,
                                   const Shape &shape,
                                   const Describe &describe) {
  Spec spec(name.c_str());
  spec.heads(shape.heads).kvHeads(shape.kvHeads).headDim(shape.headDim);
  spec.valueHeadDim(shape.valueDim).returnLse();
  if (type == Element::BF16)
    spec.dtype(bf16);
  else if (type == Element::F16)
    spec.dtype(f16);
  else
    spec.dtype(f32);
  describe(spec);
  if (const char *text = spec.mlir())
    return text;
  for (int i = 0; i < spec.diagnosticCount(); ++i)
    ADD_FAILURE() << name << ": " << spec.diagnostic(i).message;
  return "";
}

struct Program::Parts {
  void compile(const std::string &text, const Options &options);

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  lowering::KernelInfo info;
  std::optional<reference::Reference> reference;
  std::optional<cpu::Jit> jit;
};

/// The classifier says of every block that some pair may be kept and never that
/// all are.
static void makeBlocksPartial(ModuleOp module) {
  module.walk([](attn::KeyBlocksOp loop) {
    if (loop.getClassify().empty())
      return;
    mlir::Operation *yield = loop.getClassify().front().getTerminator();
    mlir::OpBuilder b(yield);
    auto constant = [&](bool value) -> mlir::Value {
      return mlir::arith::ConstantOp::create(b, loop.getLoc(),
                                             b.getBoolAttr(value));
    };
    yield->setOperands({constant(true), constant(false)});
  });
}

void Program::Parts::compile(const std::string &text, const Options &options) {
  mlir::DialectRegistry registry;
  cpu::registerCpuDialects(registry);
  registry.insert<mlir::func::FuncDialect>();
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
  auto module = mlir::parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(module) << text;
  auto oracle = reference::Reference::create(
      *module->getOps<mlir::func::FuncOp>().begin());
  ASSERT_TRUE(succeeded(oracle)) << text;

  passes::CompileOptions choices;
  choices.target = "cpu";
  choices.overrides = options.overrides;
  mlir::PassManager toScheduled(&context), toLlvm(&context);
  passes::buildPipeline(toScheduled, passes::Level::Spec,
                        passes::Level::Scheduled, choices);
  ASSERT_TRUE(succeeded(toScheduled.run(*module))) << text;
  if (options.forcePartial)
    makeBlocksPartial(*module);
  info = lowering::KernelInfo::get(*module->getOps<attn::KernelOp>().begin());
  cpu::buildCpuPipeline(toLlvm);
  ASSERT_TRUE(succeeded(toLlvm.run(*module))) << text;
  auto compiled = cpu::Jit::compile(*module);
  ASSERT_TRUE(succeeded(compiled)) << text;
  reference = std::move(*oracle);
  jit = std::move(*compiled);
}

Program::Program(const std::string &text, const Options &options)
    : parts(std::make_unique<Parts>()) {
  parts->compile(text, options);
}

Program::Program(Element type, const Shape &shape, const Describe &describe,
                 const Options &options)
    : Program(specText("f", type, shape, describe), options) {}
Program::Program(Element type, const Shape &shape, const Describe &describe)
    : Program(type, shape, describe, Options()) {}
Program::~Program() = default;

/// Arguments as the launch contract packs them (lowering/README.md).
static std::vector<int64_t> packSlots(const Call &call) {
  std::vector<int64_t> slots;
  for (const reference::Argument &argument : call.all()) {
    if (const auto *view = std::get_if<TensorView>(&argument)) {
      slots.push_back(reinterpret_cast<intptr_t>(view->data));
      llvm::append_range(slots, view->extents);
      llvm::append_range(slots, view->strides);
    } else if (const auto *integer = std::get_if<int32_t>(&argument)) {
      slots.push_back(*integer);
    } else {
      slots.push_back(llvm::bit_cast<uint32_t>(std::get<float>(argument)));
    }
  }
  return slots;
}

void Program::run(const Call &call, unsigned threads) const {
  if (!parts->jit)
    return;
  ASSERT_TRUE(succeeded(parts->reference->check(call.inputs())));
  runUnchecked(call, threads);
}

void Program::runUnchecked(const Call &call, unsigned threads) const {
  if (!parts->jit)
    return;
  std::vector<int64_t> slots = packSlots(call);
  runtime::parallelTiles(parts->jit->lookup(parts->info.name), slots.data(),
                         parts->info.countTiles(slots), threads);
}

static double largest(llvm::ArrayRef<double> values) {
  double result = 0;
  for (double value : values)
    if (std::isfinite(value))
      result = std::max(result, std::fabs(value));
  return result;
}

/// The largest distance where the truth is finite.
static double farthest(llvm::ArrayRef<double> values,
                       llvm::ArrayRef<double> truth) {
  double result = 0;
  for (auto [value, right] : llvm::zip_equal(values, truth))
    if (std::isfinite(right))
      result = std::max(result, std::fabs(value - right));
  return result;
}

Truth Program::evaluate(const Call &call,
                        std::optional<reference::WideProducts> products) const {
  if (!parts->reference)
    return {};
  std::vector<reference::Argument> inputs = call.inputs();
  auto exact =
      parts->reference->evaluate(inputs, reference::Arithmetic::Double);
  std::optional<reference::RoundedArguments> rounded;
  if (products)
    rounded.emplace(inputs, *products);
  auto yardstick = parts->reference->evaluate(
      rounded ? rounded->get() : llvm::ArrayRef(inputs),
      reference::Arithmetic::InputRounded);
  // A small call may be exact in the yardstick by luck; the rounding of the
  // result itself is always allowed, and that of P where it is an operand.
  Truth truth;
  double rounding =
      products ? operandRoundoff(*products) : unitRoundoff(call.o.view.dtype);
  truth.oAbsolute =
      2 * std::max(farthest(yardstick.o, exact.o), rounding * largest(exact.o));
  auto statistic = [](llvm::ArrayRef<double> rough,
                      llvm::ArrayRef<double> right) {
    return 2 * std::max(farthest(rough, right),
                        0x1p-23 * std::max(1.0, largest(right)));
  };
  truth.lseAbsolute = statistic(yardstick.lse, exact.lse);
  if (call.rowMax.memory) {
    truth.rowMaxAbsolute = statistic(yardstick.rowMax, exact.rowMax);
    truth.rowMax = std::move(exact.rowMax);
  }
  truth.o = std::move(exact.o);
  truth.lse = std::move(exact.lse);
  return truth;
}

double qm::contract::unitRoundoff(Element type) {
  return type == Element::BF16  ? 0x1p-8
         : type == Element::F16 ? 0x1p-11
                                : 0x1p-24;
}

/// Names the first element that is wrong, and how many are.
static void compare(const char *what, const Tensor &tensor,
                    const std::vector<double> &want, double absolute,
                    double relative) {
  std::vector<double> got = tensor.values();
  ASSERT_EQ(got.size(), want.size()) << what;
  size_t wrong = 0, first = 0;
  for (size_t at = 0; at < got.size(); ++at) {
    double allowed = absolute + relative * std::fabs(want[at]);
    // A row of no sequence stays as it was.
    bool right = std::isnan(want[at]) ? std::isnan(got[at])
                 : std::isinf(want[at])
                     ? got[at] == want[at]
                     : std::fabs(got[at] - want[at]) <= allowed;
    if (!right && wrong++ == 0)
      first = at;
  }
  if (!wrong)
    return;
  size_t at = first;
  std::string index;
  for (unsigned dim = tensor.view.rank(); dim-- > 0;) {
    int64_t extent = tensor.view.extents[dim];
    index = std::to_string(at % extent) + (index.empty() ? "" : ", ") + index;
    at /= extent;
  }
  ADD_FAILURE() << wrong << " of " << got.size() << " are wrong; " << what
                << "[" << index << "] is " << got[first] << ", not "
                << want[first];
}

void qm::contract::expectNear(const Call &call, const Truth &truth) {
  compare("o", call.o, truth.o, truth.oAbsolute, truth.oRelative);
  compare("lse", call.lse, truth.lse, truth.lseAbsolute, 0);
  if (call.rowMax.memory)
    compare("row_max", call.rowMax, truth.rowMax, truth.rowMaxAbsolute, 0);
}

void qm::contract::expectFirstColumn(const Call &call,
                                     const std::vector<double> &o,
                                     const std::vector<double> &lse) {
  Truth truth;
  for (double value : o)
    truth.o.insert(truth.o.end(), call.v.view.extents[3], value);
  truth.lse = lse;
  truth.oAbsolute = truth.lseAbsolute = 2e-6; // golden numbers have six digits
  expectNear(call, truth);
}

void qm::contract::expectSameBits(const Call &a, const Call &b) {
  auto bits = [](const Tensor &tensor) {
    std::vector<int64_t> result;
    TensorView view = tensor.view;
    view.dtype =
        runtime::bytesPerElement(view.dtype) == 4 ? Element::I32 : Element::I16;
    tensor.forEach([&](auto index) {
      result.push_back(loadInteger(view, view.offset(index)));
    });
    return result;
  };
  EXPECT_EQ(bits(a.o), bits(b.o));
  EXPECT_EQ(bits(a.lse), bits(b.lse));
  if (a.rowMax.memory && b.rowMax.memory) {
    EXPECT_EQ(bits(a.rowMax), bits(b.rowMax));
  }
}
