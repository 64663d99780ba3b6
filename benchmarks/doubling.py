#!/usr/bin/env python3
"""What parsing, planning and preparing take of circuits of n, 2n, 4n, ... gates: no step may grow by more than n log n.

  benchmarks/doubling.py [--qsim PROGRAM] [--from GATES] [--doublings N] [--repeats N] [--kinds NAME,...] [--json]

Each circuit is run on the CPU, on few qubits so that simulating takes little; times are those that the program reports
(`time_s` of its results), the least of the repeats. `power` is the slope of log time over log gates, by least squares,
of the sizes that take at least 10 ms and have more than 8,000 gates (up to there more forms of a circuit are planned);
n log n is 1.1 here. Prints a table, or a qsim.table/1 document. Exit: 0, 1 where a power is above 1.5, or the code of a
run that failed.
"""

import argparse
import datetime
import json
import math
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
STEPS = ("parse", "plan", "init")
LEAST_SECONDS = 0.01
FEW_GATES = 8200  # one of them may be a few more than was asked for
MOST_POWER = 1.5


def strings(draw, qubits, gates):
    """Random Pauli strings, each a rotation between ladders of CX gates."""
    while gates > 0:
        letters = [(q, draw.choice("XYZ")) for q in range(qubits) if draw.random() < 0.75] or [(0, "X")]
        there = [f"{ {'X': 'h', 'Y': 'sx'}[p] } q[{q}];" for q, p in letters if p != "Z"]
        back = [f"{ {'X': 'h', 'Y': 'sxdg'}[p] } q[{q}];" for q, p in letters if p != "Z"]
        ladder = [f"cx q[{a}],q[{b}];" for (a, _), (b, _) in zip(letters, letters[1:])]
        lines = there + ladder + [f"rz({draw.uniform(-3, 3)}) q[{letters[-1][0]}];"] + ladder[::-1] + back
        gates -= len(lines)
        yield from lines


def layers(draw, qubits, gates):
    """Any gates on one qubit, and CX gates."""
    for _ in range(gates // 2):
        a, b = draw.sample(range(qubits), 2)
        yield f"u3({draw.uniform(0, 3)},{draw.uniform(-3, 3)},{draw.uniform(-3, 3)}) q[{a}];"
        yield f"cx q[{a}],q[{b}];"


def flips(draw, qubits, gates):
    """X gates with up to two controls."""
    for _ in range(gates):
        wires = draw.sample(range(qubits), draw.randint(1, 3))
        yield "c" * (len(wires) - 1) + "x " + ",".join(f"q[{w}]" for w in wires) + ";"


def phases(draw, qubits, gates):
    """CX gates and phases, and a Hadamard gate now and then."""
    for _ in range(gates):
        a, b = draw.sample(range(qubits), 2)
        kind = draw.random()
        angle = draw.uniform(-3, 3)
        if kind < 0.4:
            yield f"cx q[{a}],q[{b}];"
        elif kind < 0.7:
            yield f"rz({angle}) q[{a}];"
        elif kind < 0.95:
            yield f"cu1({angle}) q[{a}],q[{b}];"
        else:
            yield f"h q[{a}];"


def toffoli(draw, qubits, gates):
    """Toffoli gates as compilers write them, in Clifford and T gates."""
    for _ in range(gates // 15):
        a, b, c = (f"q[{w}]" for w in draw.sample(range(qubits), 3))
        yield f"h {c};"
        for gate, *of in (("cx", b, c), ("tdg", c), ("cx", a, c), ("t", c), ("cx", b, c), ("tdg", c), ("cx", a, c),
                          ("t", b), ("t", c), ("h", c), ("cx", a, b), ("t", a), ("tdg", b), ("cx", a, b)):
            yield f"{gate} {','.join(of)};"


KINDS = {"strings": (strings, 12), "layers": (layers, 12), "flips": (flips, 16), "phases": (phases, 12),
         "toffoli": (toffoli, 12)}


def seconds_of(qsim, file, repeats):
    least, document = dict.fromkeys(STEPS, math.inf), {}
    for _ in range(repeats):
        process = subprocess.run([qsim, "run", file, "--backend", "cpu", "--verify", "off", "--json"], check=False,
                                 capture_output=True, text=True)
        if process.returncode != 0:
            sys.stderr.write(process.stderr)
            sys.exit(process.returncode)
        document = json.loads(process.stdout)
        least = {step: min(least[step], document["time_s"][step]) for step in STEPS}
    return least, document


def power_of(rows, step):
    """Nothing where fewer than three sizes tell."""
    told = [(math.log(row["gates"]), math.log(row[step])) for row in rows
            if row[step] >= LEAST_SECONDS and row["gates"] > FEW_GATES]
    if len(told) < 3:
        return None
    x, y = (sum(each) / len(told) for each in zip(*told))
    return sum((a - x) * (b - y) for a, b in told) / sum((a - x) ** 2 for a, _ in told)


def measure(arguments, name, folder):
    write, qubits = KINDS[name]
    rows, document = [], {}
    for doubling in range(arguments.doublings + 1):
        gates = arguments.first << doubling
        lines = list(write(random.Random(1), qubits, gates))
        file = os.path.join(folder, f"{name}_{gates}.qasm")
        with open(file, "w", encoding="utf-8") as out:
            out.write("\n".join(["OPENQASM 2.0;", 'include "qelib1.inc";', f"qreg q[{qubits}];", *lines, ""]))
        least, document = seconds_of(arguments.qsim, file, arguments.repeats)
        rows.append({"kind": name, "gates": len(lines), **least})
    return rows, document


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--qsim", default=os.path.join(HERE, "..", "build", "bin", "qsim"))
    parser.add_argument("--from", dest="first", type=int, default=4000, help="gates of the smallest circuits")
    parser.add_argument("--doublings", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    rows, powers, document = [], [], {}
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.kinds.split(","):
            made, document = measure(arguments, name, folder)
            rows += made
            powers.append({"kind": name, **{step: power_of(made, step) for step in STEPS}})
    if arguments.json:
        print(json.dumps({"schema": "qsim.table/1", "kind": "doubling",
                          "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                          "machine": document["run"]["device"], "commit": document["environment"]["commit"],
                          "rows": rows, "powers": powers}, indent=1))
    else:
        print(f"{'kind':10}{'gates':>10}" + "".join(f"{step + ', ms':>12}" for step in STEPS))
        for row in rows:
            print(f"{row['kind']:10}{row['gates']:10}" + "".join(f"{1e3 * row[step]:12.2f}" for step in STEPS))
        print(f"{'power':20}" + "".join(f"{step:>12}" for step in STEPS))
        for row in powers:
            shown = ["-" if row[step] is None else f"{row[step]:.2f}" for step in STEPS]
            print(f"{row['kind']:20}" + "".join(f"{power:>12}" for power in shown))
    above = [row for row in powers if any((row[step] or 0) > MOST_POWER for step in STEPS)]
    sys.exit(1 if above else 0)


if __name__ == "__main__":
    main()
