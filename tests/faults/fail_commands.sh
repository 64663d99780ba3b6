#!/usr/bin/env bash
# Usage: fail_commands.sh LIBRARY QSIM [STEP]: runs every command that writes a document and lets the Nth allocation fail, for
# N = 1, 1 + STEP, ... until a run passes untouched. Each run must give the undisturbed answer, or exit code 5 with one
# message; a JSON document that is begun is whole; nothing is left.
set -uo pipefail
for file in "$1" "$2"; do
  [ -e "$file" ] || { echo "there is no $file: build qsim_fail_nth and qsim_cli first"; exit 1; }
done
library=$(realpath "$1") program=$(realpath "$2") step=${3:-1}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/work"
ln -s "$library" "$folder/fail.so"
library=$folder/fail.so  # LD_PRELOAD separates libraries by spaces, which this tree's path may have
cd "$folder" || exit 1
printf 'OPENQASM 2.0;\ninclude "qelib1.inc";\nqreg q[3];\ncreg c[3];\nh q[0];\ncx q[0],q[2];\nmeasure q -> c;\n' > bell.qasm
printf 'OPENQASM 3.0;\ninclude "stdgates.inc";\nqubit[2] q;\nbit c;\nint n = 0;\nwhile (n < 2) { h q[0]; c = measure q[0]; n += 1; }\n' > loop.qasm
printf 'OPENQASM 2.0;\nqreg q[2];\nfoo q[0];\nbar q[1];\n' > wrong.qasm
printf '3 0 1 0.5\n' > sum.txt
commands=(
  'run bell.qasm --json --seed 1 --marginals --distribution --amplitudes top:2 --probabilities 0 --expectation Z0 --threads 1'
  'run loop.qasm --json --seed 1 --threads 1'
  'run wrong.qasm --json'
  'run bell.qasm --seed 1 --threads 1 --histogram work/h.svg --report work/r.html'
  'plan bell.qasm --json --svg work/p.svg'
  'plan loop.qasm --json'
  'draw bell.qasm'
  'draw bell.qasm --format svg --output work/d.svg'
  'convert bell.qasm --to 3'
  'gen qft -n 4'
  'info --json'
  'version --json'
)

# run COMMAND [VARIABLE=VALUE...]: its exit code in code, what it printed in `out` and `errors`.
run() {
  local words
  read -ra words <<< "$1"
  shift
  rm -rf work mark
  mkdir work
  env "$@" timeout 40 "$program" "${words[@]}" > out 2> errors < /dev/null
  code=$?
}
# steady: what of the output is the same in every run.
steady() {
  if grep -q '"schema": "qsim.result/' out; then
    sed -n '/"exit_code"/p; /^ "results"/,/^ }/p; /^ "error"/,$p' out
  elif grep -q '^counts of' out; then
    sed -n '/^counts of/,$p' out
  else
    grep -v '_bytes"' out
  fi
}
# Documents are indented: the first and the last bracket stand alone.
is_whole() { [ "$(head -n 1 out)" = '{' ] && [ "$(tail -n 1 out)" = '}' ]; }

failures=0
for command in "${commands[@]}"; do
  run "$command" LC_ALL=C
  wanted=$code answer=$(steady) left=$(ls -A work)
  ran=0 harmless=0
  for ((n = 1;; n += step)); do
    run "$command" "LD_PRELOAD=$library" "QSIM_FAIL=alloc:$n" QSIM_FAIL_RANK=0 "QSIM_FAIL_MARK=$folder/mark"
    [ -e mark ] || break
    ran=$((ran + 1)) problem=
    if [ $code -eq $wanted ] && [ "$(steady)" = "$answer" ]; then
      harmless=$((harmless + 1))
    elif [ $code -ne 5 ]; then
      problem="exit code $code, not $wanted or 5, or another answer"
    elif [[ $command == *--json* ]] && [ -s out ] && ! is_whole; then
      problem='part of a document'
    elif ! grep -q 'qsim: error: \|"exit_code": 5' out errors; then
      problem='no message'
    fi
    [ -z "$(ls -A work | grep -vxF "$left")" ] || problem="$problem, left $(ls -A work)"
    [ -z "$problem" ] && continue
    failures=$((failures + 1))
    echo "qsim $command: allocation $n: $problem"
    head -n 3 errors
  done
  echo "qsim $command: $ran allocations failed, $harmless without effect"
  [ $ran -gt 0 ] || failures=$((failures + 1))
done
[ $failures -eq 0 ]
