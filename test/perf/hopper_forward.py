#!/usr/bin/env python3
"""The suite `hopper`: our sm_90a kernels beside the fastest others on one GPU, interleaved in one process.

usage: hopper_forward.py FOLDER [--cells TEXT] [--rounds N] [--seconds N] [--by-hand DIR] [--no-mosaic | --mosaic-seconds N]
                         [--library FILE] [--results FILE] [--peers FILE] [--commit ID]

FOLDER holds what `qmc bench --suite=hopper --arch=sm_90a --dump-kernels=FOLDER` wrote, and libqimeng.so. Peers: cuDNN through
PyTorch, JAX's Mosaic GPU attention (f16, blocks of 128 keys; where JAX is not installed it is left out, and said so), and kernels
of a C interface in DIR: libNAME.so, NAME ends in dD_MASK (d128_causal). Cells with a score function, or of another head dim than
the peers have, are compared with our own kernel of the cell's `bar_cell`. FILE of --library is a shared library that `qmc build
hopper_library.cpp --emit=shared --arch=sm_90a` made: its operators, named MASK_dD, are called as a program would, which decides the
kernel by length: a row more.

Launches of a round run back to back, long enough to reach the power limit; functions of a cell take turns in random order, and each
runs for a while before it is timed, because one that follows a hotter kernel reads up to 12 % low. Figures are medians of the rounds,
of which cells that are compared with our own kernel have more: their ratios are near 1. The clock is read by a kernel right behind ours in each round. Results are compared with
cuDNN's before anything is timed. TFLOP/s: 2 B H S^2 (D + Dv), half of it for causal. Needs PyTorch and a Hopper GPU; where there
is none it says so and exits with 0.
"""

import argparse
import ctypes
import datetime
import json
import math
import os
import pathlib
import random
import statistics
import time

import gpu_peers
from gpu_peers import torch
from time_candidates import bind, tensor_of

WARM_MILLISECONDS, TIMED_MILLISECONDS = 12, 12
WARM_BESIDE_OURS, TIMED_BESIDE_OURS, ROUNDS_BESIDE_OURS = 25, 50, 24  # whose ratio is within 15 % of 1
OURS = ("ours", "library")


def back_to_back(function, launches):
    """Milliseconds a launch."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(launches):
        function()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / launches


class Mosaic:
    """JAX's kernel in this process. JAX has its own stream: timed by the host, from one idle moment to the next."""

    def __init__(self, seconds):
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # the memory is PyTorch's, too
        import jax
        from jax.experimental.pallas.ops.gpu import attention_mgpu

        self.jax, self.attention, self.deadline = jax, attention_mgpu, time.time() + seconds

    def call(self, cell):
        """A function of a number of launches that returns milliseconds a launch; None where it has no kernel for the cell."""
        if cell["sq"] < 1024 or cell["head_dim"] != cell["value_dim"] or cell["head_dim"] not in (64, 128):
            return None  # the host would be timed, or no such kernel
        if time.time() > self.deadline:
            return None
        jax, module = self.jax, self.attention
        shape = (cell["batch"], cell["sq"], cell["heads"], cell["head_dim"])
        keys = shape[:2] + (cell["kv_heads"], cell["head_dim"])
        q, k, v = (jax.random.normal(jax.random.key(i), s, jax.numpy.float16) for i, s in enumerate((shape, keys, keys)))
        config = module.TuningConfig(block_q=64, block_kv=128, max_concurrent_steps=2, use_schedule_barrier=True,
                                     causal=cell["mask"] == "causal")
        run = jax.jit(lambda q, k, v: module.attention(q, k, v, config))
        try:
            run(q, k, v).block_until_ready()
        except Exception as error:  # a head dim or a group of heads that it does not have
            print(f"  Mosaic GPU does not run: {str(error).splitlines()[0][:90]}", flush=True)
            return None

        def milliseconds(launches):
            torch.cuda.synchronize()
            run(q, k, v).block_until_ready()
            begin = time.perf_counter()
            for _ in range(launches):
                last = run(q, k, v)
            last.block_until_ready()
            return (time.perf_counter() - begin) * 1e3 / launches

        return milliseconds


