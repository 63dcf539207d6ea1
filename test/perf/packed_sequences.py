#!/usr/bin/env python3
"""Packed sequences on one GPU: what many short ones cost beside few long ones, and that lengths are data.

usage: packed_sequences.py FOLDER [--target NAME] [--results FILE] [--commit ID]

FOLDER holds kernels.json and images that `qmc build packed_sequences.cpp --arch=NAME --emit=ptx,json -o FOLDER/kernels` wrote, and
libqimeng.so. Everything in bf16, 16 heads. Checks against FlashAttention-2 (PyTorch's, with cu_seqlens) come first. Then

* 8192 sequences of 34 tokens, against FlashAttention-2, our kernel without lengths on [8192, 34], our kernel for one sequence of
  documents, and the time that reading q, k and v and writing O takes at the measured speed of a copy;
* the same with no keys, beside the same tokens as 8 sequences: what a launch costs apart from attention;
* 17 sequences of 16384 tokens against the kernel without lengths; sequences of random lengths, and one of 16384 tokens with 64 of 256,
  against FlashAttention-2;
* 500 sets of lengths and windows through one image, memory before and after; one captured graph whose lengths change;
* 70,000 sequences of 17 tokens: more than 2^31 elements a tensor.

Each figure is the median of launches by events, all candidates in turn. Where there is no GPU it says so and exits with 0.
"""

import argparse
import ctypes
import datetime
import json
import pathlib
import statistics

import gpu_peers
from gpu_peers import CUDA, QM_TENSOR, DLTensor, LaunchOptions, Runtime, Value, milliseconds, query, torch

HEADS = 16


class Kernel:
    """Launches on PyTorch's current stream; tensors are [T, H, D] or [B, H, S, D], lengths i32, integers scalars."""

    def __init__(self, runtime, library, name):
        self.runtime = runtime
        self.handle = ctypes.c_void_p()
        runtime.call("qm_library_find", library, name.encode(), ctypes.byref(self.handle))

    def bind(self, *arguments):
        values, kept = (Value * len(arguments))(), []
        for value, argument in zip(values, arguments):
            if isinstance(argument, int):
                value.kind = 2
                value.tensor = ctypes.cast(ctypes.c_void_p(argument & 0xFFFFFFFF), ctypes.POINTER(DLTensor))
                continue
            real = argument.dtype == torch.bfloat16
            shape = (ctypes.c_int64 * argument.dim())(*argument.shape)
            strides = (ctypes.c_int64 * argument.dim())(*argument.stride())
            described = DLTensor(argument.data_ptr(), CUDA, argument.device.index, argument.dim(), 4 if real else 0,
                                 16 if real else 32, 1, shape, strides, 0)
            kept += [shape, strides, described, argument]
            value.kind, value.tensor = QM_TENSOR, ctypes.pointer(described)

        def launch():
            _ = kept
            options = LaunchOptions(ctypes.sizeof(LaunchOptions), torch.cuda.current_stream().cuda_stream or None, 0, 0)
            self.runtime.call("qm_launch", self.handle, values, ctypes.c_size_t(len(arguments)), ctypes.byref(options))

        return launch


def starts(lengths):
    lengths = torch.as_tensor(lengths, dtype=torch.int64)
    return torch.cat([torch.zeros(1, dtype=torch.int64), lengths.cumsum(0)]).to(torch.int32).cuda()


def random(tokens, width):
    return torch.randn(tokens, HEADS, width, device="cuda:0", dtype=torch.bfloat16)


def flash(q, k, v, cu_q, cu_kv, longest, causal):
    """PyTorch's FlashAttention-2 on packed sequences; causal for equal lengths only."""
    return torch.ops.aten._flash_attention_forward(q, k, v, cu_q, cu_kv, longest[0], longest[1], 0.0, causal, False)[0]


def error_of(o, expected):
    o, expected = o.float(), expected.float()
    return ((o - expected).norm() / expected.norm()).item()


