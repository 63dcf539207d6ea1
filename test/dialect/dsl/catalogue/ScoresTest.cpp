// Every score function of the catalogue against its formula in double
// precision.
#include "test/dialect/dsl/catalogue/ScoreEntries.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

using namespace qm;
using namespace qm::test;

namespace {

TEST(DslCatalogue, ScoresAreWhatTheirFormulasSay) {
  size_t count = ScoreCaptures().entries().size();
  for (size_t n = 0; n < count; ++n) {
    ScoreCaptures captures;
    ScoreEntry entry = captures.entries()[n];
    SCOPED_TRACE(entry.example);
    captures.spec.score(entry.score);
    SpecText text(captures.spec.mlir());
    Evaluator evaluate(text.score, captures.call);
    for (int b = 0; b < 2; ++b)
      for (int h = 0; h < 4; ++h)
        for (int i = 0; i < 40; i += 3)
          for (int j = 0; j < 48; ++j) {
            float s = ((i * 13 + j * 7) % 64 - 32) / 16.f;
            double truth = entry.formula(s, b, h, i, j);
            float value = evaluate(s, b, h, i, j).real;
            if (std::isinf(truth)) {
              ASSERT_EQ(value, truth) << b << h << " " << i << " " << j;
              continue;
            }
            // A handful of f32 roundings, of numbers up to the largest term:
            // s, the distance, or the result.
            double size = std::max({1., std::abs(truth), std::abs(s) + 48.});
            ASSERT_NEAR(value, truth, 8 * size * 0x1p-24)
                << b << h << " " << i << " " << j;
          }
  }
}

// The order of `then` is the order of reading.
TEST(DslCatalogue, ThenAppliesFromLeftToRight) {
  Spec spec("order");
  spec.heads(1).headDim(8).score(
      customScore([](Score s, Batch, Head, Query, Key) { return s + 1; })
          .then(squared())
          .then(temperature(10)));
  SpecText text(spec.mlir());
  EXPECT_EQ(text.evaluateScore(Call(), 2, 0, 0, 0, 0), 90);
}

TEST(DslCatalogue, ScoreFunctionsAreValues) {
  ScoreFunction function = squared();
  {
    ScoreFunction other = softcap(1);
    function = other.then(function);
    function = *&function;
  }
  Spec spec("values");
  spec.heads(1).headDim(8).score([&](Score s, Batch b, Head h, Query i, Key j) {
    return function(s, b, h, i, j) - 1;
  });
  SpecText text(spec.mlir());
  float t = std::tanh(.5f);
  EXPECT_FLOAT_EQ(text.evaluateScore(Call(), .5f, 0, 0, 0, 0), t * t - 1);
}

} // namespace
