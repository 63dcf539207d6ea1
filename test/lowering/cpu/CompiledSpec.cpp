//===- CompiledSpec.cpp - a spec, compiled for this CPU, and its oracle ---===//

#include "CompiledSpec.h"

#include "lowering/cpu/Pipeline.h"
#include "passes/Pipelines.h"
#include "runtime/ParallelTiles.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace mlir;
using namespace qm;
using namespace qm::test;
using namespace qm::reference;

std::string SpecShape::text() const {
  auto tensor = [&](int64_t heads, int64_t columns) {
    return "tensor<?x" + std::to_string(heads) + "x?x" +
           std::to_string(columns) + "x" + dtype + ">";
  };
  std::string q = tensor(heads, headDim), k = tensor(kvHeads, headDim),
              v = tensor(kvHeads, dv()), o = tensor(heads, dv()),
              lse = "tensor<?x" + std::to_string(heads) + "x?xf32>";
  return "func.func @f(%q: " + q + ", %k: " + k + ", %v: " + v + captures +
         ") -> (" + o + ", " + lse +
         ") {\n  %o, %lse = attn.attention q(%q) k(%k) v(%v) " +
         (scale.empty() ? "" : "scale(" + scale + ") ") + modifiers + " : " +
         q + ", " + k + ", " + v + " -> " + o + ", " + lse +
         "\n  return %o, %lse : " + o + ", " + lse + "\n}\n";
}

static DType dtypeNamed(const std::string &name) {
  DType type = DType::F32;
  EXPECT_TRUE(runtime::parseDataType(name, type)) << name;
  return type;
}

static void fill(const HostTensor &tensor, std::function<double()> value) {
  const TensorView &view = tensor.view();
  for (int64_t i = 0, n = view.numElements(); i < n; ++i)
    storeFloat(view, i, value());
}

Call::Call(const SpecShape &spec, int64_t batch, int64_t queries, int64_t keys,
           unsigned seed)
    : q(dtypeNamed(spec.dtype), {batch, spec.heads, queries, spec.headDim}),
      k(q.view().dtype, {batch, spec.kvHeads, keys, spec.headDim}),
      v(q.view().dtype, {batch, spec.kvHeads, keys, spec.dv()}),
      o(q.view().dtype, {batch, spec.heads, queries, spec.dv()}),
      lse(DType::F32, {batch, spec.heads, queries}) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  for (HostTensor *tensor : {&q, &k, &v})
    fill(*tensor, [&] { return normal(generator); });
  for (HostTensor *tensor : {&o, &lse})
    fill(*tensor, [] { return std::nan(""); });
}

std::vector<Argument> Call::inputs() const {
  std::vector<Argument> arguments = {q.view(), k.view(), v.view()};
  arguments.insert(arguments.end(), captures.begin(), captures.end());
  return arguments;
}

CompiledSpec::CompiledSpec(const SpecShape &spec, const Overrides &overrides,
                           StringRef target, std::function<void(ModuleOp)> edit)
    : context(MLIRContext::Threading::DISABLED) {
  DialectRegistry registry;
  cpu::registerCpuDialects(registry);
  registry.insert<func::FuncDialect>();
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
  module = parseSourceString<ModuleOp>(spec.text(), &context);
  if (!module)
    return;
  auto oracle = Reference::create(*module->getOps<func::FuncOp>().begin());
  if (failed(oracle))
    return;
  reference = std::move(*oracle);

  passes::CompileOptions options;
  options.target = target.str();
  options.overrides = overrides;
  PassManager toScheduled(&context), toLlvm(&context);
  passes::buildPipeline(toScheduled, passes::Level::Spec,
                        passes::Level::Scheduled, options);
  if (failed(toScheduled.run(*module)))
    return;
  if (edit)
    edit(*module);
  info = lowering::KernelInfo::get(*module->getOps<attn::KernelOp>().begin());
  cpu::buildCpuPipeline(toLlvm);
  if (failed(toLlvm.run(*module)))
    return;
  FailureOr<cpu::Jit> compiled = cpu::Jit::compile(*module);
  if (failed(compiled))
    return;
  jit = std::move(*compiled);
  entry = jit->lookup(info.name);
}