def load_mosaic(seconds):
    try:
        return Mosaic(seconds)
    except Exception as error:  # not installed, or for another CUDA
        print(f"without Mosaic GPU: {type(error).__name__}: {str(error).splitlines()[0][:90]}", flush=True)
        return None


class ByHand:
    """Kernels with the C interface of a hand-written one: pointers, sizes, scale, multiprocessors, stream."""

    def __init__(self, folder):
        self.functions = {}
        for path in sorted(folder.glob("lib*.so")) if folder else []:
            function = getattr(ctypes.CDLL(str(path.resolve())), path.stem[3:])
            function.argtypes = [ctypes.c_void_p] * 6 + [ctypes.c_int] * 7 + [ctypes.c_float, ctypes.c_int, ctypes.c_void_p]
            self.functions["_".join(path.stem.split("_")[-2:])] = function

    def bind(self, cell, q, k, v, o, lse):
        function = self.functions.get(f"d{cell['head_dim']}_{cell['mask']}")
        if not function or cell["dtype"] != "bf16" or cell["value_dim"] != cell["head_dim"]:
            return None
        counter = torch.zeros(64, device="cuda", dtype=torch.int32)
        sizes = [cell[name] for name in ("batch", "heads", "kv_heads", "sq", "skv", "head_dim")]
        sms = torch.cuda.get_device_properties(0).multi_processor_count
        pointers = [tensor.data_ptr() for tensor in (q, k, v, o, lse, counter)]

        def launch():
            _ = counter
            stream = torch.cuda.current_stream().cuda_stream
            function(*pointers, *sizes, int(cell["mask"] == "causal"), 1 / math.sqrt(cell["head_dim"]), sms, stream)

        return launch


class Ours:
    def __init__(self, folder):
        self.suite = json.loads((folder / "hopper.cells.json").read_text())
        self.manifest = json.loads((folder / self.suite["manifest"]).read_text())
        self.runtime = gpu_peers.Runtime(folder / "libqimeng.so")
        self.library, self.images = self.runtime.load(folder, self.manifest, "sm_90a")

    def bind(self, cell, operands):
        """`operands`: tensors by role, kept for all functions of a cell."""
        arguments = next(k for k in self.manifest["kernels"] if k["name"] == cell["kernel"])["args"]
        sizes = {name: cell[name] for name in ("batch", "sq", "skv")}
        extents = {"table": [cell["sq"] + cell["skv"]]}
        # Slopes as in the paper: with random signs scores would grow towards early keys.
        operands = operands | {"slopes": torch.exp2(torch.arange(1, cell["heads"] + 1, device="cuda:0") * -8.0 / cell["heads"])}
        given = [operands.get(a["role"], operands.get(a["name"])) for a in arguments]
        tensors = [tensor_of(a, sizes, extents) if t is None else t for t, a in zip(given, arguments)]
        return bind(self.runtime, self.library, cell["kernel"], arguments, tensors)


class Library:
    """A shared library with its runtime inside: one C function an operator, tensors in the order of its manifest."""

    def __init__(self, path):
        self.functions = ctypes.CDLL(str(path.resolve()))
        self.name = path.stem.removeprefix("lib")
        manifest = json.loads(path.with_name(f"{self.name}.json").read_text())
        # Every kernel of an operator has the same arguments.
        self.arguments = {kernel["operator"]: kernel["args"] for kernel in manifest["kernels"]}

    def bind(self, cell, operands):
        """None where the library has no such operator."""
        operator = f"{cell['mask']}_d{cell['head_dim']}"
        arguments = self.arguments.get(operator)
        heads = arguments and next(a for a in arguments if a["role"] == "k")["shape"][1]
        if not arguments or cell["score"] or cell["dtype"] != "bf16" or cell["kv_heads"] != heads:
            return None
        function, described = getattr(self.functions, f"{self.name}_{operator}"), []
        tensors = [operands[argument["role"]] for argument in arguments]
        for argument, tensor in zip(arguments, tensors):
            shape, strides = ((ctypes.c_int64 * 4)(*values) for values in (tensor.shape, tensor.stride()))
            code, bits = gpu_peers.DL_CODES[argument["dtype"]]
            described.append(gpu_peers.DLTensor(tensor.data_ptr(), gpu_peers.CUDA, 0, 4, code, bits, 1, shape, strides, 0))
        options = gpu_peers.LaunchOptions(ctypes.sizeof(gpu_peers.LaunchOptions),
                                          torch.cuda.current_stream().cuda_stream or None, 0, 0)
        pointers = [ctypes.byref(tensor) for tensor in described]

        def launch():
            _ = described, tensors  # what the pointers point to
            if function(*pointers, ctypes.byref(options)) != 0:
                raise RuntimeError(f"{operator}: {self.last_error()}")

        return launch

    def last_error(self):
        self.functions.qm_last_error.restype = ctypes.c_char_p
        return self.functions.qm_last_error().decode()


