#!/usr/bin/env bash
# Usage: kill_ranks.sh MPIRUN QSIM TRIALS: one of 4 ranks is killed at a random moment between its start and the middle of
# repeated runs; each time the job must end with an error within ten seconds and leave no process and no file behind.
# Not inside MPI_Init, where it is in mpirun's hands alone: Open MPI 4.1's may then crash, hang, or leave its own files.
set -uo pipefail
here=$(dirname "$0")
. "$here/processes.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
program=$folder/qsim_$$  # a name of its own, to find its processes by
cp "$2" "$program"
mkdir "$folder/files"
export TMPDIR=$folder/files OMPI_MCA_btl_vader_backing_directory=$folder/files
RANDOM=7
for ((trial = 0; trial < $3; ++trial)); do
  # mpirun gives ranks a second between TERM and KILL: most trials go without it.
  export OMPI_MCA_odls_base_sigkill_timeout=$((trial % 10 == 0))
  start=$SECONDS
  timeout -k 5 30 "$here/mpirun_local.sh" "$1" 4 "$program" bench random -n 18 --from random \
    --repeats 100000 --budget 60 > /dev/null 2> "$folder/errors" &
  job=$!
  mapfile -t pids < <(started "qsim_$$" 4 $job)
  # Open MPI's ranks each make a shared segment near the end of MPI_Init.
  for ((wait = 0; wait < 60; ++wait)); do
    segments=("$folder/files"/vader_segment.*)
    [ ${#segments[@]} -lt 4 ] || break
    sleep 0.05
  done
  sleep "0.$(printf %03d $((200 + RANDOM % 450)))"
  kill -9 "${pids[RANDOM % ${#pids[@]}]}" 2> /dev/null
  killed=$?
  wait $job
  code=$?
  seconds=$((SECONDS - start))
  echo "trial $trial: killed $killed, exit code $code after $seconds s"
  [ "$killed" -eq 0 ] || { echo "it had ended before"; exit 1; }
  [ "$code" -ne 0 ] && [ "$code" -ne 124 ] && [ "$seconds" -le 11 ] && [ -s "$folder/errors" ] || exit 1
  all_gone "qsim_$$" || exit 1
  [ -z "$(ls -A "$folder/files")" ] || { echo "files were left behind:"; find "$folder/files"; exit 1; }
done
