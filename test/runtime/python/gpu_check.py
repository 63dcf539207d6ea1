#!/usr/bin/env python3
"""The PyTorch operators on a GPU: results, torch.compile, CUDA graphs, streams, and what a launch costs the host.

usage: gpu_check.py --build LIBRARY [--arch LIST]     where qmc is: traces every case without running it and builds one library
       gpu_check.py LIBRARY [--only PART ...]         where the GPU is: LIBRARY is the libNAME.so; no compiler is needed
                    [--results FILE --commit ID]

Needs PyTorch and an NVIDIA GPU; where there is none it says so and exits with 77. Every line is "ok" or "FAIL"; ends with a count.
"""

import argparse
import datetime
import json
import math
import pathlib
import statistics
import subprocess
import sys
import threading
import time

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    print("skipped: this Python has no PyTorch")
    sys.exit(77)

import qimeng_attention as qa
from qimeng_attention.torch import flex_attention, program_of, programs, scaled_dot_product_attention, varlen_attention

WINDOW = 256
PARTS = ("sdpa", "flex", "varlen", "gradients", "graphs_and_streams", "devices", "other_libraries")
DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16}


def tensors(device, dtype="bf16", batch=2, heads=16, kv_heads=16, rows=1000, keys=1000, width=128, value_width=None):
    def make(*shape):
        return torch.randn(shape, device=device).to(DTYPES[dtype])

    return make(batch, heads, rows, width), make(batch, kv_heads, keys, width), make(batch, kv_heads, keys, value_width or width)


class Flex:
    """Score and mask functions as a model writes them."""

    def __init__(self, device):
        self.slopes = 2.0 ** -torch.arange(1, 17, device=device).float()
        self.ids = torch.arange(1000, device=device, dtype=torch.int32) // 170

    def cases(self):
        slopes, ids = self.slopes, self.ids

        def softcap(s, b, h, i, j):
            return 30 * torch.tanh(s / 30)

        def window(b, h, i, j):
            return (i >= j) & (i - j < WINDOW)

        def alibi(s, b, h, i, j):
            return s + slopes[h] * (j - i)

        def document(b, h, i, j):
            return (ids[i] == ids[j]) & (i >= j)

        return {
            "softcap and window": (softcap, window),
            "alibi": (alibi, lambda b, h, i, j: i >= j),
            "documents": (None, document),
            "document scores": (alibi, document),
        }


def written_out(q, k, v, score_mod=None, mask_mod=None, scale=None, type=torch.float32):
    """Unfused attention; probabilities are rounded to the input's type."""
    group, at = q.shape[1] // k.shape[1], [torch.arange(n, device=q.device) for n in (q.shape[0], q.shape[1], q.shape[2], k.shape[2])]
    grid = [x.view([-1 if n == axis else 1 for n in range(4)]) for axis, x in enumerate(at)]
    wide = [x.to(type).repeat_interleave(g, 1) for x, g in ((q, 1), (k, group), (v, group))]
    s = wide[0] @ wide[1].transpose(2, 3) * (1 / math.sqrt(q.shape[3]) if scale is None else scale)
    s = s if score_mod is None else score_mod(s, *grid)
    s = s if mask_mod is None else s.masked_fill(~mask_mod(*grid), -math.inf)
    high = s.amax(-1, keepdim=True).clamp_min(-1e30)
    p = (s - high).exp()
    total = p.sum(-1, keepdim=True)
    p = p if type == torch.float64 else p.to(q.dtype).to(type)
    return torch.where(total > 0, p @ wide[2] / total, 0)


