// What must not change a bit: repetition, threads, batch mates, and whether the
// compiler knows that a block of keys is full or empty.
#include "test/contract/RowCases.h"

#include "gtest/gtest.h"

using namespace qm;
using namespace qm::contract;

namespace {

const Shape shape = {300, 400, 3, 4, 2, 40, 40};

TEST(Bitwise, RunToRunAndAnyThreads) {
  for (Element type : {Element::F32, Element::BF16}) {
    Program program(type, shape,
                    [](Spec &spec) { spec.mask(causal(BottomRight)); });
    Call first = randomCall(type, shape);
    program.run(first, 1);
    for (unsigned threads : {1, 2, 2, 3, 7}) {
      Call again = first;
      again.resetOutputs();
      program.run(again, threads);
      expectSameBits(first, again);
    }
  }
}

// Every batch entry alone, and each head's rows alone, gives its part of all.
TEST(Bitwise, AnyBatchMates) {
  for (Element type : {Element::F32, Element::BF16}) {
    Program program(type, shape,
                    [](Spec &spec) { spec.mask(slidingWindow(70)); });
    Call all = randomCall(type, shape);
    program.run(all);
    for (int64_t b = 0; b < shape.batch; ++b) {
      Call one = all;
      for (Tensor *tensor : {&one.q, &one.k, &one.v})
        *tensor = tensor->slice(0, b, 1);
      one.resetOutputs();
      program.run(one);
      Call part = all;
      part.o = all.o.slice(0, b, 1);
      part.lse = all.lse.slice(0, b, 1);
      expectSameBits(one, part);
    }
  }
}

struct MaskCase {
  const char *name;
  Mask mask;
};
struct FullPath : testing::TestWithParam<MaskCase> {};

TEST_P(FullPath, IsThePartialPath) {
  for (Element type : {Element::F32, Element::BF16, Element::F16}) {
    auto describe = [](Spec &spec) { spec.mask(GetParam().mask); };
    Program::Options options;
    options.forcePartial = true;
    Program classified(type, shape, describe);
    Program partial(type, shape, describe, options);
    Call a = randomCall(type, shape), b = a;
    b.resetOutputs();
    classified.run(a);
    partial.run(b);
    expectSameBits(a, b);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Masks, FullPath,
    testing::Values(
        MaskCase{"topLeft", causal(TopLeft)},
        MaskCase{"bottomRight", causal(BottomRight)},
        MaskCase{"window", slidingWindow(150, 20)},
        MaskCase{"prefixLm", prefix(130) || causal(TopLeft)},
        MaskCase{"chunked",
                 causal(TopLeft) && custom([](Batch, Head, Query i, Key j) {
                   return i / 100 == j / 100;
                 })},
        MaskCase{"headOff", custom([](Batch, Head h, Query i, Key j) {
                   return h != 2 && i + 100 >= j;
                 })}),
    [](const auto &info) { return info.param.name; });

} // namespace
