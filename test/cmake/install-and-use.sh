#!/usr/bin/env bash
# The package as a user meets it: install, configure the example project against the install tree, build, run; what is not
# up to date is built again and nothing else; the same with make, and with this tree as a subdirectory.
# usage: install-and-use.sh BUILD SOURCE WORK
set -euo pipefail
build=$1 source=$2 work=$3
rm -rf "$work"
mkdir -p "$work"
export QM_CACHE_DIR=$work/cache

fail() { echo "FAIL: $*" >&2; exit 1; }
expect() { # FILE TEXT
  grep -qF -- "$2" "$1" || { cat "$1" >&2; fail "'$2' is not in $1"; }
}
run_programs() { # FOLDER
  "$1/attention" >"$work/c.txt" || { cat "$work/c.txt" >&2; fail "the C program"; }
  expect "$work/c.txt" "largest error against double precision:"
  "$1/service" >"$work/cpp.txt" || { cat "$work/cpp.txt" >&2; fail "the C++ service"; }
  expect "$work/cpp.txt" "CPU: 12 requests on 4 threads, largest difference 0.0e+00"
}

echo "== install"
cmake --install "$build" --prefix "$work/prefix" >"$work/install.txt"
for file in include/qm/qm.h include/qm/qm.hpp include/dlpack/dlpack.h include/qm/attention.h bin/qmc lib*/libqm_runtime.a \
    lib*/cmake/QiMeng/QiMengConfig.cmake lib*/cmake/QiMeng/QiMengConfigVersion.cmake; do
  compgen -G "$work/prefix/$file" >/dev/null || fail "$file is not installed"
done

for generator in Ninja "Unix Makefiles"; do
  echo "== $generator, from the install tree"
  project=$work/${generator// /-}
  cp -r "$source/examples/cmake-project" "$project"
  cmake -S "$project" -B "$project/build" -G "$generator" -DCMAKE_PREFIX_PATH="$work/prefix" >"$work/configure.txt" ||
    { cat "$work/configure.txt" >&2; fail "configure"; }
  cmake --build "$project/build" >"$work/build.txt" 2>&1 || { cat "$work/build.txt" >&2; fail "build"; }
  expect "$work/build.txt" "Compiling attention kernels of layers"
  run_programs "$project/build"

  cmake --build "$project/build" >"$work/build.txt" 2>&1
  grep -q "Compiling attention kernels" "$work/build.txt" && fail "built again though nothing changed"
  sleep 1 # a time stamp of its own
  sed -i 's/= 1024/= 16/' "$project/window.h"
  cmake --build "$project/build" >"$work/build.txt" 2>&1 || { cat "$work/build.txt" >&2; fail "second build"; }
  expect "$work/build.txt" "Compiling attention kernels of layers"
  run_programs "$project/build"
done

echo "== a project in C alone, with the shared library"
mkdir "$work/c-only"
cp "$source/examples/cmake-project/"{attention.c,layers.cpp,window.h} "$work/c-only"
cat >"$work/c-only/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.20)
project(COnly LANGUAGES C)
find_package(QiMeng 0.1 REQUIRED)
qm_add_attention_library(layers SPECS layers.cpp ARCHS cpu DTYPES f32 SHARED)
add_executable(attention attention.c)
target_link_libraries(attention PRIVATE layers m)
CMAKE
cmake -S "$work/c-only" -B "$work/c-only/build" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" >"$work/configure.txt" ||
  { cat "$work/configure.txt" >&2; fail "configure a C project"; }
cmake --build "$work/c-only/build" >"$work/build.txt" 2>&1 || { cat "$work/build.txt" >&2; fail "build a C project"; }
"$work/c-only/build/attention" >"$work/c.txt" || fail "the C program with the shared library"
expect "$work/c.txt" "largest error against double precision:"

echo "== another version is refused"
mkdir "$work/version"
printf 'cmake_minimum_required(VERSION 3.20)\nproject(V LANGUAGES C)\nfind_package(QiMeng 9 REQUIRED)\n' >"$work/version/CMakeLists.txt"
cmake -S "$work/version" -B "$work/version/build" -DCMAKE_PREFIX_PATH="$work/prefix" >"$work/version.txt" 2>&1 &&
  fail "version 9 was found"
expect "$work/version.txt" 'requested version "9"'

echo "== mistakes are named"
mkdir "$work/mistakes"
mistake() { # CALL MESSAGE
  printf 'cmake_minimum_required(VERSION 3.20)\nproject(M LANGUAGES C)\nfind_package(QiMeng REQUIRED)\n%s\n' "$1" \
    >"$work/mistakes/CMakeLists.txt"
  cmake -S "$work/mistakes" -B "$work/mistakes/build" -DCMAKE_PREFIX_PATH="$work/prefix" >"$work/mistake.txt" 2>&1 &&
    fail "accepted: $1"
  tr -s ' \n' ' ' <"$work/mistake.txt" >"$work/mistake-line.txt" # CMake breaks lines
  expect "$work/mistake-line.txt" "$2"
}
mistake 'qm_add_attention_library(a SPECS a.cpp)' 'qm_add_attention_library(a): ARCHS is missing'
mistake 'qm_add_attention_library(a STATIC SPECS a.cpp ARCHS cpu)' 'qm_add_attention_library(a): unknown arguments STATIC'
mistake 'qm_add_attention_library(a-b SPECS a.cpp ARCHS cpu)' 'use letters, digits and underscores'

echo "== as a subdirectory, with a compiler that is there already"
mkdir "$work/sub"
cp "$source/examples/cmake-project/"{attention.c,layers.cpp,window.h} "$work/sub"
cat >"$work/sub/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.20)
project(Sub LANGUAGES C CXX)
set(QM_BUILD_COMPILER OFF)
set(QiMeng_QMC "$build/bin/qmc")
add_subdirectory("$source" qimeng EXCLUDE_FROM_ALL)
qm_add_attention_library(layers SPECS layers.cpp ARCHS cpu DTYPES f32)
add_executable(attention attention.c)
target_link_libraries(attention PRIVATE layers m)
CMAKE
cmake -S "$work/sub" -B "$work/sub/build" -G Ninja >"$work/configure.txt" 2>&1 || { cat "$work/configure.txt" >&2; fail "configure"; }
cmake --build "$work/sub/build" >"$work/build.txt" 2>&1 || { cat "$work/build.txt" >&2; fail "build as a subdirectory"; }
"$work/sub/build/attention" >"$work/c.txt" || fail "the C program of the parent project"
expect "$work/c.txt" "largest error against double precision:"
rm -rf "$work"
echo "install, Ninja, make, C alone, subdirectory: all work"
