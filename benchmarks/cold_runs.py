#!/usr/bin/env python3
"""Whole runs from process start to printed result, with an empty kernel cache and again with the filled one.

  benchmarks/cold_runs.py [--qsim PROGRAM] [--qubits N] [--backend cuda|cpu] [--circuits NAME,...]

Prints a qsim.table/1 document. The circuits are files made before the clock starts; `beyond_s` is what a cold run takes
besides its simulate time. Exit: 0, or the first code of a run that failed.
"""

import argparse
import datetime
import fcntl
import json
import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def run(qsim, file, backend, cache):
    """(seconds of the whole process, its result document)"""
    begin = time.monotonic()
    process = subprocess.run([qsim, "run", file, "--backend", backend, "--shots", "1024", "--json"], check=False,
                             capture_output=True, text=True, env={**os.environ, "QSIM_CACHE_DIR": cache})
    seconds = time.monotonic() - begin
    if process.returncode != 0:
        sys.stderr.write(process.stderr)
        sys.exit(process.returncode)
    return seconds, json.loads(process.stdout)


def wait_for_compiler(folder):
    """Until the process that a cold run left behind has compiled what that run asked for."""
    time.sleep(0.5)  # it takes the folder's lock when it has started
    if os.path.isdir(folder):
        descriptor = os.open(folder, os.O_RDONLY)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        os.close(descriptor)


def measure(qsim, name, arguments, folder):
    file = os.path.join(folder, f"{name}.qasm")
    made = subprocess.run([qsim, "gen", name, "-n", str(arguments.qubits)], check=True, capture_output=True, text=True)
    register = re.search(r"qreg (\w+)\[", made.stdout).group(1)
    with open(file, "w", encoding="utf-8") as out:
        out.write(made.stdout + f"creg shots[{arguments.qubits}];\nmeasure {register} -> shots;\n")
    with tempfile.TemporaryDirectory() as cache:
        cold, document = run(qsim, file, arguments.backend, cache)
        wait_for_compiler(os.path.join(cache, "kernels"))
        warm, again = run(qsim, file, arguments.backend, cache)
    simulate = document["time_s"]["simulate"]
    row = {"circuit": name, "qubits": arguments.qubits, "device": document["run"]["device"], "wall_s": round(cold, 4),
           "simulate_s": simulate, "beyond_s": round(cold - simulate, 4), "warm_wall_s": round(warm, 4),
           "warm_simulate_s": again["time_s"]["simulate"]}
    print(json.dumps(row), file=sys.stderr)
    return row, document


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--qsim", default=os.path.join(HERE, "..", "build", "bin", "qsim"))
    parser.add_argument("--qubits", type=int, default=30)
    parser.add_argument("--backend", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--circuits", default="ghz,qft,supremacy,random,qv,ising")
    arguments = parser.parse_args()
    rows, document = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.circuits.split(","):
            row, document = measure(arguments.qsim, name, arguments, folder)
            rows.append(row)
    print(json.dumps({"schema": "qsim.table/1", "kind": "cold",
                      "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                      "machine": rows[-1]["device"], "commit": document["environment"]["commit"], "rows": rows},
                     indent=1))


if __name__ == "__main__":
    main()
