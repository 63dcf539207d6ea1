#!/usr/bin/env python3
"""How gpu_peers.py hands tensors to libqimeng.so, on the fake driver (test/runtime): no GPU, no PyTorch.

usage: gpu_peers_test.py QMC LIBQM FAKE_DRIVER
"""

import ctypes
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import types

QMC, LIBQM, FAKE_DRIVER = (pathlib.Path(path).resolve() for path in sys.argv[1:4])
CELL = {"dtype": "f16", "batch": 2, "heads": 4, "kv_heads": 2, "sq": 96, "head_dim": 64, "mask": "causal"}
os.environ["QM_CUDA_DRIVER"] = str(FAKE_DRIVER)
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import gpu_peers


class FakeCuda(ctypes.Structure):
    """The beginning of the struct in fake_cuda.h."""

    _fields_ = [
        ("devices", ctypes.c_int),
        ("major", ctypes.c_int * 2),
        ("minor", ctypes.c_int * 2),
        ("max_shared", ctypes.c_int * 2),
        ("primary", ctypes.c_uint64 * 4),
        ("max_threads", ctypes.c_int),
        ("static_shared", ctypes.c_int),
        ("multiprocessors", ctypes.c_int),
        ("tensor_maps", ctypes.c_int),
        ("tile_counter", ctypes.c_bool),
        ("slots", ctypes.c_int),
    ]


class Tensor:
    """[B, H, S, D], in memory [B, S, H, D]: what the script uses of a torch.Tensor."""

    def __init__(self, heads, length):
        self.shape = (CELL["batch"], heads, length, CELL["head_dim"])
        self.device = types.SimpleNamespace(index=0)
        self.memory = ctypes.create_string_buffer(2 * CELL["batch"] * heads * length * CELL["head_dim"] + 256)

    def stride(self):
        _, heads, length, dim = self.shape
        return (length * heads * dim, dim, heads * dim, 1)

    def data_ptr(self):
        return (ctypes.addressof(self.memory) + 255) // 256 * 256


def message_of(function):
    try:
        function()
    except RuntimeError as error:
        return str(error)
    return ""


def main():
    stream = types.SimpleNamespace(cuda_stream=0)
    gpu_peers.torch = types.SimpleNamespace(cuda=types.SimpleNamespace(current_stream=lambda: stream))
    driver = ctypes.CDLL(str(FAKE_DRIVER))
    driver.fakeCuda.restype = ctypes.POINTER(FakeCuda)
    driver.fakeCuda().contents.slots = 4 * 9

    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        (folder / "small.json").write_text(json.dumps({"suite": "small", "cells": [CELL]}))
        subprocess.run([QMC, "bench", f"--suite={folder}/small.json", "--arch=sm_80", f"--dump-kernels={folder}/out"], check=True)
        suite = json.loads((folder / "out/small.cells.json").read_text())
        manifest = json.loads((folder / "out/small.json").read_text())
        runtime = gpu_peers.Runtime(LIBQM)
        library, _ = runtime.load(folder / "out", manifest, "sm_80")
        cell = suite["cells"][0]
        assert cell["name"] == "f16 B2 Hq4 Hkv2 S96 D64 causal", cell
        assert cell["flops"] == 4 * 2 * 4 * 96 * 96 * 64 / 2, cell

        q, k, v, o = (Tensor(heads, CELL["sq"]) for heads in (4, 2, 2, 4))
        bind = lambda *tensors: runtime.bind(library, cell["kernel"], cell["dtype"], tensors)
        assert message_of(bind(q, k, v, o)) == ""
        wrong = message_of(bind(q, Tensor(1, CELL["sq"]), v, o))
        assert wrong.startswith("QM0515: tensor 'k' has extent 1"), wrong
        absent = message_of(lambda: runtime.load(folder / "out", manifest, "sm_90a"))
        assert "no kernel for sm_90a" in absent, absent
    print("passed")


if __name__ == "__main__":
    main()
