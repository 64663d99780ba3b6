#!/usr/bin/env bash
# Usage: mpirun_local.sh MPIRUN RANKS COMMAND...: ranks on this host, more than its cores if need be, as root too.
set -euo pipefail
mpirun=$1 ranks=$2
shift 2
options=()
if "$mpirun" --version 2>&1 | grep -q 'Open MPI'; then
  options+=(--oversubscribe --bind-to none)
  [ "$(id -u)" -ne 0 ] || options+=(--allow-run-as-root)
fi
exec "$mpirun" "${options[@]}" -n "$ranks" "$@"
