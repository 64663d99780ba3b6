#!/usr/bin/env python3
"""Rounds of a repetition code with feedback, shot by shot: 3 data qubits and 2 that are measured.

  benchmarks/error_correction.py [--qsim PROGRAM] [--rounds N] [--shots N] [--threads N] [--write FOLDER] [NAME...]

Prints a line for each program: wall and processor seconds, and a hash of the counts, which must be the same for every
number of threads. --write leaves the programs in a folder and runs nothing. Decision 0011 has the figures.
"""

import argparse
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))

TURNS = "rx(0.1) d[0]; rx(0.1) d[1]; rx(0.1) d[2];"
MEASURED = "for int i in [0:2] { ry(0.2) a[0]; e = measure a[0]; reset a[0]; if (e) x d[i]; }"
CHECKS = "cx d[0], a[0]; cx d[1], a[0]; cx d[1], a[1]; cx d[2], a[1];"
READ = "syn = measure a; reset a;"
MEND = "if (syn == 1) x d[0]; if (syn == 3) x d[1]; if (syn == 2) x d[2];"


def program(name, rounds):
    head = 'OPENQASM 3.0;\ninclude "stdgates.inc";\nqubit[3] d; qubit[2] a; bit[3] r; bit e;\n'
    begin, end = f"for int k in [1:{rounds}] {{\n", "}\nr = measure d;\n"
    if name == "recorded":
        syndrome = "syn[2 * k : 2 * k + 1]"
        body = f"{TURNS} {CHECKS} syn[2 * k] = measure a[0]; syn[2 * k + 1] = measure a[1]; reset a;"
        return head + f"bit[{2 * rounds + 2}] syn;\n" + begin + body + MEND.replace("syn", syndrome) + end
    head += "bit[2] syn;\n"
    if name == "together":
        return head + begin + f"x d[1]; {CHECKS} {READ} {MEND}\n" + end
    if name == "turned":
        return head + begin + f"{TURNS} {CHECKS} {READ} {MEND}\n" + end
    if name == "measured":
        return head + begin + f"{MEASURED} {CHECKS} {READ} {MEND}\n" + end
    if name == "counted":
        return head + "uint[16] n = 0;\n" + begin + f"{MEASURED} {CHECKS} {READ} if (syn != 0) n += 1; {MEND}\n" + end
    loop = "h d[0]; cx d[0], d[1]; cx d[0], d[2]; uint[16] k = 0; bit go = measure a[0];\n"
    return head + loop + f"while (k < {rounds} && !go) {{ {TURNS} {CHECKS} {READ} {MEND} k += 1;\n" + end


NAMES = ["together", "turned", "measured", "counted", "loop", "recorded"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--qsim", default=os.path.join(HERE, "..", "build", "bin", "qsim"))
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--shots", type=int, default=10000)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--write", metavar="FOLDER")
    arguments = parser.parse_args()
    names = arguments.names or NAMES
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        parser.error(f"no such program: {unknown[0]}")
    with tempfile.TemporaryDirectory() as folder:
        folder = arguments.write or folder
        for name in names:
            path = os.path.join(folder, name + ".qasm")
            with open(path, "w", encoding="ascii") as file:
                file.write(program(name, arguments.rounds))
            if arguments.write:
                continue
            command = [arguments.qsim, "run", path, "--shots", str(arguments.shots), "--seed", "1", "--json"]
            if arguments.threads > 0:
                command += ["--threads", str(arguments.threads)]
            before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
            run = subprocess.run(command, capture_output=True, check=False)
            wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
            if run.returncode != 0:
                sys.stderr.write(run.stderr.decode())
                return run.returncode
            results = json.loads(run.stdout)["results"]
            counts = json.dumps([results["counts"], results.get("variables")], sort_keys=True)
            spent = after.ru_utime - before.ru_utime
            print(f"{name:10} {wall:8.2f} s  {spent:8.2f} s  {hashlib.md5(counts.encode()).hexdigest()}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
