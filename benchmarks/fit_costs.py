#!/usr/bin/env python3
"""Fits a machine's cost table to measured sweeps, so that predicted times are those of whole sweeps, not of operations
measured one by one.

    benchmarks/fit_costs.py [--machine src/plan/cost/machines/h200.json] [--write] FILE...

The files are documents or lines made by `qsim_kernels circuits` (each sweep's time, what memory takes of it by the table
that it was planned with, and counts of operations) and by `qsim_kernels lengths` (instructions of each sweep's kernel). A
sweep is predicted as (memory^p + arithmetic^p)^(1/p), p being the table's overlap_power; what kernels that leave the
instruction cache wait for is left out: measured sweeps whose kernels may be that long say nothing of it. So are sweeps
that do their matrices on two targets on lanes, those that permute, and short ones, of which the launch is much. Every
entry is drawn a little towards its present value, so few rows cannot bend it far; entries that no row has stay as they
are. Prints predicted over measured time by circuit; --write stores the entries in the machine's file. Needs SciPy.
"""
import argparse
import json
import re

import numpy
from scipy.optimize import least_squares

ENTRIES = ["matrix1_general", "matrix1_real", "butterfly", "flip", "phases", "phase_term", "regroup", "flip_outside",
           "flip_inside", "phase_part", "controlled_entry", "pair_base", "pair_entry", "norm"]
LENGTHS = ["matrix1_general", "matrix1_real", "butterfly", "flip", "phases", "phase_term", "regroup",
           "controlled_entry", "pair_base", "pair_entry", "kernel"]
PULL = 0.25  # weight of an entry's logarithm against relative errors of 5 %
ERROR = 0.05
SHORT = 1.0  # ms
COUNTS = {"pair_base": "matrix_dense2"}  # what an entry counts, where that has another name
AMPLITUDE = {"double": 16, "single": 8}


def rows_of(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        return json.loads(text)["rows"]
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines() if line]


def on_lanes(table, sweep):
    """Whether src/plan/cost/cost.cpp takes the sweep's matrices on two targets to be done on lanes."""
    if "lanes" not in table or "matrix_dense2" not in sweep:
        return False
    pairs, rest = pairs_of(table, sweep), rest_of(table, sweep)
    return min(pairs, table["lanes"]["pair"] * sweep["matrix_dense2"]) + table["lanes"]["rest"] * rest < pairs + rest


def pairs_of(table, sweep):
    """Matrices on two targets, paid by their numbers or whole."""
    count = sweep.get("matrix_dense2", 0)
    base = table.get("pair_base") or 2 * table["flip"]
    return min(table["matrix_dense"][2] * count, base * count + table["pair_entry"] * sweep.get("pair_entry", 0))


def rest_of(table, sweep, terms="phase_term"):
    rest = sum(table["matrix_dense"][t] * sweep.get(f"matrix_dense{t}", 0) for t in range(3, 7))
    for name in ENTRIES:
        if name not in ("pair_base", "pair_entry"):
            rest += table.get(name, 0) * sweep.get(terms if name == "phase_term" else name, 0)
    return rest


def milliseconds(table, sweep, amplitude_bytes):
    work = (pairs_of(table, sweep) + rest_of(table, sweep)) * sweep["bytes_written"] / amplitude_bytes * 1e-12
    power = table["overlap_power"]
    return (sweep["memory_ms"] ** power + work**power) ** (1 / power) + 1e3 * table["sweep_overhead_s"]


def instructions(costs, sweep):
    return costs["kernel"] + pairs_of(costs, sweep) + rest_of(costs, sweep, "terms_apart")


def fit(table, names, rows, measured, predict):
    """The table with those entries fitted, and what it predicts."""
    present = [n for n in names if table.get(n) and (n == "kernel" or any(row.get(COUNTS.get(n, n)) for row in rows))]

    def at(x):
        return table | {name: table[name] * numpy.exp(value) for name, value in zip(present, x)}

    def residuals(x):
        trial = at(x)
        errors = numpy.log([predict(trial, row) / value for row, value in zip(rows, measured)])
        return numpy.concatenate([errors / ERROR, x / PULL])

    fitted = at(least_squares(residuals, numpy.zeros(len(present)), loss="soft_l1").x)
    return present, fitted, numpy.array([predict(fitted, row) for row in rows])


def show(what, present, fitted, circuits, predicted, measured):
    print(f"{what}: " + ", ".join(f"{name} {fitted[name]:.4g}" for name in present))
    error = predicted / measured - 1
    print(f"  {len(measured)} of them, error {numpy.sqrt((error**2).mean()):.1%} rms, {abs(error).max():.1%} at most")
    for circuit in dict.fromkeys(circuits):
        mine = numpy.array([name == circuit for name in circuits])
        print(f"  {circuit}: {predicted[mine].sum() / measured[mine].sum():.3f} of what was measured")


def fit_some(table, what, names, sweeps, key, predict):
    """Fits the table in place to the sweeps that have `key`."""
    chosen = [(circuit, sweep) for circuit, sweep in sweeps if key in sweep]
    if not chosen:
        return
    circuits, rows = zip(*chosen)
    measured = numpy.array([row[key] for row in rows], dtype=float)
    present, fitted, predicted = fit(table, names, rows, measured, predict)
    show(what, present, fitted, circuits, predicted, measured)
    table.update({name: float(f"{fitted[name]:.3g}") for name in present})


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--machine", default="src/plan/cost/machines/h200.json")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("documents", nargs="+")
    arguments = parser.parse_args()
    with open(arguments.machine, encoding="utf-8") as file:
        machine = json.load(file)
    rows = [row for path in arguments.documents for row in rows_of(path)]
    for precision, amplitude_bytes in AMPLITUDE.items():
        table = machine["cost"][precision]
        sweeps = [(f"{row['circuit']} from {row['start']}", sweep) for row in rows if row["precision"] == precision
                  for sweep in row["each"] if not sweep.get("permutes") and not on_lanes(table, sweep)]
        timed = [(circuit, sweep) for circuit, sweep in sweeps if sweep.get("ms", 0) >= SHORT]
        fit_some(table, f"{precision}, ms", ENTRIES, timed, "ms",
                 lambda costs, sweep, each=amplitude_bytes: milliseconds(costs, sweep, each))
        fit_some(table["instructions"], f"{precision}, instructions", LENGTHS, sweeps, "instructions", instructions)
    if arguments.write:
        text = json.dumps(machine, indent=2)
        text = re.sub(r"\[\s+([^\]]*?)\s+\]", lambda m: "[" + re.sub(r"\s*\n\s*", " ", m.group(1)) + "]", text)
        with open(arguments.machine, "w", encoding="utf-8") as file:
            file.write(text + "\n")


if __name__ == "__main__":
    main()
