#!/usr/bin/env bash
# Everything that needs a GPU, as one table with counts of what passed, failed and was skipped: the contract cases of every
# target that the GPU runs (errors, memory around the outputs, the same bits in a second run), the kernels of check_kernels.py
# against float64, 1000 launches on eight streams, small cases under compute-sanitizer (memcheck, racecheck, synccheck), specs
# in every target and operand type through `qmc verify` and `qmc run`, and examples/quickstart.sh.
#
# usage: test/gpu/run.sh [--build=DIR] [--logs=DIR] [--only=STEP,...]  on a machine with the compiler and a GPU
#        test/gpu/run.sh --pack=KIT [--build=DIR]  writes a folder for a GPU machine that has neither compiler nor MLIR
#        KIT/run.sh --run=KIT [--logs=DIR] [--only=STEP,...]  runs such a folder
# steps: contract kernels launches sanitizer verify quickstart
# environment: QM_GPU_TIMEOUT=SECONDS  limit of one program (default 300)
# Exit status: 0 nothing failed (also without a GPU), 1 something did, 2 wrong usage.
set -uo pipefail
export QM_GPU_TIMEOUT=${QM_GPU_TIMEOUT:-300}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$root/build pack='' kit='' logs='' only=contract,kernels,launches,sanitizer,verify,quickstart
for argument in "$@"; do
  case $argument in
    --build=*) build=$(realpath -m "${argument#*=}") ;;
    --pack=*) pack=$(realpath -m "${argument#*=}") ;;
    --run=*) kit=$(realpath -m "${argument#*=}") ;;
    --logs=*) logs=$(realpath -m "${argument#*=}") ;;
    --only=*) only=${argument#*=} ;;
    -h | --help) sed -n '2,13s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit ;;
    *) echo "run.sh: unknown argument '$argument'; see --help" >&2; exit 2 ;;
  esac
done

# Specs of test/data/sm80 in every type, into folder $1.
write_specs() {
  mkdir -p "$1"
  for spec in full causal window softcap alibi document; do
    for type in f16 bf16 f32; do
      for dim in 64 128; do
        sed -e 's/HQ/4/g; s/HK/2/g' -e "s/xDV\\?x/x${dim}x/g; s/TYPE/$type/g" "$root/test/data/sm80/$spec.mlir" >"$1/$type-$spec-$dim.mlir" || return
      done
    done
  done
}

# Compiles every case and kernel into folder $1, and puts a qmc there that needs no shared MLIR, with what it needs for C++ specs.
pack_kit() {
  echo "compiling contract cases and kernels into $1 (some ten minutes on two cores)"
  mkdir -p "$1/bin" || return
  cmake --build "$build" --target qm-contract-cases qm-run-cases qm-gpu-kernels qm-static-qmc qm_package >"$1/build.log" || return
  for target in sm_75 sm_80 sm_90a; do
    "$build/bin/qm-contract-cases" "$1/contract/$target" "$target" || return
  done
  "$build/bin/qm-gpu-kernels" "$1/kernels" >"$1/kernels.log" || return
  cp "$build/bin/qm-run-cases" "$1/bin/" && cp "$here/run.sh" "$here/check_kernels.py" "$1/" &&
    cp -r "$root/examples" "$1/" && write_specs "$1/specs" && cmake --install "$build" --prefix "$1/qimeng" >>"$1/build.log" &&
    cp "$build/bin/static/qmc" "$1/qimeng/bin/qmc"
}

if [ -n "$pack" ]; then
  pack_kit "$pack" || { echo "run.sh: cannot pack; see $pack/build.log" >&2; exit 1; }
  echo "packed; there: KIT/run.sh --run=KIT"
  exit
fi
gpu=$(nvidia-smi --query-gpu=name,compute_cap,driver_version --format=csv,noheader -i 0 2>/dev/null) || gpu=''
if [ -z "$gpu" ]; then
  echo "skipped: no GPU"
  exit
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
logs=${logs:-$scratch/logs}
mkdir -p "$logs"
if [ -z "$kit" ]; then
  kit=$scratch/kit
  pack_kit "$kit" || { echo "run.sh: cannot compile; see the messages above" >&2; exit 1; }
fi
capability=$(cut -d, -f2 <<<"$gpu" | tr -d ' .')
cores=$(nproc)
passed=0 failed=0 skipped=0

