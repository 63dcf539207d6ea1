"""Kernels from Python specs on NumPy arrays, against attention in double precision."""

import unittest

import numpy as np
import qimeng_attention as qa
import reference
from qimeng_attention import BOTTOM_RIGHT, TOP_LEFT, masks, scalar, scores


def data(batch=2, heads=4, kv_heads=2, rows=70, keys=90, width=32, value_width=None, dtype=np.float32, seed=0):
    random = np.random.default_rng(seed)

    def array(*shape):
        return random.standard_normal(shape).astype(dtype)

    return (
        array(batch, heads, rows, width),
        array(batch, kv_heads, keys, width),
        array(batch, kv_heads, keys, value_width or width),
    )


class Numerics(unittest.TestCase):
    def check(self, arrays, score_mod=None, mask=None, score=None, kept=None, logit=None, **options):
        q, k, v = arrays
        o, lse = qa.attention(q, k, v, score_mod=score_mod, mask=mask, return_lse=True, **options)
        reference.check(self, o, q, k, v, lse, score=score, mask=kept, sink=logit, scale=options.get("scale"))

    def test_plain(self):
        for dtype in (np.float16, np.float32):
            with self.subTest(dtype):
                self.check(data(dtype=dtype))
                self.check(data(dtype=dtype), scale=0.3)
                self.check(data(dtype=dtype, rows=1, keys=129, width=64))
                self.check(data(dtype=dtype, value_width=48))

    def test_groups(self):
        for heads, kv_heads in ((4, 4), (6, 2), (5, 1)):
            with self.subTest(heads=heads, kv_heads=kv_heads):
                self.check(data(heads=heads, kv_heads=kv_heads), groups=heads // kv_heads)
        with self.assertRaisesRegex(ValueError, "groups=2, but q has 4 heads and k has 4"):
            q, k, v = data(kv_heads=4)
            qa.attention(q, k, v, groups=2)

    def test_masks(self):
        d = 20  # keys - rows
        ids = np.sort(np.random.default_rng(1).integers(0, 5, (2, 90))).astype(np.int32)
        lengths = np.array([0, 57], np.int32)
        valid = np.random.default_rng(2).random((2, 90)) < 0.5
        for mask, kept in (
            (masks.causal(BOTTOM_RIGHT), lambda b, h, i, j: i + d >= j),
            (masks.causal(TOP_LEFT), lambda b, h, i, j: i >= j),
            (masks.sliding_window(7, 2), lambda b, h, i, j: (i + d - 7 <= j) & (j <= i + d + 2)),
            (masks.sliding_window(7, None, TOP_LEFT), lambda b, h, i, j: i - 7 <= j),
            (masks.prefix(13) | masks.causal(TOP_LEFT), lambda b, h, i, j: (j < 13) | (i >= j)),
            (masks.padding(lengths), lambda b, h, i, j: j < lengths[b]),
            (masks.padding(valid), lambda b, h, i, j: valid[b, j]),
            (masks.document(ids) & ~masks.block_diagonal(9), lambda b, h, i, j: (ids[b, i] == ids[b, j]) & (i // 9 != j // 9)),
            (masks.causal(TOP_LEFT).shift(3, -2), lambda b, h, i, j: i + 3 >= j - 2),
            (lambda b, h, i, j: (i + h) % 3 == (j + b) % 2, lambda b, h, i, j: (i + h) % 3 == (j + b) % 2),
            (~masks.full(), lambda b, h, i, j: np.zeros((1, 1, 1, 1), bool)),
        ):
            self.check(data(), mask=mask, kept=kept)

    def test_scores(self):
        slopes = np.random.default_rng(3).random(4).astype(np.float32)
        bias = np.random.default_rng(4).standard_normal((2, 4, 70, 90)).astype(np.float16)
        table = np.random.default_rng(5).standard_normal((4, 17)).astype(np.float32)
        x, weight = qa.buffer(slopes, name="slopes"), scalar(0.25, "weight")
        for mod, score in (
            (scores.softcap(5), lambda s, b, h, i, j: 5 * np.tanh(s / 5)),
            (lambda s, b, h, i, j: s + x[h] * (j - i) * weight, lambda s, b, h, i, j: s + slopes[h] * (j - i) * 0.25),
            (scores.dense_bias(bias), lambda s, b, h, i, j: s + bias[b, h, i, j]),
            (scores.relative_table(table, 8), lambda s, b, h, i, j: s + table[h, np.clip(i - j, -8, 8) + 8]),
            (scores.softcap(3).then(scores.alibi(slopes)), lambda s, b, h, i, j: 3 * np.tanh(s / 3) + slopes[h] * (j - i)),
        ):
            self.check(data(), mod, masks.causal(BOTTOM_RIGHT), score, lambda b, h, i, j: i + 20 >= j)

    def test_sinks(self):
        logits = np.array([0.5, -1, 3, 0], np.float32)
        self.check(data(), sink=qa.buffer(logits), logit=lambda b, h: logits[h])
        self.check(data(), sink=lambda b, h: h * 0.5 - 1, logit=lambda b, h: h * 0.5 - 1, mask=masks.causal(BOTTOM_RIGHT),
                   kept=lambda b, h, i, j: i + 20 >= j)  # fmt: skip

    def test_row_maximum(self):
        q, k, v = data()
        o, lse, high = qa.attention(q, k, v, mask=lambda b, h, i, j: i > j, return_lse=True, return_row_max=True)
        s = q.astype(float) @ np.repeat(k, 2, 1).astype(float).swapaxes(2, 3) / np.sqrt(32)
        truth = np.where(np.arange(70)[:, None] > np.arange(90), s, -np.inf).max(-1)
        self.assertEqual(high[0, 0, 0], -np.inf)
        np.testing.assert_allclose(high, truth, rtol=1e-5, atol=1e-5)
        _, given = qa.attention(q, k, v, return_row_max=True, row_max=high)
        self.assertIs(given, high)

    def test_sorted_ids(self):
        ids = np.sort(np.random.default_rng(8).integers(0, 9, (2, 90))).astype(np.int32)
        documents = qa.buffer(ids, sorted=True)
        self.assertIn("sorted", qa.Spec(heads=1, head_dim=16, mask=masks.document(documents)).mlir)
        self.check(data(rows=90), mask=masks.document(documents) & masks.causal(TOP_LEFT),
                   kept=lambda b, h, i, j: (ids[b, i] == ids[b, j]) & (i >= j))  # fmt: skip
        with self.assertRaises(TypeError):
            qa.buffer("f32", ["key"], "x", sorted=True)

    def test_packed_sequences(self):
        starts, key_starts = np.array([0, 30, 30, 70], np.int32), np.array([0, 41, 50, 90], np.int32)
        q, k, v = (x[0].swapaxes(0, 1).copy() for x in data(batch=1))  # [T, H, D]
        o, lse = qa.attention(
            q, k, v, cu_q=starts, cu_kv=key_starts, mask=masks.causal(BOTTOM_RIGHT), return_lse=True,
            score_mod=lambda s, b, h, i, j: s + b * (j - i) * 0.1,
        )  # fmt: skip
        self.assertEqual((o.shape, lse.shape), ((70, 4, 32), (4, 70)))
        for n in range(3):
            rows, keys = slice(*starts[n : n + 2]), slice(*key_starts[n : n + 2])
            part = [x.swapaxes(0, 1)[None] for x in (q[rows], k[keys], v[keys], o[rows])]
            d = part[1].shape[2] - part[0].shape[2]
            reference.check(self, part[3], *part[:3], lse[None, :, rows], mask=lambda b, h, i, j: i + d >= j,
                            score=lambda s, b, h, i, j: s + n * (j - i) * 0.1)  # fmt: skip

    def test_padded_sequences(self):
        rows, keys = np.array([70, 33], np.int32), np.array([12, 90], np.int32)
        q, k, v = data()
        k[0, :, 12:] = v[0, :, 12:] = np.nan  # memory past a length does not count
        out = np.full((2, 4, 70, 32), 7, np.float32)
        qa.attention(q, k, v, len_q=rows, len_kv=keys, mask=masks.causal(BOTTOM_RIGHT), out=out)
        for n in range(2):
            d, part = keys[n] - rows[n], slice(n, n + 1)
            reference.check(self, out[part, :, : rows[n]], q[part, :, : rows[n]], k[part, :, : keys[n]], v[part, :, : keys[n]],
                            mask=lambda b, h, i, j: i + d >= j)  # fmt: skip
        self.assertTrue((out[1, :, 33:] == 7).all(), "nothing is written past a length")
        with self.assertRaisesRegex(ValueError, "lengths of queries and of keys"):
            qa.attention(q, k, v, len_q=rows)
        with self.assertRaisesRegex(TypeError, "needs len_kv=, an array of i32"):
            qa.Spec(heads=4, kv_heads=2, head_dim=32, dtype="f32", lengths="padded")(q, k, v, len_q=rows)

    def test_lengths(self):
        for rows, keys in ((0, 5), (5, 0), (1, 1), (1, 300), (300, 1)):
            with self.subTest(rows=rows, keys=keys):
                self.check(data(rows=rows, keys=keys), mask=masks.causal(BOTTOM_RIGHT), kept=lambda b, h, i, j: i + keys - rows >= j)

    def test_layouts_and_strides(self):
        q, k, v = data()
        expected, lse = qa.attention(q, k, v, return_lse=True)
        across = [x.transpose(0, 2, 1, 3).copy() for x in (q, k, v)]  # [B, S, H, D] in memory
        got = qa.attention(*across, layout="bshd")
        self.assertTrue(got.flags.c_contiguous)
        np.testing.assert_array_equal(got.transpose(0, 2, 1, 3), expected)
        views = [x.transpose(0, 2, 1, 3) for x in across]
        got = qa.attention(*views)
        np.testing.assert_array_equal(got, expected)
        self.assertTrue(got.transpose(0, 2, 1, 3).flags.c_contiguous, "the result has the order of q")
        wide = np.full((2, 4, 70, 3, 32), np.nan, np.float32)
        wide[..., 1, :] = q
        kept = wide.copy()
        wide.flags.writeable = False  # read-only arrays are inputs like others
        out = np.full((4, 2, 72, 40), 7.0, np.float32).transpose(1, 0, 2, 3)
        given = qa.attention(wide[..., 1, :], k, np.flip(v, 2), out=out[:, :, 1:71, 4:36])
        self.assertIs(given.base, out.base)
        np.testing.assert_array_equal(wide, kept)
        np.testing.assert_allclose(given, qa.attention(q, k, np.flip(v, 2).copy()), rtol=0, atol=0)
        self.assertEqual((out == 7.0).sum(), out.size - given.size, "nothing is written beside the result")
        broadcast = np.broadcast_to(k[:1], k.shape)
        np.testing.assert_array_equal(qa.attention(q, broadcast, v), qa.attention(q, broadcast.copy(), v))

    def test_threads_do_not_change_bits(self):
        arrays = data(rows=200)
        np.testing.assert_array_equal(qa.attention(*arrays, threads=1), qa.attention(*arrays, threads=2))


if __name__ == "__main__":
    unittest.main()
