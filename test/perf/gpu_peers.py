#!/usr/bin/env python3
"""Our kernels beside PyTorch's attention on one GPU, interleaved in one process.

usage: gpu_peers.py FOLDER [--suite NAME] [--target NAME] [--cells TEXT] [--rounds N] [--no-flex] [--peers FILE] [--results FILE]

FOLDER holds what `qmc bench --suite=NAME --dump-kernels=FOLDER` wrote, and libqimeng.so (README.md here). Peers: FlashAttention-2
and cuDNN through scaled_dot_product_attention, and FlexAttention (compiled). Every cell: all peers and ours in turn, `--rounds`
times; each figure is the median of the rounds, and of each round's launches, with the L2 cache cleared before every one.
TFLOP/s are 4 B H S^2 D over the time, half of it for causal. Results are compared with FlashAttention's before anything is timed.

--peers FILE gets rows for `qmc bench --peers`, --results FILE rows for test/perf/results. Needs PyTorch and an NVIDIA GPU; where
there is none it says so and exits with 0.
"""

import argparse
import ctypes
import datetime
import json
import pathlib
import statistics
import subprocess
import sys

try:
    import torch
    import torch.nn.functional as F
    from torch.nn.attention import SDPBackend, sdpa_kernel
except ImportError:
    torch = None

DTYPES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32"}
DL_CODES = {"f16": (2, 16), "bf16": (4, 16), "f32": (2, 32)}
CUDA, QM_TENSOR = 2, 1


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Value(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("reserved", ctypes.c_int32), ("tensor", ctypes.POINTER(DLTensor))]


class LaunchOptions(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("stream", ctypes.c_void_p),
        ("threads", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
    ]


class Image(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("name", ctypes.c_char_p),
        ("data", ctypes.c_char_p),
        ("bytes", ctypes.c_size_t),
        ("entry", ctypes.c_void_p),
    ]


class Runtime:
    """libqimeng.so; a failed call raises with the runtime's text."""

    def __init__(self, path):
        self.library = ctypes.CDLL(str(path.resolve()))
        self.library.qm_last_error.restype = ctypes.c_char_p

    def call(self, name, *args):
        if getattr(self.library, name)(*args) != 0:
            raise RuntimeError(self.library.qm_last_error().decode())

    def load(self, folder, manifest, target):
        """The kernels of one target. Left out here, the library would choose the target that suits the GPU best."""
        kept = [kernel for kernel in manifest["kernels"] if kernel["target"] == target]
        if not kept:
            raise RuntimeError(f"the manifest has no kernel for {target}")
        text = json.dumps({**manifest, "kernels": kept}).encode()
        names = sorted({kernel["image"] for kernel in kept})
        contents = [(folder / name).read_bytes() for name in names]
        images = (Image * len(names))(
            *(Image(ctypes.sizeof(Image), n.encode(), c, len(c), None) for n, c in zip(names, contents))
        )
        library = ctypes.c_void_p()
        self.call("qm_library_create", text, ctypes.c_size_t(len(text)), images, ctypes.c_size_t(len(names)),
                  ctypes.byref(library))
        return library, contents

    def bind(self, library, kernel, dtype, tensors):
        """A function that launches `kernel` on [B, H, S, D] views, on PyTorch's current stream."""
        handle = ctypes.c_void_p()
        self.call("qm_library_find", library, kernel.encode(), ctypes.byref(handle))
        code, bits = DL_CODES[dtype]
        kept, values = [], (Value * len(tensors))()
        for value, tensor in zip(values, tensors):
            shape = (ctypes.c_int64 * 4)(*tensor.shape)
            strides = (ctypes.c_int64 * 4)(*tensor.stride())
            described = DLTensor(tensor.data_ptr(), CUDA, tensor.device.index, 4, code, bits, 1, shape, strides, 0)
            kept += [shape, strides, described, tensor]
            value.kind, value.tensor = QM_TENSOR, ctypes.pointer(described)
        options = LaunchOptions(ctypes.sizeof(LaunchOptions), torch.cuda.current_stream().cuda_stream or None, 0, 0)

        def launch():
            _ = kept
            self.call("qm_launch", handle, values, ctypes.c_size_t(len(tensors)), ctypes.byref(options))

        return launch


def milliseconds(function, flush, launches):
    """Median time of a launch, by events."""
    events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(launches)]
    for begin, end in events:
        flush.zero_()
        begin.record()
        function()
        end.record()
    torch.cuda.synchronize()
    return statistics.median(begin.elapsed_time(end) for begin, end in events)


def query(field):
    command = ["nvidia-smi", f"--query-gpu={field}", "--format=csv,noheader,nounits", "-i", "0"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def peers_of(cell, q, k, v, flex):
    causal, grouped = cell["mask"] == "causal", cell["heads"] != cell["kv_heads"]

    def attention(backend):
        def call():
            with sdpa_kernel(backend):
                return F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=grouped)

        return call

    found = {"fa2": attention(SDPBackend.FLASH_ATTENTION), "cudnn": attention(SDPBackend.CUDNN_ATTENTION)}
    if flex:
        from torch.nn.attention.flex_attention import create_block_mask

        keep = None
        if causal:
            keep = create_block_mask(lambda b, h, i, j: i >= j, None, None, cell["sq"], cell["skv"], device=q.device)
        found["flex"] = lambda: flex(q, k, v, block_mask=keep, enable_gqa=grouped)
    working = {}
    for name, call in found.items():
        try:
            call()
            torch.cuda.synchronize()
            working[name] = call
        except Exception as error:  # a backend that this GPU or type does not have
            print(f"  {name} does not run: {str(error).splitlines()[0][:100]}", flush=True)
    return working


