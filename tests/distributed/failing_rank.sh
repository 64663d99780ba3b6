#!/usr/bin/env bash
# Usage: failing_rank.sh MPIRUN TESTS: rank 1 of 4 throws a device error in the middle of a run; the whole job must end
# with that error's exit code and say what happened.
set -uo pipefail
here=$(dirname "$0")
for call in 34 40 46; do  # uses of the communicator while sweeps and exchanges run
  text=$(QSIM_TEST_FAIL_AT=$call timeout 30 "$here/mpirun_local.sh" "$1" 4 "$2" 2>&1)
  code=$?
  echo "$text"
  [ "$code" -eq 6 ] && grep -q 'rank 1: pulled the plug' <<< "$text" || exit 1
done
