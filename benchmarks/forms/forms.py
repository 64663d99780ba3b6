#!/usr/bin/env python3
"""Whether a circuit is planned alike however it is spelt: families as they are written and as Qiskit writes them for other gates.

  benchmarks/forms/forms.py [--qubits N] [--families NAME,...] [--bases NAME,...] [--levels L,...] [--device D] [--precision P] [--qsim PROGRAM]
                            [--workers N] [--files FOLDER] [--json FILE] [--before FILE]
  benchmarks/forms/forms.py --check [--qubits N] ...

Without --check: `qsim plan` of each circuit and of each of its forms, from a random state and from zero; prints the geometric mean and the
largest of what a form takes over what its circuit takes, by basis and level, and what is above 1.1. --json keeps all predicted times, and
--before compares with a file kept before. With --check (on few qubits): each is run, from zero and behind random gates on every qubit, and
its amplitudes are held against Qiskit's, the phase of everything included. --files keeps the circuits.

Needs Qiskit and MQT Bench (requirements.txt here). Exit: 0, 1 where amplitudes are off by more than 1e-11, 2 where a command fails.
"""

import argparse
import concurrent.futures
import json
import math
import os
import random
import subprocess
import sys
import tempfile

import numpy as np
from qiskit import qasm2, transpile
from qiskit.quantum_info import Statevector

from families import CIRCUITS, of_registers

HERE = os.path.dirname(os.path.abspath(__file__))
STARTS = ("random", "zero")
BASES = {
    "cx": ["rz", "sx", "x", "cx"],
    "cz": ["rz", "sx", "x", "cz"],
    "rxcz": ["rx", "rz", "cz"],
    "rcz": ["r", "cz"],
    "ecr": ["rz", "sx", "x", "ecr"],
    "rzz": ["rz", "rx", "ry", "rzz"],
    "rxx": ["rz", "rx", "ry", "rxx"],
    "iswap": ["rx", "rz", "iswap"],
    "ucx": ["u", "cx"],
    "hcx": ["h", "rz", "cx"],
}
WRITTEN = "written"
SHOWN = 1.1
MOST_OFF = 1e-11
SEED = 7


def spellings(circuit, bases, levels):
    """(name, circuit) of the circuit as it is written and in each basis at each level."""
    yield WRITTEN, circuit
    for basis in bases:
        for level in levels:
            yield f"{basis}{level}", transpile(circuit, basis_gates=BASES[basis], optimization_level=level, seed_transpiler=SEED)


def behind_random_gates(circuit):
    draw = random.Random(SEED)
    whole = circuit.copy_empty_like()
    for qubit in range(circuit.num_qubits):
        whole.u(draw.uniform(0.3, 2.8), draw.uniform(-3, 3), draw.uniform(-3, 3), qubit)
    return whole.compose(circuit)


def write(circuit, path):
    """As OpenQASM 2, which has no phase of everything: a file is another circuit by that."""
    with open(path, "w", encoding="utf-8") as out:
        out.write(qasm2.dumps(circuit))


def make_one(job):
    """Files of one family: [(family, spelling, path)]."""
    family, arguments = job
    least, make = CIRCUITS[family]
    circuit = of_registers(make(max(arguments.qubits, least)))
    made = []
    for spelling, form in spellings(circuit, arguments.bases, arguments.levels):
        forms = {"": form, "_behind": behind_random_gates(form)} if arguments.check else {"": form}
        for end, each in forms.items():
            path = os.path.join(arguments.files, f"{family}.{spelling}{end}.qasm")
            write(each, path)
            made.append((family, spelling + end, path))
    return made


def plan_one(job):
    """Predicted seconds of a file from one start."""
    path, start, arguments = job
    command = [arguments.qsim, "plan", path, "--device", arguments.device, "--precision", arguments.precision, "--from", start, "--json"]
    process = subprocess.run(command, check=False, capture_output=True, text=True)
    if process.returncode:
        return f"{path}: {process.stderr}"
    return json.loads(process.stdout)["predicted_time_s"]["total"]