class Session:
    def __init__(self, options):
        self.runtime = Runtime(options.folder / "libqimeng.so")
        manifest = json.loads((options.folder / "kernels.json").read_text())
        self.target = options.target or manifest["kernels"][0]["target"]
        self.library = self.runtime.load(options.folder, manifest, self.target)
        self.flush = torch.empty(256 << 20, dtype=torch.int8, device="cuda")
        self.commit, self.results, self.rows = options.commit, options.results, []

    def kernel(self, name):
        return Kernel(self.runtime, self.library[0], name)

    def times(self, functions, launches=10, rounds=3):
        found = {name: [] for name in functions}
        for function in functions.values():
            function()
        for _ in range(rounds):
            for name, function in functions.items():
                found[name].append(milliseconds(function, self.flush, launches))
        return {name: statistics.median(values) for name, values in found.items()}

    def report(self, cell, times, ours, against, bar=None):
        peers = {name: round(value, 4) for name, value in times.items() if name != ours}
        ratio = times[against] / times[ours]  # of speeds, as in all results
        print(f"  {cell}: {ours} {times[ours]:.3f} ms; " + ", ".join(f"{n} {v:.3f}" for n, v in peers.items())
              + f"; {ratio:.3f} of {against}'s speed", flush=True)
        self.add_row("packed sequences", cell, times[ours], peers, ratio, bar)

    def add_row(self, suite, cell, ours, peers, ratio, bar=None):
        self.rows.append({
            "suite": f"{suite} {self.target}", "cell": cell, "metric": "time", "unit": "ms",
            "ours": round(ours, 4), "peers": peers, "ratio": round(ratio, 3), "bar": bar,
            "gpu": torch.cuda.get_device_name(0), "sm_mhz": float(query("clocks.sm") or 0),
            "driver": query("driver_version"), "commit": self.commit, "date": datetime.date.today().isoformat()})

    def write(self):
        if self.results:
            self.results.write_text(json.dumps(self.rows, indent=1) + "\n")


