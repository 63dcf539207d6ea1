"""PyTorch: the drop-in functions and the operators, on the CPU, against PyTorch's own attention. Skipped where PyTorch is missing."""

import functools
import math
import sys
import unittest
import warnings

try:
    import torch
    import torch.nn.functional as F
    from torch.nn.attention.flex_attention import AuxRequest, create_block_mask, noop_mask
    from torch.nn.attention.flex_attention import flex_attention as their_flex_attention
except ImportError:
    print("skipped: this Python has no PyTorch")
    sys.exit(77)

import qimeng_attention as qa
from qimeng_attention import masks, scores
from qimeng_attention.torch import flex_attention, programs, scaled_dot_product_attention, varlen_attention

warnings.filterwarnings("ignore", "flex_attention called without torch.compile")
SLOPES = torch.tensor([0.5, 0.25, 0.125, 0.0625])
WINDOW = 9
VERSION = tuple(int(part) for part in torch.__version__.split(".")[:2])


def windowed(b, h, i, j):  # reads a number of its module
    return (i >= j) & (i - j <= WINDOW)


def biased(s, b, h, i, j):  # reads a tensor of its module
    return s + SLOPES[h] * (j - i)


def biased_on_buffers(s, b, h, i, j):
    return s + qa.where(i > j, h, 1)


def tensors(heads=4, kv_heads=2, rows=50, keys=50, width=32, value_width=None, dtype=torch.float32, batch=2):
    generator = torch.Generator().manual_seed(3)

    def make(*shape):
        return torch.randn(shape, generator=generator).to(dtype)

    return make(batch, heads, rows, width), make(batch, kv_heads, keys, width), make(batch, kv_heads, keys, value_width or width)


class Contract(unittest.TestCase):
    """Errors, in the root mean square, are at most twice those of PyTorch in the same type, or what rounding the result costs."""

    def setUp(self):
        torch.manual_seed(11)

    def agree(self, ours, theirs, truth):
        self.assertEqual(ours.shape, truth.shape)
        self.assertEqual(ours.dtype, theirs.dtype)
        error, yardstick = ((x.double() - truth).square().mean().sqrt().item() for x in (ours, theirs))
        rounding = truth.square().mean().sqrt().item() * torch.finfo(ours.dtype).eps / 4
        self.assertLessEqual(error, max(2 * yardstick, rounding))


