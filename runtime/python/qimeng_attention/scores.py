"""Score functions as values, and their library: `softcap(30).then(alibi(slopes))` applies them in the order of reading.

s is the scaled score that comes in, t what goes out; Hq the number of query heads. A weight is a number (a constant) or a
`scalar`; tables and biases are arrays or `buffer`s. Names and meaning are those of the C++ catalogue (dialect/dsl/CATALOGUE.md).
"""

import math
import numbers

from .arguments import Buffer, as_buffer
from .catalogue import BOTTOM_RIGHT, Alignment, at_least, extent, position, require
from .errors import TraceError
from .functions import clamp, cos, exp2, index_like, log, maximum, minimum, scalar_like, tanh, to_float, to_int, where
from .mask import as_mask
from .masks import causal
from .places import at_place, beginning_of, here
from .values import Float, as_float, is_bool, numeric

__all__ = [
    "Score", "added_dot", "alibi", "alibi_bidirectional", "batch_bias", "causal_as_score", "custom", "dense_bias",
    "dual_buffer", "graphormer_edge", "graphormer_spatial", "head_bias", "log_activation", "mask_as_score", "relative_distance",
    "relative_position", "relative_table", "sandwich", "softcap", "squared", "t5_bias", "temperature",
]  # fmt: skip


class Score:
    """A function (s, b, h, i, j) -> Float. `score(s, b, h, i, j)` calls it inside another traced function."""

    def __init__(self, function, place=None):
        self._function = function
        self._place = place

    def __call__(self, s, b, h, i, j):
        if self._place is None:
            score = self._function(s, b, h, i, j)
            if score is None or is_bool(score):
                raise TraceError(
                    f"a score function gives a number; this one gives {'nothing' if score is None else 'Bool'}",
                    "return the score; what drops a pair is a mask function, or where(condition, s, -math.inf)",
                    "QM0206",
                    beginning_of(self._function),
                )
            return Float(as_float(numeric(score)))
        with at_place(self._place):
            return Float(as_float(numeric(self._function(s, b, h, i, j))))

    def then(self, following):
        """This function first, then `following` on its result."""
        following = as_score(following)
        return Score(lambda s, b, h, i, j: following(self(s, b, h, i, j), b, h, i, j))


def as_score(value):
    """A score function, or a function (s, b, h, i, j) -> Float as one."""
    if isinstance(value, Score):
        return value
    if callable(value):
        return custom(value)
    raise TypeError(f"{type(value).__name__} is not a score function: pass one of qimeng_attention.scores or a function of (s, b, h, i, j)")


def custom(function):
    """A function (s, b, h, i, j) -> Float as a value."""
    return Score(function)


def _library_score(function):
    return Score(function, here())


def _over(array, rank, what):
    values = as_buffer(array)
    if values.rank != rank:
        raise TypeError(f"{what} has {rank} dimension{'s' * (rank > 1)}, not {values.rank}")
    return values


def _weight(value):
    return Float(as_float(scalar_like(value).node))


def alibi(slopes=None):
    """ALiBi. Gives: t = s + (j - i) * slopes[h]; without slopes those of the paper, 2^(-8 (h + 1) / Hq).

    The penalty is signed: use it under a causal mask.
    """
    if slopes is None:
        return _library_score(_alibi_of_the_paper)
    slopes = _over(slopes, 1, "slopes, over [head],")
    return _library_score(lambda s, b, h, i, j: s + slopes[h] * (j - i))


def _alibi_of_the_paper(s, b, h, i, j):
    slope = exp2(to_float(h + 1) * -8.0 / to_float(extent("heads")))
    return s + (j - i) * slope


def alibi_bidirectional(slopes, alignment=BOTTOM_RIGHT):
    """ALiBi without a causal mask: the penalty grows both ways from p. Gives: t = s - slopes[h] * |p - j|"""
    alignment, slopes = Alignment(alignment), _over(slopes, 1, "slopes, over [head],")
    return _library_score(lambda s, b, h, i, j: s - slopes[h] * abs(position(i, alignment) - j))