def compare(cell, ours, o, peers):
    """Our result against a peer's: both are within rounding of the truth."""
    o.fill_(float("nan"))
    ours()
    torch.cuda.synchronize()
    other = next(iter(peers.values()), None)
    if other is None:
        print("  no peer to compare the result with", flush=True)
        return
    expected = other().float()
    error = ((o.float() - expected).norm() / expected.norm()).item()
    assert error < 0.02, f"{cell['name']}: the result differs from the peer's by {error:.3g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--suite", help="only this suite of the folder")
    parser.add_argument("--target", help="only kernels of this target")
    parser.add_argument("--cells", default="", help="only cells with this in their name")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--launches", type=int, default=20, help="timed launches a round")
    parser.add_argument("--no-flex", action="store_true", help="leave out FlexAttention, which compiles for each cell")
    parser.add_argument("--peers", type=pathlib.Path)
    parser.add_argument("--results", type=pathlib.Path)
    parser.add_argument("--commit", help="commit of the kernels, for --results")
    options = parser.parse_args()
    if torch is None or not torch.cuda.is_available():
        print(f"skipped: {'no PyTorch' if torch is None else 'no GPU'} here")
        return

    torch.manual_seed(0)
    flush = torch.empty(256 << 20, dtype=torch.int8, device="cuda")
    device, driver = torch.cuda.get_device_name(0), query("driver_version")
    runtime = Runtime(options.folder / "libqimeng.so")
    flex = None
    if not options.no_flex:
        import torch._dynamo as dynamo
        from torch.nn.attention.flex_attention import flex_attention

        dynamo.config.recompile_limit = 512
        flex = torch.compile(flex_attention, dynamic=False)

    peer_rows, result_rows = {}, []
    for path in sorted(options.folder.glob("*.cells.json")):
        suite = json.loads(path.read_text())
        if options.suite not in (None, suite["suite"]):
            continue
        manifest = json.loads((options.folder / suite["manifest"]).read_text())
        targets = [t for t in suite["targets"] if options.target in (None, t)]
        libraries = {t: runtime.load(options.folder, manifest, t) for t in targets}
        print(f"{suite['suite']} on {device}, {options.rounds} rounds", flush=True)
        for cell in suite["cells"]:
            if options.cells not in cell["name"]:
                continue
            dtype = getattr(torch, DTYPES[cell["dtype"]])

            def tensor(heads, length):
                shape = (cell["batch"], length, heads, cell["head_dim"])
                return torch.randn(*shape, device="cuda:0", dtype=dtype).transpose(1, 2)

            q = tensor(cell["heads"], cell["sq"])
            k, v = (tensor(cell["kv_heads"], cell["skv"]) for _ in range(2))
            o = tensor(cell["heads"], cell["sq"])
            functions = peers_of(cell, q, k, v, flex)
            peers = dict(functions)
            for target, (library, _) in libraries.items():
                ours = runtime.bind(library, cell["kernel"], cell["dtype"], (q, k, v, o))
                compare(cell, ours, o, peers)
                functions[target] = ours
            times = {name: [] for name in functions}
            clocks = []
            order = list(functions)
            for _ in range(options.rounds):
                for name in order:
                    times[name].append(milliseconds(functions[name], flush, options.launches))
                order.append(order.pop(0))  # who comes first finds the GPU cool and its clock high
                clocks.append(query("clocks.sm"))
            rates = {name: cell["flops"] / statistics.median(t) / 1e9 for name, t in times.items()}
            best = {name: cell["flops"] / min(t) / 1e9 for name, t in times.items()}
            shown = ", ".join(f"{name} {rate:.0f} (best {best[name]:.0f})" for name, rate in rates.items())
            print(f"  {cell['name']}: {shown} TFLOP/s", flush=True)
            reached = {name: round(rates[name], 1) for name in peers}
            for name, rate in reached.items():
                peer_rows[cell["name"], name] = {"cell": cell["name"], "peer": name, "tflops": rate, "gpu": device}
            for target in targets:
                # A bar says which peer it is against; without one the ratio is to the best.
                against = reached.get(suite["bar_peers"].get(target)) or max(reached.values(), default=None)
                result_rows.append(
                    {
                        "suite": f"{suite['suite']} {target}",
                        "cell": cell["name"],
                        "metric": "rate",
                        "unit": "TFLOP/s",
                        "ours": round(rates[target], 1),
                        "peers": reached,
                        "ratio": round(rates[target] / against, 3) if against else None,
                        "bar": cell["bars"].get(target),
                        "gpu": device,
                        "sm_mhz": statistics.median(float(c) for c in clocks) if all(clocks) else None,
                        "driver": driver,
                        "commit": options.commit,
                        "date": datetime.date.today().isoformat(),
                    }
                )
    if not result_rows:
        sys.exit("gpu_peers.py: no cell was timed; look at --suite, --target and --cells")
    if options.peers:
        options.peers.write_text(json.dumps(list(peer_rows.values()), indent=1) + "\n")
    if options.results:
        options.results.write_text(json.dumps(result_rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