def operands_of(cell):
    def tensor(heads, length, columns):
        shape = (cell["batch"], length, heads, columns)
        return torch.randn(*shape, device="cuda:0", dtype=getattr(torch, gpu_peers.DTYPES[cell["dtype"]])).transpose(1, 2)

    return {
        "q": tensor(cell["heads"], cell["sq"], cell["head_dim"]),
        "k": tensor(cell["kv_heads"], cell["skv"], cell["head_dim"]),
        "v": tensor(cell["kv_heads"], cell["skv"], cell["value_dim"]),
        "o": tensor(cell["heads"], cell["sq"], cell["value_dim"]),
    }


def cudnn_of(cell, operands):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    def call():
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            return torch.nn.functional.scaled_dot_product_attention(
                operands["q"], operands["k"], operands["v"], is_causal=cell["mask"] == "causal",
                enable_gqa=cell["heads"] != cell["kv_heads"])

    try:
        call()
        torch.cuda.synchronize()
    except Exception as error:  # a head dim it does not have
        print(f"  cuDNN does not run: {str(error).splitlines()[0][:90]}", flush=True)
        return None
    return call


def compare(cell, launch, o, peer):
    o.fill_(math.nan)
    launch()
    torch.cuda.synchronize()
    if peer is None:
        assert not o.isnan().any(), f"{cell['name']}: rows are not written"
        return
    expected = peer().float()
    error = ((o.float() - expected).norm() / expected.norm()).item()
    assert error < 0.02, f"{cell['name']}: the result differs from cuDNN's by {error:.3g}"


def functions_of(cell, ours, library, base, operands, by_hand, mosaic):
    """Name -> milliseconds a launch, as a function of the number of launches."""
    launches = {"ours": ours.bind(cell, operands)}
    if library and (launch := library.bind(cell, operands)):
        launches["library"] = launch
        compare(cell, launch, operands["o"], cudnn_of(cell, operands))
    functions = {}
    if base:
        launches["without"] = ours.bind(base, operands if same_operands(cell, base) else operands_of(base))
    else:
        cudnn = cudnn_of(cell, operands)
        compare(cell, launches["ours"], operands["o"], cudnn)
        lse = torch.empty(cell["batch"], cell["heads"], cell["sq"], device="cuda")
        found = {"cudnn": cudnn, "by hand": by_hand.bind(cell, *(operands[n] for n in "qkvo"), lse)}
        launches.update({name: launch for name, launch in found.items() if launch})
        if mosaic and (milliseconds := mosaic.call(cell)):
            functions["mosaic (f16)"] = milliseconds
    for name, launch in launches.items():
        functions[name] = lambda n, launch=launch: back_to_back(launch, n)
    return functions


def same_operands(cell, base):
    return all(cell[n] == base[n] for n in ("batch", "heads", "kv_heads", "sq", "skv", "head_dim", "value_dim", "dtype"))


def time_in_turns(functions, rounds, warm, timed, clock):
    """Milliseconds by function, and the clock behind ours, all of every round; `warm` and `timed` are milliseconds a round."""
    once = {name: function(2) for name, function in functions.items()}
    times, clocks, order = {name: [] for name in functions}, [], list(functions)
    for _ in range(rounds):
        random.shuffle(order)
        for name in order:
            functions[name](max(2, int(warm / once[name])))
            times[name].append(functions[name](max(2, int(timed / once[name]))))
            if name in OURS:
                clocks.append(clock.megahertz())
    return times, clocks


