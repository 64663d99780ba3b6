#!/usr/bin/env bash
# Usage: stopped_rank.sh MPIRUN QSIM: one of 2 ranks stops making progress (SIGSTOP); the other must end the job after
# QSIM_WATCHDOG_SECONDS, say so, and leave nothing behind.
set -uo pipefail
here=$(dirname "$0")
. "$here/processes.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
program=$folder/qstop_$$  # a name of its own, to find its processes by
cp "$2" "$program"
QSIM_WATCHDOG_SECONDS=2 timeout -k 5 30 "$here/mpirun_local.sh" "$1" 2 "$program" bench random -n 20 --from random \
  --repeats 100000 --budget 60 > /dev/null 2> "$folder/errors" &
job=$!
mapfile -t pids < <(started "qstop_$$" 2 $job)
sleep 1.5  # into the repeats
start=$SECONDS
kill -STOP "${pids[1]}" || exit 1
wait $job
code=$?
cat "$folder/errors"
echo "exit code $code after $((SECONDS - start)) s"
[ "$code" -ne 0 ] && [ "$code" -ne 124 ] && [ $((SECONDS - start)) -le 12 ] || exit 1
grep -q 'has waited 2 s in MPI_[A-Za-z]* for' "$folder/errors" || exit 1
all_gone "qstop_$$"
