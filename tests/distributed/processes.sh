# living NAME: the ids of the processes of that name that have not ended (zombies have), from /proc alone: ps and pgrep
# are not on every machine.
living() {
  local file line
  for file in /proc/[0-9]*/stat; do
    { read -r line < "$file"; } 2> /dev/null || continue  # ended meanwhile
    case "$line" in
      *" ($1) "[!ZX]*) printf '%s\n' "${line%% *}" ;;
    esac
  done
}

# started NAME COUNT JOB: the ids of COUNT processes of that name, as soon as they are there; fewer where JOB ends first.
started() {
  local pids=()
  while [ ${#pids[@]} -lt "$2" ] && kill -0 "$3" 2> /dev/null; do mapfile -t pids < <(living "$1"); done
  printf '%s\n' ${pids[@]+"${pids[@]}"}
}

# all_gone NAME: whether the last of them ends within five seconds.
all_gone() {
  local wait
  for ((wait = 0; wait < 50; ++wait)); do [ -n "$(living "$1")" ] || return 0; sleep 0.1; done
  echo "a process was left behind"
  return 1
}

# have_met PID...: waits until the ranks have left MPI_Init and started their heartbeats; half a minute at most.
have_met() {
  local wait
  for ((wait = 0; wait < 600; ++wait)); do
    [ "$(cat $(printf '/proc/%s/task/*/comm ' "$@") 2> /dev/null | grep -c qsim-beats)" -lt $# ] || return 0
    sleep 0.05
  done
  echo "the ranks have not met"
  return 1
}
