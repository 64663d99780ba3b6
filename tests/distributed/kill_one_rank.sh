#!/usr/bin/env bash
# Usage: kill_one_rank.sh MPIRUN TESTS: rank 1 of 4 kills itself while the others wait for it; the job must end with an
# error within ten seconds and leave no process behind.
set -uo pipefail
here=$(dirname "$0")
start=$SECONDS
QSIM_TEST_DIE=1 timeout 30 "$here/mpirun_local.sh" "$1" 4 "$2" > /dev/null 2>&1
code=$?
seconds=$((SECONDS - start))
echo "exit code $code after $seconds s"
[ "$code" -ne 0 ] && [ "$code" -ne 124 ] && [ "$seconds" -le 10 ]
