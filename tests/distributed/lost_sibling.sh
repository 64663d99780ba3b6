#!/usr/bin/env bash
# Usage: lost_sibling.sh MPIRUN QSIM: one of four ranks is killed while mpirun sleeps, so that it cannot see it; the others
# must end by themselves within five seconds, long before heartbeats would be missed, and the job once mpirun goes on.
set -uo pipefail
here=$(dirname "$0")
. "$here/processes.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
name=qs$$
program=$folder/$name
cp "$2" "$program"
export TMPDIR=$folder QSIM_WATCHDOG_SECONDS=120
"$here/mpirun_local.sh" "$1" 4 "$program" bench random -n 18 --repeats 1000000 --budget 60 > /dev/null 2> "$folder/errors" &
job=$!
mapfile -t pids < <(started "$name" 4 $job)
have_met "${pids[@]}" || { cat "$folder/errors"; exit 1; }
kill -STOP $job
kill -9 "${pids[2]}"
all_gone "$name" || { kill -9 "${pids[@]}" $job; exit 1; }
kill -CONT $job
wait $job && { echo "mpirun says that all is well"; exit 1; }
grep -q 'qsim: error: rank 0: the process of rank . has ended; the job is ended\|qsim: error: rank 1: the process of rank 0 has ended' \
  "$folder/errors" || { cat "$folder/errors"; exit 1; }
echo "ended"
