#!/usr/bin/env bash
# Usage: fail_nth.sh LIBRARY MPIRUN QSIM RANKS KINDS [STEP [RANK]]: runs a circuit with every read-out on RANKS processes (1:
# no launcher; 0: four thread ranks) and lets the Nth call of each of KINDS fail in rank RANK, for N = 1, 1 + STEP, ...
# until a run passes untouched. QSIM_FAIL_FLAGS are flags in place of --threads and --ranks, QSIM_FAIL_FROM the first N and
# QSIM_FAIL_SECONDS what a run may take. Each run must end in time, either with the answer of an undisturbed run, or with an exit
# code that the kind allows and one message; and leave nothing behind.
set -uo pipefail
for file in "$1" "$3"; do
  [ -e "$file" ] || { echo "there is no $file: build qsim_fail_nth and qsim_cli first"; exit 1; }
done
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../distributed/processes.sh"
library=$(realpath "$1") mpirun=$2 ranks=$4 step=${6:-1} victim=${7:-0}
read -ra kinds <<< "$5"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
name=qf$$
program=$folder/$name
cp "$3" "$program"
mkdir "$folder/work" "$folder/tmp"
ln -s "$library" "$folder/fail.so"
library=$folder/fail.so  # LD_PRELOAD separates libraries by spaces, which this tree's path may have
export TMPDIR=$folder/tmp QSIM_WATCHDOG_SECONDS=6 OMPI_MCA_odls_base_sigkill_timeout=0 OMPI_MCA_orte_abort_timeout=1
cat > "$folder/circuit.qasm" << 'END'
OPENQASM 2.0;
include "qelib1.inc";
qreg q[7];
creg c[7];
h q[0]; cx q[0],q[6]; rx(0.3) q[5]; cp(0.7) q[5],q[6]; h q[6]; cx q[6],q[4]; ry(1.1) q[3]; ccx q[6],q[3],q[2];
measure q -> c;
END
printf '0.5 Z0 Z1\n-1 X6 Y2\n' > "$folder/sum.txt"
command=("$program" "$folder/circuit.qasm" --shots 50 --seed 7 --distribution --marginals --probabilities 0,6
  --expectation 'Z0 Z6' --expectation "$folder/sum.txt" --amplitudes top:4 --statevector work/state.npy
  --profile work/profile.json --verify full)
where=(--threads 4)
[ "$ranks" -ne 0 ] || where+=(--ranks 4)
[ -z "${QSIM_FAIL_FLAGS:-}" ] || read -ra where <<< "$QSIM_FAIL_FLAGS"
command+=("${where[@]}")

# run [VARIABLE=VALUE...]: the command with these variables; its exit code in code.
run() {
  rm -rf "$folder/work" "$folder/mark"
  mkdir "$folder/work"
  local started=("${command[@]}")
  [ $# -eq 0 ] || started=(env LD_PRELOAD="$library" QSIM_FAIL_MARK="$folder/mark" "$@" "${command[@]}")
  [ "$ranks" -lt 2 ] || started=("$here/../distributed/mpirun_local.sh" "$mpirun" "$ranks" "${started[@]}")
  (cd "$folder" && exec timeout -k 2 "${QSIM_FAIL_SECONDS:-40}" "${started[@]}") > "$folder/out" 2> "$folder/errors"
  code=$?
}

# answer: what the run found, without times and the place where it ran. A warning takes room from long lists.
answer() { sed -n '/^expectation/,$p' "$folder/out" | grep -v '^  \.\.\. \| %  #'; }

# mpirun_crashed: it did while it ended a job, as Open MPI 4.1's may (in PMIx_Finalize: 139; over the pipe of a rank that
# has gone: 141), or stayed when its ranks had ended, so that the last of them ended it (137): its code says nothing of the
# ranks then. Of a rank that crashed it tells.
mpirun_crashed() {
  [ "$ranks" -ge 2 ] && [[ $code =~ ^(137|139|141)$ ]] && ! grep -q 'exited on signal' "$folder/errors"
}

allowed() {  # allowed KIND CODE
  case $1 in
    alloc | map) [ "$2" -eq 5 ] ;;
    thread) [ "$2" -eq 5 ] || [ "$2" -eq 7 ] ;;
    open | write | sync | rename) [ "$2" -eq 9 ] ;;
    mpi) [ "$2" -eq 7 ] ;;
    cuda) [ "$2" -ge 5 ] && [ "$2" -le 7 ] ;;  # 7: a way between GPUs that was asked for cannot be opened
    cublas) [ "$2" -eq 6 ] || [ "$2" -eq 5 ] ;;
    nvrtc) [ "$2" -eq 6 ] ;;
    nccl) [ "$2" -eq 6 ] || [ "$2" -eq 7 ] ;;
  esac
}

run
[ $code -eq 0 ] || { cat "$folder/errors"; exit 1; }
wanted=$(answer)
failures=0 all=0
summary() { echo "$kind on $ranks ranks, in rank $victim: $ran calls failed, $harmless without effect, $failures wrong so far"; }
trap 'summary; echo "stopped at call $n"; exit 1' TERM
for kind in "${kinds[@]}"; do
  ran=0 harmless=0
  for ((n = ${QSIM_FAIL_FROM:-1};; n += step)); do
    run "QSIM_FAIL=$kind:$n" "QSIM_FAIL_RANK=$victim"
    [ -e "$folder/mark" ] || break
    ran=$((ran + 1))
    problem=
    if [ $code -eq 0 ]; then
      harmless=$((harmless + 1))
      [ "$(answer)" = "$wanted" ] || problem="another answer"
    else
      allowed "$kind" $code || mpirun_crashed || problem="exit code $code"
      said=$(grep -c 'qsim: error:\|qsim: rank' "$folder/errors")
      [ "$said" -eq 1 ] || problem="$problem, $said messages"
      # What fails after the result has been written leaves it as it is.
      ! grep -q 'counts of' "$folder/out" || [ "$(answer)" = "$wanted" ] || problem="$problem, part of a result"
      [ -z "$(ls -A "$folder/work" | grep -vx 'profile.json\|state.npy')" ] || problem="$problem, left $(ls -A "$folder/work")"
    fi
    all_gone "$name" > /dev/null || problem="$problem, a process was left"
    [ "$ranks" -ge 2 ] || [ -z "$(ls -A "$folder/tmp")" ] || problem="$problem, temporary files were left"
    if [ -n "$problem" ]; then
      failures=$((failures + 1))
      echo "$kind $n: $problem"
      head -n 6 "$folder/errors"
    fi
    rm -rf "$folder/tmp"/*
  done
  [ $code -eq 0 ] && [ "$(answer)" = "$wanted" ] || { echo "$kind $n, untouched: exit code $code"; failures=$((failures + 1)); }
  summary
  all=$((all + ran))
done
[ $all -gt 0 ] || { echo "no call was there to fail: is $library loaded?"; exit 1; }
[ $failures -eq 0 ]