def softcap(limit, approximate=False):
    """Gemma 2 (50), Grok 1 (30): scores stay within -limit and limit. Gives: t = limit * tanh(s / limit)

    `approximate` errs by up to limit / 2048, which the rounding of probabilities to bf16 hides for scores below 8.
    """

    def function(s, b, h, i, j):
        if isinstance(limit, numbers.Real):
            require(
                limit > 0 and math.isfinite(limit),
                f"softcap: the limit is {limit}, not a positive number",
                "write the largest score, such as 50 (Gemma 2) or 30 (Grok 1)",
            )
        cap = _weight(limit)
        return cap * tanh(s / cap, approximate)

    return _library_score(function)


def temperature(weight):
    """Gives: t = weight * s, or weights[h] * s for an array over [head]"""
    if isinstance(weight, Buffer) or hasattr(weight, "__dlpack__"):
        weights = _over(weight, 1, "weights, over [head],")
        return _library_score(lambda s, b, h, i, j: weights[h] * s)
    return _library_score(lambda s, b, h, i, j: _weight(weight) * s)


def relative_position(weight=1):
    """Gives: t = s + weight * (i - j)"""
    return _library_score(lambda s, b, h, i, j: s + _weight(weight) * (i - j))


def relative_distance(weight):
    """Gives: t = s + weight * |i - j|"""
    return _library_score(lambda s, b, h, i, j: s + _weight(weight) * abs(i - j))


def relative_table(table, radius):
    """A learned bias for each distance up to `radius` either way, `table` over [head, 2 radius + 1].

    Gives: t = s + table[h][clamp(i - j, -radius, radius) + radius]
    """
    table = _over(table, 2, "the table, over [head, distance],")

    def function(s, b, h, i, j):
        reach = at_least(radius, 0, "relative_table", "the radius")
        return s + table[h, clamp(i - j, -radius, radius) + reach]

    return _library_score(function)


def _bucket_starts(buckets, farthest):
    """The distances where T5's buckets begin, from the second on: the first half is exact, the rest grows by a constant factor.

    Integers, because a logarithm rounds differently from machine to machine.
    """
    exact = buckets // 2
    starts = list(range(1, exact))
    for k in range(buckets - exact):
        starts.append(math.ceil(exact * math.pow(farthest / exact, k / (buckets - exact)) - 1e-6))
    return starts


def _bucket_of(distance, buckets, farthest):
    """The bucket of a distance, 0 if it is negative."""
    exact = buckets // 2
    far = index_like(exact, "a bucket")
    for start in _bucket_starts(buckets, farthest)[exact:]:
        far = far + to_int(distance >= start)
    return where(distance < exact, maximum(distance, 0), far)


