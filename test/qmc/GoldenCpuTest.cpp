// Golden numbers on the CPU path: every row of test/data/k4.json and
// uniform_probe.json through passes, lowering and JIT.
#include "test/lowering/reference/GoldenCases.h"

#include "lowering/common/TargetInfo.h"
#include "qmc/CpuKernel.h"
#include "qmc/Session.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

#include <cmath>
#include <deque>

using namespace mlir;
using namespace qm;
using namespace qm::driver;
using namespace qm::test;
using reference::DType;
using reference::HostTensor;

namespace {

llvm::json::Object readGolden(StringRef file, StringRef name) {
  auto buffer = llvm::MemoryBuffer::getFile(
      (llvm::Twine(QM_TEST_DATA) + "/" + file + ".json").str());
  auto json = llvm::cantFail(llvm::json::parse((*buffer)->getBuffer()));
  return *json.getAsObject()->getObject(name);
}

/// f32 attention with one head and head dim 1, compiled for this CPU.
struct Result {
  std::vector<double> o, lse;
};
Result run(const std::string &clauses, ArrayRef<double> q, ArrayRef<double> k,
           ArrayRef<double> v, ArrayRef<int64_t> documents) {
  Session session;
  Options options;
  CompilePipeline pipeline(session, options);
  std::string tensor = "tensor<?x1x?x1xf32>", rows = "tensor<?x1x?xf32>";
  std::string text =
      "func.func @f(%q: " + tensor + ", %k: " + tensor + ", %v: " + tensor +
      ", %doc: tensor<?xi32>) -> (" + tensor + ", " + rows +
      ") {\n %o, %lse = attn.attention q(%q) k(%k) v(%v) " + clauses + " : " +
      tensor + ", " + tensor + ", " + tensor + " -> " + tensor + ", " + rows +
      "\n return %o, %lse : " + tensor + ", " + rows + "\n}\n";
  auto module = parseSourceString<ModuleOp>(text, &session.context);
  Result result;
  EXPECT_TRUE(module);
  if (!module)
    return result;
  auto kernels = CpuKernels::compile(pipeline, session, *module,
                                     *lowering::findTarget("cpu"));
  EXPECT_TRUE(succeeded(kernels));
  if (failed(kernels))
    return result;

  std::deque<HostTensor> tensors;
  std::vector<reference::Argument> arguments;
  for (ArrayRef<double> values : {q, k, v}) {
    HostTensor &operand = tensors.emplace_back(
        DType::F32, ArrayRef<int64_t>{1, 1, int64_t(values.size()), 1});
    for (auto [at, value] : llvm::enumerate(values))
      storeFloat(operand.view(), at, value);
    arguments.push_back(operand.view());
  }
  HostTensor ids(DType::I32, {int64_t(documents.size())});
  for (auto [at, id] : llvm::enumerate(documents))
    storeInteger(ids.view(), at, id);
  int64_t sq = q.size();
  HostTensor o(DType::F32, {1, 1, sq, 1}), lse(DType::F32, {1, 1, sq});
  arguments.insert(arguments.end(), {ids.view(), o.view(), lse.view()});
  kernels->run("f", arguments, /*threads=*/1);
  for (int64_t row = 0; row < sq; ++row) {
    result.o.push_back(loadFloat(o.view(), row));
    result.lse.push_back(loadFloat(lse.view(), row));
  }
  return result;
}

/// A few roundings of f32 at the size of the value.
void expectClose(double got, double want, const char *what) {
  if (std::isinf(want))
    EXPECT_EQ(got, want) << what;
  else
    EXPECT_NEAR(got, want, 4e-7 * std::max(1.0, std::fabs(want))) << what;
}

class K4OnCpu : public testing::TestWithParam<K4Case> {};

TEST_P(K4OnCpu, MatchesGoldenNumbers) {
  llvm::json::Object golden = readGolden("k4", GetParam().name);
  Result got = run(std::string("scale(") + GetParam().scale + ") " +
                       GetParam().modifiers,
                   {1, 2, -1, 0.5}, {0.5, -1, 2, 1}, {1, 2, 3, 4}, {0});
  for (int row = 0; row < 4; ++row) {
    expectClose(got.o[row], *(*golden.getArray("o"))[row].getAsNumber(), "o");
    expectClose(
        got.lse[row],
        (*golden.getArray("lse"))[row].getAsNumber().value_or(-INFINITY),
        "lse");
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, K4OnCpu, testing::ValuesIn(k4Cases),
                         [](const auto &info) { return info.param.name; });

class ProbeOnCpu : public testing::TestWithParam<ProbeCase> {};

TEST_P(ProbeOnCpu, MatchesGoldenNumbers) {
  llvm::json::Object golden = readGolden("uniform_probe", GetParam().name);
  int64_t sq = *golden.getInteger("sq"), sk = *golden.getInteger("sk");
  std::vector<double> q(sq, 0.0), k(sk, 0.0), v(sk);
  for (int64_t j = 0; j < sk; ++j)
    v[j] = j;
  Result got = run(std::string("scale(1.0) mask (%b, %h, %i, %j) {") +
                       GetParam().mask + "\n attn.yield %c : i1 }",
                   q, k, v, {1, 1, 2, 4, 4, 4});
  for (int64_t row = 0; row < sq; ++row) {
    expectClose(got.o[row], *(*golden.getArray("o"))[row].getAsNumber(), "o");
    expectClose(got.lse[row],
                std::log(*(*golden.getArray("n"))[row].getAsNumber()), "lse");
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, ProbeOnCpu, testing::ValuesIn(probeCases),
                         [](const auto &info) { return info.param.name; });

} // namespace
