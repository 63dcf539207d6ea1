#!/usr/bin/env python3
"""Our kernels under masks beside FlexAttention on one GPU, interleaved in one process.

usage: gpu_masks.py FOLDER [--target NAME] [--cells TEXT] [--rounds N] [--no-flex] [--results FILE] [--commit ID]

FOLDER holds what `qmc bench --suite=masks --dump-kernels=FOLDER` wrote, libqm.so, gpu_peers.py and packed_sequences.py. The masks
are those of qmc/BenchMasks.cpp, written here as FlexAttention takes them. Pairs are counted from them, element by element, results
are compared with FlexAttention's (float64 where it is left out) before anything is timed, and each figure is the median of the rounds, and of each
round's launches, with the L2 cache cleared before every one. FlexAttention gets its BlockMask made beforehand; the time to make it
is printed. TFLOP/s are 4 D a kept pair over the time.

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
    parser.add_argument("--results", type=pathlib.Path)
    parser.add_argument("--commit", help="commit of the kernels, for --results")
    options = parser.parse_args()
    if torch is None or not torch.cuda.is_available():
        print(f"skipped: {'no PyTorch' if torch is None else 'no GPU'} here")
        return

    torch.manual_seed(0)
    flush = torch.empty(256 << 20, dtype=torch.int8, device="cuda")
    suite = json.loads((options.folder / "masks.cells.json").read_text())
    manifest = json.loads((options.folder / suite["manifest"]).read_text())
    runtime = Runtime(options.folder / "libqm.so")
    targets = [t for t in suite["targets"] if options.target in (None, t)]
    libraries = {t: runtime.load(options.folder, manifest, t) for t in targets}
    device, driver, flex_attention = torch.cuda.get_device_name(0), query("driver_version"), None
    if not options.no_flex:
        import torch._dynamo as dynamo
        from torch.nn.attention.flex_attention import create_block_mask, flex_attention

        dynamo.config.recompile_limit = 512
        flex_attention = torch.compile(flex_attention, dynamic=False)

    times, rates, clocks = {}, {}, {}
    print(f"masks on {device}, {options.rounds} rounds", flush=True)
    for cell in suite["cells"]:
        name, heads, length = cell["mask"], cell["heads"], cell["sq"]
        if name != "causal" and options.cells not in name:
            continue
        shape = (cell["batch"], length, heads, cell["head_dim"])
        q, k, v, o = (
            torch.randn(*shape, device="cuda:0", dtype=getattr(torch, DTYPES[cell["dtype"]])).transpose(1, 2)
            for _ in range(4)
        )
        buffers, keep = masks(length)[name]
        flops = 4 * cell["head_dim"] * cell["batch"] * kept_pairs(keep, heads, length)
        functions = {}
        if flex_attention:
            start = time.time()
            per_head = heads if name == "custom" else None
            block_mask = create_block_mask(keep, None, per_head, length, length, device="cuda:0", _compile=True)
            torch.cuda.synchronize()
            made = time.time() - start

            def flex(q=q, k=k, v=v, block_mask=block_mask):
                return flex_attention(q, k, v, block_mask=block_mask)

            flex()
            torch.cuda.synchronize()
            print(f"  {name}: BlockMask in {made:.1f} s, FlexAttention in {time.time() - start - made:.1f} s", flush=True)
            functions["flex"] = flex
        for target, (library, _) in libraries.items():
            ours = Kernel(runtime, library, cell["kernel"]).bind(q, k, v, *buffers, o)
            o.fill_(float("nan"))
            ours()
            torch.cuda.synchronize()
            check(cell, o, (q, k, v), keep, functions.get("flex"))
            functions[target] = ours
        measured = {key: [] for key in functions}
        for _ in range(options.rounds):
            for key, function in functions.items():
                measured[key].append(milliseconds(function, flush, options.launches))
            clocks.setdefault(name, []).append(query("clocks.sm"))
        times[name] = {key: statistics.median(values) for key, values in measured.items()}
        rates[name] = {key: flops / ms / 1e9 for key, ms in times[name].items()}
        shown = ", ".join(f"{key} {rate:.0f} ({times[name][key]:.3f} ms)" for key, rate in rates[name].items())
        print(f"  {name}: {shown} TFLOP/s", flush=True)

    rows = []
    cells = {cell["mask"]: cell for cell in suite["cells"]}

    def add(kind, target, name, ours, peers, ratio, bar, unit="TFLOP/s"):
        known = [float(c) for c in clocks[name] if c]
        rows.append({
            "suite": f"masks {target}", "cell": cells[name]["name"], "metric": kind, "unit": unit, "ours": round(ours, 3),
            "peers": {key: round(value, 3) for key, value in peers.items()}, "ratio": round(ratio, 3) if ratio else None,
            "bar": bar, "gpu": device, "sm_mhz": statistics.median(known) if known else None, "driver": driver,
            "commit": options.commit, "date": datetime.date.today().isoformat(),
        })

    for name in rates:
        for target in targets:
            ours, flex = rates[name][target], rates[name].get("flex")
            add("rate", target, name, ours, {"flex": flex} if flex else {}, ours / flex if flex else None,
                cells[name]["bars"].get(target))
            if name not in BARS_TO_CAUSAL:
                continue
            kind, bar = BARS_TO_CAUSAL[name]
            mine, causal = (rates if kind == "rate" else times)[name][target], (rates if kind == "rate" else times)["causal"][target]
            # Of times, less is better: the ratio is causal's over ours, and so is the bar.
            ratio = mine / causal if kind == "rate" else causal / mine
            add(f"{kind} beside causal", target, name, mine, {"our causal": causal}, ratio,
                bar if kind == "rate" else round(1 / bar, 3), "TFLOP/s" if kind == "rate" else "ms")
    if options.results:
        options.results.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
