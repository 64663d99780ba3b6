#!/usr/bin/env bash
# Runs random circuits under compute-sanitizer: memcheck, racecheck, initcheck and synccheck, each in one process.
#
#   tests/contract/sanitize_gpu.sh [PROGRAM [CIRCUITS [COMPILED]]]
#
# PROGRAM   the contract tests (default build/bin/qsim_contract_tests)
# CIRCUITS  interpreted in each precision by each tool (default 90)
# COMPILED  as generated kernels in each precision by each tool (default 12); 2 x 90 + 2 x 12 = 204 circuits a tool
#
# About a minute a tool. Exit: 0 when all are clean, 77 when there is no compute-sanitizer or no GPU, else 1.
set -u
program=${1:-build/bin/qsim_contract_tests} circuits=${2:-90} compiled=${3:-12}
[ -x "$program" ] || { echo "sanitize_gpu.sh: there is no program $program" >&2; exit 2; }
sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | head -1)
[ -n "$sanitizer" ] || { echo "sanitize_gpu.sh: no compute-sanitizer" >&2; exit 77; }
nvidia-smi -L 2>/dev/null | grep -q '^GPU' || { echo "sanitize_gpu.sh: no GPU" >&2; exit 77; }
export QSIM_CUDA_CIRCUITS=$circuits QSIM_CUDA_COMPILED=$compiled QSIM_CUDA_QUBITS=10
# Kernels are compiled once, outside the tools.
QSIM_CACHE_DIR=$(mktemp -d)
export QSIM_CACHE_DIR
trap 'rm -rf "$QSIM_CACHE_DIR"' EXIT
"$program" --gtest_filter='CudaRandom.*' >/dev/null || { echo "sanitize_gpu.sh: the tests fail by themselves" >&2; exit 1; }
worst=0
for tool in memcheck racecheck initcheck synccheck; do
  begin=$SECONDS
  output=$("$sanitizer" --tool "$tool" --error-exitcode 9 "$program" --gtest_filter='CudaRandom.*' 2>&1)
  code=$?
  summary=$(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' <<<"$output" | tail -1)
  echo "$tool: exit $code, $((SECONDS - begin)) s, ${summary:-no summary}"
  if [ "$code" -ne 0 ]; then
    worst=1
    grep -vE '^\[' <<<"$output" | head -40
  fi
done
exit "$worst"