def t5_bias(table, buckets=32, farthest=128, causal=False):
    """T5: buckets of distance, the first half exact, the rest logarithmic up to `farthest`; `table` over [bucket, head].

    Both ways the upper half of the buckets is for keys after the query; with causal=True those share bucket 0.
    Gives: t = s + table[bucket(j - i)][h]
    """
    table = _over(table, 2, "the table, over [bucket, head],")

    def function(s, b, h, i, j):
        side, least = (buckets, 2) if causal else (buckets // 2, 4)
        require(buckets >= least, f"t5_bias: {buckets} buckets, at least {least} are needed", "T5 uses 32 buckets and the distance 128")
        require(
            farthest > side // 2,
            f"t5_bias: the farthest distance {farthest} is not past the {side // 2} exact buckets of a side",
            "T5 uses 32 buckets and the distance 128",
        )
        if causal:
            return s + table[_bucket_of(i - j, buckets, farthest), h]
        return s + table[where(j > i, side, 0) + _bucket_of(abs(i - j), side, farthest), h]

    return _library_score(function)


def head_bias(bias):
    """Gives: t = s + bias[h]"""
    bias = _over(bias, 1, "the bias, over [head],")
    return _library_score(lambda s, b, h, i, j: s + bias[h])


def batch_bias(bias):
    """Gives: t = s + bias[b]"""
    bias = _over(bias, 1, "the bias, over [batch],")
    return _library_score(lambda s, b, h, i, j: s + bias[b])


def dense_bias(bias):
    """AlphaFold's pair bias. Gives: t = s + bias[b][h][i][j], or bias[h][i][j] for three dimensions"""
    bias = as_buffer(bias)
    if bias.rank == 3:
        return _library_score(lambda s, b, h, i, j: s + bias[h, i, j])
    _over(bias, 4, "the bias, over [batch, head, query, key],")
    return _library_score(lambda s, b, h, i, j: s + bias[b, h, i, j])


def dual_buffer(per_head, per_query):
    """Gives: t = s + per_head[h] + per_query[i]"""
    per_head, per_query = _over(per_head, 1, "per_head"), _over(per_query, 1, "per_query")
    return _library_score(lambda s, b, h, i, j: s + per_head[h] + per_query[i])


def sandwich(width):
    """Sandwich: cosines of the distance; `width`, even, counts the feature dims of the paper and is unrolled.

    Gives: t = s + Hq / (8 (h + 1)) * sum over k < width / 2 of cos((i - j) * 10000^(-2 k / width))
    """

    def function(s, b, h, i, j):
        require(
            width >= 2 and width % 2 == 0,
            f"sandwich: the width is {width}, a positive even number is needed",
            "write the number of feature dims of the paper's embedding",
        )
        distance = to_float(i - j)
        total = cos(distance)
        for k in range(1, width // 2):
            total = total + cos(distance * math.pow(10000.0, -2.0 * k / width))
        return s + to_float(extent("heads")) / (to_float(h + 1) * 8.0) * total

    return _library_score(function)


def graphormer_spatial(bias, distance):
    """Graphormer's spatial encoding: `bias` over [head, distance], `distance` over [batch, query, key].

    Gives: t = s + bias[h][distance[b][i][j]]
    """
    bias, distance = _over(bias, 2, "the bias"), _over(distance, 3, "distance")
    return _library_score(lambda s, b, h, i, j: s + bias[h, distance[b, i, j]])


def graphormer_edge(bias, types, lengths, steps):
    """Graphormer's edge encoding: the mean bias of the n = min(lengths[b][i][j], steps) edges on the path; 0 for none.

    bias over [step, head, type], types over [batch, query, key, step], lengths over [batch, query, key].
    Gives: t = s + (sum over k < n of bias[k][h][types[b][i][j][k]]) / n
    """
    bias, types, lengths = _over(bias, 3, "the bias"), _over(types, 4, "types"), _over(lengths, 3, "lengths")

    def function(s, b, h, i, j):
        most = at_least(steps, 1, "graphormer_edge", "the step count")
        length = minimum(lengths[b, i, j], most)
        total = _weight(0)
        for step in range(steps):
            k = index_like(step, "a step")
            total = total + where(k < length, bias[k, h, types[b, i, j, k]], 0.0)
        return s + total / to_float(maximum(length, 1))

    return _library_score(function)


def added_dot(q, k, width, weight):
    """A second product of queries and keys, read element by element: the rotary part of multi-head latent attention.

    q over [batch, head, query, dim], k over [batch, kv head, key, dim]. `width` dims are unrolled in every element of the scores, which
    costs more than the matrix product does: for small widths. Where it is hot, concatenate both parts to one head dim.
    Gives: t = s + weight * sum over d < width of q[b][h][i][d] * k[b][h / (Hq / Hkv)][j][d]
    """
    q, k = _over(q, 4, "q, over [batch, head, query, dim],"), _over(k, 4, "k, over [batch, kv head, key, dim],")

    def function(s, b, h, i, j):
        require(width >= 1, f"added_dot: the width is {width}, at least 1 is needed", "write the number of dims that q and k have")
        kv_head = h // (extent("heads") // extent("kv_heads"))
        total = _weight(0)
        for d in range(width):
            total = total + q[b, h, i, d] * k[b, kv_head, j, d]
        return s + _weight(weight) * total

    return _library_score(function)


def log_activation(offset):
    """Attention with an activation for a weight: the softmax of t weighs a key by relu(s) + offset, offset > 0.

    With o and lse of the call, the sum over kept j of relu(s_j) v_j is o e^lse - offset sum v_j. Gives: t = ln(max(s, 0) + offset)
    """
    return _library_score(lambda s, b, h, i, j: log(maximum(s, 0.0) + _weight(offset)))


def squared():
    """Gives: t = s * s"""
    return _library_score(lambda s, b, h, i, j: s * s)


def mask_as_score(mask):
    """A mask inside the score: the same weights, but no block is skipped. Gives: t = s if the mask keeps (i, j), else -infinity"""
    mask = as_mask(mask)
    return _library_score(lambda s, b, h, i, j: where(mask(b, h, i, j), s, -math.inf))


def causal_as_score(alignment):
    """Gives: t = s if i + d >= j, else -infinity"""
    return mask_as_score(causal(alignment))
