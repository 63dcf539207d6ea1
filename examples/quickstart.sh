#!/usr/bin/env bash
# From a fresh Debian machine to running attention kernels: installs what is missing, builds the compiler, compiles every
# example spec to PTX and cubin, runs each on the CPU (and on the GPU, if there is one) with real data, checks every result
# against double precision and prints one table. Works from any folder and twice in a row.
#
# usage: examples/quickstart.sh [output folder, default ./qimeng-out]
# environment: QM_QUICKSTART_QMC=PATH  use this qmc: install and build nothing
# Exit status: 0 if every spec compiled, ran and was right.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
case ${1:-} in -h | --help) sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit ;; esac
out=$(realpath -m "${1:-qimeng-out}")

step() { printf '\n== %s\n' "$*"; }
trap 'echo "quickstart: failed at line $LINENO: $BASH_COMMAND" >&2' ERR

if [ -n "${QM_QUICKSTART_QMC:-}" ]; then
  qmc=$(realpath "$QM_QUICKSTART_QMC")
  step "1/4 packages: skipped, QM_QUICKSTART_QMC is set"
  step "2/4 build: skipped, using $qmc"
else
  step "1/4 packages"
  "$root/cmake/install-packages.sh"
  step "2/4 build (about three minutes the first time on two cores)"
  (cd "$root" && cmake --preset default -Wno-dev >/dev/null && cmake --build --preset default --target qm_package)
  qmc=$root/build/bin/qmc
fi

step "3/4 compile the example specs for sm_80"
mkdir -p "$out"
emit=ptx,cubin,json
if ! "$qmc" --version | grep -q '^ptxas [0-9]'; then
  echo "note: no ptxas here (it comes with the CUDA toolkit), so PTX only; the driver of a machine with a GPU compiles that"
  emit=ptx,json
fi
specs=("$root"/examples/*.cpp)
for spec in "${specs[@]}"; do
  name=$(basename "$spec" .cpp)
  printf '%-28s' "$name"
  "$qmc" build "$spec" --arch=sm_80 --emit=$emit -o "$out/$name"
  echo "$(cd "$out" && echo "$name".*)"
done

targets=(cpu)
# QM_CUDA_DRIVER names another driver library than the system's.
if [ -e /dev/nvidiactl ] || [ -n "${QM_CUDA_DRIVER:-}" ]; then
  targets+=(gpu)
fi
step "4/4 run on: ${targets[*]}"
[ ${#targets[@]} -gt 1 ] || echo "note: no NVIDIA GPU here; where there is one, its rows join the table"
results=$(mktemp -d)
failed=0
trap 'rm -rf "$results"' EXIT
for spec in "${specs[@]}"; do
  name=$(basename "$spec" .cpp)
  call=(--layout=bshd)
  # Run-time scalars have no default.
  [ "$name" != sink_window ] || call+=(--param sinks=4 --param window=256)
  for target in "${targets[@]}"; do
    echo "$name on $target"
    # The check compares with a reference in double precision, which takes its time: a smaller call than the timed one.
    "$qmc" verify "$spec" --target="$target" --batch=2 --sq=256 "${call[@]}" --json >"$results/$name.$target.verify" || failed=1
    "$qmc" run "$spec" --target="$target" --sq=1024 "${call[@]}" --json >"$results/$name.$target.run" || failed=1
  done
done

echo
python3 - "$results" <<'PYTHON'
import json, pathlib, sys


def rows_of(path):
    """What qmc printed; nothing if it stopped with an error."""
    return json.loads(path.read_text() or "[]")


rows = [("spec", "target", "B", "Hq", "Hkv", "Sq", "Skv", "D", "median ms", "GFLOP/s", "O error", "to f32 ref", "lse error", "verdict")]
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.run")):
    checks = {row["spec"]: row for row in rows_of(path.with_suffix(".verify")) if row["verdict"]}
    if not checks or not rows_of(path):
        rows.append((*path.stem.rsplit(".", 1), *["-"] * 11, "ERROR"))
    for run in rows_of(path):
        check = checks.get(run["spec"])
        if not check:
            continue
        rows.append((*(run[key] for key in rows[0][:10]), check["O max abs"], check["O ratio"], check["lse max abs"], check["verdict"]))
widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
for row in rows:
    print("  ".join(text.ljust(w) if i < 2 else text.rjust(w) for i, (text, w) in enumerate(zip(row, widths))))
PYTHON
if [ $failed -ne 0 ]; then
  echo "quickstart: not every spec ran and was right; the messages are above" >&2
  exit 1
fi
printf '\nkernels are in %s; next: %s explain %s\n' "$out" "$qmc" "$root/examples/gemma2_softcap.cpp"
