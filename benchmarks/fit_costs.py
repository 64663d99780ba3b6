#!/usr/bin/env python3
"""Fits a machine's cost table to measured sweeps, so that predicted times are those of whole sweeps, not of operations
measured one by one.

    benchmarks/fit_costs.py [--machine src/plan/cost/machines/h200.json] [--write] benchmarks/results/gpu1_sweeps.json...

The documents are made of rows of `qsim_kernels circuits` (each sweep's time, bytes and counts of operations). A sweep is
predicted as (memory^p + arithmetic^p)^(1/p), p being the table's overlap_power; entries that no row has stay as they are.
Sweeps that do their matrices on two targets on lanes are left out: they say nothing of what is paid in registers.
Every entry is drawn a little towards its present value, so few rows cannot bend it far. Prints predicted over measured
time by circuit; --write stores the entries in the machine's file. Needs SciPy.
"""
import argparse
import json
import re

import numpy
from scipy.optimize import least_squares

ENTRIES = ["matrix1_general", "matrix1_real", "butterfly", "flip", "phases", "phase_term", "regroup",
           "flip_outside", "phase_part", "controlled_entry", "pair_entry"]
DENSE = range(2, 7)
PULL = 0.25  # weight of an entry's logarithm against relative errors of 5 %
ERROR = 0.05


def by_entries(sweep):
    """Matrices on two targets are paid by their numbers, and as two flips."""
    if "pair_entry" in sweep:
        sweep["flip"] = sweep.get("flip", 0) + 2 * sweep.pop("matrix_dense2")
    return sweep


def on_lanes(table, sweep):
    """Whether src/plan/cost/cost.cpp takes the sweep's matrices on two targets to be done on lanes."""
    if "lanes" not in table or "matrix_dense2" not in sweep:
        return False
    pairs = min(table["matrix_dense"][2] * sweep["matrix_dense2"],
                2 * table["flip"] * sweep["matrix_dense2"] + table["pair_entry"] * sweep.get("pair_entry", 32))
    rest = sum(table.get(name, 0) * sweep.get(name, 0) for name in ENTRIES if name != "pair_entry")
    rest += sum(table["matrix_dense"][t] * sweep.get(f"matrix_dense{t}", 0) for t in DENSE if t > 2)
    on_lanes = min(pairs, table["lanes"]["pair"] * sweep["matrix_dense2"]) + table["lanes"]["rest"] * rest
    return on_lanes < pairs + rest


def load(paths, precision, table):
    sweeps = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for row in json.load(file)["rows"]:
                if row["precision"] == precision:
                    sweeps += [(row["circuit"], by_entries(s)) for s in row["each"] if not on_lanes(table, s)]
    return sweeps


def instructions(table, sweep):
    """Of a sweep's kernel, as src/plan/cost/cost.cpp counts them."""
    costs = table["instructions"]
    total = costs["kernel"] + costs["phase_term"] * sweep.get("terms_apart", 0)
    total += sum(costs.get(name, 0) * sweep.get(name, 0) for name in ENTRIES if name != "phase_term")
    total += 0.75 * sum(costs[f"matrix1_{form}"] * sweep.get(f"controlled_{form}", 0) for form in ("general", "real"))
    return total + sum(costs["matrix_dense"][t] * sweep.get(f"matrix_dense{t}", 0) for t in DENSE)


def fit(table, sweeps, amplitude_bytes):
    names = ENTRIES + [f"matrix_dense{t}" for t in DENSE]
    present = [n for n in names if (n in table or n[:-1] == "matrix_dense") and any(n in sweep for _, sweep in sweeps)]
    old = numpy.array([table["matrix_dense"][int(n[-1])] if n[:-1] == "matrix_dense" else table[n] for n in present])
    counts = numpy.array([[sweep.get(n, 0) for n in present] for _, sweep in sweeps])
    amplitudes = numpy.array([sweep["bytes"] / amplitude_bytes / 2 for _, sweep in sweeps])
    measured = numpy.array([sweep["ms"] for _, sweep in sweeps])
    rate = 1e-3 * amplitude_bytes * (1 / table["read_bytes_per_s"] + 1 / table["write_bytes_per_s"])
    memory = amplitudes * rate * table["narrow_run_factor"][3] * 1e6
    power = table["overlap_power"]
    slowed = numpy.ones(len(sweeps))  # by instructions that leave the cache
    if table["cached_instructions"] > 0:
        length = numpy.array([instructions(table, sweep) for _, sweep in sweeps])
        slowed = numpy.clip(1 + 6 * (length / table["cached_instructions"] - 1), 1, 3)

    def predict(x):
        work = slowed * (counts @ x[1:]) * amplitudes * 1e-12
        return ((memory * x[0]) ** power + work**power) ** (1 / power)

    def residuals(x):
        pull = numpy.log(numpy.maximum(x[1:], 1)) - numpy.log(numpy.maximum(old, 1))
        return numpy.concatenate([(predict(x) - measured) / measured / ERROR, pull * PULL])

    start = numpy.concatenate([[1.0], numpy.maximum(old, 1)])
    low = numpy.concatenate([[0.8], old * 0.2])
    high = numpy.concatenate([[1.25], numpy.maximum(old * 4, 60)])
    x = least_squares(residuals, start, bounds=(low, high)).x
    return present, x, predict(x), measured


def store(table, present, x):
    for name in ("read_bytes_per_s", "write_bytes_per_s"):
        table[name] = float(f"{table[name] / x[0]:.3g}")
    for name, value in zip(present, x[1:]):
        if name[:-1] == "matrix_dense":
            table["matrix_dense"][int(name[-1])] = round(float(value))
        else:
            table[name] = round(float(value), 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--machine", default="src/plan/cost/machines/h200.json")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("documents", nargs="+")
    arguments = parser.parse_args()
    with open(arguments.machine, encoding="utf-8") as file:
        machine = json.load(file)
    for precision, amplitude_bytes in (("double", 16), ("single", 8)):
        sweeps = load(arguments.documents, precision, machine["cost"][precision])
        if not sweeps:
            continue
        present, x, predicted, measured = fit(machine["cost"][precision], sweeps, amplitude_bytes)
        print(f"{precision}: memory x {x[0]:.3f}, " + ", ".join(f"{n} {v:.4g}" for n, v in zip(present, x[1:])))
        error = predicted / measured - 1
        print(f"  sweeps: {len(measured)}, error {numpy.sqrt((error**2).mean()):.1%} rms, {abs(error).max():.1%} at most")
        for circuit in dict.fromkeys(name for name, _ in sweeps):
            mine = numpy.array([name == circuit for name, _ in sweeps])
            print(f"  {circuit}: {predicted[mine].sum() / measured[mine].sum():.3f} of the measured time")
        store(machine["cost"][precision], present, x)
    if arguments.write:
        text = json.dumps(machine, indent=2)
        text = re.sub(r"\[\s+([^\]]*?)\s+\]", lambda m: "[" + re.sub(r"\s*\n\s*", " ", m.group(1)) + "]", text)
        with open(arguments.machine, "w", encoding="utf-8") as file:
            file.write(text + "\n")


if __name__ == "__main__":
    main()
