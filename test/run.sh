#!/usr/bin/env bash
# Installs what is needed, builds everything and runs every test: format check, GoogleTest, lit. Works from any folder and
# twice in a row. Tests that need a GPU or ptxas say that they were skipped where there is none.
# usage: test/run.sh [ctest arguments, e.g. -R lit.passes]
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

step() { printf '\n== %s\n' "$*"; }

step "1/4 packages"
cmake/install-packages.sh

step "2/4 format"
mapfile -t sources < <(git ls-files '*.h' '*.hpp' '*.cpp' '*.c' | grep -v '/Inputs/' || true)
if [ ${#sources[@]} -gt 0 ]; then
  clang-format-22 --dry-run --Werror "${sources[@]}"
  echo "${#sources[@]} files are formatted"
fi

step "3/4 build (about five minutes the first time on two cores)"
cmake --preset default -Wno-dev >/dev/null
cmake --build --preset default

step "4/4 tests"
command -v ptxas >/dev/null || [ -x /usr/local/cuda/bin/ptxas ] || echo "note: no ptxas here, tests that assemble PTX are skipped"
[ -e /dev/nvidiactl ] || echo "note: no NVIDIA GPU here, tests that launch on one are skipped"
ctest --preset default -j "$(nproc)" "$@"