def rows_of(cell, rates, common):
    """For test/perf/results: our kernel and the library's call against the best peer, and the least rate asked for."""
    peers = {name: round(rate, 1) for name, rate in rates.items() if name not in OURS}
    best = max(peers.values(), default=None)
    rows = []
    for which in OURS:
        if which not in rates:
            continue
        name = cell["name"] if which == "ours" else f"{cell['name']}, through a library"
        row = {"suite": "sm90_forward", "cell": name, "metric": "rate", "unit": "TFLOP/s", "ours": round(rates[which], 1)} | common
        # The bars are for what a program gets: where a library chooses the kernel, for the library.
        held = which == "library" or "library" not in rates
        rows.append(row | {"peers": peers, "ratio": round(rates[which] / best, 3) if best else None,
                           "bar": cell["bars"].get("sm_90a") if held else None})
        if held and (floor := cell["floors"].get("sm_90a")):
            rows.append(row | {"suite": "sm90_forward, least rates", "peers": {}, "ratio": None, "bar": floor})
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--cells", default="", help="only cells with this in their name")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no cell after so long")
    parser.add_argument("--by-hand", type=pathlib.Path, help="a folder of kernels with a C interface")
    parser.add_argument("--no-mosaic", action="store_true")
    parser.add_argument("--mosaic-seconds", type=float, default=1e9, help="compile no kernel of Mosaic GPU after so long")
    parser.add_argument("--library", type=pathlib.Path, help="a shared library made of hopper_library.cpp, its .json beside it")
    parser.add_argument("--results", type=pathlib.Path)
    parser.add_argument("--peers", type=pathlib.Path, help="rows for `qmc bench --peers`")
    parser.add_argument("--commit", help="commit of the kernels, for --results")
    options = parser.parse_args()
    if torch is None or not torch.cuda.is_available() or torch.cuda.get_device_capability() != (9, 0):
        print(f"skipped: {'no PyTorch' if torch is None else 'no Hopper GPU'} here")
        return
    from sm_clock import SmClock

    start = time.time()
    torch.manual_seed(0)
    ours, by_hand, clock = Ours(options.folder), ByHand(options.by_hand), SmClock()
    library = Library(options.library) if options.library else None
    mosaic = None if options.no_mosaic else load_mosaic(options.mosaic_seconds)
    device, driver = torch.cuda.get_device_name(0), gpu_peers.query("driver_version")
    cells = {cell["name"]: cell for cell in ours.suite["cells"]}
    rows, peer_rows = [], []
    print(f"hopper on {device}, {options.rounds} rounds", flush=True)
    failed = 0
    for cell in cells.values():
        if options.cells not in cell["name"]:
            continue
        if time.time() - start > options.seconds:
            print(f"  {cell['name']}: no time left", flush=True)
            continue
        base = cells.get(cell["bar_cell"])
        try:
            functions = functions_of(cell, ours, library, base, operands_of(cell), by_hand, mosaic)
            plan = (ROUNDS_BESIDE_OURS, WARM_BESIDE_OURS, TIMED_BESIDE_OURS) if base else (
                options.rounds, WARM_MILLISECONDS, TIMED_MILLISECONDS)
            times, clocks = time_in_turns(functions, *plan, clock)
        except Exception as error:  # the other cells are still worth their time
            print(f"  {cell['name']}: FAILED: {type(error).__name__}: {str(error)[:200]}", flush=True)
            failed += 1
            continue
        rates = {n: (base if n == "without" else cell)["flops"] / statistics.median(t) / 1e9 for n, t in times.items()}
        shown = ", ".join(f"{name} {rate:.0f}" for name, rate in rates.items())
        mhz = round(statistics.median(clocks))
        print(f"  {cell['name']}: {shown} TFLOP/s, SM {mhz} MHz", flush=True)
        common = {"gpu": device, "sm_mhz": mhz, "driver": driver, "commit": options.commit,
                  "date": datetime.date.today().isoformat()}
        rows += rows_of(cell, rates, common)
        peer_rows += [{"cell": cell["name"], "peer": name, "tflops": round(rate, 1), "gpu": device}
                      for name, rate in rates.items() if name not in OURS]
        # What was measured is kept, whatever comes after.
        for path, written in ((options.results, rows), (options.peers, peer_rows)):
            if path:
                path.write_text(json.dumps(written, indent=1) + "\n")
        torch.cuda.empty_cache()
    if failed:
        raise SystemExit(f"hopper_forward.py: {failed} cells failed")


if __name__ == "__main__":
    main()
