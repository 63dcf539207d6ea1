// Random operators on the CPU against double precision.
//
//   qm_random_spec_test --seed=1234 --count=1     repeats one case
#include "RandomSpec.h"

#include "lowering/common/TargetInfo.h"
#include "lowering/reference/Reference.h"
#include "qmc/CpuKernel.h"
#include "qmc/ErrorMeasure.h"
#include "qmc/Session.h"

#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <cstdio>

using namespace mlir;
using namespace qm;
using namespace qm::driver;
using namespace qm::test;

static uint64_t firstSeed = 20260830;
static unsigned count = 200;

namespace {

struct Outcome {
  bool compiled = false, accepted = false;
  Errors errors, yardstick;
  Bounds bounds;
};

/// Compiles `kernelText`, runs it, and compares with the reference of
/// `truthText`. They are the same unless an error is planted.
Outcome check(const std::string &kernelText, const std::string &truthText,
              RandomCall &call, ArrayRef<std::string> overrides = {}) {
  Outcome outcome;
  Session session;
  Options options;
  options.overrides.assign(overrides.begin(), overrides.end());
  CompilePipeline pipeline(session, options);
  auto kernelModule = parseSourceString<ModuleOp>(kernelText, &session.context);
  auto truthModule = parseSourceString<ModuleOp>(truthText, &session.context);
  if (!kernelModule || !truthModule)
    return outcome;
  auto reference = reference::Reference::create(
      *truthModule->getOps<func::FuncOp>().begin());
  if (failed(reference) || failed(reference->check(call.inputs)))
    return outcome;
  auto kernels = CpuKernels::compile(pipeline, session, *kernelModule,
                                     *lowering::findTarget("cpu"));
  if (failed(kernels))
    return outcome;
  outcome.compiled = true;
  kernels->run("f", call.all, /*threads=*/1);

  reference::Output truth =
      reference->evaluate(call.inputs, reference::Arithmetic::Double);
  outcome.yardstick = measureErrors(
      reference->evaluate(call.inputs, reference::Arithmetic::InputRounded),
      truth);
  outcome.bounds = makeBounds(outcome.yardstick, truth, call.o.dtype);
  outcome.errors = measureErrors(
      readOutput(call.o, reference->returnsLse() ? &call.lse : nullptr), truth);
  outcome.accepted = outcome.bounds.accepts(outcome.errors);
  return outcome;
}

TEST(RandomSpec, AgreesWithDoublePrecision) {
  std::printf("seeds %llu to %llu\n", (unsigned long long)firstSeed,
              (unsigned long long)(firstSeed + count - 1));
  for (uint64_t seed = firstSeed; seed < firstSeed + count; ++seed) {
    RandomSpec spec = makeRandomSpec(seed);
    RandomCall call(spec, seed);
    Outcome outcome = check(spec.text, spec.text, call);
    EXPECT_TRUE(outcome.compiled && outcome.accepted)
        << "--seed=" << seed
        << " --count=1: " << (outcome.compiled ? "" : "does not compile; ")
        << "O error " << outcome.errors.maxAbs << " (allowed "
        << outcome.bounds.o << "), lse error " << outcome.errors.lse
        << " (allowed " << outcome.bounds.lse << ")\nB " << spec.batch
        << ", Sq " << spec.sq << ", Skv " << spec.skv << "\n"
        << spec.text;
  }
}

/// f32 attention with 2 heads, D 16 and `modifiers`, on 100 x 120.
RandomSpec plain(const std::string &modifiers, const std::string &scale) {
  RandomSpec spec = {"",  reference::DType::F32, 1, 2, 1, 100, 120, 16, 16,
                     true};
  spec.text = R"(
    func.func @f(%q: tensor<?x2x?x16xf32>, %k: tensor<?x1x?x16xf32>,
                 %v: tensor<?x1x?x16xf32>, %doc: tensor<?xi32>,
                 %table: tensor<3x?xi32>, %flags: tensor<?xi8>,
                 %slopes: tensor<?xf32>, %halves: tensor<?xbf16>, %w: i32,
                 %temperature: f32)
        -> (tensor<?x2x?x16xf32>, tensor<?x2x?xf32>) {
      %o, %lse = attn.attention q(%q) k(%k) v(%v) scale()" +
              scale + ") " + modifiers + R"( : tensor<?x2x?x16xf32>,
          tensor<?x1x?x16xf32>, tensor<?x1x?x16xf32>
          -> tensor<?x2x?x16xf32>, tensor<?x2x?xf32>
      return %o, %lse : tensor<?x2x?x16xf32>, tensor<?x2x?xf32>
    })";
  return spec;
}

std::string compare(const std::string &predicate) {
  return "mask (%b, %h, %i, %j) { %c = arith.cmpi " + predicate +
         ", %i, %j : i32\n attn.yield %c : i1 }";
}

// The test must be able to fail: small errors are planted in the kernel.
TEST(RandomSpec, PlantedErrorsAreCaught) {
  RandomSpec causal = plain(compare("sge"), "0.25");
  RandomCall call(causal, 1);
  EXPECT_TRUE(check(causal.text, causal.text, call).accepted);
  // The diagonal is dropped.
  EXPECT_FALSE(
      check(plain(compare("sgt"), "0.25").text, causal.text, call).accepted);
  // The scale is off by one part in a hundred thousand.
  EXPECT_FALSE(check(plain(compare("sge"), "0.2500025").text, causal.text, call)
                   .accepted);
  // Probabilities are rounded to bf16 where f32 was promised.
  EXPECT_FALSE(
      check(causal.text, causal.text, call, {"precision.p=bf16"}).accepted);
  // A score modifier is lost.
  RandomSpec biased = plain("score (%s, %b, %h, %i, %j) {\n"
                            "%e = attn.load %slopes[%h] : tensor<?xf32>\n"
                            "%f = arith.sitofp %j : i32 to f32\n"
                            "%c = arith.constant 0.0001 : f32\n"
                            "%g = arith.mulf %f, %c : f32\n"
                            "%x = arith.mulf %e, %g : f32\n"
                            "%t = arith.addf %s, %x : f32\n"
                            "attn.yield %t : f32 }\n" +
                                compare("sge"),
                            "0.25");
  EXPECT_TRUE(check(biased.text, biased.text, call).accepted);
  EXPECT_FALSE(check(causal.text, biased.text, call).accepted);
}

} // namespace

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  for (llvm::StringRef argument : llvm::ArrayRef(argv, argc).drop_front()) {
    if (argument.consume_front("--seed="))
      (void)argument.getAsInteger(10, firstSeed);
    else if (argument.consume_front("--count="))
      (void)argument.getAsInteger(10, count);
  }
  return RUN_ALL_TESTS();
}
