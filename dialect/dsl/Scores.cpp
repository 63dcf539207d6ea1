//===- Scores.cpp - score functions as values, and their library ----------===//
#include "dialect/dsl/Library.h"

#include <qm/catalogue/scores.h>

#include <cmath>

using namespace qm::detail;

namespace qm {

ScoreFunction::ScoreFunction(Function *function) : function(function) {
  ++function->references;
}
ScoreFunction::ScoreFunction(const ScoreFunction &other)
    : ScoreFunction(other.function) {}
ScoreFunction &ScoreFunction::operator=(const ScoreFunction &other) {
  ScoreFunction copy(other);
  std::swap(function, copy.function);
  return *this;
}
ScoreFunction::~ScoreFunction() {
  if (--function->references == 0)
    delete function;
}

Float ScoreFunction::operator()(Score s, Batch b, Head h, Query i,
                                Key j) const {
  return (*function)(s, b, h, i, j);
}

ScoreFunction ScoreFunction::then(const ScoreFunction &next) const {
  return customScore(
      [first = *this, next](Score s, Batch b, Head h, Query i, Key j) {
        return next(Score(first(s, b, h, i, j)), b, h, i, j);
      });
}

namespace {

Index headCount() { return Index(extent("heads", Where::current())); }

/// The distances where T5's buckets begin, from the second on: the first half
/// of the buckets is exact, the rest grows by a constant factor. Integers,
/// because a logarithm rounds differently from machine to machine.
std::vector<int> bucketStarts(int buckets, int farthest) {
  std::vector<int> starts;
  int exact = buckets / 2;
  for (int k = 1; k < exact; ++k)
    starts.push_back(k);
  for (int k = 0; k < buckets - exact; ++k) {
    double start = exact * std::pow(double(farthest) / exact,
                                    double(k) / (buckets - exact));
    starts.push_back(static_cast<int>(std::ceil(start - 1e-6)));
  }
  return starts;
}

/// The bucket of a distance, 0 if it is negative.
Index bucketOf(const Index &distance, int buckets, int farthest) {
  int exact = buckets / 2;
  Index far = exact;
  std::vector<int> starts = bucketStarts(buckets, farthest);
  for (size_t k = exact; k < starts.size(); ++k)
    far += toInt(distance >= starts[k]);
  return select(distance < exact, max(distance, 0), far);
}

} // namespace

ScoreFunction alibi(Where where) {
  return libraryScore(where, [=](Score s, Batch, Head h, Query i, Key j) {
    Float slope = exp2(toFloat(h + 1) * -8.f / toFloat(headCount()));
    return s + (j - i) * slope;
  });
}

ScoreFunction alibi(Over<Float, Head> slopes, Where where) {
  return libraryScore(where, [=](Score s, Batch, Head h, Query i, Key j) {
    return s + slopes(h) * (j - i);
  });
}

ScoreFunction alibiBidirectional(Over<Float, Head> slopes, Alignment alignment,
                                 Where where) {
  return libraryScore(where, [=](Score s, Batch, Head h, Query i, Key j) {
    return s - slopes(h) * abs(position(i, alignment) - j);
  });
}

ScoreFunction softcap(FloatArg limit, Accuracy accuracy, Where where) {
  return libraryScore(where, [=](Score s, Batch, Head, Query, Key) {
    bool known = limit.node->kind == Node::Kind::Real;
    double value = limit.node->real;
    Float cap = require(
        Float(limit.node), !known || (value > 0 && std::isfinite(value)),
        "softcap: the limit is " + std::to_string(value) +
            ", not a positive number",
        "write the largest score, such as 50 (Gemma 2) or 30 (Grok 1)");
    return cap * tanh(s / cap, accuracy);
  });
}

ScoreFunction temperature(FloatArg weight, Where where) {
  return libraryScore(where, [=](Score s, Batch, Head, Query, Key) {
    return Float(weight.node) * s;
  });
}

ScoreFunction detail::headTemperature(Over<Float, Head> weights, Where where) {
  return libraryScore(where, [=](Score s, Batch, Head h, Query, Key) {
    return weights(h) * s;
  });
}

ScoreFunction relativePosition(FloatArg weight, Where where) {
  return libraryScore(where, [=](Score s, Batch, Head, Query i, Key j) {
    return s + Float(weight.node) * (i - j);
  });
}

ScoreFunction relativeDistance(FloatArg weight, Where where) {
  return libraryScore(where, [=](Score s, Batch, Head, Query i, Key j) {
    return s + Float(weight.node) * abs(i - j);
  });
}

ScoreFunction relativeTable(Over<Float, Head, Index> table, int radius,
                            Where where) {
  return libraryScore(where, [=](Score s, Batch, Head h, Query i, Key j) {
    Index reach = atLeast(Index(radius), 0, "relativeTable", "the radius");
    return s + table(h, clamp(i - j, -radius, radius) + reach);
  });
}

ScoreFunction t5Bias(Over<Float, Index, Head> table, int buckets, int farthest,
                     Direction direction, Where where) {
  return libraryScore(where, [=](Score s, Batch, Head h, Query i, Key j) {
    int side = direction == Bidirectional ? buckets / 2 : buckets;
    int least = direction == Bidirectional ? 4 : 2;
    if (buckets < least || farthest <= side / 2) {
      bool few = buckets < least;
      return s +
             toFloat(require(
                 Index(buckets), false,
                 "t5Bias: " +
                     (few ? std::to_string(buckets) + " buckets, at least " +
                                std::to_string(least) + " are needed"
                          : "the farthest distance " +
                                std::to_string(farthest) + " is not past the " +
                                std::to_string(side / 2) +
                                " exact buckets of a side"),
                 "T5 uses 32 buckets and the distance 128"));
    }
    if (direction == Causal)
      return s + table(bucketOf(i - j, buckets, farthest), h);
    return s +
           table(select(j > i, side, 0) + bucketOf(abs(i - j), side, farthest),
                 h);
  });
}

ScoreFunction headBias(Over<Float, Head> bias, Where where) {
  return libraryScore(
      where, [=](Score s, Batch, Head h, Query, Key) { return s + bias(h); });
}

ScoreFunction batchBias(Over<Float, Batch> bias, Where where) {
  return libraryScore(
      where, [=](Score s, Batch b, Head, Query, Key) { return s + bias(b); });
}

ScoreFunction denseBias(Over<Float, Batch, Head, Query, Key> bias,
                        Where where) {
  return libraryScore(where, [=](Score s, Batch b, Head h, Query i, Key j) {
    return s + bias(b, h, i, j);
  });
}

ScoreFunction denseBias(Over<Float, Head, Query, Key> bias, Where where) {
  return libraryScore(where, [=](Score s, Batch, Head h, Query i, Key j) {
    return s + bias(h, i, j);
  });
}

ScoreFunction dualBuffer(Over<Float, Head> perHead, Over<Float, Query> perQuery,
                         Where where) {
  return libraryScore(where, [=](Score s, Batch, Head h, Query i, Key) {
    return s + perHead(h) + perQuery(i);
  });
}

ScoreFunction sandwich(int width, Where where) {
  return libraryScore(where, [=](Score s, Batch, Head h, Query i, Key j) {
    Float distance =
        require(toFloat(i - j), width >= 2 && width % 2 == 0,
                "sandwich: the width is " + std::to_string(width) +
                    ", a positive even number is needed",
                "write the number of feature dims of the paper's embedding");
    Float sum = cos(distance);
    for (int k = 1; k < width / 2; ++k)
      sum += cos(distance * std::pow(10000., -2. * k / width));
    return s + toFloat(headCount()) / (toFloat(h + 1) * 8.f) * sum;
  });
}

ScoreFunction graphormerSpatial(Over<Float, Head, Index> bias, PerPair distance,
                                Where where) {
  return libraryScore(where, [=](Score s, Batch b, Head h, Query i, Key j) {
    return s + bias(h, distance(b, i, j));
  });
}

ScoreFunction graphormerEdge(Over<Float, Index, Head, Index> bias,
                             PerEdge types, PerPair lengths, int steps,
                             Where where) {
  return libraryScore(where, [=](Score s, Batch b, Head h, Query i, Key j) {
    Index most = atLeast(Index(steps), 1, "graphormerEdge", "the step count");
    Index length = min(lengths(b, i, j), most);
    Float sum = 0;
    for (int step = 0; step < steps; ++step) {
      Index k = step;
      Float edge = bias(k, h, types(b, i, j, k));
      sum += select(k < length, edge, 0.f);
    }
    return s + sum / toFloat(max(length, 1));
  });
}

ScoreFunction squared(Where where) {
  return libraryScore(where,
                      [=](Score s, Batch, Head, Query, Key) { return s * s; });
}

ScoreFunction maskAsScore(const Mask &mask, Where where) {
  return libraryScore(where, [=](Score s, Batch b, Head h, Query i, Key j) {
    return select(mask(b, h, i, j), s, -infinity);
  });
}

ScoreFunction causalAsScore(Alignment alignment, Where where) {
  return maskAsScore(causal(alignment, where), where);
}

} // namespace qm