wants() { [[ ,$only, == *,$1,* ]]; }

# A row of the table: step, passed, failed, skipped, seconds since $5; $6 says why something was skipped.
row() {
  printf '%-42s %7d %7d %8d %6d s  %s\n' "$1" "$2" "$3" "$4" $((SECONDS - $5)) "${6:-}" | tee -a "$scratch/table"
  passed=$((passed + $2)) failed=$((failed + $3)) skipped=$((skipped + $4))
}

# Lines of file $2 that match $1.
count() { grep -c -e "$1" "$2" 2>/dev/null || true; }

# Runs each line of the input, a name and then a command, in parallel; output and status go to folder $1, a file a name. Status
# 127, 124 and the like are failures that the program itself could not report.
run_all() {
  mkdir -p "$1"
  xargs -P "$cores" -d '\n' -I{} bash -c 'read -r name command <<<"$2"
    timeout "$QM_GPU_TIMEOUT" bash -c "$command" >"$1/$name" 2>&1; status=$?
    [ $status -le 1 ] || echo "FAIL $name ended with status $status" >>"$1/$name"
    echo "status $status" >>"$1/$name"' bash "$1" {}
}

targets=()
for target in sm_75 sm_80 sm_90a; do
  number=${target#sm_}
  # Code for one generation alone (90a) runs there; other code runs on every later GPU.
  if [ "$number" = "${capability}a" ] || { [[ $number =~ ^[0-9]+$ ]] && [ "$number" -le "$capability" ]; }; then
    targets+=("$target")
  else
    row "all of $target" 0 0 1 "$SECONDS" "this GPU does not run it"
  fi
done

# Cases of one image together, which the driver compiles once.
contract_cases() {
  local target=$1 start=$SECONDS folder=$kit/contract/$1 out=$scratch/contract-$1 log=$logs/contract-$1.log
  [ -d "$folder" ] || { row "contract cases, $target" 0 0 1 "$start" "not in the kit"; return; }
  for image in "$folder"/*.ptx; do
    name=$(basename "$image" .ptx)
    echo "$name '$kit/bin/qm-run-cases' --filter='$name.' '$folder'"
  done | run_all "$out"
  cat "$out"/* >"$log"
  grep '^FAIL' "$log"
  row "contract cases, $target" "$(count '^PASS' "$log")" "$(count '^FAIL' "$log")" 0 "$start"
}

# check_kernels.py in mode $1, in shards; lines that match $2 passed, those that match $3 did not.
kernels() {
  local start=$SECONDS shards=$((cores < 8 ? 1 : 8)) log=$logs/$1.log
  [ -d "$kit/kernels" ] || { row "$4" 0 0 1 "$start" "not in the kit"; return; }
  for ((i = 0; i < shards; ++i)); do
    echo "$i python3 '$kit/check_kernels.py' '$kit/kernels' $1 --shard=$i/$shards"
  done | run_all "$scratch/$1"
  cat "$scratch/$1"/* >"$log"
  if grep -q '^skipped' "$log"; then
    row "$4" 0 0 1 "$start" "$(grep -m1 '^skipped' "$log")"
    return
  fi
  grep -e "$3" -e '^FAIL' -e '^Traceback' "$log"
  row "$4" "$(count "$2" "$log")" "$(grep -c -e "$3" -e '^FAIL' -e '^Traceback' "$log")" 0 "$start"
}

# Ragged lengths in both schedules, unequal lengths under a mask, reads at the ends of buffers, strides, wide heads.
small=(Row09_TailIsMasked Row03_CausalTopLeft Row08_NaNPastTheLength Row11_Neighbours Row31_EverySecondRow Row34_LastElementOfHeadDim_)
sanitizers() {
  local start=$SECONDS program out=$scratch/sanitizer
  program=$(command -v compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | head -1)
  [ -n "$program" ] || { row "compute-sanitizer" 0 0 1 "$start" "not found"; return; }
  for target in "${targets[@]}"; do
    [ -d "$kit/contract/$target" ] || continue
    for tool in memcheck racecheck synccheck; do
      for case in "${small[@]}"; do
        # Under a diagonal, warps that see nothing of a block wait for the others at another bar.sync of the same barrier. PTX
        # knows barriers by number, so that is right; synccheck wants one instruction for all and stops the program.
        case $tool-$case-$target in synccheck-Row03*-sm_[78]? | synccheck-Row31*-sm_[78]?) continue ;; esac
        for image in "$kit/contract/$target/$case"*.ptx; do
          name=$(basename "$image" .ptx)
          echo "$target-$tool-$name $program --tool $tool --report-api-errors no --error-exitcode 9 --print-limit 5" \
            "'$kit/bin/qm-run-cases' --filter='$name.' '$kit/contract/$target'"
        done
      done
    done
  done | run_all "$out"
  cat "$out"/* >"$logs/sanitizer.log"
  for target in "${targets[@]}"; do
    [ -d "$kit/contract/$target" ] || { row "compute-sanitizer, $target" 0 0 1 "$start" "not in the kit"; continue; }
    for tool in memcheck racecheck synccheck; do
      files=("$out/$target-$tool"-*)
      clean=$(grep -lx 'status 0' "${files[@]}" | wc -l)
      grep -L -x 'status 0' "${files[@]}" | xargs -r -n1 basename
      row "$tool, $target" "$clean" $((${#files[@]} - clean)) 0 "$start" "kernels"
    done
  done
}

# Every spec with each target and way to multiply its operands: against double precision, and once for the time.
verify() {
  local start=$SECONDS out=$scratch/verify setting target type products call name
  for setting in "sm_75 f16" "sm_80 f16" "sm_80 bf16" "sm_80 f32" "sm_80 f32 tf32" "sm_90a f16" "sm_90a bf16"; do
    read -r target type products <<<"$setting"
    [[ " ${targets[*]} " == *" $target "* ]] || continue
    for spec in "$kit/specs/$type"-*.mlir; do
      name=$target$products-$(basename "$spec" .mlir) call="'$spec' --target=gpu --arch=$target"
      [ -z "$products" ] || call+=" --set precision.operands=$products"
      [[ $name != *window* ]] || call+=" --param width=100" # run-time scalars have no default
      echo "verify-$name '$qmc' verify $call --batch=2 --sq=200"
      echo "run-$name '$qmc' run $call --sq=1024"
    done
  done | run_all "$out"
  cat "$out"/* >"$logs/verify.log"
  for step in verify run; do
    for target in "${targets[@]}"; do
      files=("$out/$step-$target"*)
      right=$(grep -lx 'status 0' "${files[@]}" | wc -l)
      grep -L -x 'status 0' "${files[@]}" | xargs -r -n1 basename
      row "qmc $step --target=gpu, $target" "$right" $((${#files[@]} - right)) 0 "$start" "specs"
    done
  done
}

quickstart() {
  local start=$SECONDS log=$logs/quickstart.log specs failures=0
  specs=$(ls "$examples"/*.cpp | wc -l)
  QM_QUICKSTART_QMC=$qmc timeout "$QM_GPU_TIMEOUT" "$examples/quickstart.sh" "$scratch/quickstart" >"$log" 2>&1 || failures=1
  right=$(count ' sm_.*PASS$' "$log")
  [ "$right" -eq "$specs" ] || failures=$((specs - right))
  row "examples/quickstart.sh on the GPU" "$right" "$failures" 0 "$start" "specs"
}

printf '%-42s %7s %7s %8s\n' step passed failed skipped | tee "$scratch/table"
if wants contract; then
  for target in "${targets[@]}"; do contract_cases "$target"; done
fi
! wants kernels || kernels check 'x unfused' WRONG "kernels against float64"
! wants launches || kernels launches 'streams: equal' DIFFER "kernels: 1000 launches, 8 streams"
! wants sanitizer || sanitizers
qmc=$kit/qimeng/bin/qmc examples=$kit/examples
[ -x "$qmc" ] || qmc=$build/bin/qmc examples=$root/examples
if [ -x "$qmc" ]; then
  ! wants verify || verify
  ! wants quickstart || quickstart
else
  row "qmc and the examples" 0 0 1 "$SECONDS" "no qmc here"
fi

printf '\n%s\n' "$gpu"
cat "$scratch/table"
row "all in all" "$passed" "$failed" "$skipped" 0
[ "$failed" -eq 0 ] && echo "nothing failed" || echo "something failed; the logs say what: --logs=DIR keeps them"
[ "$failed" -eq 0 ]
