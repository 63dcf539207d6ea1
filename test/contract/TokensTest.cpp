// Reports 15 to 17, 28, 30, 38, 53, 54, 57, 67 and 78: masks by what tokens
// are, and one kernel for all of their lengths.
#include "test/contract/RowCases.h"

#include "gtest/gtest.h"

#include <random>

using namespace qm;
using namespace qm::contract;

namespace {

TEST(UserReports, Row15_MaskOfEachHead) { checkRow("Row15"); }
TEST(UserReports, Row16_FlagsOfBatchAndHead) { checkRow("Row16"); }
TEST(UserReports, Row17_BlockListsDecide) { checkRow("Row17"); }
TEST(UserReports, Row28_DocumentsDoNotLeak) { checkRow("Row28_Doc"); }
TEST(UserReports, Row30_TilesAreSkippedByTheRealMask) { checkRow("Row30"); }
TEST(UserReports, Row38_OneKernelForAllLengths) { checkRow("Row38"); }
TEST(UserReports, Row53_QueriesAndKeysOfOtherLengths) { checkRow("Row53"); }
TEST(UserReports, Row54_BlocksOfAnySize) { checkRow("Row54"); }

// 500 lengths and windows through one kernel.
TEST(UserReports, Row67_FiveHundredLengths) {
  Shape shape = {1, 1, 1, 1, 1, 16, 16};
  Program program(Element::F32, shape, [](Spec &spec) {
    Index left = spec.param("left", i32);
    spec.mask(slidingWindow(left));
  });
  for (int n = 0; n < 500; ++n) {
    shape.queries = 1 + n % 97, shape.keys = 1 + n % 131;
    int32_t left = n % 53;
    Call call = uniformProbe(Element::F32, shape);
    call.captures = {left};
    program.run(call);
    int64_t d = shape.keys - shape.queries;
    expectNear(call,
               uniformTruth(call, [=](int64_t, int64_t, int64_t i, int64_t j) {
                 return i + d - left <= j && j <= i + d;
               }));
    ASSERT_FALSE(HasFailure()) << "length " << n;
  }
}

/// A mask of packed documents by sorted ids and by where each begins.
using DocumentMask =
    std::function<Mask(Buffer<Index, Query>, Buffer<Index, Index>)>;

constexpr int64_t headDim = 32;

Program documentProgram(const DocumentMask &mask) {
  Shape shape = {1, 1, 1, 2, 1, headDim, headDim};
  return Program(Element::F32, shape, [&](Spec &spec) {
    auto ids = spec.buffer("ids", i32, spec.queryLength()).sorted();
    auto begins = spec.buffer("begins", i32, dynamic).sorted();
    spec.mask(mask(ids, begins));
  });
}

/// Random data, the same for all programs.
Call runDocuments(const Program &program, const std::vector<int64_t> &ids,
                  const std::vector<int64_t> &offsets) {
  int64_t tokens = ids.size();
  Call call =
      randomCall(Element::F32, {tokens, tokens, 1, 2, 1, headDim, headDim});
  call.captures = {vectorOf(Element::I32, ids),
                   vectorOf(Element::I32, offsets)};
  program.run(call);
  return call;
}

// Two ways to write one mask give the same bits.
TEST(UserReports, Row78_EqualMasksWrittenTwoWays) {
  std::vector<int64_t> ids, offsets;
  for (int64_t length : {100, 7, 260, 1, 90}) {
    offsets.push_back(ids.size());
    ids.insert(ids.end(), length, int64_t(offsets.size()) - 1);
  }
  auto run = [&](const DocumentMask &mask) {
    return runDocuments(documentProgram(mask), ids, offsets);
  };
  Call byIds =
      run([](auto of, auto) { return document(of) && causal(TopLeft); });
  expectSameBits(byIds, run([](auto of, auto begins) {
                   return documentCausalByOffsets(of, begins);
                 }));
  expectSameBits(byIds, run([](auto of, auto begins) {
                   return documentRelative(of, begins, causal(TopLeft));
                 }));
}

// A promise that does not hold may cost pairs, never memory: O stays within the
// values of V.
TEST(UserReports, SortedPromiseBroken) {
  Program program = documentProgram([](auto of, auto begins) {
    return (document(of) && causal(TopLeft)) ||
           documentCausalByOffsets(of, begins);
  });
  std::mt19937 random(5);
  for (int round = 0; round < 20; ++round) {
    std::vector<int64_t> ids(300), offsets(8);
    for (int64_t &id : ids)
      id = int64_t(random() % 16) - 8;
    for (int64_t &offset : offsets)
      offset = int64_t(random()) - (int64_t(1) << 31);
    Call call = runDocuments(program, ids, offsets);
    double largest = 0;
    for (double v : call.v.values())
      largest = std::max(largest, std::fabs(v));
    for (double o : call.o.values())
      EXPECT_LE(std::fabs(o), largest * (1 + 1e-5));
  }
}

} // namespace
