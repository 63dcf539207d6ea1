#!/usr/bin/env python3
"""Times the schedules that `qmc tune --dump-kernels=FOLDER` wrote, on this machine's GPU.

usage: time_candidates.py FOLDER LIBQM.so --batch N --sq N [--skv N] [--extent NAME=N[,N...]] [--rounds N] [-o times.json]

Candidates of a spec take turns, so that all see the same clocks. Buffers hold random values: floats near 0, integers 0 or 1.
`qmc tune --times=times.json -o schedules.json` chooses. Needs PyTorch; without it or a GPU it says so and exits with 0.
"""

import argparse
import ctypes
import json
import math
import pathlib
import statistics

import gpu_peers
from gpu_peers import torch


def tensor_of(argument, sizes, extents):
    """A [B, H, S, D] view of [B, S, H, D] memory for operands, else a plain buffer."""
    names = {"i32": "int32", "i64": "int64", "i16": "int16", "i8": "int8", "i1": "bool"} | gpu_peers.DTYPES
    dtype = getattr(torch, names[argument["dtype"]])
    role, shape = argument["role"], list(argument["shape"])
    if role in ("q", "o", "lse", "row_max"):
        shape[0], shape[2] = sizes["batch"], sizes["sq"]
    elif role in ("k", "v"):
        shape[0], shape[2] = sizes["batch"], sizes["skv"]
    else:
        given = iter(extents.get(argument["name"], []))
        call = {"batch": sizes["batch"], "query": sizes["sq"], "key": sizes["skv"]}
        follows = argument.get("follows", [""] * len(shape))
        for dimension, extent in enumerate(shape):
            if extent < 0:
                shape[dimension] = call.get(follows[dimension]) or next(given, max(sizes["sq"], sizes["skv"]))
    if dtype.is_floating_point:
        if len(shape) == 4:
            return torch.randn(shape[0], shape[2], shape[1], shape[3], device="cuda:0", dtype=dtype).transpose(1, 2)
        return torch.randn(shape, device="cuda:0", dtype=dtype)
    return torch.randint(0, 2, shape, device="cuda:0", dtype=dtype)


def bind(runtime, library, kernel, arguments, tensors):
    """As Runtime.bind, for buffers of any rank and type."""
    codes = {"i32": (0, 32), "i64": (0, 64), "i16": (0, 16), "i8": (0, 8), "i1": (6, 8)} | gpu_peers.DL_CODES
    handle = ctypes.c_void_p()
    runtime.call("qm_library_find", library, kernel.encode(), ctypes.byref(handle))
    kept, values = [], (gpu_peers.Value * len(tensors))()
    for value, argument, tensor in zip(values, arguments, tensors):
        shape = (ctypes.c_int64 * tensor.dim())(*tensor.shape)
        strides = (ctypes.c_int64 * tensor.dim())(*tensor.stride())
        described = gpu_peers.DLTensor(tensor.data_ptr(), gpu_peers.CUDA, 0, tensor.dim(), *codes[argument["dtype"]], 1,
                                       shape, strides, 0)
        kept += [shape, strides, described, tensor]
        value.kind, value.tensor = gpu_peers.QM_TENSOR, ctypes.pointer(described)
    stream = torch.cuda.current_stream().cuda_stream or None
    options = gpu_peers.LaunchOptions(ctypes.sizeof(gpu_peers.LaunchOptions), stream, 0, 0)

    def launch():
        _ = kept
        runtime.call("qm_launch", handle, values, ctypes.c_size_t(len(tensors)), ctypes.byref(options))

    return launch


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("runtime", type=pathlib.Path)
    for name in ("batch", "sq", "skv"):
        parser.add_argument(f"--{name}", type=int, default={"batch": 1, "sq": 1024}.get(name))
    parser.add_argument("--extent", action="append", default=[], help="run-time extents of a buffer")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("-o", "--output", type=pathlib.Path)
    options = parser.parse_args()
    if torch is None or not torch.cuda.is_available():
        print(f"skipped: {'no PyTorch' if torch is None else 'no GPU'} here")
        return
    sizes = {"batch": options.batch, "sq": options.sq, "skv": options.skv or options.sq}
    extents = {name: [int(n) for n in value.split(",")]
               for name, value in (text.split("=") for text in options.extent)}
    flush = torch.empty(256 << 20, dtype=torch.int8, device="cuda")
    runtime = gpu_peers.Runtime(options.runtime)
    candidates, calls, tensors = json.loads((options.folder / "candidates.json").read_text()), [], {}
    for candidate in candidates:
        folder = options.folder / candidate["folder"]
        manifest = json.loads((folder / "kernel.json").read_text())
        library, images = runtime.load(folder, manifest, candidate["target"])
        arguments = next(k for k in manifest["kernels"] if k["name"] == candidate["spec"])["args"]
        if any(a["kind"] != "tensor" for a in arguments):
            raise SystemExit(f"time_candidates.py: '{candidate['spec']}' has run-time scalars, which have no value here")
        if candidate["spec"] not in tensors:
            tensors[candidate["spec"]] = [tensor_of(a, sizes, extents) for a in arguments]
        launch = bind(runtime, library, candidate["spec"], arguments, tensors[candidate["spec"]])
        launch()
        calls.append((launch, images))
    torch.cuda.synchronize()
    times = [[] for _ in candidates]
    for _ in range(options.rounds):
        for (launch, _), found in zip(calls, times):
            found.append(gpu_peers.milliseconds(launch, flush, 5))
    rows = [{"spec": c["spec"], "target": c["target"], "set": c["set"], "ms": statistics.median(t), "call": sizes,
             "gpu": torch.cuda.get_device_name(0)} for c, t in zip(candidates, times)]
    for row in rows:
        assert math.isfinite(row["ms"])
        print(f"{row['spec']} {row['target']} {row['ms']:.4f} ms  {' '.join(row['set']) or 'default'}", flush=True)
    if options.output:
        options.output.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
