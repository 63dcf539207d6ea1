#!/usr/bin/env bash
# A tree that g++ compiles works with a libMLIR that clang compiled only if both spell the names of types alike
# (cmake/gcc/llvm/Support/TypeName.h). Compiles one file with each and compares what it prints; then looks for the names
# in the library.
# usage: type-names.sh SOURCE LLVM_PREFIX WORK GXX CLANGXX
set -euo pipefail
source=$1 llvm=$2 work=$3 gxx=$4 clangxx=$5
rm -rf "$work"
mkdir -p "$work"

compile() { # COMPILER OUT FLAG...
  "$1" -std=c++20 "${@:3}" -isystem "$llvm/include" "$source/test/toolchain/type_names.cpp" -o "$work/$2" \
    -L"$llvm/lib" -Wl,-rpath,"$llvm/lib" -lMLIR -lLLVM
  "$work/$2" >"$work/$2.txt"
}
compile "$clangxx" clang
compile "$gxx" gcc -I"$source/cmake/gcc"
diff "$work/clang.txt" "$work/gcc.txt" || { echo "FAIL: clang's names (<) and g++'s (>) differ" >&2; exit 1; }

missing=0
while read -r name; do
  grep -qaF "DesiredTypeName = $name]" "$llvm/lib/libMLIR.so" || { echo "FAIL: '$name' is not in libMLIR" >&2; missing=1; }
done < <(sed -n 's/^library //p' "$work/gcc.txt")
[ "$missing" = 0 ]
echo "$(grep -c . "$work/gcc.txt") names alike, $(grep -c ^library "$work/gcc.txt") of them in libMLIR"
