#!/usr/bin/env bash
# Usage: lost_ranks.sh MPIRUN QSIM TRIALS [KINDS [SEED]]: a job of QSIM_LOST_RANKS (4) ranks, of `qsim bench` with the words
# in QSIM_LOST_WORK or one of three circuits, loses some at a random moment, by each of KINDS
# in turn: kill (one rank is killed), stop (one is stopped), cut (two hosts, and the cable between them is pulled). Every
# process must be gone within 5 seconds of a kill and within 15 of the others, with an error, and nothing may be left.
# Not inside MPI_Init, where ranks are in mpirun's hands alone: Open MPI 4.1's may then crash, hang, or leave its files.
set -uo pipefail
here=$(dirname "$0")
. "$here/processes.sh"
. "$here/hosts.sh"
mpi=$1 trials=$3 seed=${5:-7} ranks=${QSIM_LOST_RANKS:-4}
read -ra kinds <<< "${4:-kill stop cut}"
RANDOM=$seed
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
case " ${kinds[*]} " in *" cut "*) need_hosts "$1"; trap 'drop_hosts; rm -rf "$folder"' EXIT ;; esac
name=ql$$_$seed  # of its own, to find its processes by
program=$folder/$name
cp "$2" "$program"
mkdir "$folder/files"
export TMPDIR=$folder/files OMPI_MCA_btl_vader_backing_directory=$folder/files

pause_ms() { sleep "$(($1 / 1000)).$(printf %03d $(($1 % 1000)))"; }

# start KIND WORK...: the job in the background; its id in job.
start() {
  local kind=$1
  shift
  if [ "$kind" = cut ]; then
    hosts_mpirun "$ranks" "$program" "$@" > /dev/null 2> "$folder/errors" &
  else
    "$here/mpirun_local.sh" "$mpi" "$ranks" "$program" "$@" > /dev/null 2> "$folder/errors" &
  fi
  job=$!
}

still_there() { [ -n "$(living "$name")" ] || kill -0 "$job" 2> /dev/null || [ -n "$(on_hosts)" ]; }
on_hosts() { [ -z "${host_a:-}" ] || { ip netns pids "$host_a"; ip netns pids "$host_b"; }; }

declare -A longest count
for ((trial = 0; trial < trials; ++trial)); do
  kind=${kinds[trial % ${#kinds[@]}]}
  # mpirun gives ranks a second between TERM and KILL: most kills go without it.
  export OMPI_MCA_odls_base_sigkill_timeout=$((trial % 10 == 0))
  case $((RANDOM % 3)) in
    0) work=(random -n 18 --from random) ;;
    1) work=(qft -n 20) ;;
    2) work=(ghz -n 14) ;;
  esac
  [ -z "${QSIM_LOST_WORK:-}" ] || read -ra work <<< "$QSIM_LOST_WORK"
  start "$kind" bench "${work[@]}" --repeats 1000000 --budget 120
  mapfile -t pids < <(started "$name" "$ranks" "$job")
  have_met "${pids[@]}" || { cat "$folder/errors"; exit 1; }
  pause_ms $((RANDOM % 1500))
  victim=${pids[RANDOM % ${#pids[@]}]}
  begin=$(date +%s%N) limit=15
  case $kind in
    kill) kill -9 "$victim" && limit=${QSIM_KILL_SECONDS:-5} ;;
    stop) kill -STOP "$victim" ;;
    cut) link down ;;
  esac || { echo "trial $trial: the job had ended before"; cat "$folder/errors"; exit 1; }
  while still_there && [ $(($(date +%s%N) - begin)) -lt 60000000000 ]; do sleep 0.05; done
  took=$(((($(date +%s%N) - begin) / 1000000)))
  wait "$job"
  code=$?
  [ "$kind" != cut ] || link up
  echo "trial $trial: $kind in ${work[0]}, gone after $took ms, exit code $code"
  count[$kind]=$((${count[$kind]:-0} + 1))
  [ $took -le "${longest[$kind]:-0}" ] || longest[$kind]=$took
  [ $code -ne 0 ] && [ $took -le $((limit * 1000)) ] && [ -s "$folder/errors" ] || { cat "$folder/errors"; exit 1; }
  [ "$kind" = kill ] || grep -q 'qsim: error: rank' "$folder/errors" || { cat "$folder/errors"; exit 1; }
  [ -z "$(ls -A "$folder/files")" ] || { echo "files were left behind:"; find "$folder/files"; exit 1; }
done
for kind in "${!count[@]}"; do echo "${count[$kind]} times $kind: the longest took ${longest[$kind]} ms"; done
