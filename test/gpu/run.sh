#!/usr/bin/env bash
# Everything that needs a GPU: the contract cases of every target that the GPU runs (errors, memory around the outputs, the same
# bits in a second run), the kernels of check_kernels.py against float64, small cases under compute-sanitizer (memcheck,
# racecheck, synccheck), and the example specs through qmc on the GPU. Prints a table; steps whose tool is missing say so.
#
# usage: test/gpu/run.sh [--build=DIR] [--logs=DIR]   on a machine with the compiler and a GPU
#        test/gpu/run.sh --pack=KIT [--build=DIR]     writes a folder for a GPU machine without the compiler
#        test/gpu/run.sh --run=KIT [--logs=DIR]       runs such a folder
# environment: QM_GPU_TIMEOUT=SECONDS  limit of one program (default 300)
# Exit status: 0 nothing failed (also without a GPU), 1 something did, 2 wrong usage.
set -uo pipefail
export QM_GPU_TIMEOUT=${QM_GPU_TIMEOUT:-300}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$root/build pack='' kit='' logs=''
for argument in "$@"; do
  case $argument in
    --build=*) build=$(realpath -m "${argument#*=}") ;;
    --pack=*) pack=$(realpath -m "${argument#*=}") ;;
    --run=*) kit=$(realpath -m "${argument#*=}") ;;
    --logs=*) logs=$(realpath -m "${argument#*=}") ;;
    -h | --help) sed -n '2,11s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit ;;
    *) echo "run.sh: unknown argument '$argument'; see --help" >&2; exit 2 ;;
  esac
done

