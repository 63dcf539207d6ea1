#!/usr/bin/env python3
"""Our kernels under masks beside FlexAttention on one GPU, interleaved in one process.

usage: gpu_masks.py FOLDER [--target NAME] [--cells TEXT] [--rounds N] [--no-flex]
                    [--seconds N] [--results FILE] [--commit ID]

FOLDER holds what `qmc bench --suite=masks --dump-kernels=FOLDER` wrote, libqimeng.so, gpu_peers.py and packed_sequences.py. The masks
are those of qmc/BenchMasks.cpp, written here as FlexAttention takes them. Pairs are counted from them, element by element. Before
anything is timed some rows of each result are compared with float64, and all of it with FlexAttention's. Each figure is the median
of the rounds, and of each round's launches, with the L2 cache cleared before every one. FlexAttention runs where the suite has a
bar against it, with its BlockMask made beforehand; the time to make it is printed. TFLOP/s are 4 D a kept pair over the time.

Rows are the rate beside FlexAttention, and beside our own causal kernel. Where there is no GPU it says so and exits with 0.
"""

import argparse
import datetime
import json
import pathlib
import statistics
import time

from gpu_peers import DTYPES, Runtime, milliseconds, query, torch
from packed_sequences import Kernel

# Ratios to our causal kernel: of rates, and of times where the mask is causal and more.
BARS_TO_CAUSAL = {"window_1024": ("rate", 0.80), "prefix_4096": ("rate", 0.97), "bits_causal": ("time", 1.2)}


