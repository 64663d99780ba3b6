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
