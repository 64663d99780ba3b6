#!/usr/bin/env bash
# Usage: foreign_launcher.sh TESTS: an environment that says 4 ranks while MPI starts alone must be refused in words.
set -uo pipefail
text=$(env -u OMPI_COMM_WORLD_SIZE PMI_SIZE=4 PMI_RANK=2 "$1" 2>&1)
code=$?
echo "$text"
[ "$code" -eq 7 ] && grep -q 'started 4 processes but MPI says' <<< "$text"