class Check:
    def __init__(self, device):
        self.device = device
        self.passed = self.failed = 0

    @property
    def runs(self):
        return self.device != "meta"

    def note(self, name, holds, detail=""):
        self.passed, self.failed = self.passed + bool(holds), self.failed + (not holds)
        print(f"{'ok  ' if holds else 'FAIL'} {name} {detail}", flush=True)

    def agree(self, name, ours, *arguments, **options):
        """The numerics contract: twice the error of unfused attention in the input type, or half an ulp of the result."""
        if not self.runs:
            return
        truth = written_out(*arguments, **options, type=torch.float64)
        yardstick = (written_out(*arguments, **options).to(ours.dtype).double() - truth).abs().max().item()
        rounding = truth.abs().max().item() * torch.finfo(ours.dtype).eps / 2
        error = (ours.double() - truth).abs().max().item()
        self.note(name, error <= max(2 * yardstick, rounding), f"error {error:.1e}, yardstick {yardstick:.1e}")

    def sdpa(self):
        below = {"mask_mod": lambda b, h, i, j: i >= j}
        for dtype in DTYPES:
            for width in (64, 128):
                for kv_heads in (16, 4):
                    q, k, v = tensors(self.device, dtype, width=width, kv_heads=kv_heads)
                    for causal in (False, True):
                        ours = scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=True)
                        name = f"sdpa {dtype} D {width} {16 // kv_heads} groups {'causal' if causal else 'full'}"
                        self.agree(name, ours, q, k, v, **(below if causal else {}))
        q, k, v = tensors(self.device, keys=777)
        kept = torch.rand(2, 1, 1000, 777, device=self.device) < 0.5
        self.agree("sdpa bool mask", scaled_dot_product_attention(q, k, v, kept), q, k, v, mask_mod=lambda b, h, i, j: kept[b, 0, i, j])
        bias = torch.randn(16, 1000, 777, device=self.device)
        self.agree("sdpa bias", scaled_dot_product_attention(q, k, v, bias), q, k, v, score_mod=lambda s, b, h, i, j: s + bias[h, i, j])
        q, k, v = tensors(self.device, rows=1, keys=3000, kv_heads=4)
        self.agree("sdpa decode", scaled_dot_product_attention(q, k, v, enable_gqa=True), q, k, v)
        q, k, v = (x.transpose(1, 2).contiguous().transpose(1, 2) for x in tensors(self.device))
        self.agree("sdpa [B, S, H, D] in memory", scaled_dot_product_attention(q, k, v), q, k, v)
        q, k, v = tensors(self.device, width=60, value_width=100)
        self.agree("sdpa D 60 Dv 100", scaled_dot_product_attention(q, k, v, is_causal=True), q, k, v, **below)
        q, k, v = (x.transpose(2, 3).contiguous().transpose(2, 3) for x in tensors(self.device))
        self.agree("sdpa [B, H, D, S] in memory", scaled_dot_product_attention(q, k, v), q, k, v)
        q, k, v = (x[..., 1:129] for x in tensors(self.device, width=130))
        self.agree("sdpa rows without alignment", scaled_dot_product_attention(q, k, v), q, k, v)
        q, k, v = tensors(self.device)
        k, v = k[:1], v[:1]
        self.agree("sdpa one batch entry of keys", scaled_dot_product_attention(q, k, v), q, k.expand_as(q), v.expand_as(q))

    def flex(self):
        for name, (score_mod, mask_mod) in Flex(self.device).cases().items():
            q, k, v = tensors(self.device)
            ours = flex_attention(q, k, v, score_mod, mask_mod=mask_mod)
            self.agree(f"flex {name}", ours, q, k, v, score_mod=score_mod, mask_mod=mask_mod)
            if self.runs:
                # A compilation takes seconds: one with captured tensors in each mode, and one of each kind.
                modes = {"softcap and window": ["default"], "document scores": ["default", "reduce-overhead"]}
                for mode in modes.get(name, []):
                    compiled = torch.compile(
                        lambda q, k, v: flex_attention(q * 1, k, v, score_mod, mask_mod=mask_mod) * 1, fullgraph=True, mode=mode
                    )
                    for _ in range(3):
                        got = compiled(q, k, v).clone()
                    self.note(f"flex {name} under torch.compile, mode {mode}", torch.equal(got, ours))

    def varlen(self):
        """Packed sequences, one of them empty, one with more keys than queries; in pieces they are what attention gives one by one."""
        lengths = ([0, 700, 700, 829, 2000], [0, 700, 900, 1029, 3000])  # starts of queries and of keys
        starts = [torch.tensor(x, dtype=torch.int32, device=self.device) for x in lengths]
        below = qa.masks.causal(qa.BOTTOM_RIGHT)

        def softcap(s, b, h, i, j):
            return 30 * torch.tanh(s / 30)

        def window(b, h, i, j):
            return (i >= j) & (i - j < WINDOW)

        for name, score_mod, mask_mod in (("full", None, None), ("causal", None, below), ("softcap and window", softcap, window)):
            q = tensors(self.device, kv_heads=4, rows=lengths[0][-1])[0][0].transpose(0, 1).contiguous()
            k, v = (x[0].transpose(0, 1).contiguous() for x in tensors(self.device, kv_heads=4, keys=lengths[1][-1])[1:])

            def call(q, k, v, *starts):
                return varlen_attention(q, k, v, *starts, score_mod, mask_mod, enable_gqa=True, return_lse=True)  # noqa: B023

            ours, lse = call(q, k, v, *starts)
            if not self.runs:
                continue
            for n in range(len(lengths[0]) - 1):
                rows, keys = (slice(x[n], x[n + 1]) for x in lengths)
                if rows.start == rows.stop:
                    continue
                shift = (keys.stop - keys.start) - (rows.stop - rows.start)
                kept = (lambda b, h, i, j: j - i <= shift) if mask_mod is below else mask_mod  # noqa: B023
                pieces = [x[at].transpose(0, 1)[None] for x, at in ((q, rows), (k, keys), (v, keys))]
                self.agree(f"varlen {name}, sequence {n}", ours[rows].transpose(0, 1)[None], *pieces, score_mod=score_mod, mask_mod=kept)
            if name == "softcap and window":
                compiled = torch.compile(call, fullgraph=True)
                for _ in range(2):
                    got = compiled(q, k, v, *starts)
                self.note("varlen under torch.compile", torch.equal(got[0], ours) and torch.equal(got[1], lse))
                continue
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                got = call(q, k, v, *starts)
            graph.replay()
            self.note(f"varlen {name} in a CUDA graph", torch.equal(got[0], ours) and torch.equal(got[1], lse))

    def gradients(self):
        """There is no backward pass: asking for one is an error, and never a gradient of zero."""
        if not self.runs:
            return
        q, k, v = tensors(self.device)
        slopes = Flex(self.device).slopes
        with torch.enable_grad():
            for name, x in (("q", q), ("a captured tensor", slopes)):
                x.requires_grad_()
                o = flex_attention(q, k, v, lambda s, b, h, i, j: s + slopes[h] * (j - i), mask_mod=lambda b, h, i, j: i >= j)
                try:
                    o.sum().backward()
                    said = "nothing"
                except NotImplementedError as error:
                    said = str(error)
                self.note(f"gradient of {name} is refused", "backward pass" in said and x.grad is None, said)
                x.requires_grad_(False)

    def graphs_and_streams(self):
        q, k, v = tensors(self.device)
        program = qa.Spec(heads=16, head_dim=128, mask=qa.masks.causal("bottom_right"), return_lse=True)
        text = program.content
        program_of(text, program)
        torch.ops.qimeng.attention(q, k, v, [], [], text)
        if not self.runs:
            return
        expected, (lse,) = torch.ops.qimeng.attention(q, k, v, [], [], text)
        out, log = torch.empty_like(expected), torch.empty_like(lse)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            torch.ops.qimeng.attention_out(q, k, v, [], [], text, out, log)
        first = q.clone()
        graph.replay()
        torch.cuda.synchronize()
        self.note("CUDA graph", torch.equal(out, expected) and torch.equal(log, lse))
        q.copy_(first.flip(2))
        graph.replay()
        self.note("CUDA graph with new contents", torch.equal(out, torch.ops.qimeng.attention(q, k, v, [], [], text)[0]))
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            late = torch.randn(4096, 4096, device="cuda")
            for _ in range(20):
                late = late @ late / 64
            q.copy_(first)
            got = torch.ops.qimeng.attention(q, k, v, [], [], text)[0]
        torch.cuda.current_stream().wait_stream(stream)
        self.note("another stream", torch.equal(got, expected))
        spec = qa.attention(q, k, v, mask=qa.masks.causal("bottom_right"), return_lse=True)[0]
        self.note("qimeng_attention.attention on CUDA tensors", torch.equal(spec, expected))

    def devices(self):
        """Two GPUs in turn and at once, from a thread whose current device is another; tensors of both in one call are an error."""
        spec = qa.Spec(heads=16, head_dim=128, mask=qa.masks.causal("bottom_right"), return_lse=True)
        text = spec.content
        program_of(text, spec)
        if not self.runs:
            return
        if torch.cuda.device_count() < 2:
            print("     one GPU here")
            return
        q, k, v = tensors("cuda:0")
        there = [x.to("cuda:1") for x in (q, k, v)]

        def call(*operands):
            return torch.ops.qimeng.attention(*operands, [], [], text)[0]

        expected = call(q, k, v)
        for current in (0, 1):
            with torch.cuda.device(current):
                for _ in range(20):
                    first, second = call(q, k, v), call(*there)
                self.note(
                    f"two GPUs in turn, device {current} current",
                    torch.equal(first, expected) and torch.equal(second.to("cuda:0"), expected) and torch.cuda.current_device() == current,
                )
        results = [None] * 8

        def work(n):
            results[n] = call(*(there if n % 2 else (q, k, v))).to("cuda:0")

        threads = [threading.Thread(target=work, args=(n,)) for n in range(len(results))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.note("two GPUs from eight threads", all(x is not None and torch.equal(x, expected) for x in results))
        try:
            call(q, there[1], v)
            said = "nothing"
        except qa.LaunchError as error:
            said = str(error)
        self.note("tensors of two GPUs in one call", "QM0511" in said, said.split("\n")[0])

    def other_libraries(self):
        """Arrays that speak DLPack and nothing else of ours: CuPy's."""
        spec = qa.Spec(heads=8, kv_heads=2, head_dim=64, dtype="f16", mask=qa.masks.causal("top_left"))
        program_of(spec.content, spec)
        if not self.runs:
            return
        try:
            import cupy
        except ImportError:
            print("     no CuPy here")
            return
        q, k, v = tensors(self.device, "f16", heads=8, kv_heads=2, width=64)
        theirs = [cupy.from_dlpack(x) for x in (q, k, v)]
        with cupy.cuda.Stream(non_blocking=True) as stream:
            o = qa.attention(*theirs, mask=qa.masks.causal("top_left"))
            stream.synchronize()
        self.note("the result is CuPy's", type(o) is cupy.ndarray)
        ours = torch.from_dlpack(o)
        self.agree("CuPy arrays on a stream of CuPy's", ours, q, k, v, mask_mod=lambda b, h, i, j: i >= j)

    def costs(self):
        """Host time of one call in microseconds, median of 2000 in batches that the GPU keeps up with."""
        if not self.runs:
            return {}
        q, k, v = tensors(self.device, batch=1, rows=64, keys=64)
        text = qa.Spec(heads=16, head_dim=128, mask=qa.masks.causal("bottom_right"), return_lse=True).content
        kernel = qa.Spec(heads=16, head_dim=128, mask=qa.masks.causal("bottom_right"), return_lse=True).kernel("cuda")
        out, (lse,) = torch.ops.qimeng.attention(q, k, v, [], [], text)
        kept = lambda b, h, i, j: i >= j  # noqa: E731
        calls = {
            "operator": lambda: torch.ops.qimeng.attention(q, k, v, [], [], text),
            "operator, results given": lambda: torch.ops.qimeng.attention_out(q, k, v, [], [], text, out, lse),
            "kernel object": lambda: kernel(q, k, v, out=out, lse=lse),
            "flex_attention": lambda: flex_attention(q, k, v, mask_mod=kept),
            "scaled_dot_product_attention": lambda: scaled_dot_product_attention(q, k, v, is_causal=True),
            "PyTorch's scaled_dot_product_attention": lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        }
        costs = {}
        with torch.inference_mode():
            for name, call in calls.items():
                call()
                times = []
                for _ in range(100):
                    torch.cuda.synchronize()
                    for _ in range(20):
                        start = time.perf_counter()
                        call()
                        times.append((time.perf_counter() - start) * 1e6)
                costs[name] = statistics.median(times)
                print(f"     host time of a call: {name:40} {costs[name]:6.1f} us", flush=True)
        return costs

    def run(self, parts=PARTS):
        with torch.no_grad():
            torch.manual_seed(0)
            for part in parts:
                getattr(self, part)()
            return self.costs()


def rows_of(costs, commit):
    """Rows for test/perf/results."""

    def ask(field):
        query = ["nvidia-smi", f"--query-gpu={field}", "--format=csv,noheader,nounits"]
        return subprocess.run(query, capture_output=True, text=True).stdout.split("\n")[0].strip()

    peer = costs.pop("PyTorch's scaled_dot_product_attention")
    common = {
        "gpu": torch.cuda.get_device_name(), "sm_mhz": int(ask("clocks.sm") or 0), "driver": ask("driver_version"), "commit": commit,
        "date": datetime.date.today().isoformat(),
    }  # fmt: skip
    return [
        {
            "suite": "python_launch", "cell": f"{name}, B1 H16 S64 D128 bf16", "metric": "host time of a call", "unit": "us",
            "ours": round(cost, 1), "peers": {f"torch {torch.__version__.split('+')[0]} sdpa": round(peer, 1)},
            "ratio": round(peer / cost, 2), "bar": None, **common,
        }
        for name, cost in costs.items()
    ]  # fmt: skip


def main():
    options = argparse.ArgumentParser()
    options.add_argument("library", type=pathlib.Path)
    options.add_argument("--build", action="store_true")
    options.add_argument("--arch", default="sm_80,sm_90a")
    options.add_argument("--results", type=pathlib.Path)
    options.add_argument("--commit", help="of the kernels, for --results")
    options.add_argument("--only", nargs="*", choices=PARTS)
    options = options.parse_args()
    if options.build:
        Check("meta").run()
        kernel = qa.Spec(heads=16, head_dim=128, mask=qa.masks.causal("bottom_right"), return_lse=True)
        print(f"{len(programs())} programs; {kernel.name} for the costs is one: {kernel.name in [p.name for p in programs()]}")
        print(qa.build(programs(), options.library, options.arch.split(",")))
        return 0
    if not torch.cuda.is_available():
        print("skipped: there is no GPU")
        return 77
    qa.register(options.library)
    check = Check("cuda")
    costs = check.run(options.only or PARTS)
    if options.results:
        options.results.write_text(json.dumps(rows_of(costs, options.commit), indent=1) + "\n")
    print(f"{check.passed} passed, {check.failed} failed")
    return 1 if check.failed else 0


if __name__ == "__main__":
    sys.exit(main())
