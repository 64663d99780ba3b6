"""Every figure that was to be reached: target, measured, ratio."""

import math

from report_parts.figures import (BATCH_RATE, CHALLENGE, COLD_SECONDS, CPU_FIELD_GAIN, ENGINE, FIELD,
                                  INTERPRETER_FACTOR, OVERHEAD_SHARE, PARSER_SECONDS, PLANNER_SECONDS, SAMPLING_MS,
                                  SCALING, SINKS_ACCURACY, SUITE, SUITE_GAIN, SUITE_SCALING,
                                  suite_file)
from report_parts.text import milliseconds, number, table, total_seconds


FAILED = "FAILED its check"


def at_most(what, value, target, unit):
    ratio = value / target if value is not None else None
    return line(what, f"<= {number(target)} {unit}", f"{number(value)} {unit}", ratio)


def at_least(what, value, target, unit):
    ratio = target / value if value else None
    return line(what, f">= {number(target)}{unit}", f"{number(value)}{unit}", ratio)


def line(what, target, measured, ratio):
    """One row; a ratio above 1 (bold) misses, whichever way the target points."""
    if ratio is None:
        return [what, target, "not measured", "-"]
    return [what, target, measured, f"{ratio:.2f}" if ratio <= 1 else f"**{ratio:.2f}**"]


def mean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values)) if values else None


def circuits(results):
    rows = []
    for name, label, *_, target_random, target_zero in ENGINE:
        for start, target in (("random", target_random), ("zero", target_zero)):
            row = results.row(name, 30, start)
            rows.append(at_most(f"{label}, from {start}, one GPU", milliseconds(row), target, "ms"))
            if row and row["status"] == "failed":
                rows[-1][2] = FAILED
    for start, target in SUITE_GAIN.items():
        times = [(hyquas, milliseconds(results.row(suite_file(name), 30, start))) for name, hyquas in SUITE if hyquas]
        gains = [hyquas / ms for hyquas, ms in times if ms]
        rows.append(at_least(f"public suite, from {start}: times HyQuas's speed, geometric mean",
                             mean(gains) if len(gains) == len(times) else None, target, "x"))
    factors = []
    for name, *_ in ENGINE:
        plain = milliseconds(results.row(name, 30, "random", forced="interpreter"))
        compiled = milliseconds(results.row(name, 30, "random"))
        if plain and compiled:
            factors.append(plain / compiled)
    rows.append(at_most("interpreter alone, worst of the six, to specialised kernels", max(factors, default=None),
                        INTERPRETER_FACTOR, "times"))
    return rows


def scaling(results):
    rows, labels = [], {name: label for name, label, *_ in ENGINE}
    for name, (least, others) in SCALING.items():
        one, two, four = map(milliseconds, results.side_by_side(name, 30, "random", (1, 2, 4)))
        rows.append(at_least(f"{labels[name]}, from random: speed-up on 4 GPUs", one / four if one and four else None,
                             least, "x"))
        for who, theirs in others.items():
            for count, ms, most in ((2, two, theirs[0]), (4, four, theirs[1])):
                if most:
                    rows.append(at_most(f"{labels[name]}, from random, {count} GPUs: {who}'s time", ms, most, "ms"))
    for name, least in SUITE_SCALING.items():
        one, _, four = map(milliseconds, results.side_by_side(suite_file(name), 30, "random", (1, 2, 4)))
        rows.append(at_least(f"{name}, from random: speed-up on 4 GPUs", one / four if one and four else None, least,
                             "x"))
    for start in ("random", "zero"):
        slower = []
        for name in [name for name, *_ in ENGINE] + [suite_file(name) for name, _ in SUITE]:
            times = map(milliseconds, results.side_by_side(name, 30, start, (1, 2, 4)))
            times = [time for time in times if time]
            slower += [after / before for before, after in zip(times, times[1:])]
        rows.append(at_most(f"with twice the GPUs, from {start}: worst time to that with half",
                            max(slower, default=None), 1, "times"))
    return rows


def challenge(results):
    rows = []
    for name, label, _, targets in CHALLENGE:
        qubits = int("".join(character for character in name.split(":")[1] if character.isdigit()))
        for count, seconds in targets.items():
            what = f"{label} with its read-outs, {count} GPU{'s' if count > 1 else ''}"
            rows.append(at_most(what, total_seconds(results.row(name, qubits, ranks=count)), seconds, "s"))
    return rows


def parts(results):
    def table_rows(kind):
        return results.tables.get(kind, {"rows": []})["rows"]
    cold = [row["beyond_s"] for row in table_rows("cold")]
    shots = [row["ms"] for row in table_rows("readouts")
             if row.get("shots") == 1_000_000 and row["qubits"] == 30 and row["device"] == "cuda" and row["equal"]]
    batches = [row["circuits_per_s"] for row in table_rows("batches") if row["qubits"] == 4 and row["device"] == "cuda"]
    sinks = [row["accuracy"] for row in table_rows("kitchen_sinks")]
    return [at_most("cold run of any of the six beyond its simulate time", max(cold, default=None), COLD_SECONDS, "s"),
            at_most("10^6 shots of 30 qubits to sorted pairs", min(shots, default=None), SAMPLING_MS, "ms"),
            at_least("circuits of 4 qubits a second, one GPU", max(batches, default=None), BATCH_RATE, ""),
            at_least("kitchen sinks, accuracy", max(sinks, default=None), SINKS_ACCURACY, "")]


def host(results):
    gains = [FIELD[row["circuit"]] / row["ms"] for row in results.tables.get("naive", {"rows": []})["rows"]
             if row["precision"] == "single" and row["circuit"] in FIELD]
    shares = [row["overhead_s"] / row["simulate_s"]["median"] for row in results.newest_rows()
              if row["status"] == "ok" and row.get("overhead_s") and row["qubits"] >= 20]
    runs = [run for document in results.micro.values() for run in document["benchmarks"]]
    micro = {run["name"]: run["real_time"] * 1e-3 for run in runs}
    planner = [seconds for name, seconds in micro.items() if name.startswith("million_gates")]
    return [at_least("24 qubits on a CPU, single: times the fastest other simulator's speed", mean(gains),
                     CPU_FIELD_GAIN, "x"),
            at_most("parsing 10^6 gates, one core", micro.get("parse/1000000"), PARSER_SECONDS, "s"),
            at_most("planning 10^6 gates, one core", max(planner, default=None), PLANNER_SECONDS, "s"),
            at_most("qsim bench's own share of a time, at most, 20 qubits and more", max(shares, default=None),
                    OVERHEAD_SHARE, "of it")]


def summary(results):
    rows = circuits(results) + scaling(results) + challenge(results) + parts(results) + host(results)
    results.sources()  # the tables below name them
    missing = sum(row[2] == "not measured" for row in rows)
    missed = sum("**" in row[3] or row[2] == FAILED for row in rows)
    verdict = f"{len(rows) - missing - missed} of {len(rows)} reached, {missed} missed, {missing} not measured.\n\n"
    return verdict + table(["30 qubits in double where nothing else is said", "target", "measured", "ratio"], rows)
