#!/usr/bin/env bash
# Measures everything that belongs together on a machine with 1, 2, 4 or 8 GPUs, most important first, within a time.
#
#   benchmarks/run_gpu.sh [--gpus N] [--time SECONDS] [--out FOLDER] [--pack FILE.tar.gz] [--qsim PROGRAM]
#                         [--tables FOLDER] [--jit MODE] [--only STEPS] [--list]
#
# --gpus    how many GPUs (default: those that nvidia-smi lists, down to a power of two)
# --time    no step is begun that would end after this many seconds (default 480)
# --out     where the documents go (default benchmarks/results)
# --pack    pack what this run has made into one archive as well (benchmarks/results is where to unpack it)
# --qsim    the program (default build/bin/qsim)
# --tables  folder of the other built programs (default: beside the program); steps of absent programs are left out
# --jit     mode of all steps but interpreter (default only: kernels are compiled before the timed runs)
# --only    a comma-separated list of steps, in the script's order; --list names the steps and runs nothing
#
# Names of documents: gpuN_STEP.json. QSIM_SHARED names the folder that holds workloads/ and corpus/; what needs them is
# left out where they are absent. Exit: 0, or the worst code of a step (8: a check failed).
set -u
here=$(cd "$(dirname "$0")" && pwd)
gpus='' budget=480 out="$here/results" qsim="$here/../build/bin/qsim" tables='' only='' jit=only pack='' list=''
while [ $# -gt 0 ]; do
  if [ "$1" = --list ]; then list=1; shift; continue; fi
  case $1 in
    --gpus) gpus=$2 ;;
    --time) budget=$2 ;;
    --out) out=$2 ;;
    --pack) pack=$2 ;;
    --qsim) qsim=$2 ;;
    --tables) tables=$2 ;;
    --only) only=$2 ;;
    --jit) jit=$2 ;;
    *) echo "run_gpu.sh: unknown argument $1" >&2; exit 2 ;;
  esac
  [ $# -ge 2 ] || { echo "run_gpu.sh: $1 needs a value" >&2; exit 2; }
  shift 2
done
[ -n "$list" ] || [ -x "$qsim" ] || { echo "run_gpu.sh: there is no program $qsim" >&2; exit 2; }
tables=${tables:-$(dirname "$qsim")}
mkdir -p "$out"
qsim=$(realpath -m "$qsim") tables=$(realpath -m "$tables") out=$(realpath "$out")
began=$(mktemp)
trap 'rm -f "$began"' EXIT
if [ -z "$gpus" ]; then
  listed=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')
  gpus=1
  while [ $((gpus * 2)) -le "$listed" ]; do gpus=$((gpus * 2)); done
fi
shared=${QSIM_SHARED:-$here/../shared}
[ -d "$shared/workloads" ] || shared=$here/../../shared
[ -d "$shared/workloads" ] && export QSIM_SHARED=$shared
quartz=$shared/corpus/qasm2_valid/mqtbench_quartz
worst=0
ranks=1 counts=1  # numbers of GPUs, and how many those are: each takes its own compiling, warming up and checking
for ((r = 2; r <= gpus; r *= 2)); do ranks=$ranks,$r counts=$((counts + 1)); done

# step NAME SECONDS COMMAND...: runs the command when there is time for it; its standard output is the document.
step() {
  local name=$1 seconds=$2 left=$((budget - SECONDS)) code
  shift 2
  if [ -n "$list" ]; then echo "$name"; return; fi
  if [ -n "$only" ] && [[ ",$only," != *",$name,"* ]]; then return; fi
  if [ "$seconds" -gt "$left" ]; then echo "-- $name: left out, $left s remain of $budget" >&2; return; fi
  echo "-- $name ($SECONDS s of $budget)" >&2
  local most=$((3 * seconds + 20))  # a step that hangs does not cost the others
  [ "$most" -le "$left" ] || most=$left
  timeout --kill-after=5 "$most" "$@" >"$out/gpu${gpus}_$name.json"
  code=$?
  [ "$code" -eq 0 ] || echo "-- $name: exit $code" >&2
  [ "$code" -le "$worst" ] || worst=$code
}
run_bench() { # NAME SECONDS ARGUMENTS...
  local name=$1 seconds=$2 mode=$jit
  shift 2
  [ "$name" = interpreter ] && mode=off
  step "$name" "$seconds" "$qsim" bench --backend cuda --jit "$mode" --json "$@"
}

# program NAME SECONDS PROGRAM ARGUMENTS...: a step of one of the other programs, where it is built. It is run in its
# folder, so that documents that name their program name it without a path.
program() {
  local name=$1 seconds=$2 file=$3
  shift 3
  [ -x "$tables/$file" ] || { echo "-- $name: $file is not built" >&2; return; }
  cd "$tables" && step "$name" "$seconds" "./$file" "$@"
  cd - >/dev/null || exit 1
}
micro() { # NAME SECONDS PROGRAM ARGUMENTS...: one of Google Benchmark's
  program "$1" "$2" "$3" --benchmark_format=json --benchmark_min_time=0.05 "--benchmark_context=commit=$commit" \
    "--benchmark_context=machine=$machine" "${@:4}"
}
# The time line of one circuit with an exchange beside its sweeps: the drawing and the run's document, then the spans.
timeline() {
  # shellcheck disable=SC2016  # the inner shell expands it
  local run='"$0" gen random -n 30 | "$0" run - --from random --shots 0 --gpus "$1" --jit only --json --profile "$2"'
  step timeline 15 bash -c "$run" "$qsim" "$gpus" "$out/gpu${gpus}_timeline.svg"
  step timeline_spans 15 bash -c "$run >/dev/null && cat \"\$2\"" "$qsim" "$gpus" "$began.json"
  rm -f "$began.json"
}

[ -n "$list" ] || "$qsim" info >"$out/gpu${gpus}_info.txt" 2>&1
commit=''
[ -n "$list" ] || commit=$("$qsim" --version 2>/dev/null | grep -oE '[0-9a-f]{7,40}\+?' | head -1)
machine=$(nvidia-smi -L 2>/dev/null | sed -n '1s/^GPU 0: \(.*\) (UUID.*/\1/p')
asc=(asc:random30 asc:ghz_qft30 asc:ghz_qft29)
[ "$gpus" -ge 2 ] && asc_large=(asc:invqft34)
[ "$gpus" -ge 4 ] && asc_large=(asc:invqft34 asc:qftinvqft35 asc:shor35)

# Most important first. What one GPU cannot show comes first where there are several.
run_bench engine $((20 * counts)) ghz qft supremacy random qv ising -n 30 --from both --ranks "$ranks" --repeats 9 \
  --svg "$out/gpu${gpus}_engine.svg"
[ -d "$shared/workloads/asc" ] && run_bench asc 15 "${asc[@]}" --ranks "$ranks"
[ "$gpus" -eq 1 ] && program readouts 25 qsim_readouts
[ "$gpus" -eq 1 ] && step cold 40 "$here/cold_runs.py" --qsim "$qsim"
[ -d "$shared/workloads/asc" ] && run_bench hamexp 20 asc:hamexp22 --ranks "$ranks"
if [ "$gpus" -ge 2 ] && [ -d "$shared/workloads/asc" ]; then
  large=$gpus
  [ "$gpus" -ge 4 ] && large=$((gpus / 2)),$gpus
  run_bench asc_large 40 "${asc_large[@]}" --ranks "$large" --repeats 3
fi
if [ -d "$quartz" ]; then
  suite=()
  for circuit in graphstate qft qpeexact wstate realamprandom twolocalrandom; do
    suite+=("$quartz/MQTBench_30q__${circuit}_indep_qiskit_30.qasm")
  done
  run_bench suite $((20 * counts)) "${suite[@]}" --from both --ranks "$ranks" --repeats 9
fi
if [ "$gpus" -ge 2 ]; then
  timeline
  program exchange_rates 60 qsim_exchange --backend cuda --ranks "$gpus" --qubits 30 --transports p2p,nccl \
    --chunk-mib 8,32,128 --slots 16 --local high,middle,low
  for exchange in p2p nccl staged; do
    run_bench "exchange_$exchange" 15 qft random -n 30 --from random --ranks "$gpus" --exchange "$exchange" --repeats 3
  done
  run_bench capacity 20 ghz qft -n 33 --weak --ranks "$ranks" --repeats 3
  run_bench single 20 ghz qft supremacy random qv ising -n 30 --from both --precision single --ranks "$ranks"
else
  run_bench single 20 ghz qft supremacy random qv ising -n 30 --from both --precision single
  run_bench capacity 20 ghz qft -n 33 --repeats 3
  run_bench interpreter 20 ghz qft supremacy random qv ising -n 30 --from both
  program reductions 40 reductions
  program dense_products 20 dense_products
  program batches 40 qsim_batches
  program gram 30 qsim_batches --gram
  micro sweep_rates 60 qsim_sweeps_bench --backend cuda \
    --benchmark_filter='double/(empty|butterfly|general|cx|phase_layer|dense2|dense4)/'
  run_bench small 15 qft random -n 10,14,18,20 --repeats 20
  program kitchen_sinks 40 qsim_kitchen_sinks
  # The host's own cores, for the CPU's tables.
  step cpu 40 "$qsim" bench --backend cpu --from both --budget 2 --json
  [ -d "$shared/workloads/asc" ] && step cpu_hamexp 15 "$qsim" bench --backend cpu asc:hamexp22 --json
  micro parser 10 qsim_parser_bench
  micro planner 20 qsim_planner_bench '--benchmark_filter=search/.*/random|million'
fi
[ -n "$list" ] && exit 0
if [ -n "$pack" ]; then
  mapfile -t made < <(cd "$out" && find . -maxdepth 1 -type f -name "gpu${gpus}_*" -newer "$began" -size +0 | sort)
  tar -czf "$pack" -C "$out" "${made[@]}" && echo "-- ${#made[@]} documents in $pack" >&2
fi
echo "-- done in $SECONDS s, exit $worst" >&2
exit "$worst"