# Compiles every case and kernel into folder $1.
pack_kit() {
  echo "compiling contract cases and kernels into $1 (three minutes on two cores)"
  mkdir -p "$1/bin" || return
  cmake --build "$build" --target qm-contract-cases qm-run-cases qm-gpu-kernels >"$1/build.log" || return
  for target in sm_75 sm_80 sm_90a; do
    "$build/bin/qm-contract-cases" "$1/contract/$target" "$target" || return
  done
  "$build/bin/qm-gpu-kernels" "$1/kernels" >"$1/kernels.log" || return
  cp "$build/bin/qm-run-cases" "$1/bin/" && cp "$here/run.sh" "$here/check_kernels.py" "$1/"
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

# A row of the table: step, counts, seconds since $3.
row() { printf '%-34s %-30s %4d s\n' "$1" "$2" $((SECONDS - $3)) | tee -a "$scratch/table"; }
failed=0
targets=()
for folder in "$kit"/contract/sm_*; do
  target=$(basename "$folder") number=${folder##*sm_}
  # Code for one generation alone (90a) runs there; other code runs on every later GPU.
  if [ "$number" = "${capability}a" ] || { [[ $number =~ ^[0-9]+$ ]] && [ "$number" -le "$capability" ]; }; then
    targets+=("$target")
  fi
done

echo "== contract cases on $gpu"
for target in "${targets[@]}"; do
  start=$SECONDS folder=$kit/contract/$target log=$logs/contract-$target.log
  (cd "$folder" && ls) | grep -o '^Row[0-9]*_' | sort -u |
    xargs -P "$cores" -I{} sh -c 'timeout "$QM_GPU_TIMEOUT" "$1" --filter={} "$2" >"$3/{}" 2>&1 || echo "{} ended with status $?" >>"$3/{}"' \
      sh "$kit/bin/qm-run-cases" "$folder" "$(mkdir -p "$scratch/$target" && echo "$scratch/$target")"
  cat "$scratch/$target"/* >"$log"
  wrong=$(grep -c -e '^FAIL' -e 'ended with status' "$log")
  [ "$wrong" -eq 0 ] || { failed=1; grep -e '^FAIL' -e 'ended with status' "$log"; }
  row "contract cases, $target" "$(grep -c '^PASS' "$log") passed, $wrong failed" "$start"
done

echo "== kernels against float64"
start=$SECONDS
[ -d "$kit/kernels" ] || echo "skipped: no kernels in the kit" >"$scratch/check.none"
shards=$((cores < 8 ? 1 : 6))
[ -d "$kit/kernels" ] || shards=0
for ((i = 0; i < shards; ++i)); do
  timeout "$QM_GPU_TIMEOUT" python3 "$kit/check_kernels.py" "$kit/kernels" check --shard=$i/$shards >"$scratch/check.$i" 2>&1 ||
    echo "WRONG: shard $i ended with status $?" >>"$scratch/check.$i" &
done
wait
cat "$scratch"/check.* >"$logs/kernels.log"
if grep -q '^skipped' "$logs/kernels.log"; then
  row "kernels against float64" "$(grep -m1 '^skipped' "$logs/kernels.log")" "$start"
else
  wrong=$(grep -c WRONG "$logs/kernels.log")
  [ "$wrong" -eq 0 ] || { failed=1; grep WRONG "$logs/kernels.log"; }
  row "kernels against float64" "$(grep -c 'x unfused' "$logs/kernels.log") kernels, $wrong wrong" "$start"
fi

echo "== compute-sanitizer"
sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | head -1)
# Ragged lengths in both schedules, unequal lengths under a mask, reads at the ends of buffers, strides, wide heads.
small=(Row09_TailIsMasked Row03_CausalTopLeft Row08_NaNPastTheLength Row11_Neighbours Row31_EverySecondRow Row34_LastElementOfHeadDim_)
if [ -z "$sanitizer" ]; then
  row "compute-sanitizer" "skipped: not found" "$SECONDS"
else
  start=$SECONDS
  for target in "${targets[@]}"; do
    for tool in memcheck racecheck synccheck; do
      for filter in "${small[@]}"; do
        # Under a diagonal, warps that see nothing of a block wait for the others at another bar.sync of the same barrier. PTX
        # knows barriers by number, so that is right; synccheck wants one instruction for all and stops the program.
        case $tool-$filter-$target in synccheck-Row03*-sm_[78]? | synccheck-Row31*-sm_[78]?) continue ;; esac
        echo "$filter $target $tool"
      done
    done
  done | xargs -P "$cores" -L1 sh -c 'timeout "$QM_GPU_TIMEOUT" "$0" --tool "$5" --report-api-errors no --error-exitcode 9 --print-limit 5 \
      "$1/bin/qm-run-cases" --filter="$3" "$1/contract/$4" >"$2/sanitizer-$4-$5-$3" 2>&1
    echo "status $?" >>"$2/sanitizer-$4-$5-$3"' "$sanitizer" "$kit" "$scratch"
  cat "$scratch"/sanitizer-* >"$logs/sanitizer.log"
  for target in "${targets[@]}"; do
    for tool in memcheck racecheck synccheck; do
      runs=("$scratch/sanitizer-$target-$tool"-*)
      clean=$(grep -lx 'status 0' "${runs[@]}" | wc -l)
      [ "$clean" -eq ${#runs[@]} ] || failed=1
      row "$tool, $target" "$clean of ${#runs[@]} runs clean, $(cat "${runs[@]}" | grep -c '^PASS') cases" "$start"
    done
  done
fi

echo "== the examples through qmc"
qmc=$kit/bin/qmc
[ -x "$qmc" ] || qmc=$build/bin/qmc
if [ -x "$qmc" ] && [ -e "$root/examples/quickstart.sh" ]; then
  start=$SECONDS
  QM_QUICKSTART_QMC=$qmc timeout "$QM_GPU_TIMEOUT" "$root/examples/quickstart.sh" "$scratch/examples" >"$logs/examples.log" 2>&1 || failed=1
  row "examples on the GPU" "$(grep -c ' sm_.*PASS$' "$logs/examples.log") of $(ls "$root"/examples/*.cpp | wc -l) specs PASS" "$start"
else
  row "examples on the GPU" "skipped: no qmc here" "$SECONDS"
fi

printf '\n%s\n' "$gpu"
cat "$scratch/table"
[ $failed -eq 0 ] && echo "nothing failed" || echo "something failed; the logs say what: --logs=DIR keeps them"
exit $failed
