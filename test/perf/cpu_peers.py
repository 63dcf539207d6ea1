#!/usr/bin/env python3
"""CPU kernels against PyTorch's scaled_dot_product_attention and plain C loops, interleaved in one process.

usage: cpu_peers.py [--build DIR] [--rounds N] [--plain-rounds N] [--json FILE]
needs: a build (qmc, libqm_runtime.a), clang++-22, and PyTorch in the Python that runs it.

Each cell waits until the machine is quiet (the share of idle time is printed), then runs ours and the peers in turn and
takes medians. The ratio is peer time over our time: above 1 we are faster.
"""

import argparse
import ctypes
import datetime
import json
import pathlib
import statistics
import subprocess
import tempfile
import threading
import time

import torch
import torch.nn.functional as F

ROOT = pathlib.Path(__file__).resolve().parents[2]
BATCH, HEADS, LENGTH, THREADS = 1, 8, 2048, 2

SPEC = """
func.func @attention(%q: {t}, %k: {t}, %v: {t}) -> {t} {{
  %o = attn.attention q(%q) k(%k) v(%v) {mask} : {t}, {t}, {t} -> {t}
  return %o : {t}
}}
"""
CAUSAL = """mask (%b, %h, %i, %j) {
    %keep = arith.cmpi sge, %i, %j : i32
    attn.yield %keep : i1
  }"""


def run(*command):
    subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL)


class Kernel:
    """A spec compiled by qmc for this machine."""

    def __init__(self, build, folder, dim, causal):
        stem = folder / f"attention_{dim}_{'causal' if causal else 'full'}"
        spec = stem.with_suffix(".mlir")
        spec.write_text(SPEC.format(t=f"tensor<?x{HEADS}x?x{dim}xf32>", mask=CAUSAL if causal else ""))
        run(build / "bin/qmc", "build", spec, "--arch=cpu", "--emit=obj", "-o", stem.with_suffix(".o"))
        run(build / "bin/qmc", "build", spec, "--arch=cpu", "--emit=json", "-o", stem.with_suffix(".json"))
        library = stem.with_suffix(".so")
        run("clang++-22", "-shared", "-fPIC", stem.with_suffix(".o"), "-lm", "-o", library)
        manifest = json.loads(stem.with_suffix(".json").read_text())["kernels"][0]
        self.tile_m = manifest["tile_m"]
        self.entry = ctypes.cast(getattr(ctypes.CDLL(str(library)), manifest["entry"]), ctypes.c_void_p)

    def bind(self, runner, *tensors):
        slots = []
        for tensor in tensors:
            slots += [tensor.data_ptr(), *tensor.shape, *tensor.stride()]
        packed = (ctypes.c_int64 * len(slots))(*slots)
        batch, heads, rows, _ = tensors[0].shape
        tiles = batch * heads * -(-rows // self.tile_m)
        return lambda threads: runner(self.entry, packed, ctypes.c_int64(tiles), ctypes.c_uint(threads))


def idle_share(seconds=0.5):
    def read():
        fields = [int(x) for x in open("/proc/stat").readline().split()[1:]]
        return fields[3] + fields[4], sum(fields)

    idle, total = read()
    time.sleep(seconds)
    idle2, total2 = read()
    return (idle2 - idle) / max(1, total2 - total)


def wait_for_quiet(limit=180):
    """Returns the share of idle time just before measuring."""
    end = time.time() + limit
    share = idle_share()
    while share < 0.95 and time.time() < end:
        share = idle_share()
    return share


def medians(functions, rounds):
    times = {name: [] for name in functions}
    for function in functions.values():
        function()
    for _ in range(rounds):
        for name, function in functions.items():
            begin = time.perf_counter()
            function()
            times[name].append(1e3 * (time.perf_counter() - begin))
    return {name: statistics.median(values) for name, values in times.items()}


def in_threads(function, threads):
    step = HEADS // threads
    workers = [threading.Thread(target=function, args=(i * step, (i + 1) * step)) for i in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--plain-rounds", type=int, default=3)
    parser.add_argument("--json", type=pathlib.Path, default=ROOT / "test/perf/results/cpu.json")
    options = parser.parse_args()
    torch.set_num_threads(THREADS)
    model = next(l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name"))
    model += f", {THREADS} threads"
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True
    ).stdout.strip()
    common = {
        "gpu": model,
        "sm_mhz": None,
        "driver": None,
        "commit": commit,
        "date": datetime.date.today().isoformat(),
    }
    rows = []

    def record(suite, cell, ours, peers, bar):
        ratio = min(peers.values()) / ours
        row = {"suite": suite, "cell": cell, "metric": "time", "unit": "ms", "ours": round(ours, 3)}
        row |= {"peers": {k: round(v, 3) for k, v in peers.items()}, "ratio": round(ratio, 3), "bar": bar} | common
        rows.append(row)
        shown = ", ".join(f"{k} {v:.2f}" for k, v in peers.items())
        print(f"{suite:16} {cell:34} ours {ours:8.2f} ms, {shown} ms, ratio {ratio:.2f} (bar {bar})", flush=True)

    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        sources = ROOT / "test/perf/cpu"
        run("clang++-22", "-std=c++20", "-O2", "-shared", "-fPIC", "-I", ROOT, sources / "run_tiles.cpp",
            options.build / "lib/libqm_runtime.a", "-lpthread", "-o", folder / "run_tiles.so")
        run("clang-22", "-O2", "-shared", "-fPIC", sources / "plain_loops.c", "-lm", "-o", folder / "plain.so")
        runner = ctypes.CDLL(str(folder / "run_tiles.so")).qm_perf_run_tiles
        plain = ctypes.CDLL(str(folder / "plain.so")).plain_attention

        for dim in (64, 128):
            for causal in (False, True):
                cell = f"f32 B{BATCH} H{HEADS} S{LENGTH} D{dim} {'causal' if causal else 'full'}"
                torch.manual_seed(0)
                q, k, v = (torch.randn(BATCH, HEADS, LENGTH, dim) for _ in range(3))
                o, expected = torch.empty_like(q), torch.empty_like(q)
                ours = Kernel(options.build, folder, dim, causal).bind(runner, q, k, v, o)

                def loops(begin, end):
                    plain(*(ctypes.c_void_p(t.data_ptr()) for t in (q, k, v, expected)), ctypes.c_int64(begin),
                          ctypes.c_int64(end), ctypes.c_int64(LENGTH), ctypes.c_int64(dim), ctypes.c_int(causal))

                print(f"{cell}: idle {wait_for_quiet():.0%}", flush=True)
                times = medians(
                    {
                        "ours": lambda: ours(THREADS),
                        "torch": lambda: F.scaled_dot_product_attention(q, k, v, is_causal=causal),
                    },
                    options.rounds,
                )
                record("cpu_sdpa", cell, times["ours"], {f"torch {torch.__version__}": times["torch"]}, 0.8)

                slow = medians(
                    {
                        "ours": lambda: ours(THREADS),
                        "one": lambda: loops(0, HEADS),
                        "all": lambda: in_threads(loops, THREADS),
                    },
                    options.plain_rounds,
                )
                assert torch.allclose(o, expected, atol=1e-5), f"{cell}: wrong result"
                # The bar is against the loops as one writes them: one thread. Those on all cores are for comparison.
                for name, threads, bar in (("one", 1, 20), ("all", THREADS, None)):
                    peer = f"plain C loops, clang -O2, threads: {threads}"
                    record("cpu_plain_loops", cell, slow["ours"], {peer: slow[name]}, bar)

    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
