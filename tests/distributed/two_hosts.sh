#!/usr/bin/env bash
# Usage: two_hosts.sh MPIRUN QSIM: 4 ranks on two hosts give the counts of one process; and when a rank stops, a host
# dies or the cable is pulled (before the first exchange, in one, after one), every
# process on both hosts is gone within QSIM_WATCHDOG_SECONDS, with a message and exit code 7.
set -uo pipefail
here=$(dirname "$0")
. "$here/processes.sh"
. "$here/hosts.sh"
need_hosts "$1"
program=$hosts_folder/qh$$
cp "$2" "$program"
cat > "$hosts_folder/rank" << 'END'
#!/usr/bin/env bash
# Keeps the exit code of the rank that it starts.
"$@"
code=$?
echo $code > "$(dirname "$0")/code.$OMPI_COMM_WORLD_RANK"
exit $code
END
chmod +x "$hosts_folder/rank"
export TMPDIR=$hosts_folder

counts() { tr -d ' \n' | grep -o '"counts":{[^}]*}'; }
ghz=$here/../../circuits/ghz_20.qasm
alone=$("$program" "$ghz" --shots 1000 --seed 7 --json | counts)
(hosts_mpirun 4 "$program" "$ghz" --shots 1000 --seed 7 --json) > "$hosts_folder/out" 2> "$hosts_folder/errors"
code=$?
together=$(counts < "$hosts_folder/out")
[ $code -eq 0 ] && [ -n "$alone" ] && [ "$alone" = "$together" ] ||
  { echo "counts differ, exit code $code: $alone / $together"; cat "$hosts_folder/errors"; exit 1; }
echo "equal counts: $together"

# lose NAME LIMIT ACTION COMMAND...: starts 4 ranks, waits until all have met, loses some, and looks.
lose() {
  local name=$1 limit=$2 action=$3 job begin seconds
  shift 3
  rm -f "$hosts_folder"/code.*
  (QSIM_WATCHDOG_SECONDS=$limit hosts_mpirun 4 -x QSIM_WATCHDOG_SECONDS -x TMPDIR "$hosts_folder/rank" "$program" "$@") \
    < "$hosts_folder/input" 2> "$hosts_folder/errors" | sleep 20 &
  job=$!
  mapfile -t pids < <(started "qh$$" 4 $job)
  have_met "${pids[@]}" || { cat "$hosts_folder/errors"; exit 1; }
  sleep 1
  begin=$(date +%s%N)
  $action
  while [ -n "$(living "qh$$")$(mpi_living)" ] && [ $(($(date +%s%N) - begin)) -lt 25000000000 ]; do sleep 0.1; done
  seconds=$(((($(date +%s%N) - begin) / 100000000)))
  link up
  kill $job 2> /dev/null
  echo "$name: all gone after $((seconds / 10)).$((seconds % 10)) s; codes: $(cd "$hosts_folder" && grep -H . code.* | tr '\n' ' ')"
  grep 'qsim: error' "$hosts_folder/errors"
  [ $seconds -le $((limit * 10)) ] && grep -q 'qsim: error: rank' "$hosts_folder/errors" && grep -qx 7 "$hosts_folder"/code.* ||
    { cat "$hosts_folder/errors"; exit 1; }
}
# mpi_living: Open MPI's processes inside the two hosts.
mpi_living() { ip netns pids $host_a; ip netns pids $host_b; }
stop_a_rank() { kill -STOP "${pids[3]}"; }
pull_the_cable() { link down; }
kill_a_host() { link down; ip netns pids $host_b | xargs -r kill -9; }

mkfifo "$hosts_folder/fifo"
sleep 60 > "$hosts_folder/fifo" &  # a person who does not type
person=$!
trap 'kill $person 2> /dev/null; drop_hosts' EXIT
work=(bench random -n 16 --from random --repeats 1000000 --budget 60)
ln -sf /dev/null "$hosts_folder/input"
lose "a rank stops" 15 stop_a_rank "${work[@]}"
lose "the cable is pulled while ranks exchange" 15 pull_the_cable "${work[@]}"
lose "a host dies" 15 kill_a_host "${work[@]}"
lose "the cable is pulled after an exchange, while ranks compute" 15 pull_the_cable bench ghz -n 23 --repeats 1000000 --budget 60
ln -sf "$hosts_folder/fifo" "$hosts_folder/input"
lose "the cable is pulled before the first exchange" 15 pull_the_cable -