static void appendSlots(std::vector<int64_t> &slots, const Argument &argument) {
  if (auto *integer = std::get_if<int32_t>(&argument)) {
    slots.push_back(*integer);
  } else if (auto *real = std::get_if<float>(&argument)) {
    uint32_t bits;
    std::memcpy(&bits, real, sizeof(bits));
    slots.push_back(bits);
  } else {
    const auto &view = std::get<TensorView>(argument);
    slots.push_back(reinterpret_cast<int64_t>(view.data));
    slots.insert(slots.end(), view.extents.begin(), view.extents.end());
    slots.insert(slots.end(), view.strides.begin(), view.strides.end());
  }
}

void CompiledSpec::run(ArrayRef<Argument> inputs, const TensorView &o,
                       const TensorView &lse, unsigned threads) const {
  ASSERT_TRUE(valid());
  std::vector<int64_t> slots;
  for (const Argument &argument : inputs)
    appendSlots(slots, argument);
  appendSlots(slots, o);
  appendSlots(slots, lse);
  runtime::parallelTiles(entry, slots.data(), info.countTiles(slots), threads);
}

void CompiledSpec::run(Call &call, unsigned threads) const {
  run(call.inputs(), call.o.view(), call.lse.view(), threads);
}

int64_t qm::test::batchFor(const SpecShape &spec, int64_t queries) {
  return 1000 / (queries * spec.heads) + 1;
}

bool qm::test::sameBits(const HostTensor &a, const HostTensor &b) {
  return a.bytes() == b.bytes();
}

/// |a - b| where both are finite; 0 where they are the same infinity or both
/// NaN; else infinite.
static double difference(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b)))
    return 0;
  double distance = std::abs(a - b);
  return std::isfinite(distance) ? distance
                                 : std::numeric_limits<double>::infinity();
}

Errors qm::test::measure(const CompiledSpec &spec, const Call &call) {
  std::vector<Argument> inputs = call.inputs();
  Output exact = spec.oracle().evaluate(inputs, Arithmetic::Double);
  Output yardstick = spec.oracle().evaluate(inputs, Arithmetic::InputRounded);
  Errors errors;
  for (auto [i, value] : llvm::enumerate(exact.o)) {
    errors.o =
        std::max(errors.o, difference(loadFloat(call.o.view(), i), value));
    errors.yardstickO =
        std::max(errors.yardstickO, difference(yardstick.o[i], value));
    errors.largestO = std::max(errors.largestO, std::abs(value));
  }
  for (auto [i, value] : llvm::enumerate(exact.lse)) {
    errors.lse =
        std::max(errors.lse, difference(loadFloat(call.lse.view(), i), value));
    errors.yardstickLse =
        std::max(errors.yardstickLse, difference(yardstick.lse[i], value));
    if (std::isfinite(value))
      errors.largestLse = std::max(errors.largestLse, std::abs(value));
  }
  return errors;
}

void qm::test::expectAccurate(const CompiledSpec &compiled, const Call &call,
                              StringRef dtype) {
  Errors errors = measure(compiled, call);
  // Half a unit in the last place of the largest value is the output's own
  // rounding, which no arithmetic avoids; the yardstick may be luckier.
  double unit = dtype == "bf16" ? 0x1p-8 : dtype == "f16" ? 0x1p-11 : 0x1p-24;
  EXPECT_LE(errors.o, 2 * std::max(errors.yardstickO, unit * errors.largestO));
  // lse adds two numbers of its own size in f32.
  EXPECT_LE(errors.lse,
            2 * std::max(errors.yardstickLse,
                         0x1p-24 * std::max(1.0, errors.largestLse)));
}

void qm::test::expectAccurate(const SpecShape &spec, Call call,
                              const CompiledSpec::Overrides &overrides,
                              StringRef target) {
  CompiledSpec compiled(spec, overrides, target);
  ASSERT_TRUE(compiled.valid()) << spec.text();
  compiled.run(call);
  expectAccurate(compiled, call, spec.dtype);
}