def open_session(description, title, kind):
    """A session (`kind`) of the command line's folder and options; None, and why, where there is no GPU."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--target", help="only kernels of this target")
    parser.add_argument("--results", type=pathlib.Path)
    parser.add_argument("--commit", help="commit of the kernels, for --results")
    options = parser.parse_args()
    if torch is None or not torch.cuda.is_available():
        print(f"skipped: {'no PyTorch' if torch is None else 'no GPU'} here")
        return None
    session = kind(options)
    print(f"{title}, {session.target} code on {torch.cuda.get_device_name(0)}", flush=True)
    return session


def check(session):
    torch.manual_seed(1)
    lengths = torch.randint(0, 700, (64,))
    lengths[::7] = 0
    keys = torch.randint(1, 900, (64,))
    worst = 0
    for name, width, causal, cross in [("packed_full_128", 128, False, True), ("packed_causal_128", 128, True, False),
                                       ("packed_causal_64", 64, True, False)]:
        kv = keys if cross else lengths
        cu_q, cu_kv = starts(lengths), starts(kv)
        q, k, v = random(int(lengths.sum()), width), random(int(kv.sum()), width), random(int(kv.sum()), width)
        o = torch.full_like(q, float("nan"))
        session.kernel(name).bind(q, k, v, cu_q, cu_kv, o)()
        expected = flash(q, k, v, cu_q, cu_kv, (int(lengths.max()), int(kv.max())), causal)
        error = error_of(o, expected)
        assert error < 0.01, f"{name}: the result differs from FlashAttention-2's by {error:.3g}"
        worst = max(worst, error)
    print(f"  64 sequences, self and cross: relative distance from FlashAttention-2 at most {worst:.1e}", flush=True)


def many_short(session):
    count, length, width = 8192, 34, 128
    tokens = count * length
    q, k, v = (random(tokens, width) for _ in range(3))
    o = torch.empty_like(q)
    many, few = starts([length] * count), starts([tokens // 8] * 8)
    none = torch.zeros_like(many)
    copied = torch.empty_like(o)
    batched = [t.view(count, length, HEADS, width).transpose(1, 2) for t in (q, k, v, o)]
    *whole, output = (t.view(1, tokens, HEADS, width).transpose(1, 2) for t in (q, k, v, o))
    ids = torch.arange(count, device="cuda", dtype=torch.int32).repeat_interleave(length)

    def floor():  # as many bytes as q, k, v and O
        copied.copy_(q)
        copied.copy_(k)

    for causal in (False, True):
        kind = "causal" if causal else "full"
        packed = session.kernel(f"packed_{kind}_128")
        times = session.times({
            "ours": packed.bind(q, k, v, many, many, o),
            "fa2 varlen": lambda: flash(q, k, v, many, many, (length, length), causal),
            "ours [8192, 34]": session.kernel(f"dense_{kind}_128").bind(*batched),
            "ours as documents": session.kernel(f"documents_{kind}_128").bind(
                *whole, ids, *([many[:-1]] if causal else []), output),
            "copy of the bytes": floor})
        session.report(f"8192 x 34 {kind} D128", times, "ours", "ours [8192, 34]", bar=0.833)  # 1.2 times the time
    packed = session.kernel("packed_full_128")
    times = session.times({
        "8192 x 34": packed.bind(q, k, v, many, none, o),
        "8 x 34816": packed.bind(q, k, v, few, torch.zeros_like(few), o)})
    session.report("278528 tokens without keys D128", times, "8192 x 34", "8 x 34816")


def long_sequences(session):
    count, length, width = 17, 16384, 128
    q, k, v = (random(count * length, width) for _ in range(3))
    o, cu = torch.empty_like(q), starts([length] * count)
    batched = [t.view(count, length, HEADS, width).transpose(1, 2) for t in (q, k, v, o)]
    times = session.times({
        "ours": session.kernel("packed_causal_128").bind(q, k, v, cu, cu, o),
        "ours [17, 16384]": session.kernel("dense_causal_128").bind(*batched),
        "fa2 varlen": lambda: flash(q, k, v, cu, cu, (length, length), True)}, launches=2)
    session.report("17 x 16384 causal D128", times, "ours", "ours [17, 16384]")
    torch.manual_seed(2)
    for width in (64, 128):
        lengths = torch.randint(1, 8192, (32,))
        tokens, longest = int(lengths.sum()), int(lengths.max())
        q, k, v = (random(tokens, width) for _ in range(3))
        o, cu = torch.empty_like(q), starts(lengths)
        times = session.times({
            "ours": session.kernel(f"packed_causal_{width}").bind(q, k, v, cu, cu, o),
            "fa2 varlen": lambda: flash(q, k, v, cu, cu, (longest, longest), True)}, launches=5)
        session.report(f"32 random lengths up to 8192 causal D{width}", times, "ours", "fa2 varlen")
    # One long document among short ones: a kernel that begins with it last has one multiprocessor at work at the end.
    for name, lengths in (("first", [16384] + [256] * 64), ("last", [256] * 64 + [16384])):
        tokens = sum(lengths)
        q, k, v = (random(tokens, 128) for _ in range(3))
        o, cu = torch.empty_like(q), starts(lengths)
        times = session.times({
            "ours": session.kernel("packed_causal_128").bind(q, k, v, cu, cu, o),
            "fa2 varlen": lambda: flash(q, k, v, cu, cu, (16384, 16384), True)}, launches=5)
        session.report(f"16384 tokens {name} and 64 x 256 causal D128", times, "ours", "fa2 varlen")


def lengths_are_data(session):
    torch.manual_seed(3)
    q, k, v = (random(20000, 128) for _ in range(3))
    o = torch.empty_like(q)
    custom = session.kernel("packed_custom_128")
    cu, graph = starts([0] * 64), torch.cuda.CUDAGraph()
    launch = custom.bind(q, k, v, cu, cu, 50, o)
    launch()
    torch.cuda.synchronize()
    before = torch.cuda.mem_get_info()[0]
    for _ in range(500):
        lengths = torch.randint(0, 600, (64,))
        cu.copy_(starts((lengths * (20000 / max(int(lengths.sum()), 20000))).floor().long()))
        custom.bind(q, k, v, cu, cu, int(torch.randint(1, 600, ())), o)()
    torch.cuda.synchronize()
    after = torch.cuda.mem_get_info()[0]
    assert before == after, f"500 sets of lengths took {before - after} bytes"
    with torch.cuda.graph(graph):
        launch = custom.bind(q, k, v, cu, cu, 50, o)
        launch()
    expected = torch.empty_like(o)
    for lengths in ([20000] + [0] * 63, [300] * 64, [0, 17] * 32):
        cu.copy_(starts(lengths))
        o.zero_()
        expected.zero_()
        graph.replay()
        custom.bind(q, k, v, cu, cu, 50, expected)()
        torch.cuda.synchronize()
        assert torch.equal(o, expected), "a graph with new lengths differs from a launch with them"
    print("  500 sets of lengths and windows, one image: device memory unchanged; one graph for all lengths", flush=True)


def past_two_to_31(session):
    count, length = 70000, 17
    cu = starts([length] * count)
    q, k, v = (random(count * length, 128) for _ in range(3))
    o = torch.full_like(q, float("nan"))
    session.kernel("packed_causal_128").bind(q, k, v, cu, cu, o)()
    torch.cuda.synchronize()
    for first in (0, 35000, count - 64):
        rows = slice(first * length, (first + 64) * length)
        expected = flash(q[rows], k[rows], v[rows], cu[:65], cu[:65], (length, length), True)
        error = error_of(o[rows], expected)
        assert error < 0.01, f"sequences from {first} on differ by {error:.3g}"
    print(f"  70,000 sequences, {q.numel():,} elements a tensor: first, middle and last are right", flush=True)


def main():
    session = open_session(__doc__, "packed sequences", Session)
    if session is None:
        return
    for part in (check, many_short, long_sequences, lengths_are_data, past_two_to_31):
        part(session)
        torch.cuda.empty_cache()
        session.write()


if __name__ == "__main__":
    main()
