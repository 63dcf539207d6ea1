#!/usr/bin/env bash
# Installs the Debian packages that building and testing need, those that are missing only. Prints what it does; asks apt
# nothing when there is nothing to do.
set -euo pipefail

packages=(
  cmake ninja-build ccache
  clang-22 lld-22 clang-format-22 libclang-rt-22-dev
  llvm-22-dev llvm-22-tools libmlir-22-dev mlir-22-tools
  zlib1g-dev libzstd-dev libcurl4-openssl-dev libxml2-dev libedit-dev
  libcli11-dev nlohmann-json3-dev libdlpack-dev libgtest-dev
  python3 python3-numpy python3-setuptools python3-wheel
)
missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "packages: all ${#packages[@]} are installed"
  exit 0
fi
echo "packages: installing ${missing[*]}"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "packages: run as root, or install sudo" >&2; exit 1; }
  as_root=(sudo)
fi
"${as_root[@]}" apt-get update -qq
DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
echo "packages: done"