class Sdpa(Contract):
    def check(self, q, k, v, *arguments, **options):
        ours = scaled_dot_product_attention(q, k, v, *arguments, **options)
        theirs = F.scaled_dot_product_attention(q, k, v, *arguments, **options)
        wide = [x.double() if isinstance(x, torch.Tensor) and x.is_floating_point() else x for x in (q, k, v, *arguments)]
        self.agree(ours, theirs, F.scaled_dot_product_attention(*wide, **options))

    def test_types_and_groups(self):
        for dtype in (torch.float32, torch.float16, torch.bfloat16):
            for options in ({}, {"is_causal": True}, {"scale": 0.2}):
                with self.subTest(dtype=dtype, **options):
                    self.check(*tensors(kv_heads=4, dtype=dtype), **options)
                    self.check(*tensors(dtype=dtype), enable_gqa=True, **options)
        self.check(*tensors(kv_heads=4, value_width=48))

    def test_masks(self):
        q, k, v = tensors(kv_heads=4, keys=70)
        for shape in ((50, 70), (1, 70), (4, 50, 70), (2, 1, 50, 70), (2, 4, 50, 70), (2, 1, 1, 70)):
            kept = torch.rand(shape) < 0.5
            kept[..., 0] = True
            with self.subTest(shape):
                self.check(q, k, v, kept)
                self.check(q, k, v, torch.randn(shape))
        self.check(*tensors(kv_heads=4, dtype=torch.bfloat16), torch.randn(50, 50).bfloat16())

    def test_other_ranks(self):
        q, k, v = (x[:, 0] for x in tensors(kv_heads=4, keys=70))
        self.check(q, k, v)
        self.check(q, k, v, is_causal=True)
        self.check(q, k, v, torch.rand(50, 70) < 0.9)
        self.check(q[0], k[0], v[0])
        self.check(q[0], k[0], v[0], torch.randn(50, 70))

    def test_a_row_without_keys_is_zero(self):
        q, k, v = tensors(kv_heads=4)
        kept = torch.ones(50, 50, dtype=torch.bool)
        kept[7] = False
        o = scaled_dot_product_attention(q, k, v, kept)
        self.assertTrue((o[:, :, 7] == 0).all())

    def test_transposed_projections_are_not_copied(self):
        q, k, v = (x.transpose(1, 2).contiguous().transpose(1, 2) for x in tensors(kv_heads=4))
        self.check(q, k, v, is_causal=True)
        o = scaled_dot_product_attention(q, k, v)
        self.assertTrue(o.transpose(1, 2).is_contiguous(), "the result has the order of q")

    def test_any_strides(self):
        self.check(*(x.transpose(2, 3).contiguous().transpose(2, 3) for x in tensors(kv_heads=4)))
        self.check(*(x[..., ::2] for x in tensors(kv_heads=4)))

    def test_autocast(self):
        q, k, v = tensors(kv_heads=4)
        bias = torch.randn(50, 50)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            self.check(q, k.bfloat16(), v)
            self.check(q, k.bfloat16(), v, bias)

    def test_the_device_meta_traces_what_runs_elsewhere(self):
        """So that a model run on it says which programs to build for another machine."""
        operands = tensors(heads=2, width=44)
        o = scaled_dot_product_attention(*(x.to("meta") for x in operands), is_causal=True)
        self.assertEqual((o.shape, o.device.type), ((2, 2, 50, 44), "meta"))
        known = len(programs())
        self.check(*operands, is_causal=True)
        self.assertEqual(len(programs()), known)

    def test_padded_head_dims(self):
        for width, value_width in ((60, 60), (60, 64), (64, 30), (7, 3)):
            with self.subTest(width=width, value_width=value_width):
                q, k, v = tensors(kv_heads=4, width=width, value_width=value_width)
                self.check(q, k, v)
                self.check(q, k, v, is_causal=True, scale=0.3)
                compiled = torch.compile(scaled_dot_product_attention, fullgraph=True, backend="aot_eager")
                torch.testing.assert_close(compiled(q, k, v), scaled_dot_product_attention(q, k, v))

    def test_refusals(self):
        q, k, v = tensors()
        ids = torch.tensor([0, 50])
        for error, words, call in (
            (NotImplementedError, "dropout", lambda: scaled_dot_product_attention(q, k, v, dropout_p=0.1, enable_gqa=True)),
            (ValueError, "enable_gqa", lambda: scaled_dot_product_attention(q, k, v)),
            (ValueError, "ambiguous", lambda: scaled_dot_product_attention(q, q, q, torch.ones(50, 50).bool(), is_causal=True)),
            (ValueError, "dimensions", lambda: scaled_dot_product_attention(q[None], q[None], q[None])),
            (ValueError, "query has 4 dimensions and value has 3", lambda: scaled_dot_product_attention(q, q, q[0])),
            (TypeError, "float64.*bfloat16", lambda: scaled_dot_product_attention(q.double(), q.double(), q.double())),
            (TypeError, "value torch.float16", lambda: scaled_dot_product_attention(q, q, q.half())),
            (TypeError, "ndarray.*qimeng_attention.attention", lambda: scaled_dot_product_attention(q, k.numpy(), v)),
            (TypeError, "int64.*bool", lambda: scaled_dot_product_attention(q, q, q, torch.ones(50, 50, dtype=torch.int64))),
            (qa.LaunchError, "QM0515", lambda: scaled_dot_product_attention(q, q, q[:, :, :40])),
            (qa.LaunchError, "QM0512.*'cu_q' holds i64.*needs i32", lambda: varlen_attention(q[0], q[0], q[0], ids, ids)),
        ):
            with self.subTest(words), self.assertRaisesRegex(error, words):
                call()


