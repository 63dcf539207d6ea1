// Reports 25, 28 and 62: packed and padded sequences.
#include "test/contract/GuardedCall.h"
#include "test/contract/RowCases.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace qm;
using namespace qm::contract;

namespace {

TEST(UserReports, Row25_EmptySequencesAndBottomRight) { checkRow("Row25"); }
TEST(UserReports, Row28_NothingLeaksBetweenSequences) { checkRow("Row28"); }
TEST(UserReports, Row62_PackedWithCustomMask) { checkRow("Row62"); }

// 51,000 tokens: a matrix of pairs would have 2.6e9 elements.
TEST(Sequences, ThreeThousandDocumentsWithACustomMask) {
  constexpr int64_t count = 3000, length = 17;
  Shape shape{count * length, count * length, 1, 1, 1, 32, 32};
  Program program(Element::F32, shape, [](Spec &spec) {
    spec.packed().mask([](Batch b, Head, Query i, Key j) {
      return i >= j && (i - j) % 3 != 1 + b % 2;
    });
  });
  std::vector<int64_t> starts;
  for (int64_t s = 0; s <= count; ++s)
    starts.push_back(s * length);
  Call call = randomCall(Element::F32, shape);
  for (int i = 0; i < 2; ++i)
    call.captures.push_back(vectorOf(Element::I32, starts));
  program.run(call);
  expectNear(call, program.evaluate(call));
}

/// A random set of lengths, packed; `alone` is the same spec without lengths.
struct Packed {
  std::vector<int64_t> queries{0}, keys{0}; ///< starts
  Call call;

  Packed(Element type, Shape shape, unsigned seed) {
    std::mt19937 generator(seed);
    auto length = [&] {
      return int64_t(generator() % 4 ? generator() % 200 : 0);
    };
    for (int64_t s = 0, count = 1 + generator() % 12; s < count; ++s) {
      queries.push_back(queries.back() + length());
      keys.push_back(keys.back() + length());
    }
    shape.queries = queries.back() + 3;
    shape.keys = keys.back() + 3;
    call = randomCall(type, shape, seed);
    for (Tensor *tensor : {&call.q, &call.k, &call.v, &call.o})
      *tensor = tokensOutermost(*tensor);
    call.captures = {vectorOf(Element::I32, queries),
                     vectorOf(Element::I32, keys)};
  }
  size_t count() const { return queries.size() - 1; }
  /// The call of one sequence on its own; O and lse are those of the packed
  /// call, or new.
  Call sequence(size_t s, bool own) const {
    auto part = [&](const Tensor &tensor, const std::vector<int64_t> &starts) {
      return tensor.slice(2, starts[s], starts[s + 1] - starts[s]);
    };
    Call one;
    one.q = part(call.q, queries);
    one.k = part(call.k, keys);
    one.v = part(call.v, keys);
    one.o = part(call.o, queries);
    one.lse = part(call.lse, queries);
    if (own)
      one.resetOutputs();
    return one;
  }
};

void describeMask(Spec &spec) {
  spec.mask(causal(BottomRight) && slidingWindow(90));
  spec.score([](Score s, Batch, Head, Query i, Key j) {
    return s + 0.125f * (j - i);
  });
}

// A sequence has the bits that it has alone, whatever lies beside it.
TEST(Sequences, PackedIsEachAlone) {
  for (Setting setting : cpuSettings()) {
    Shape shape{1, 1, 1, 4, 2, setting.headDim, setting.headDim};
    Program alone(setting.type, shape, describeMask);
    Program together(setting.type, shape, [](Spec &spec) {
      describeMask(spec);
      spec.packed();
    });
    for (unsigned seed = 1; seed <= 20; ++seed) {
      SCOPED_TRACE(seed);
      Packed packed(setting.type, shape, seed);
      together.run(packed.call);
      for (size_t s = 0; s < packed.count(); ++s) {
        Call own = packed.sequence(s, true);
        alone.run(own);
        expectSameBits(packed.sequence(s, false), own);
      }
    }
  }
}

// NaN and infinity in one sequence stay there, and what is past the last one is
// not touched.
TEST(Sequences, NaNStaysInItsSequence) {
  Setting setting = {Element::BF16, 64};
  Shape shape{1, 1, 1, 2, 1, 64, 64};
  Program program(setting.type, shape, [](Spec &spec) {
    describeMask(spec);
    spec.packed();
  });
  for (unsigned seed = 1; seed <= 20; ++seed) {
    Packed clean(setting.type, shape, seed), dirty(setting.type, shape, seed);
    size_t bad = seed % dirty.count();
    for (const Call &call : {dirty.sequence(bad, false)}) {
      call.q.fill(std::nan(""));
      call.k.fill(std::nan(""));
      call.v.fill(INFINITY);
    }
    program.run(clean.call);
    program.run(dirty.call);
    for (size_t s = 0; s < clean.count(); ++s)
      if (s != bad)
        expectSameBits(clean.sequence(s, false), dirty.sequence(s, false));
    Tensor rest = clean.call.o.slice(2, clean.queries.back(), 3);
    for (double value : rest.values())
      EXPECT_TRUE(std::isnan(value));
  }
}

// Wrong lengths, which only the device may know, give some result inside of the
// tensors, and end.
TEST(Sequences, WrongLengthsStayInsideOfTheTensors) {
  Shape shape{70, 90, 1, 2, 1, 32, 32};
  for (bool isPacked : {true, false}) {
    shape.batch = isPacked ? 1 : 3;
    Program program(Element::F32, shape, [&](Spec &spec) {
      describeMask(spec);
      isPacked ? spec.packed() : spec.padded();
    });
    for (const std::vector<int64_t> &lengths :
         {std::vector<int64_t>{0, 500, -3},
          {70, 20, 10},
          {-2147483648, 2147483647, 35},
          {64, 64, 2147483647}}) {
      Call call = randomCall(Element::F32, shape);
      for (int i = 0; i < 2; ++i)
        call.captures.push_back(vectorOf(Element::I32, lengths));
      for (bool atEnd : {true, false})
        program.runUnchecked(GuardedCall(call, atEnd).call);
    }
  }
}

} // namespace
