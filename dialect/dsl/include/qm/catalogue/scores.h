//===- scores.h - the score function library --------------------*- C++ -*-===//
//
// s is the scaled score that comes in, t what goes out; Hq the number of query
// heads. Combine with `then`: softcap(30).then(alibi(slopes)).
//
//===----------------------------------------------------------------------===//
#pragma once

#include <qm/catalogue/arguments.h>
#include <qm/score.h>

namespace qm {

/// ALiBi with the slopes of the paper. The gradient to distance is signed: use
/// it under a causal mask.
/// Gives: t = s + (j - i) * 2^(-8 (h + 1) / Hq)
ScoreFunction alibi(Where where = Where::current());

/// ALiBi with given slopes, over [head].
/// Gives: t = s + slopes[h] * (j - i)
ScoreFunction alibi(detail::Over<Float, Head> slopes,
                    Where where = Where::current());

/// ALiBi without a causal mask: the penalty grows both ways from p = i + d, d =
/// 0 for TopLeft, Skv - Sq for BottomRight.
/// Gives: t = s - slopes[h] * |p - j|
ScoreFunction alibiBidirectional(detail::Over<Float, Head> slopes,
                                 Alignment alignment = BottomRight,
                                 Where where = Where::current());

/// Gemma 2 (50), Grok 1 (30): scores stay within -limit and limit; limit > 0.
/// `Approximate` errs by up to limit / 2048, which the rounding of
/// probabilities to bf16 hides for scores below 8.
/// Gives: t = limit * tanh(s / limit)
ScoreFunction softcap(detail::FloatArg limit,
                      Accuracy accuracy = Accuracy::Exact,
                      Where where = Where::current());

/// Gives: t = weight * s
ScoreFunction temperature(detail::FloatArg weight,
                          Where where = Where::current());
namespace detail {
ScoreFunction headTemperature(Over<Float, Head> weights, Where where);
}
/// A learned temperature for each head.
/// Gives: t = weights[h] * s
template <class Kind>
ScoreFunction temperature(const Buffer<Float, Kind> &weights,
                          Where where = Where::current()) {
  return detail::headTemperature(weights, where);
}

/// Gives: t = s + weight * (i - j)
ScoreFunction relativePosition(detail::FloatArg weight = 1,
                               Where where = Where::current());
/// Gives: t = s + weight * |i - j|
ScoreFunction relativeDistance(detail::FloatArg weight,
                               Where where = Where::current());

/// A learned bias for each distance up to `radius` either way, `table` over
/// [head, 2 radius + 1]; larger distances share the ends. radius >= 0.
/// Gives: t = s + table[h][clamp(i - j, -radius, radius) + radius]
ScoreFunction relativeTable(detail::Over<Float, Head, Index> table, int radius,
                            Where where = Where::current());

/// Whether a token's bias differs for keys before and after it.
enum Direction { Causal, Bidirectional };

/// T5: buckets of distance, the first half exact, the rest logarithmic up to
/// `farthest`; `table` over [bucket, head]. Bidirectional: the upper half of
/// the buckets is for keys after the query; Causal: those share bucket 0.
/// Gives: t = s + table[bucket(j - i)][h]
ScoreFunction t5Bias(detail::Over<Float, Index, Head> table, int buckets = 32,
                     int farthest = 128, Direction direction = Bidirectional,
                     Where where = Where::current());

/// Gives: t = s + bias[h]
ScoreFunction headBias(detail::Over<Float, Head> bias,
                       Where where = Where::current());
/// Gives: t = s + bias[b]
ScoreFunction batchBias(detail::Over<Float, Batch> bias,
                        Where where = Where::current());
/// AlphaFold's pair bias.
/// Gives: t = s + bias[b][h][i][j]
ScoreFunction denseBias(detail::Over<Float, Batch, Head, Query, Key> bias,
                        Where where = Where::current());
/// Gives: t = s + bias[h][i][j]
ScoreFunction denseBias(detail::Over<Float, Head, Query, Key> bias,
                        Where where = Where::current());
/// Gives: t = s + perHead[h] + perQuery[i]
ScoreFunction dualBuffer(detail::Over<Float, Head> perHead,
                         detail::Over<Float, Query> perQuery,
                         Where where = Where::current());

/// Sandwich: cosines of the distance; `width`, even, counts the feature dims of
/// the paper and is unrolled.
/// Gives: t = s + Hq / (8 (h + 1)) * sum over k < width / 2 of
///        cos((i - j) * 10000^(-2 k / width))
ScoreFunction sandwich(int width, Where where = Where::current());

/// Graphormer's spatial encoding: a bias for each distance in the graph.
/// Gives: t = s + bias[h][distance[b][i][j]]
ScoreFunction graphormerSpatial(detail::Over<Float, Head, Index> bias,
                                detail::PerPair distance,
                                Where where = Where::current());

/// Graphormer's edge encoding: the mean bias of the edges on the path from i to
/// j, of which there are n = min(lengths[b][i][j], steps); 0 for none.
/// Gives: t = s + (sum over k < n of bias[k][h][types[b][i][j][k]]) / n
ScoreFunction graphormerEdge(detail::Over<Float, Index, Head, Index> bias,
                             detail::PerEdge types, detail::PerPair lengths,
                             int steps, Where where = Where::current());

/// Gives: t = s * s
ScoreFunction squared(Where where = Where::current());

/// A mask inside the score: the weights of spec.mask, but no block is skipped.
/// Gives: t = s if the mask keeps (i, j), else -infinity
ScoreFunction maskAsScore(const Mask &mask, Where where = Where::current());
/// Gives: t = s if i + d >= j, else -infinity
ScoreFunction causalAsScore(Alignment alignment,
                            Where where = Where::current());

} // namespace qm
