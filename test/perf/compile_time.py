#!/usr/bin/env python3
"""Times `qmc build` from a spec to a cubin, the whole process: best and median of seven.

usage: compile_time.py [--build DIR] [--runs N] [--arch NAMES] [--json FILE] [--max-load N]
needs: a build (qmc) and ptxas. Refuses to measure on a busy machine: the load average must be below --max-load (1.5), and each
run waits, up to a minute, until the processors are idle.

`.mlir` is the spec as MLIR text; `.cpp` also runs the host compiler on <qm/attention.h> and traces the spec. Both start the
compiler cold. The bars are limits of the median.
"""

import argparse
import datetime
import itertools
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPECS = ("causal", "gemma2_softcap")  # one kernel each: a plain one, and one with a score function and a compound mask
BARS = {("sm_80", ".mlir"): 1.0, ("sm_80", ".cpp"): 2.0, ("sm_90a", ".mlir"): 1.5}


def idle_share(interval=0.3):
    def read():
        fields = [int(x) for x in open("/proc/stat").readline().split()[1:]]
        return fields[3] + fields[4], sum(fields)

    idle, total = read()
    time.sleep(interval)
    idle_later, total_later = read()
    return (idle_later - idle) / max(1, total_later - total)


def seconds(command):
    end = time.time() + 60
    while idle_share() < 0.9 and time.time() < end:
        pass
    begin = time.perf_counter()
    subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--arch", default="sm_80,sm_90a")
    parser.add_argument("--json", type=pathlib.Path, default=ROOT / "test/perf/results/compile.json")
    parser.add_argument("--max-load", type=float, default=1.5)
    options = parser.parse_args()
    load = os.getloadavg()[0]
    if load >= options.max_load:
        sys.exit(f"compile_time.py: the load average is {load:.2f}, not below {options.max_load}: wait, or raise --max-load")

    qmc = options.build / "bin/qmc"
    model = next(l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name"))
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        sources = []
        for spec in SPECS:
            cpp, mlir = ROOT / f"examples/{spec}.cpp", folder / f"{spec}.mlir"
            subprocess.run([str(qmc), "build", str(cpp), "--emit=spec", "-o", str(mlir)], check=True)
            sources += [mlir, cpp]
        for arch, source in itertools.product(options.arch.split(","), sources):
            output = folder / "kernel.cubin"
            command = [qmc, "build", source, f"--arch={arch}", "--emit=cubin", "-o", output]
            times = [seconds(command) for _ in range(options.runs)]
            assert output.stat().st_size > 0
            bar = BARS.get((arch, source.suffix))
            for metric, value in (("median", statistics.median(times)), ("best", min(times))):
                rows.append(
                    {
                        "suite": "compile",
                        "cell": f"{source.name} to {arch} cubin",
                        "metric": f"{metric} of {options.runs}",
                        "unit": "s",
                        "ours": round(value, 3),
                        "peers": {},
                        "ratio": None,
                        "bar": bar if metric == "median" else None,
                        "gpu": f"{model}, {os.cpu_count()} threads",
                        "sm_mhz": None,
                        "driver": None,
                        "commit": commit.stdout.strip(),
                        "date": datetime.date.today().isoformat(),
                    }
                )
                held = f"bar {bar} s on the median, " if bar else ""
                print(f"{source.name:20} {arch:6} {metric:6} {value:.3f} s ({held}load {load:.2f})", flush=True)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
