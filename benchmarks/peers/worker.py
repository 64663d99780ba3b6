"""One simulator in a process of its own. `worker.py NAME` answers one JSON line for each that it reads: a case with its calls
timed and checked. `worker.py NAME FILE SHOTS VARIANT PRECISION` reads a file of OpenQASM 2, runs it once and prints its counts.
"""

from __future__ import annotations

import importlib.metadata
import json
import math
import os
import pickle
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from circuits import Circuit, read_qasm
from simulators import SIMULATORS, Simulator

LONG_SECONDS = 3.0  # of calls that take longer the first one counts: the amplitudes were computed before
SIGMAS = 6.0  # within which the marginals of counts must lie


def tolerance(precision: str, depth: int) -> float:
    """Of an amplitude: the project's own law (tests/support/tolerance.h)."""
    return 1e-12 * depth if precision == "double" else 1e-5 * math.sqrt(depth)


def amplitude_error(found: np.ndarray, reference: np.ndarray) -> float:
    """The largest difference of an amplitude, up to a phase of all."""
    if found.shape != reference.shape or not np.isfinite(found).all():
        return math.inf
    overlap = np.vdot(reference, found)
    phase = overlap / abs(overlap) if overlap != 0 else 1.0
    worst, step = 0.0, 1 << 20
    for first in range(0, len(found), step):
        part = slice(first, first + step)
        worst = max(worst, float(np.abs(found[part] - phase * reference[part]).max()))
    return worst


def counts_are_right(counts: dict[int, int], shots: int, marginals: list[float]) -> bool:
    """As many as were asked for, each qubit as often 1 as its exact probability allows."""
    if sum(counts.values()) != shots:
        return False
    for qubit, exact in enumerate(marginals):
        share = sum(times for index, times in counts.items() if index >> qubit & 1) / shots
        if abs(share - exact) > SIGMAS * math.sqrt(max(exact * (1 - exact), 0.0) / shots) + 1e-6:
            return False
    return True


def timed(call: Any, repeats: int) -> tuple[list[float], Any]:
    """Seconds of each call after a first one that does not count, unless it is long, and the last answer."""
    begin = time.perf_counter()
    answer = call()
    first = time.perf_counter() - begin
    if first > LONG_SECONDS:
        return [first], answer
    most = repeats if first < LONG_SECONDS / 3 else 2
    least_seconds = 0.1 * repeats  # short calls are repeated more often
    seconds: list[float] = []
    while len(seconds) < most or (sum(seconds) < least_seconds and len(seconds) < 200):
        begin = time.perf_counter()
        answer = call()
        seconds.append(time.perf_counter() - begin)
    return seconds, answer


def measured(simulator: Simulator, case: dict[str, Any], circuit: Circuit) -> list[dict[str, Any]]:
    """A row for each variant that is asked for."""
    source = simulator.build(circuit)
    depth = circuit.depth()
    error = amplitude_error(simulator.amplitudes(source, circuit), np.load(case["amplitudes"], mmap_mode="r"))
    right = error <= tolerance(simulator.precision, depth)
    rows = []
    for variant in case["variants"]:
        seconds, answer = timed(simulator.call(source, circuit, variant, case["shots"]), case["repeats"])
        row = {
            "variant": variant, "ms": 1e3 * statistics.median(seconds), "fastest_ms": 1e3 * min(seconds), "repeats": len(seconds),
            "amplitude_error": error, "equal": right,
        }  # fmt: skip
        if circuit.answer == "value":
            row["value_error"] = abs(answer - case["value"])
            # A value adds up as many terms, each off by up to twice the amplitudes' error in the norm.
            allowed = 2 * tolerance(simulator.precision, depth) * sum(abs(factor) for factor, _ in circuit.terms)
            row["equal"] = right and row["value_error"] <= allowed
        else:
            row["equal"] = right and counts_are_right(simulator.counts_of(answer), case["shots"], case["marginals"])
        rows.append(row)
    return rows


def serve(rows_of: Callable[[dict[str, Any]], list[dict[str, Any]]]) -> None:
    """Answers every case that it reads with its rows, or with the error that stopped them."""
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what the simulators print is not an answer
    for line in sys.stdin:
        try:
            out.write(json.dumps({"rows": rows_of(json.loads(line))}) + "\n")
        except Exception as error:  # of any of them: the row says so
            out.write(json.dumps({"error": f"{type(error).__name__}: {error}"[:300]}) + "\n")


def rows_of_case(name: str, case: dict[str, Any]) -> list[dict[str, Any]]:
    with open(case["circuit"], "rb") as file:
        circuit = pickle.load(file)
    return measured(SIMULATORS[name](case["precision"]), case, circuit)


def once(name: str, path: str, shots: int, variant: str, precision: str) -> None:
    """A whole process: Qiskit and Cirq read the file themselves, the others have no reader for all of its gates."""
    simulator = SIMULATORS[name](precision)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if name == "qsim":
        import qsim_hpc as qsim

        source, circuit = qsim.Circuit.from_qasm(text), Circuit("file", 0, [])
    elif name == "aer":
        from qiskit import qasm2

        source, circuit = qasm2.loads(text, custom_instructions=qasm2.LEGACY_CUSTOM_INSTRUCTIONS), Circuit("file", 0, [])
    elif name == "google":
        import cirq
        from cirq.contrib.qasm_import import circuit_from_qasm

        read = circuit_from_qasm(text)
        size = len(read.all_qubits())
        order = [cirq.NamedQubit(f"q_{q}") for q in range(size - 1, -1, -1)]
        source = cirq.Circuit(op for op in read.all_operations() if not cirq.is_measurement(op))
        source.append(cirq.measure(*order, key="all"))
        circuit = Circuit("file", size, [])
    else:
        circuit = Circuit("file", *read_qasm(text))
        source = simulator.build(circuit)
    counts = simulator.counts_of(simulator.call(source, circuit, variant, shots)())
    json.dump({str(index): times for index, times in counts.items()}, sys.stdout)


def versions(name: str) -> dict[str, str]:
    return {package: importlib.metadata.version(package) for package in SIMULATORS[name].packages}


if __name__ == "__main__":
    if len(sys.argv) == 2:
        serve(lambda case: rows_of_case(sys.argv[1], case))
    else:
        once(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5])
