#!/usr/bin/env bash
# Usage: lost_launcher.sh MPIRUN QSIM: mpirun is killed while its ranks work, and while one of them waits for a person
# to type; they must end by themselves.
set -uo pipefail
here=$(dirname "$0")
. "$here/processes.sh"
folder=$(mktemp -d)
name=qg$$
program=$folder/$name
cp "$2" "$program"
mkfifo "$folder/person"
sleep 60 > "$folder/person" &
person=$!
trap 'kill $person 2> /dev/null; rm -rf "$folder"' EXIT
export TMPDIR=$folder
for work in "bench random -n 18 --repeats 1000000 --budget 60" "-"; do
  # shellcheck disable=SC2086
  "$here/mpirun_local.sh" "$1" 2 "$program" $work < "$folder/person" > /dev/null 2> "$folder/errors" &
  job=$!
  mapfile -t pids < <(started "$name" 2 $job)
  sleep 2
  [ "$(living "$name" | wc -l)" -eq 2 ] || { cat "$folder/errors"; exit 1; }
  kill -9 $job
  wait $job
  all_gone "$name" || exit 1
  echo "$work: ended"
done
