"""Tracing: what expressions mean, what is refused and with which words, and where nodes are said to stand."""

import inspect
import math
import re
import unittest

import numpy as np
import qimeng_attention as qa
from qimeng_attention import BOTTOM_RIGHT, TOP_LEFT, masks, scalar, scores, to_float, where


def spec(**options):
    return qa.Spec(**{"heads": 2, "head_dim": 16, "dtype": "f32", **options})


def values_of(expression, rows=range(5), columns=range(7), **arguments):
    """expression(b, h, i, j) for each (i, j), computed by a kernel: with a score of 0 and one key, lse is the expression."""
    got = np.empty((len(rows), len(columns)), np.float32)
    q, k = np.zeros((1, 1, len(rows), 16), np.float32), np.zeros((1, 1, len(columns), 16), np.float32)
    column = scalar("i32", "column")
    kernel = qa.Spec(
        heads=1, head_dim=16, dtype="f32", return_lse=True, mask=lambda b, h, i, j: j == column,
        score_mod=lambda s, b, h, i, j: to_float(expression(b, h, i, j)) + 0.0 * s,
    )  # fmt: skip
    for at in columns:
        _, lse = kernel(q, k, k, column=at, **arguments)
        got[:, at] = lse[0, 0]
    return got


class Meaning(unittest.TestCase):
    def check(self, expression, expected=None, **arguments):
        expected = np.vectorize(lambda i, j: float((expected or expression)(0, 0, i, j)))(*np.ogrid[:5, :7])
        np.testing.assert_allclose(values_of(expression, **arguments), expected, rtol=2e-6, atol=2e-6)

    def test_integers_round_down(self):
        self.check(lambda b, h, i, j: (i - 3) // 2 * 10 + (j - 4) % 3)
        self.check(lambda b, h, i, j: (i - 3) // -2 + (j - 4) % -3 * 100)
        self.check(lambda b, h, i, j: 20 // (i + 1) + 17 % (j + 2))

    def test_a_divisor_of_zero_at_launch_gives_zero(self):
        n = scalar("i32", "n")
        self.check(lambda b, h, i, j: (i + 7) // n + (i + 7) % n, lambda b, h, i, j: 0, n=0)

    def test_true_division_is_that_of_floats(self):
        self.check(lambda b, h, i, j: (i - j) / 4 + 1 / (j + 1))

    def test_bits(self):
        self.check(lambda b, h, i, j: (i & 3) + (i | j) * 8 + (i ^ j) * 64 + (~i) + (j << 2) + ((i - 9) >> 1))

    def test_conditions(self):
        self.check(
            lambda b, h, i, j: where((i > j) & ~(j == 2) | (i + j >= 9), i, -j),
            lambda b, h, i, j: i if (i > j and not j == 2) or i + j >= 9 else -j,
        )
        self.check(lambda b, h, i, j: where((i < 2) ^ (j != 3), 1.5, 2), lambda b, h, i, j: 1.5 if (i < 2) != (j != 3) else 2)

    def test_functions(self):
        self.check(lambda b, h, i, j: qa.tanh(i / 3) + qa.exp(-j) + qa.exp2(i - j), lambda b, h, i, j: (
            math.tanh(i / 3) + math.exp(-j) + 2.0 ** (i - j)))  # fmt: skip
        self.check(lambda b, h, i, j: qa.sqrt(i + 1) * qa.rsqrt(j + 1) + qa.log(i + 1), lambda b, h, i, j: (
            math.sqrt(i + 1) / math.sqrt(j + 1) + math.log(i + 1)))  # fmt: skip
        self.check(lambda b, h, i, j: qa.sigmoid(i - j) + qa.erf(i / 4) + qa.sin(i) * qa.cos(j), lambda b, h, i, j: (
            1 / (1 + math.exp(j - i)) + math.erf(i / 4) + math.sin(i) * math.cos(j)))  # fmt: skip
        self.check(
            lambda b, h, i, j: qa.clamp(i - j, -2, 1) + qa.minimum(i, 3.5) + qa.maximum(i, j) + abs(i - j) ** 2 + qa.to_int(j / 2),
            lambda b, h, i, j: max(-2, min(1, i - j)) + min(i, 3.5) + max(i, j) + (i - j) ** 2 + j // 2,
        )

    def test_functions_of_numpy(self):
        self.check(lambda b, h, i, j: np.tanh(i / 3) + np.where(i > j, np.float32(2), j) + np.maximum(i, 2) + np.int64(3) * i,
                   lambda b, h, i, j: math.tanh(i / 3) + (2 if i > j else j) + max(i, 2) + 3 * i)  # fmt: skip

    def test_methods(self):
        self.check(
            lambda b, h, i, j: (i - j).float().tanh() + j.clamp(1, 3) + i.sub(2).abs() + (j / 2).int() + (i > j).int() * 8 + i.masked_fill(i == j, 9),
            lambda b, h, i, j: math.tanh(i - j) + min(max(j, 1), 3) + abs(i - 2) + j // 2 + (i > j) * 8 + (9 if i == j else i),
        )
        self.check(
            lambda b, h, i, j: i.to(np.float32) / 2 + (j / 2).astype("int32") + i.bool().to(np.int32) + i.where(i < j, -1) + j.zeros_like(),
            lambda b, h, i, j: i / 2 + j // 2 + (i != 0) + (i if i < j else -1),
        )

    def test_gathers_are_clamped_and_nest(self):
        table, ids = np.arange(20, dtype=np.float32).reshape(4, 5), np.array([3, 0, 2, 1], np.int32)
        x, at = qa.buffer(table), qa.buffer(ids)
        self.check(lambda b, h, i, j: x[at[i], j - 1], lambda b, h, i, j: table[ids[min(i, 3)], min(max(j - 1, 0), 4)])
        self.check(lambda b, h, i, j: x[i][j], lambda b, h, i, j: table[min(i, 3), min(j, 4)])

    def test_element_types(self):
        for dtype in (np.float16, np.float32, np.int8, np.int16, np.int32, np.int64):
            data = np.array([3, -1, 7, 0, 5], dtype)
            x = qa.buffer(data)
            self.check(lambda b, h, i, j: x[i] + 0, lambda b, h, i, j: data[i])
        for flags in (np.array([True, False, True, True, False]), np.array([1, 0, 1, 1, 0], np.uint8)):
            y = qa.buffer(flags)
            self.check(lambda b, h, i, j: where(y[i], 2, 1), lambda b, h, i, j: 1 + int(flags[i]))


class Refusals(unittest.TestCase):
    def refuses(self, error, words, score=None, mask=None, **options):
        with self.assertRaisesRegex(error, f"(?s){words}"):
            spec(score_mod=score, mask=mask, **options)

    def test_a_refusal_has_a_code_the_line_and_a_way_out(self):
        x = qa.buffer("f32", ["heads", 3], "x")
        here = inspect.currentframe().f_lineno + 2
        for at, (code, line, way_out, functions) in enumerate((
            ("QM0206", "i - j", "compare", {"mask": lambda b, h, i, j: i - j}),
            ("QM0206", "s, b, h", "let it take", {"score_mod": lambda s, b, h: s}),
            ("QM0206", "i > j", "where", {"score_mod": lambda s, b, h, i, j: i > j}),
            ("QM0207", "i > j", "where", {"score_mod": lambda s, b, h, i, j: s if i > j else -s}),
            ("QM0207", "np.arctan", "tanh", {"score_mod": lambda s, b, h, i, j: np.arctan(s)}),
            ("QM0207", "s.cumsum", "tanh", {"score_mod": lambda s, b, h, i, j: s.cumsum()}),
            ("QM0207", "x.mean", "outside", {"score_mod": lambda s, b, h, i, j: s + x.mean()}),
            ("QM0208", "x[h]", "x[h, j]", {"score_mod": lambda s, b, h, i, j: s + x[h]}),
            ("QM0208", "x + 1", "x[h, j]", {"score_mod": lambda s, b, h, i, j: s + (x + 1)[h]}),
            ("QM0208", "x[h, j, 0]", "each dimension", {"score_mod": lambda s, b, h, i, j: s + x[h, j, 0]}),
        )):  # fmt: skip
            with self.subTest(line), self.assertRaises(TypeError) as raised:
                spec(**functions)
            error = raised.exception
            self.assertIsInstance(error, qa.SpecError)
            self.assertEqual((error.code, error.place), (code, f"{__file__}:{here + at}"))
            first, shown, help_text = str(error).splitlines()
            self.assertTrue(first.startswith(f"{error.place}: {code}: "), first)
            self.assertIn(line, shown)
            self.assertRegex(help_text, f"^help: .*{re.escape(way_out)}")

    def test_a_condition_has_no_truth(self):
        words = "where.*& for `and`.*a <= x"
        self.refuses(TypeError, words, lambda s, b, h, i, j: s if i > j else -s)
        self.refuses(TypeError, words, mask=lambda b, h, i, j: i >= j and j > 2)
        self.refuses(TypeError, words, mask=lambda b, h, i, j: not i >= j)
        self.refuses(TypeError, words, mask=lambda b, h, i, j: 0 <= i - j < 4)
        self.refuses(TypeError, words, lambda s, b, h, i, j: max(s, 0))
        with self.assertRaisesRegex(TypeError, "&, | and ~"):
            masks.causal(TOP_LEFT) and masks.full()

    def test_a_value_has_no_number(self):
        self.refuses(TypeError, "to_float", lambda s, b, h, i, j: s * float(i))
        self.refuses(TypeError, "to_int", lambda s, b, h, i, j: s * int(s))
        self.refuses(TypeError, "buffer", lambda s, b, h, i, j: s + [1.0, 2.0][h])

    def test_arrays_are_wrapped(self):
        array = np.ones(4, np.float32)
        self.refuses((TypeError, IndexError), "buffer|integers", lambda s, b, h, i, j: s + array[h])
        self.refuses(TypeError, "buffer", lambda s, b, h, i, j: s + array)
        self.refuses(TypeError, "no meaning.*known.*tanh", lambda s, b, h, i, j: np.arctan(s))

    def test_types(self):
        self.refuses(TypeError, "QM0207.*not a number.*where", lambda s, b, h, i, j: s + (i > j))
        self.refuses(TypeError, "QM0206.*gives Index", mask=lambda b, h, i, j: i - j)
        self.refuses(TypeError, "QM0206.*gives int", mask=lambda b, h, i, j: 1)
        self.refuses(TypeError, "QM0206.*gives nothing", lambda s, b, h, i, j: None)
        self.refuses(TypeError, "to_int", lambda s, b, h, i, j: s + i % (i / 2))
        self.refuses(TypeError, "exp", lambda s, b, h, i, j: s**0.5)

    def test_arity(self):
        self.refuses(TypeError, r"5 arguments: \(s, b, h, i, j\)", lambda s, b, h: s)
        self.refuses(TypeError, r"4 arguments: \(b, h, i, j\)", mask=lambda s, b, h, i, j: i >= j)
        self.refuses(TypeError, r"QM0206.*call it: causal\(", mask=masks.causal)

    def test_buffers(self):
        x = qa.buffer("f32", ["heads", 3], "x")
        self.refuses(TypeError, "2 dimensions.*3 subscripts", lambda s, b, h, i, j: s + x[h, 1, i])
        self.refuses(TypeError, "element by element", lambda s, b, h, i, j: s + x[h, :])
        self.refuses(TypeError, "to_int", lambda s, b, h, i, j: s + x[h, s])
        self.refuses(TypeError, "declared over 'heads'.*key index", lambda s, b, h, i, j: s + x[j, 1])
        self.refuses(TypeError, "2 dimensions.*1 subscript", lambda s, b, h, i, j: s + x[h])
        y = qa.buffer("f32", ["kv_heads"], "y")
        self.refuses(TypeError, "h // group", lambda s, b, h, i, j: s + y[h])
        for bad in (lambda: qa.buffer("f64", ["heads"], "x"), lambda: qa.buffer(np.ones(3)), lambda: qa.buffer("f32"),
                    lambda: qa.buffer(np.float32(1)[()]), lambda: qa.buffer("f32", ["rows"], "x"), lambda: scalar("f64"),
                    lambda: qa.buffer(np.ones((2, 2), np.float32), ["heads"])):  # fmt: skip
            with self.assertRaises(TypeError):
                bad()

    def test_codes(self):
        def code(make):
            with self.assertRaises(qa.SpecError) as caught:
                make()
            self.assertIn(caught.exception.code, str(caught.exception))
            self.assertIn("help: ", str(caught.exception))
            self.assertTrue(caught.exception.place.startswith(f"{__file__}:"), caught.exception.place)
            return caught.exception.code

        kept = []

        def keep(b, h, i, j):
            kept.append(i)
            return i >= j

        spec(mask=keep)
        x = lambda name: qa.buffer("f32", ["heads"], name)  # noqa: E731
        self.assertEqual(code(lambda: spec(heads=3, kv_heads=2)), "QM0102")
        self.assertEqual(code(lambda: spec(head_dim=0)), "QM0103")
        self.assertEqual(code(lambda: qa.buffer("f32", [0], "x")), "QM0103")
        self.assertEqual(code(lambda: x("q")), "QM0104")
        self.assertEqual(code(lambda: x("1x")), "QM0104")
        self.assertEqual(code(lambda: spec(name="a b")), "QM0104")
        two = x("x"), x("x")
        self.assertEqual(code(lambda: spec(score_mod=lambda s, b, h, i, j: s + two[0][h] + two[1][h])), "QM0105")
        self.assertEqual(code(lambda: spec(mask=lambda b, h, i, j: kept[0] >= j)), "QM0108")
        self.assertEqual(code(lambda: spec(mask=lambda b, h, i, j: i // 0 >= j)), "QM0109")
        self.assertEqual(code(lambda: spec(mask=lambda b, h, i, j: i % 0 >= j)), "QM0109")
        self.assertEqual(code(lambda: spec(mask=lambda b, h, i, j: i << 32 >= j)), "QM0110")
        self.assertEqual(code(lambda: spec(mask=lambda b, h, i, j: i >= 2**31)), "QM0111")
        self.assertEqual(code(lambda: spec(scale=math.inf)), "QM0112")
        self.assertEqual(code(lambda: spec(mask=masks.block_causal(0))), "QM0114")

    def test_arguments_of_the_library(self):
        for bad in (
            masks.dilated_window(4, 0), masks.sink_window(-1, 4), masks.block_diffusion(10, 4), masks.natten_2d((8, 8), (4, 3)),
            masks.natten_2d((8, 8), (9, 3)), masks.tiled_natten_2d((8, 8), (3, 3), (3, 4)), masks.morton_natten_2d(12, (3, 3)),
            masks.sta_2d((8, 8), (4, 4), (3, 1)), masks.top_k_blocks(qa.buffer("i32", [1, 2, 3, 4], "t"), 16, 0),
        ):  # fmt: skip
            with self.assertRaisesRegex(qa.SpecError, "(?s)QM0114.*\nhelp: "):
                spec(mask=bad)
        table = qa.buffer("f32", [32, "heads"], "table")
        for bad in (scores.softcap(0), scores.softcap(math.nan), scores.sandwich(3), scores.t5_bias(table, 2),
                    scores.t5_bias(table, 32, 8), scores.relative_table(table, -1)):  # fmt: skip
            with self.assertRaisesRegex(qa.SpecError, "(?s)QM0114.*\nhelp: "):
                spec(score_mod=bad)
        for bad in (lambda: masks.causal(), lambda: masks.document(qa.buffer("i32", [1, 2, 3], "x")),
                    lambda: scores.alibi(table)):  # fmt: skip
            with self.assertRaises(TypeError):
                bad()
        with self.assertRaises(ValueError):
            masks.causal("left")


class Places(unittest.TestCase):
    def test_nodes_stand_on_the_users_line(self):
        here = inspect.currentframe().f_lineno

        def score(s, b, h, i, j):
            doubled = s * 2
            return qa.tanh(doubled)

        window = masks.sliding_window(3)
        mask = window & masks.causal(BOTTOM_RIGHT)
        text = spec(score_mod=score, mask=mask).mlir
        for operation, line in (("mulf", 3), ("tanh", 4), ("cmpi sle", 6), ("cmpi sge", 7)):
            (found,) = {x.split("loc(")[1].rsplit(":", 1)[0] for x in text.splitlines() if operation in x}
            self.assertEqual(found, f'"{__file__}":{here + line}', operation)

    def test_the_key_does_not_depend_on_places_or_names(self):
        first = spec(mask=lambda b, h, i, j: i >= j)
        second = spec(mask=lambda b, h, i, j: i >= j, name="other")
        self.assertEqual(first.key, second.key)
        self.assertNotEqual(first.mlir, second.mlir)
        self.assertNotEqual(first.key, spec(mask=lambda b, h, i, j: i > j).key)
        self.assertNotEqual(first.key, spec(mask=lambda b, h, i, j: i >= j, heads=4).key)

    def test_numbers_at_launch_do_not_change_the_key(self):
        def key(n):
            return spec(mask=lambda b, h, i, j: i - j <= n).key

        self.assertEqual(key(scalar(3)), key(scalar(4)))
        self.assertNotEqual(key(3), key(4))

    def test_a_long_expression_needs_no_recursion(self):
        def score(s, b, h, i, j):
            for _ in range(3000):
                s = s + 1
            return s

        self.assertEqual(spec(score_mod=score).content.count("arith.addf"), 3000)


if __name__ == "__main__":
    unittest.main()
