"""Attention in double precision, and the error that the numerics contract allows (qmc/ErrorMeasure.h): twice that of an unfused
attention with f32 sums and probabilities rounded to the input type, or what rounding the result itself may cost: half an ulp of the
output type at the largest |O| (four of f32), four ulps of f32 at the largest statistic."""

import math

import numpy as np


def attention(q, k, v, score=None, mask=None, sink=None, scale=None, type=np.float64, round_p=None):
    """(o, lse); score(s, b, h, i, j), mask(b, h, i, j) and sink(b, h) are functions of whole arrays."""
    q, k, v = (np.asarray(x, type) for x in (q, k, v))
    batch, heads, rows, width = q.shape
    group = heads // k.shape[1]
    k, v = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
    at = np.ogrid[:batch, :heads, :rows, : k.shape[2]]
    s = (q @ k.swapaxes(2, 3)) * type(1 / math.sqrt(width) if scale is None else scale)
    if score is not None:
        s = np.broadcast_to(np.asarray(score(s, *at), type), s.shape)
    if mask is not None:
        s = np.where(np.broadcast_to(mask(*at), s.shape), s, -np.inf)
    high = s.max(axis=-1, keepdims=True, initial=-np.inf)
    high = np.where(np.isfinite(high), high, 0)
    p = np.exp(s - high)
    total = p.sum(axis=-1, keepdims=True)
    if sink is not None:
        total = total + np.exp(np.asarray(sink(*at[:2]), type) - high)
    kept = p if round_p is None else p.astype(round_p).astype(type)
    with np.errstate(divide="ignore", invalid="ignore"):
        o = np.where(total > 0, (kept @ v) / total, 0)
        lse = (high + np.log(total))[..., 0]
    return o, lse


def check(test, got, q, k, v, lse=None, **functions):
    """`got` (and `lse`) against the reference, within the contract."""
    true_o, true_lse = attention(q, k, v, **functions)
    plain_o, plain_lse = attention(q, k, v, type=np.float32, round_p=q.dtype, **functions)
    for name, value, truth, plain, type in (
        ("o", got, true_o, plain_o.astype(q.dtype), q.dtype),
        ("lse", lse, true_lse, plain_lse, np.float32),
    ):
        if value is None:
            continue
        test.assertEqual(value.shape, truth.shape)
        finite = np.isfinite(truth)
        np.testing.assert_array_equal(np.asarray(value, np.float64)[~finite], truth[~finite], err_msg=name)
        if not finite.any():
            continue
        error = np.abs(np.asarray(value, np.float64)[finite] - truth[finite]).max()
        yardstick = np.abs(np.asarray(plain, np.float64)[finite] - truth[finite]).max()
        rounding = np.abs(truth[finite]).max() * np.finfo(type).eps * (4 if type == np.float32 else 0.5)
        test.assertLessEqual(error, max(2 * yardstick, rounding), f"{name}: yardstick {yardstick}, rounding {rounding}")
