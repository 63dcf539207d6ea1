// What a row has beside O and lse: attention sinks and the row maximum.
#include "test/contract/RowCases.h"

using namespace qm;
using namespace qm::contract;

static Tensor logits(llvm::ArrayRef<float> values) {
  Tensor tensor(Element::F32, int64_t(values.size()));
  for (auto [at, value] : llvm::enumerate(values))
    storeFloat(tensor.view, at, value);
  return tensor;
}

static RowCall k4(Captures captures = {}) {
  return {"4x4",
          [=](Element type, Shape shape) {
            shape.queries = shape.keys = 4;
            Call call = k4Call(type, shape);
            call.captures = captures;
            return call;
          },
          {}};
}

static RowCall withRowMax(RowCall call) {
  call.make = [make = call.make](Element type, Shape shape) {
    Call made = make(type, shape);
    made.addRowMax();
    return made;
  };
  return call;
}

/// A logit for each head: among the scores, far above and far below them, and
/// none at all.
static RowCase sinkOfEachHead() {
  RowCase result{"Row46_SinkOfEachHead", 4, 2, [](Spec &spec) {
                   auto sinks = spec.buffer("sinks", f32, spec.heads());
                   spec.mask(slidingWindow(40)).sink(sinks);
                 }};
  Captures captures = {logits({0.5f, 30, -30, -infinity})};
  for (auto [queries, keys] :
       {std::pair(150, 150), {1, 300}, {90, 40}, {200, 130}})
    result.calls.push_back(random(queries, keys, 2, captures));
  return result;
}

/// Rows without a key have the sink alone: O = 0, lse = sink.
static RowCase sinkOfEmptyRows() {
  RowCase result{"Row46_SinkOfEmptyRows", 2, 1, [](Spec &spec) {
                   auto sinks = spec.buffer("sinks", f32, spec.heads());
                   auto lengths = spec.buffer("lengths", i32, spec.batch());
                   spec.mask(padding(lengths)).sink(sinks);
                 }};
  result.calls.push_back(random(
      70, 90, 3, {logits({1.5f, -2}), vectorOf(Element::I32, {0, 90, 33})}));
  return result;
}

/// A sink that is computed, with a soft cap whose factor the softmax takes in.
static RowCase computedSink() {
  RowCase result{"Row46_ComputedSink", 4, 1, [](Spec &spec) {
                   Float base = spec.param("base", f32);
                   spec.score(softcap(2)).mask(causal(BottomRight));
                   spec.sink([=](Batch b, Head h) {
                     return base * toFloat(h + 1) - toFloat(b);
                   });
                 }};
  result.calls.push_back(random(130, 200, 2, {0.75f}));
  return result;
}

static RowCase k4Sink() {
  RowCase result{"Row46_K4Sink", 2, 1, [](Spec &spec) {
                   spec.scale(1).mask(causal(TopLeft));
                   spec.sink([](Batch, Head) { return 0.f; });
                 }};
  result.calls.push_back(k4());
  return result;
}

static RowCase rowMaxCase(const std::string &name, const Describe &describe,
                          Captures captures = {}) {
  RowCase result{name, 4, 2, [=](Spec &spec) {
                   describe(spec);
                   spec.returnRowMax();
                 }};
  for (auto [queries, keys] : {std::pair(200, 200), {1, 300}, {200, 130}})
    result.calls.push_back(withRowMax(random(queries, keys, 2, captures)));
  return result;
}

static RowCase k4RowMax() {
  RowCase result{"Row47_K4RowMax", 2, 1, [](Spec &spec) {
                   spec.scale(1).mask(causal(TopLeft)).returnRowMax();
                 }};
  result.calls.push_back(withRowMax(k4()));
  return result;
}

std::vector<RowCase> qm::contract::statisticCases() {
  return {
      sinkOfEachHead(),
      sinkOfEmptyRows(),
      computedSink(),
      k4Sink(),
      // Rows above the diagonal have no maximum.
      rowMaxCase("Row47_RowMax",
                 [](Spec &spec) { spec.mask(causal(BottomRight)); }),
      rowMaxCase("Row47_RowMaxOfAll", [](Spec &) {}),
      rowMaxCase("Row47_RowMaxOfScore",
                 [](Spec &spec) {
                   spec.score(softcap(3).then(relativePosition(0.01f)));
                 }),
      // The maximum is of the scores, whatever the sink.
      rowMaxCase("Row47_RowMaxBesideSink",
                 [](Spec &spec) {
                   auto sinks = spec.buffer("sinks", f32, spec.heads());
                   spec.mask(slidingWindow(20)).sink(sinks);
                 },
                 {logits({5, -5, 0, 2})}),
      k4RowMax(),
  };
}
