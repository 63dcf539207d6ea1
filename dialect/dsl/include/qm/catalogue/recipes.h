//===- recipes.h - scores that are part of a larger operator ----*- C++ -*-===//
//
// What stands around the attention is the caller's: said for each.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <qm/score.h>

#include <qm/catalogue/arguments.h>

namespace qm {

/// A second product of queries and keys, read element by element: the rotary
/// part of multi-head latent attention, whose `q` is over [batch, head, query,
/// dim] and `k` over [batch, kv head, key, dim]. `width` dims are unrolled in
/// every element of the scores, which costs more than the matrix product does:
/// for small widths, or to try an operator out. Where it is hot, concatenate
/// both parts to one head dim.
/// Gives: t = s + weight * sum over d < width of
///        q[b][h][i][d] * k[b][h / (Hq / Hkv)][j][d]
ScoreFunction addedDot(detail::Over<Float, Batch, Head, Query, Index> q,
                       detail::Over<Float, Batch, KvHead, Key, Index> k,
                       int width, detail::FloatArg weight,
                       Where where = Where::current());

/// Attention with an activation for a weight, relu(s) in place of e^s: the
/// softmax of t weighs a key by relu(s) + offset, offset > 0. With o and lse of
/// the call, sum over the kept j of relu(s_j) v_j = o e^lse - offset sum v_j.
/// Gives: t = ln(max(s, 0) + offset)
ScoreFunction logActivation(detail::FloatArg offset,
                            Where where = Where::current());

} // namespace qm