class Flex(Contract):
    def check(self, q, k, v, score_mod=None, mask_mod=None, **options):
        kept = create_block_mask(mask_mod, None, None, q.shape[2], k.shape[2], device="cpu") if mask_mod else None
        ours, lse = flex_attention(q, k, v, score_mod, kept, return_lse=True, **options)
        theirs = their_flex_attention(q, k, v, score_mod, kept, **options)
        wide = [x.double() for x in (q, k, v)]
        truth, true_lse = their_flex_attention(*wide, score_mod, kept, return_lse=True, **options)
        self.agree(ours, theirs, truth)
        finite = torch.isfinite(true_lse)
        self.assertEqual(lse.dtype, torch.float32)
        self.assertTrue(((lse.double() - true_lse)[finite].abs() <= 1e-5 * true_lse[finite].abs() + 1e-5).all())
        again = flex_attention(q, k, v, score_mod, mask_mod=mask_mod, **options)
        self.assertTrue(torch.equal(again, ours))

    def test_functions(self):
        bias, ids = torch.randn(4, 50, 70), torch.arange(50) // 7
        table, scale = torch.randn(4, 19).half(), torch.tensor(0.7)
        w = 5

        def table_bias(s, b, h, i, j):
            return torch.where(torch.abs(i - j) < 9, s + table[h, torch.clamp(i - j, -9, 9) + 9], s * scale)

        def softcap(s, b, h, i, j):
            return 20 * torch.tanh(s / 20)

        def document(b, h, i, j):
            return (ids[i] == ids[j]) & (i >= j)

        def strange(b, h, i, j):
            return torch.logical_or((i + h) % 3 == b, torch.logical_not(j - i > w)) | (j // 4 == i // 4)

        q, k, v = tensors(kv_heads=4)
        for dtype in (torch.float32, torch.bfloat16, torch.float16):
            self.check(*(x.to(dtype) for x in (q, k, v)), softcap, windowed)
        self.check(*tensors(kv_heads=4, keys=70), lambda s, b, h, i, j: s + bias[h, i, j])
        self.check(q, k, v, table_bias)
        self.check(q, k, v, biased, document)
        self.check(q, k, v, None, strange)
        self.check(q, k, v, lambda s, b, h, i, j: s * torch.sigmoid(s) + torch.sqrt(torch.abs(i - j) + 1.0), scale=0.5)
        self.check(*tensors(heads=6, kv_heads=2), softcap, windowed, enable_gqa=True)

    def test_values_are_read_at_each_call(self):
        q, k, v = tensors(kv_heads=4)
        weight = torch.ones(1)

        def weighted(s, b, h, i, j):
            return s * weight[0]

        before = flex_attention(q, k, v, weighted)
        weight.mul_(3)
        after = flex_attention(q, k, v, weighted)
        torch.testing.assert_close(before, flex_attention(q, k, v))
        torch.testing.assert_close(after, F.scaled_dot_product_attention(q, k, v, scale=3 / math.sqrt(32)))
        for limit in (1, 2, 2.0, 1):  # a constant of the closure: another kernel
            kept = flex_attention(q, k, v, mask_mod=lambda b, h, i, j: abs(i - j) <= limit)
            distance = (torch.arange(50)[:, None] - torch.arange(50)).abs()
            torch.testing.assert_close(kept, F.scaled_dot_product_attention(q, k, v, distance <= limit))
        global WINDOW
        try:
            for WINDOW in (3, 20):
                distance = torch.arange(50)[:, None] - torch.arange(50)
                kept = (distance >= 0) & (distance <= WINDOW)
                torch.testing.assert_close(flex_attention(q, k, v, mask_mod=windowed), F.scaled_dot_product_attention(q, k, v, kept))
        finally:
            WINDOW = 9

    def test_our_library(self):
        q, k, v = tensors(kv_heads=4)
        ours = flex_attention(q, k, v, scores.alibi(SLOPES), mask_mod=masks.sliding_window(WINDOW))
        torch.testing.assert_close(ours, flex_attention(q, k, v, biased, mask_mod=windowed))
        spec = qa.Spec(heads=4, head_dim=32, dtype="f32", score_mod=scores.alibi(SLOPES), mask=masks.sliding_window(WINDOW))
        self.assertTrue(torch.equal(spec(q, k, v), ours))

    def test_statistics(self):
        q, k, v = tensors(kv_heads=4)
        i, j = torch.arange(50)[:, None], torch.arange(50)
        s = q @ k.transpose(2, 3) / math.sqrt(32) + SLOPES[:, None, None] * (j - i)
        s = s.masked_fill(~windowed(0, 0, i, j), -math.inf)  # PyTorch itself gives no max_scores on a CPU
        for lse, high in ((True, True), (True, False), (False, True), (False, False)):
            asked = AuxRequest(lse=lse, max_scores=high)
            o, found = flex_attention(q, k, v, biased, mask_mod=windowed, return_aux=asked, kernel_options={"BLOCK_M": 64})
            self.assertTrue(torch.equal(o, flex_attention(q, k, v, biased, mask_mod=windowed)))
            for got, wanted, expected in ((found.lse, lse, s.logsumexp(-1)), (found.max_scores, high, s.amax(-1))):
                self.assertEqual(got is not None, wanted)
                if wanted:
                    torch.testing.assert_close(got, expected)
        with self.assertRaisesRegex(ValueError, "not both"):
            flex_attention(q, k, v, return_lse=True, return_aux=asked)

    def test_a_row_without_keys_is_zero(self):
        o, lse = flex_attention(*tensors(kv_heads=4), mask_mod=lambda b, h, i, j: i < j - 40, return_lse=True)
        self.assertTrue((o[:, :, 20:] == 0).all() and (lse[:, :, 20:] == -math.inf).all())

    def test_whatever_can_be_called(self):
        """A partial, a method, an object with __call__: eagerly and compiled; tensors that they hold are inputs."""

        class Model:
            def __init__(self):
                self.slopes, self.window = SLOPES, WINDOW

            def __call__(self, b, h, i, j):
                return self.near(i, j)

            def near(self, i, j, *, most=3):
                return i - j <= self.window * most

            def bias(self, scale, s, b, h, i, j):
                return s + scale["all"] * self.slopes[h] * (j - i)

        q, k, v = tensors(kv_heads=4)
        model = Model()
        score = functools.partial(model.bias, {"all": 2.0})

        def run(q, k, v):
            return flex_attention(q, k, v, score, mask_mod=model)

        compiled = torch.compile(run, fullgraph=True, backend="aot_eager")
        for slopes in (SLOPES, -2 * SLOPES):
            model.slopes = slopes
            expected = their_flex_attention(
                q, k, v, lambda s, b, h, i, j: s + 2 * slopes[h] * (j - i),
                block_mask=create_block_mask(lambda b, h, i, j: i - j <= 3 * WINDOW, None, None, 50, 50, device="cpu"),
            )  # fmt: skip
            for ours in (run, compiled):
                torch.testing.assert_close(ours(q, k, v), expected)

    def test_methods_of_values(self):
        q, k, v = tensors(kv_heads=4)

        def score(s, b, h, i, j):
            return torch.where(i > j, (s / 5).tanh() * 5, s.to(torch.float32)) + (i - j).abs().float() * SLOPES[h].neg()

        torch.testing.assert_close(flex_attention(q, k, v, score), their_flex_attention(q, k, v, score))

    def test_one_batch_entry_of_keys(self):
        q, k, v = tensors(kv_heads=4)
        expected = flex_attention(q, k[:1].repeat(2, 1, 1, 1), v[:1].repeat(2, 1, 1, 1))
        self.assertTrue(torch.equal(flex_attention(q, k[:1], v[:1]), expected))

    def test_refusals(self):
        q, k, v = tensors(kv_heads=4)
        table = torch.ones(3, 4, 5)

        class Model:
            bias = object()

        model, number = Model(), qa.scalar(3)
        other = create_block_mask(windowed, None, None, 64, 64, device="cpu")
        lists = create_block_mask(noop_mask, None, None, 50, 50, device="cpu")
        for error, words, score_mod, options in (
            (TypeError, "QM0207.*s if i > j.*where.*& for `and`", lambda s, b, h, i, j: s if i > j else -s, {}),
            (TypeError, "QM0208.*3 dimensions.*4 subscripts", lambda s, b, h, i, j: s + table[b, h, i, j], {}),
            (AttributeError, "Model.bias.*local variable", lambda s, b, h, i, j: s + model.bias(h), {}),
            (TypeError, "read a tensor", lambda s, b, h, i, j: s + number, {}),
            (TypeError, "no meaning.*tanh", lambda s, b, h, i, j: torch.special.bessel_j0(s), {}),
            (ValueError, "lengths.*64.*50", None, {"block_mask": other}),
            (NotImplementedError, "block lists", None, {"block_mask": lists}),
            (ValueError, "not both", None, {"block_mask": other, "mask_mod": windowed}),
            (ValueError, "4 heads and key has 2", None, {"k": k[:, :2]}),
        ):
            with self.subTest(words), self.assertRaisesRegex(error, f"(?s){words}"):
                flex_attention(q, options.pop("k", k), v, score_mod, **options)
        with self.assertRaises(qa.SpecError):
            flex_attention(q, k, v, mask_mod=lambda b, h, i, j: i // 0 == j)


class Varlen(unittest.TestCase):
    def setUp(self):
        q, k, v = tensors(batch=1, rows=70, keys=90)
        self.operands = [x[0].transpose(0, 1).contiguous() for x in (q, k, v)]  # [T, H, E]
        self.starts = torch.tensor([0, 30, 30, 70], dtype=torch.int32), torch.tensor([0, 41, 50, 90], dtype=torch.int32)

    def check(self, run):
        o, lse = run(*self.operands, *self.starts)
        self.assertEqual((o.shape, lse.shape), ((70, 4, 32), (4, 70)))
        for n in range(3):
            rows, keys = (slice(int(s[n]), int(s[n + 1])) for s in self.starts)
            q, k, v = (x[at].transpose(0, 1)[None] for x, at in zip(self.operands, (rows, keys, keys)))
            kept = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).tril(k.shape[2] - q.shape[2])
            expected = F.scaled_dot_product_attention(q, k, v, kept, enable_gqa=True)
            torch.testing.assert_close(o[rows].transpose(0, 1)[None], torch.nan_to_num(expected))

    @staticmethod
    def causal(q, k, v, cu_q, cu_kv):
        mask = masks.causal(qa.BOTTOM_RIGHT)
        return varlen_attention(q, k, v, cu_q, cu_kv, mask_mod=mask, enable_gqa=True, return_lse=True)

    def test_sequences(self):
        self.check(self.causal)
        with self.assertRaisesRegex(ValueError, r"\[tokens, heads, head dim\]"):
            varlen_attention(*tensors(), *self.starts)

    def test_compiled(self):
        made = masks.causal(qa.BOTTOM_RIGHT)

        def run(q, k, v, cu_q, cu_kv):
            return varlen_attention(q, k, v, cu_q, cu_kv, mask_mod=made, enable_gqa=True, return_lse=True)

        torch._dynamo.reset()
        with torch.no_grad():
            self.check(torch.compile(run, fullgraph=True, backend="aot_eager"))


class Operators(unittest.TestCase):
    def setUp(self):
        self.q, self.k, self.v = tensors(kv_heads=4)
        weights = qa.buffer("f32", ["heads"], "weights")
        spec = qa.Spec(
            heads=4, head_dim=32, dtype="f32", return_lse=True, score_mod=lambda s, b, h, i, j: s * weights[h],
            mask=masks.sliding_window(qa.scalar("i32", "window")),
        )  # fmt: skip
        self.program = spec.content
        self.expected = spec(self.q, self.k, self.v, weights=SLOPES, window=4)
        self.arguments = (self.q, self.k, self.v, [SLOPES], [4.0], self.program)

    def test_results(self):
        o, (lse,) = torch.ops.qimeng.attention(*self.arguments)
        self.assertTrue(torch.equal(o, self.expected[0]) and torch.equal(lse, self.expected[1]))
        out, log = torch.empty_like(o), torch.empty_like(lse)
        torch.ops.qimeng.attention_out(*self.arguments, out, log)
        self.assertTrue(torch.equal(o, out) and torch.equal(lse, log))
        with self.assertRaisesRegex(ValueError, "returns lse"):
            torch.ops.qimeng.attention_out(*self.arguments, out, None)
        plain = qa.Spec(heads=4, head_dim=32, dtype="f32").content
        torch.ops.qimeng.attention_out(self.q, self.k, self.v, [], [], plain, out, None)
        o, statistics = torch.ops.qimeng.attention(self.q, self.k, self.v, [], [], plain)
        self.assertTrue(torch.equal(o, out))
        self.assertEqual(statistics, [])
        both = qa.Spec(heads=4, head_dim=32, dtype="f32", return_lse=True, return_row_max=True).content
        o, (lse, high) = torch.ops.qimeng.attention(self.q, self.k, self.v, [], [], both)
        given = [torch.empty_like(x) for x in (o, lse, high)]
        torch.ops.qimeng.attention_out(self.q, self.k, self.v, [], [], both, *given)
        self.assertTrue(all(torch.equal(a, b) for a, b in zip(given, (o, lse, high))))
        with self.assertRaisesRegex(ValueError, "returns row_max"):
            torch.ops.qimeng.attention_out(self.q, self.k, self.v, [], [], both, *given[:2])

    def test_what_pytorch_asks_of_an_operator(self):
        torch.library.opcheck(torch.ops.qimeng.attention, self.arguments)
        torch.library.opcheck(torch.ops.qimeng.attention_out, (*self.arguments, torch.empty_like(self.q), torch.empty(2, 4, 50)))

    def test_other_captures_are_refused(self):
        for captures, scalars in (([], [4.0]), ([SLOPES], []), ([SLOPES, SLOPES], [4.0]), ([SLOPES], [4.0, 5.0])):
            with self.assertRaisesRegex(TypeError, r"weights \(an array of f32 \[4\]\), window \(a number"):
                torch.ops.qimeng.attention(self.q, self.k, self.v, captures, scalars, self.program)

    def test_there_is_no_silent_gradient(self):
        q = self.q.clone().requires_grad_()
        o, _ = torch.ops.qimeng.attention(q, *self.arguments[1:])
        with self.assertRaisesRegex(NotImplementedError, "backward pass.*no_grad"):
            o.sum().backward()
        self.assertIsNone(q.grad)
        slopes = SLOPES.clone().requires_grad_()
        o = flex_attention(self.q, self.k, self.v, lambda s, b, h, i, j: s * slopes[h])
        with self.assertRaisesRegex(NotImplementedError, "backward pass"):
            o.sum().backward()
        with torch.no_grad():
            self.assertFalse(torch.ops.qimeng.attention(q, *self.arguments[1:])[0].requires_grad)
        out = torch.empty_like(q)
        with self.assertRaisesRegex(NotImplementedError, "backward pass"):
            torch.ops.qimeng.attention_out(q, *self.arguments[1:], out, torch.empty(2, 4, 50))

    def test_a_saved_graph_needs_the_text_only(self):
        class Layer(torch.nn.Module):
            def forward(self, q, k, v):
                return flex_attention(q, k, v, mask_mod=windowed)

        exported = torch.export.export(Layer(), (self.q, self.k, self.v))
        self.assertIn("qimeng.attention", str(exported.graph))
        torch.testing.assert_close(exported.module()(self.q, self.k, self.v), flex_attention(self.q, self.k, self.v, mask_mod=windowed))


class Layer(torch.nn.Module):
    """A window of its own, a bias in a buffer, functions made in forward."""

    def __init__(self, window):
        super().__init__()
        self.window = window
        self.register_buffer("slopes", SLOPES.clone())

    def forward(self, q, k, v):
        window = self.window

        def near(b, h, i, j):
            return (i >= j) & (i - j <= window)

        return flex_attention(q, k, v, lambda s, b, h, i, j: s + self.slopes[h] * (j - i), mask_mod=near)


class Compiled(unittest.TestCase):
    def setUp(self):
        torch._dynamo.reset()
        self.q, self.k, self.v = tensors(kv_heads=4)

    def check(self, function, *arguments, **options):
        with torch.no_grad():
            compiled = torch.compile(function, fullgraph=True, backend="aot_eager", **options)
            torch.testing.assert_close(compiled(*arguments), function(*arguments))
        return compiled

    def test_inductor(self):
        def layer(q, k, v):
            return flex_attention(q, k, v, biased, mask_mod=windowed)

        with torch.no_grad():
            compiled = torch.compile(layer, fullgraph=True)
            torch.testing.assert_close(compiled(self.q, self.k, self.v), layer(self.q, self.k, self.v))
        # Inductor writes arguments into comments of its code: a line break would end the comment.
        self.assertNotIn("\n", qa.Spec(heads=4, head_dim=32, score_mod=biased_on_buffers).content)

    def test_functions_of_a_module(self):
        self.check(lambda q, k, v: flex_attention(q * 2, k, v, biased, mask_mod=windowed) + 1, self.q, self.k, self.v)
        self.check(lambda q, k, v: flex_attention(q, k, v, biased, return_lse=True)[1] * 2, self.q, self.k, self.v)
        asked = AuxRequest(max_scores=True)
        self.check(lambda q, k, v: flex_attention(q, k, v, biased, return_aux=asked)[1].max_scores, self.q, self.k, self.v)

    @unittest.skipIf(VERSION < (2, 15), "torch.compile of this version cannot look into functions that the compiled function makes")
    def test_functions_made_while_running(self):
        layer = Layer(7)
        compiled = self.check(layer, self.q, self.k, self.v)
        layer.slopes.mul_(4)
        with torch.no_grad():
            torch.testing.assert_close(compiled(self.q, self.k, self.v), layer(self.q, self.k, self.v))
            layer.window = 3
            torch.testing.assert_close(compiled(self.q, self.k, self.v), layer(self.q, self.k, self.v))
            layer.slopes = SLOPES * 0.1
            torch.testing.assert_close(compiled(self.q, self.k, self.v), layer(self.q, self.k, self.v))

    def test_block_masks_and_sdpa(self):
        kept = create_block_mask(windowed, None, None, 50, 50, device="cpu")
        self.check(lambda q, k, v: flex_attention(q, k, v, None, kept), self.q, self.k, self.v)
        self.check(lambda q, k, v: scaled_dot_product_attention(q, k, v, is_causal=True), self.q, self.k, self.v)
        mask = torch.rand(50, 50) < 0.9
        self.check(lambda q, k, v, m: scaled_dot_product_attention(q, k, v, m), self.q, self.k, self.v, mask)
        self.check(lambda q, k, v, m: scaled_dot_product_attention(q, k, v, m), self.q, self.k, self.v, mask.float())

    def test_lengths_do_not_recompile_with_dynamic_shapes(self):
        counter = torch._dynamo.testing.CompileCounterWithBackend("aot_eager")
        compiled = torch.compile(lambda q, k, v: flex_attention(q, k, v, mask_mod=windowed), fullgraph=True, backend=counter, dynamic=True)
        with torch.no_grad():
            for rows in (50, 17, 33, 48):
                q, k, v = tensors(kv_heads=4, rows=rows, keys=rows, batch=3 if rows > 40 else 2)
                torch.testing.assert_close(compiled(q, k, v), flex_attention(q, k, v, mask_mod=windowed))
        self.assertEqual(counter.frame_count, 1)

    def test_training_is_refused_when_it_is_compiled(self):
        q = self.q.clone().requires_grad_()
        compiled = torch.compile(lambda q, k, v: flex_attention(q, k, v, biased), fullgraph=True, backend="aot_eager")
        with self.assertRaisesRegex(Exception, "backward pass of qimeng::attention"):
            compiled(q, self.k, self.v).sum().backward()
        self.assertIsNone(q.grad)


if __name__ == "__main__":
    unittest.main()