def masks(length):
    """name -> (captured buffers in order, keep(b, h, i, j))"""
    device = "cuda:0"
    ids = (torch.arange(length, device=device) // 1500).to(torch.int32)
    words = torch.randint(-(2**31), 2**31, (length, length // 32), device=device, dtype=torch.int64).to(torch.int32)

    def natten(b, h, i, j, side=128, radius=6):
        row, column = i // side, i % side
        near_rows = (row.clamp(radius, side - 1 - radius) - j // side).abs() <= radius
        return near_rows & ((column.clamp(radius, side - 1 - radius) - j % side).abs() <= radius)

    def diffusion(b, h, i, j, n=8192, block=32):
        noisy_i, noisy_j, block_i, block_j = i < n, j < n, i % n // block, j % n // block
        same = (block_i == block_j) & (noisy_i == noisy_j)
        return same | (noisy_i & ~noisy_j & (block_i > block_j)) | (~noisy_i & ~noisy_j & (block_i >= block_j))

    def custom(b, h, i, j):
        return (i >= j) & (((i // 512 + 3 * (j // 256) + h) % 4 == 1) | (i - j < 700))

    return {
        "full": ([], None),
        "causal": ([], lambda b, h, i, j: i >= j),
        "window_1024": ([], lambda b, h, i, j: (i >= j) & (i - j <= 1024)),
        "prefix_4096": ([], lambda b, h, i, j: (j < 4096) | (i >= j)),
        "documents_1500": ([ids], lambda b, h, i, j: (ids[i] == ids[j]) & (i >= j)),
        "dilated_1024_4": ([], lambda b, h, i, j: ((i - j).abs() <= 1024) & ((i - j) % 4 == 0)),
        "natten_128x128_13": ([], natten),
        "sink_4_window_1024": ([], lambda b, h, i, j: (i >= j) & ((j < 4) | (i - j <= 1024))),
        "chunked_8192": ([], lambda b, h, i, j: (i // 8192 == j // 8192) & (i >= j)),
        "block_diffusion_8192_32": ([], diffusion),
        "custom": ([], custom),
        "bits_causal": ([words], lambda b, h, i, j: (((words[i, j // 32] >> (j % 32)) & 1) == 1) & (i >= j)),
    }


def rows_of(keep, heads, first, last, length):
    """The mask of some query rows, [heads, rows, length]."""
    h = torch.arange(heads, device="cuda")[:, None, None]
    i = torch.arange(first, last, device="cuda")[None, :, None]
    j = torch.arange(length, device="cuda")[None, None, :]
    return keep(torch.zeros_like(h), h, i, j).expand(heads, last - first, length)


def block_mask_of(keep, heads, length, BlockMask, block=128):
    """A BlockMask made of the mask of one row of blocks after another: create_block_mask would hold all pairs of all heads."""

    def ordered(dense):
        indices = torch.argsort(dense.to(torch.int8), dim=-1, descending=True, stable=True)
        return dense.sum(-1, dtype=torch.int32)[None], indices.to(torch.int32)[None]

    needed, full = [], []
    for first in range(0, length, block):
        blocks = rows_of(keep, heads, first, first + block, length).unflatten(2, (length // block, block))
        needed.append(blocks.any(3).any(1))
        full.append(blocks.all(3).all(1))
    needed, full = torch.stack(needed, 1), torch.stack(full, 1)
    return BlockMask.from_kv_blocks(*ordered(needed & ~full), *ordered(full), BLOCK_SIZE=block, mask_mod=keep)


def kept_pairs(keep, heads, length):
    return sum(int(rows_of(keep, heads, n, n + 256, length).sum()) for n in range(0, length, 256))


def check(cell, o, tensors, keep, flex):
    """Rows of our result against float64, and all of it against FlexAttention."""
    q, k, v = tensors
    heads, length = q.shape[1], q.shape[2]
    for first in (0, length // 3 // 16 * 16, length - 16):
        rows = slice(first, first + 16)
        scores = q[0, :, rows].double() @ k[0].double().transpose(1, 2) * q.shape[3] ** -0.5
        scores = scores.masked_fill(~rows_of(keep, heads, first, first + 16, length), float("-inf"))
        expected = torch.nan_to_num(torch.softmax(scores, -1)) @ v[0].double()
        error = ((o[0, :, rows].double() - expected).norm() / expected.norm()).item()
        assert error < 0.01, f"{cell['mask']}: rows from {first} differ from float64 by {error:.3g}"
    if flex:
        expected = flex().float()
        error = ((o.float() - expected).norm() / expected.norm()).item()
        assert error < 0.02, f"{cell['mask']}: the result differs from FlexAttention's by {error:.3g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--target", help="only kernels of this target")
    parser.add_argument("--cells", default="", help="only masks with this in their name, and causal")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--launches", type=int, default=10, help="timed launches a round")
    parser.add_argument("--no-flex", action="store_true")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no cell after so long")
    parser.add_argument("--results", type=pathlib.Path)
    parser.add_argument("--commit", help="commit of the kernels, for --results")
    options = parser.parse_args()
    if torch is None or not torch.cuda.is_available():
        print(f"skipped: {'no PyTorch' if torch is None else 'no GPU'} here")
        return

    start = time.time()
    torch.manual_seed(0)
    flush = torch.empty(256 << 20, dtype=torch.int8, device="cuda")
    suite = json.loads((options.folder / "masks.cells.json").read_text())
    manifest = json.loads((options.folder / suite["manifest"]).read_text())
    runtime = Runtime(options.folder / "libqimeng.so")
    targets = [t for t in suite["targets"] if options.target in (None, t)]
    libraries = {t: runtime.load(options.folder, manifest, t) for t in targets}
    print(f"kernels loaded after {time.time() - start:.1f} s", flush=True)
    device, driver, flex_attention = torch.cuda.get_device_name(0), query("driver_version"), None
    if not options.no_flex:
        import torch._dynamo as dynamo
        from torch.nn.attention.flex_attention import BlockMask, flex_attention

        dynamo.config.recompile_limit = 512
        flex_attention = torch.compile(flex_attention, dynamic=False)

    measured = Measured(options, suite, device, driver, targets)
    cells = [cell for cell in suite["cells"] if cell["mask"] == "causal" or options.cells in cell["mask"]]
    print(f"masks on {device}, {options.rounds} rounds", flush=True)
    # Ours alone first, then side by side, which takes minutes of compilation: what was measured by then is kept.
    for beside in ("alone", "flex"):
        for cell in cells:
            if beside == "flex" and not (flex_attention and cell["bars"]):
                continue
            if time.time() - start > options.seconds:
                print(f"  {cell['mask']}: no time left", flush=True)
                continue
            name, heads, length = cell["mask"], cell["heads"], cell["sq"]
            shape = (cell["batch"], length, heads, cell["head_dim"])
            q, k, v, o = (
                torch.randn(*shape, device="cuda:0", dtype=getattr(torch, DTYPES[cell["dtype"]])).transpose(1, 2)
                for _ in range(4)
            )
            buffers, keep = masks(length)[name]
            if name not in measured.flops:
                pairs = kept_pairs(keep, heads, length)
                measured.flops[name] = 4 * cell["head_dim"] * cell["batch"] * pairs
            functions = {}
            if beside == "flex":
                begun = time.time()
                by_head = name == "custom"
                block_mask = block_mask_of(keep, heads if by_head else 1, length, BlockMask)
                torch.cuda.synchronize()
                made = time.time() - begun

                def flex(q=q, k=k, v=v, block_mask=block_mask):
                    return flex_attention(q, k, v, block_mask=block_mask)

                flex()
                torch.cuda.synchronize()
                print(f"  {name}: BlockMask in {made:.1f} s, FlexAttention in {time.time() - begun - made:.1f} s", flush=True)
                functions["flex"] = flex
            for target, (library, _) in libraries.items():
                ours = Kernel(runtime, library, cell["kernel"]).bind(q, k, v, *buffers, o)
                o.fill_(float("nan"))
                ours()
                torch.cuda.synchronize()
                check(cell, o, (q, k, v), keep, functions.get("flex"))
                functions[target] = ours
            times = {key: [] for key in functions}
            for _ in range(options.rounds):
                for key, function in functions.items():
                    times[key].append(milliseconds(function, flush, options.launches))
                measured.clocks.setdefault(name, []).append(query("clocks.sm"))
            measured.add(name, {key: statistics.median(values) for key, values in times.items()})
            measured.write()


class Measured:
    """Times by mask, and the rows that they make."""

    def __init__(self, options, suite, device, driver, targets):
        self.options, self.targets, self.device, self.driver = options, targets, device, driver
        self.cells = {cell["mask"]: cell for cell in suite["cells"]}
        self.flops, self.times, self.clocks = {}, {}, {}

    def add(self, name, times):
        self.times[name] = times
        shown = ", ".join(f"{key} {self.rate(name, key):.0f} ({ms:.3f} ms)" for key, ms in times.items())
        print(f"  {name}: {shown} TFLOP/s", flush=True)

    def rate(self, name, key):
        return self.flops[name] / self.times[name][key] / 1e9

    def row(self, kind, target, name, ours, peers, bar, unit):
        known = [float(c) for c in self.clocks[name] if c]
        ratio = None
        for peer in peers.values():  # of times, less is better
            ratio = round(peer / ours if unit == "ms" else ours / peer, 3)
        return {
            "suite": f"masks {target}", "cell": self.cells[name]["name"], "metric": kind, "unit": unit, "ours": round(ours, 3),
            "peers": {key: round(value, 3) for key, value in peers.items()}, "ratio": ratio, "bar": bar, "gpu": self.device,
            "sm_mhz": statistics.median(known) if known else None, "driver": self.driver, "commit": self.options.commit,
            "date": datetime.date.today().isoformat(),
        }

    def write(self):
        rows = []
        for name, times in self.times.items():
            for target in self.targets:
                flex = {"flex": self.rate(name, "flex")} if "flex" in times else {}
                bar = self.cells[name]["bars"].get(target)
                rows.append(self.row("rate", target, name, self.rate(name, target), flex, bar, "TFLOP/s"))
                kind, bar = BARS_TO_CAUSAL.get(name, (None, None))
                if kind == "rate":
                    causal = {"our causal": self.rate("causal", target)}
                    rows.append(self.row("rate beside causal", target, name, self.rate(name, target), causal, bar, "TFLOP/s"))
                elif kind == "time":
                    causal = {"our causal": self.times["causal"][target]}
                    rows.append(self.row("time beside causal", target, name, times[target], causal, round(1 / bar, 3), "ms"))
        if self.options.results:
            self.options.results.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
