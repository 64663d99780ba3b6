#!/usr/bin/env bash
# Usage: poor_rank.sh MPIRUN QSIM: rank 1 of 4 may use less memory than the run needs; all ranks must end with exit code 5
# before anything is computed, and the reason must be said once.
set -uo pipefail
here=$(dirname "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$2" gen qft -n 27 > "$folder/large.qasm" || exit 1
cat > "$folder/rank" << 'END'
#!/usr/bin/env bash
[ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}" -ne 1 ] || ulimit -v 900000
exec "$@"
END
chmod +x "$folder/rank"
timeout 30 "$here/mpirun_local.sh" "$1" 4 "$folder/rank" "$2" "$folder/large.qasm" > "$folder/out" 2> "$folder/errors"
code=$?
cat "$folder/errors"
[ "$code" -eq 5 ] && [ ! -s "$folder/out" ] && [ "$(grep -c 'qsim: error:' "$folder/errors")" -eq 1 ] &&
  grep -q 'rank 1' "$folder/errors"
