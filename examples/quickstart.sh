#!/usr/bin/env bash
# From a fresh Debian 12 machine to running attention kernels: installs what is missing, builds the compiler, compiles every
# example spec to PTX and cubin, runs each on the CPU with real data, checks it against double precision, prints a table.
# Works from any folder and twice in a row. Without CUDA's ptxas it stops at PTX and says so.
# usage: examples/quickstart.sh [output folder, default ./qimeng-out]
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=$(realpath -m "${1:-qimeng-out}")

step() { printf '\n== %s\n' "$*"; }

step "1/4 packages"
"$root/cmake/install-packages.sh"

step "2/4 build (about three minutes the first time on two cores)"
cd "$root"
cmake --preset default -Wno-dev >/dev/null
cmake --build --preset default --target qmc
qmc=$root/build/bin/qmc

step "3/4 compile the example specs for sm_80"
mkdir -p "$out"
emit=ptx,cubin,json
if ! "$qmc" --version | grep -q '^ptxas .*[0-9]'; then
  echo "note: no ptxas here (CUDA toolkit), so PTX only; the driver of a machine with a GPU assembles it"
  emit=ptx,json
fi
for spec in examples/*.cpp; do
  printf '%-40s ' "$spec"
  "$qmc" build "$spec" --arch=sm_80 --emit=$emit -o "$out/$(basename "$spec" .cpp)" >/dev/null
  echo "-> $(cd "$out" && echo "$(basename "$spec" .cpp)".*)"
done

step "4/4 run them on this CPU and check them against double precision"
"$qmc" verify examples/*.cpp --arch=cpu --batch=2 --sq=384 --layout=bshd
"$qmc" run examples/*.cpp --sq=1024
printf '\nkernels are in %s; next: %s explain %s\n' "$out" "build/bin/qmc" "examples/gemma2_softcap.cpp"