def check_one(job):
    """The largest difference of any amplitude of a file from Qiskit's."""
    path, arguments = job
    state = path[:-5] + ".npy"
    process = subprocess.run([arguments.qsim, path, "--shots", "0", "--quiet", "--statevector", state], check=False, capture_output=True, text=True)
    if process.returncode:
        return f"{path}: {process.stderr}"
    circuit = qasm2.load(path, custom_instructions=qasm2.LEGACY_CUSTOM_INSTRUCTIONS)
    off = float(np.abs(np.load(state) - Statevector(circuit).data).max())
    os.remove(state)
    return off


def or_exit(results):
    results = list(results)
    for failed in (each for each in results if isinstance(each, str)):
        sys.stderr.write(failed)
    if any(isinstance(each, str) for each in results):
        sys.exit(2)
    return results


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def compare(times, before):
    """Prints what predicted times are over those kept before."""
    same = [(key, start) for key in times if key in before for start in STARTS]
    ratios = {(key, start): times[key][start] / before[key][start] for key, start in same}
    print(f"over before: {mean(ratios.values()):.4f} of {len(ratios)} plans")
    for (key, start), ratio in sorted(ratios.items(), key=lambda each: each[1]):
        if abs(ratio - 1) > 0.02:
            print(f"  {key:44}{start:8}{ratio:8.3f}{1e3 * before[key][start]:12.3f} -> {1e3 * times[key][start]:.3f} ms")


def show(times, arguments):
    print(f"{arguments.qubits} qubits, {arguments.precision}, {arguments.device}: predicted over the circuit as it is written")
    print(f"{'form':12}" + "".join(f"{start + ', mean':>16}{'largest':>10}" for start in STARTS))
    above = []
    for form in [f"{basis}{level}" for basis in arguments.bases for level in arguments.levels]:
        line = f"{form:12}"
        for start in STARTS:
            ratios = {}
            for family in arguments.families:
                written, here = times.get(f"{family}.{WRITTEN}"), times.get(f"{family}.{form}")
                if written and here:
                    ratios[family] = here[start] / written[start]
                    above += [(ratios[family], family, form, start, here[start])] if abs(math.log(ratios[family])) > math.log(SHOWN) else []
            line += f"{mean(ratios.values()):16.3f}{max(ratios.values()):10.2f}" if ratios else " " * 26
        print(line)
    for ratio, family, form, start, seconds in sorted(above, reverse=True):
        print(f"  {family:28}{form:8}{start:8}{ratio:8.2f}{1e3 * seconds:12.3f} ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = lambda text: text.split(",")
    parser.add_argument("--qubits", type=int, default=24)
    parser.add_argument("--families", type=names, default=list(CIRCUITS))
    parser.add_argument("--bases", type=names, default=["cx"])
    parser.add_argument("--levels", type=lambda text: [int(level) for level in names(text)], default=[0, 1, 2])
    parser.add_argument("--device", default="h200")
    parser.add_argument("--precision", default="double")
    parser.add_argument("--qsim", default=os.path.join(HERE, "..", "..", "build", "bin", "qsim"))
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--files")
    parser.add_argument("--json")
    parser.add_argument("--before")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ProcessPoolExecutor(arguments.workers) as workers:
        arguments.files = arguments.files or folder
        os.makedirs(arguments.files, exist_ok=True)
        made = [each for files in workers.map(make_one, [(family, arguments) for family in arguments.families]) for each in files]
        if arguments.check:
            offs = or_exit(workers.map(check_one, [(path, arguments) for _, _, path in made]))
            worst = sorted(zip(offs, made), reverse=True)[:5]
            print(f"{len(offs)} runs, the largest differences: " + ", ".join(f"{off:.1e} ({family}.{form})" for off, (family, form, _) in worst))
            sys.exit(1 if worst[0][0] > MOST_OFF else 0)
        jobs = [(path, start, arguments) for _, _, path in made for start in STARTS]
        predicted = or_exit(workers.map(plan_one, jobs))
    times = {}
    for (family, form, _), both in zip(made, zip(predicted[::2], predicted[1::2])):
        times[f"{family}.{form}"] = dict(zip(STARTS, both))
    show(times, arguments)
    if arguments.before:
        with open(arguments.before, encoding="utf-8") as kept:
            compare(times, json.load(kept))
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as out:
            json.dump(times, out, indent=1)


if __name__ == "__main__":
    main()
