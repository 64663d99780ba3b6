#!/usr/bin/env bash
# Usage: kill_ranks.sh MPIRUN QSIM TRIALS: one of 4 ranks is killed at a random moment of a long run; each time the job
# must end with an error within ten seconds and leave no process behind.
set -uo pipefail
here=$(dirname "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
program=$folder/qsim_$$  # a name of its own, to find its processes by
cp "$2" "$program"
"$program" gen random -n 22 > "$folder/long.qasm" || exit 1
RANDOM=7
for ((trial = 0; trial < $3; ++trial)); do
  start=$SECONDS
  timeout 30 "$here/mpirun_local.sh" "$1" 4 "$program" "$folder/long.qasm" --from random > /dev/null 2> "$folder/errors" &
  job=$!
  pids=()
  while [ ${#pids[@]} -lt 4 ] && kill -0 $job 2> /dev/null; do mapfile -t pids < <(pgrep -x "qsim_$$"); done
  sleep "0.$((RANDOM % 900))"
  kill -9 "${pids[RANDOM % ${#pids[@]}]}" 2> /dev/null
  killed=$?
  wait $job
  code=$?
  seconds=$((SECONDS - start))
  echo "trial $trial: killed $killed, exit code $code after $seconds s"
  [ "$killed" -ne 0 ] && continue  # it had ended
  [ "$code" -ne 0 ] && [ "$code" -ne 124 ] && [ "$seconds" -le 11 ] && [ -s "$folder/errors" ] || exit 1
  for ((wait = 0; wait < 50; ++wait)); do pgrep -x "qsim_$$" > /dev/null || break; sleep 0.1; done
  ! pgrep -x "qsim_$$" > /dev/null || { echo "a process was left behind"; exit 1; }
done
