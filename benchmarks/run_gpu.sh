#!/usr/bin/env bash
# Measures everything that belongs together on a machine with 1, 2, 4 or 8 GPUs, most important first, within a time.
#
#   benchmarks/run_gpu.sh [--gpus N] [--time SECONDS] [--out FOLDER] [--qsim PROGRAM] [--tables FOLDER] [--jit MODE] [--only STEPS]
#
# --gpus    how many GPUs (default: those that nvidia-smi lists, down to a power of two)
# --time    no step is begun that would end after this many seconds (default 480)
# --out     where the JSON documents go (default benchmarks/results)
# --qsim    the program (default build/bin/qsim)
# --tables  folder of the built programs reductions, dense_products, qsim_batches and qsim_kitchen_sinks (default:
#           beside the program)
# --jit     mode of all steps but interpreter (default only: kernels are compiled before the timed runs)
# --only    a comma-separated list of steps (see below), in their order here
#
# Names of documents: gpuN_STEP.json. QSIM_SHARED names the folder that holds workloads/ and corpus/; what needs them is
# left out where they are absent. Exit: 0, or the worst code of a step (8: a check failed).
set -u
here=$(cd "$(dirname "$0")" && pwd)
gpus='' budget=480 out="$here/results" qsim="$here/../build/bin/qsim" tables='' only='' jit=only
while [ $# -gt 0 ]; do
  case $1 in
    --gpus) gpus=$2 ;;
    --time) budget=$2 ;;
    --out) out=$2 ;;
    --qsim) qsim=$2 ;;
    --tables) tables=$2 ;;
    --only) only=$2 ;;
    --jit) jit=$2 ;;
    *) echo "run_gpu.sh: unknown argument $1" >&2; exit 2 ;;
  esac
  [ $# -ge 2 ] || { echo "run_gpu.sh: $1 needs a value" >&2; exit 2; }
  shift 2
done
[ -x "$qsim" ] || { echo "run_gpu.sh: there is no program $qsim" >&2; exit 2; }
tables=${tables:-$(dirname "$qsim")}
mkdir -p "$out"
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
ranks=1
for ((r = 2; r <= gpus; r *= 2)); do ranks=$ranks,$r; done

# step NAME SECONDS COMMAND...: runs the command when there is time for it; its standard output is the document.
step() {
  local name=$1 seconds=$2 left=$((budget - SECONDS)) code
  shift 2
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

"$qsim" info >"$out/gpu${gpus}_info.txt" 2>&1
asc=(asc:random30 asc:ghz_qft30 asc:ghz_qft29)
[ "$gpus" -ge 2 ] && asc_large=(asc:invqft34)
[ "$gpus" -ge 4 ] && asc_large=(asc:invqft34 asc:qftinvqft35 asc:shor35)

run_bench engine 20 ghz qft supremacy random qv ising -n 30 --from both --ranks "$ranks" --svg "$out/gpu${gpus}_engine.svg"
[ -d "$shared/workloads/asc" ] && run_bench asc 15 "${asc[@]}" --ranks "$ranks"
[ -d "$shared/workloads/asc" ] && run_bench hamexp 20 asc:hamexp22 --ranks "$ranks"
if [ "$gpus" -ge 2 ] && [ -d "$shared/workloads/asc" ]; then
  large=$gpus
  [ "$gpus" -ge 4 ] && large=$((gpus / 2)),$gpus
  run_bench asc_large 40 "${asc_large[@]}" --ranks "$large" --repeats 3
fi
if [ "$gpus" -gt 1 ]; then
  run_bench capacity 40 ghz qft -n 33 --weak --ranks "$ranks" --repeats 3
else
  run_bench capacity 20 ghz qft -n 33 --repeats 3
fi
run_bench single 20 ghz qft supremacy random qv ising -n 30 --from both --precision single --ranks "$ranks"
if [ "$gpus" -ge 2 ]; then
  for exchange in p2p nccl staged; do
    run_bench "exchange_$exchange" 15 qft random -n 30 --from random --ranks "$gpus" --exchange "$exchange" --repeats 3
  done
fi
if [ -d "$quartz" ]; then
  suite=()
  for circuit in graphstate qft qpeexact wstate realamprandom twolocalrandom; do
    suite+=("$quartz/MQTBench_30q__${circuit}_indep_qiskit_30.qasm")
  done
  run_bench suite 30 "${suite[@]}" --from both --ranks "$ranks"
fi
if [ "$gpus" -eq 1 ]; then
  run_bench interpreter 20 ghz qft supremacy random qv ising -n 30 --from both
  [ -x "$tables/reductions" ] && step reductions 40 "$tables/reductions"
  [ -x "$tables/dense_products" ] && step dense_products 20 "$tables/dense_products"
  for name in batches kitchen_sinks; do
    [ -x "$tables/qsim_$name" ] && step "$name" 40 "$tables/qsim_$name"
  done
  [ -x "$tables/qsim_batches" ] && step gram 30 "$tables/qsim_batches" --gram
  # The host's own cores, for the CPU's table.
  step cpu 40 "$qsim" bench --backend cpu --from both --budget 2 --json
  [ -d "$shared/workloads/asc" ] && step cpu_hamexp 15 "$qsim" bench --backend cpu asc:hamexp22 --json
  run_bench small 15 qft random -n 10,14,18,20 --repeats 20
fi
echo "-- done in $SECONDS s, exit $worst" >&2
exit "$worst"
