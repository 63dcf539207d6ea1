#!/usr/bin/env python3
"""Measures what a library of 100 kernels costs: a second build with a cache, loading, bytes a kernel.

usage: library_bars.py QMC LIBQIMENG [--cache DIR] [--gpu FILE] [--commit ID] [--results FILE]

--gpu FILE has the lines that library_times printed on a GPU machine, one process on each core (taskset); --results writes rows for results/library.json.
"""

import argparse
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
KERNELS = 100

# Loading in a process of its own, as a service does when it starts.
LOAD = """
import ctypes, sys, time
runtime = ctypes.CDLL(sys.argv[1])
runtime.qm_last_error.restype = ctypes.c_char_p
runtime.qm_library_kernel_count.restype = ctypes.c_size_t
runtime.qm_library_kernel_count.argtypes = [ctypes.c_void_p]
library = ctypes.c_void_p()
start = time.perf_counter()
status = runtime.qm_library_load(sys.argv[2].encode(), ctypes.byref(library))
elapsed = time.perf_counter() - start
if status:
    sys.exit(runtime.qm_last_error().decode())
print(elapsed * 1e3, runtime.qm_library_kernel_count(library))
"""


def build(qmc, source, output, *flags):
    start = time.perf_counter()
    subprocess.run([qmc, "build", str(source), "-o", str(output), *flags], check=True, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def load(runtime, library):
    out = subprocess.run([sys.executable, "-c", LOAD, runtime, str(library)], check=True, capture_output=True, text=True).stdout
    milliseconds, kernels = out.split()
    assert int(kernels) == KERNELS, kernels
    return float(milliseconds)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("qmc")
    parser.add_argument("runtime")
    parser.add_argument("--cache")
    parser.add_argument("--gpu")
    parser.add_argument("--driver", help="the NVIDIA driver's version there")
    parser.add_argument("--commit", default="")
    parser.add_argument("--results")
    options = parser.parse_args()
    rows = []
    model = next(line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name"))
    here = f"{model}, {os.cpu_count()} threads"

    def add(cell, metric, unit, ours, bar, gpu=here, driver=None, peers=None):
        rows.append(
            {"suite": "library", "cell": cell, "metric": metric, "unit": unit, "ours": ours, "peers": peers or {}, "ratio": None, "bar": bar,
             "gpu": gpu, "sm_mhz": None, "driver": driver, "commit": options.commit, "date": str(datetime.date.today())}
        )
        print(f"{cell}: {metric} {ours} {unit} (bar {bar})")

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        cache = options.cache or str(folder / "cache")
        source = HERE / "library_specs.cpp"
        flags = ["--emit=lib", "--arch=sm_80", "--dtype=bf16,f16", "--head-dim=64,128", f"--cache-dir={cache}"]
        build(options.qmc, source, folder / "hundred", *flags)
        again = statistics.median(build(options.qmc, source, folder / "hundred", *flags) for _ in range(5))
        add("100 kernels", "second build", "s", round(again, 2), 2)
        library = folder / "libhundred.so"
        loads = statistics.median(load(options.runtime, library) for _ in range(11))
        add("100 kernels", "load", "ms", round(loads, 1), 50)
        add("100 kernels, sm_80 and PTX, runtime included", "size a kernel", "KB", round(library.stat().st_size / KERNELS / 1000, 1), 60)
        layers = HERE.parents[1] / "examples/cmake-project/layers.cpp"
        build(options.qmc, layers, folder / "layers", "--emit=archive", "--arch=sm_90a", "--dtype=bf16", "--head-dim=64,128",
              f"--cache-dir={cache}")
        add("4 kernels, sm_90a", "size a kernel", "KB", round((folder / "liblayers.a").stat().st_size / 4 / 1000, 1), 60)

    if options.gpu:
        runs = [json.loads(line) for line in pathlib.Path(options.gpu).read_text().splitlines() if line.startswith("{")]
        gpu = runs[0]["gpu"]
        cell = f"bf16 Hq8 Hkv2 S1024 D128, sm_90a, median of {len(runs)} cores"

        def median(key):
            return round(statistics.median(run[key] for run in runs), 2)

        add(cell, "first launch after loading", "ms", median("first_launch_ms"), 10, gpu, options.driver)
        alone = {"the driver alone, an empty kernel": median("driver_us")}
        add(cell, "launch, host, median", "us", median("launch_us"), 5, gpu, options.driver, alone)
        add(cell, "launch, host, 90 of 100 are below", "us", median("launch_p90_us"), None, gpu, options.driver)
    if options.results:
        pathlib.Path(options.results).write_text("[\n" + ",\n".join(" " + json.dumps(row, indent=1).replace("\n", "\n ") for row in rows) + "\n]\n")


if __name__ == "__main__":
    main()
