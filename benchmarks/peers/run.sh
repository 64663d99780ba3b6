#!/usr/bin/env bash
# Measures this package beside Qiskit Aer, PennyLane Lightning, Qulacs and Google's qsim on the processor's cores.
#
#   benchmarks/peers/run.sh [--venv FOLDER] [--python PROGRAM] [--as-installed] [OPTION of measure.py...]
#
# --venv          the virtual environment that is made (default build/peers/venv)
# --python        the Python that makes it (default python3.12, else python3); the wheels of requirements.txt need 3.12
# --as-installed  measure what the environment has: nothing is installed
#
# The other simulators are those of requirements.txt, this package is built from the tree; the program is build/bin/qsim or what
# --qsim names. Options of the measurement: --qubits, --whole-qubits, --circuits, --simulators, --modes, --threads, --repeats, --limit,
# --time, --quick, --new, --output; the head of measure.py has what they mean. Exit: 0; 1: stopped before its end, the same command goes on; 8: an
# answer was wrong.
set -euo pipefail
[ "${1:-}" != --help ] || { sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0; }
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
venv=$top/build/peers/venv python='' installed='' rest=()
while [ $# -gt 0 ]; do
  case $1 in
    --venv) venv=$2; shift 2 ;;
    --python) python=$2; shift 2 ;;
    --as-installed) installed=1; shift ;;
    *) rest+=("$1"); shift ;;
  esac
done
if [ -z "$python" ]; then
  python=python3
  ! python3.12 --version > /dev/null 2>&1 || python=python3.12
fi
if [ -z "$installed" ]; then
  [ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
  echo "-- installing the simulators of requirements.txt (about 250 MB), then this package, into $venv" >&2
  "$venv/bin/pip" install -q --only-binary :all: -r "$here/requirements.txt"
  # As .ci/run builds it, so that a compiler cache knows the objects.
  ! command -v ccache > /dev/null 2>&1 || export CMAKE_CXX_COMPILER_LAUNCHER=ccache
  CXX=c++ CMAKE_BUILD_PARALLEL_LEVEL=$(nproc) "$venv/bin/pip" install -q --no-deps --force-reinstall --config-settings build-dir=build-python "$top"
fi
exec "$venv/bin/python" "$here/measure.py" ${rest[@]+"${rest[@]}"}
