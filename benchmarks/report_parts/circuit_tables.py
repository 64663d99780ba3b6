"""Tables of whole circuits on GPUs, from qsim.bench/1 documents."""

import math
import re

from report_parts.figures import CHALLENGE, ENGINE, SUITE, suite_file
from report_parts.peer_tables import fastest_other
from report_parts.text import (UNMEASURED, milliseconds, number, percent, ratio, shown, source, table,
                               total_seconds)


def short_table(results, qubits, backend, others):
    """The six circuits on one device, from both starts; with what the fastest of the others takes where it is known."""
    rows = []
    for name, label, *_ in ENGINE:
        random, zero = (results.row(name, qubits, start, backend=backend) for start in ("random", "zero"))
        work = random["work"] if random and random["work"] else None
        cells = [f"{label} (`{name}`)", str(work["sweeps"]) if work else "-", shown(random, milliseconds(random)),
                 percent(work["memory_fraction"]) if work else "-", shown(zero, milliseconds(zero))]
        if others:
            best = fastest_other(results, name)
            measured = milliseconds(random)
            cells += [number(best), f"{best / measured:.1f}x" if measured else "-"]
        rows.append(cells)
    header = ["ms", "sweeps", "from random", "of copy rate", "from zero"]
    return source(results) + table(header + (["fastest of the others", "faster"] if others else []), rows)


def gpu(results):
    return short_table(results, 30, "cuda", True)


def engine(results):
    rows = []
    for name, label, *_, physical, target_random, target_zero in ENGINE:
        random, zero = (results.row(name, 30, start) for start in ("random", "zero"))
        others = fastest_other(results, name)
        measured = milliseconds(random)
        rows.append([label, number(others), number(physical), number(target_random), shown(random, measured),
                     ratio(measured, target_random), f"{others / measured:.1f}x" if measured else "-",
                     number(target_zero), shown(zero, milliseconds(zero)), ratio(milliseconds(zero), target_zero),
                     str(random["work"]["sweeps"]) if random and random["work"] else "-",
                     percent(random["work"]["memory_fraction"]) if random and random["work"] else "-"])
    return source(results) + table(
        ["ms", "best of the others", "physical", "target, random", "measured", "ratio", "faster than the others",
         "target, zero", "measured", "ratio", "sweeps", "of copy rate"], rows)


def scaling(results):
    counts = [count for count in (1, 2, 4, 8) if count in results.rank_counts()]
    rows = []
    for name, label, *_ in ENGINE:
        for start in ("random", "zero"):
            found = results.side_by_side(name, 30, start, counts)
            times = [milliseconds(row) for row in found]
            if not any(times):
                continue
            cells = [f"{label}, from {start}"]
            for row, time in zip(found, times):
                cells += [shown(row, time), f"{times[0] / time:.2f}" if time and times[0] else "-"]
            last = found[-1]
            cells.append(str(last["work"]["exchanges"]) if last and last["work"] else "-")
            cells.append(percent(last["work"]["link_fraction"]) if last and last["work"] else "-")
            rows.append(cells)
    header = ["30 qubits, double"]
    for count in counts:
        header += [f"{count} GPU{'s' if count > 1 else ''}, ms", "speed-up"]
    return source(results) + table(header + ["exchanges", "of link rate"], rows)


def challenge(results):
    counts = (1, 2, 4, 8)
    rows = []
    for name, label, published, targets in CHALLENGE:
        qubits = int(re.search(r"\d+", label.split()[-1]).group())
        cells = [label]
        for place, count in enumerate(counts):
            row = results.row(name, qubits, ranks=count)
            seconds = total_seconds(row)
            cells += [number(published[place]), shown(row, seconds), ratio(seconds, targets.get(count))]
        found = [results.row(name, qubits, ranks=count) or {} for count in counts]
        checks = [check for row in found for check in row.get("checks", []) if check["name"] == "reference"]
        cells.append("-" if not checks else "yes" if all(check["passed"] for check in checks) else "NO")
        rows.append(cells)
    header = ["seconds, with read-outs"]
    for count in counts:
        header += [f"published, {count}", f"ours, {count}", "to target"]
    return source(results) + table(header + ["equals reference"], rows)


def single(results):
    rows = []
    for name, label, *_ in ENGINE:
        cells = [label]
        for start in ("random", "zero"):
            double, one = (milliseconds(results.row(name, 30, start, precision)) for precision in ("double", "single"))
            cells += [number(double), number(one), f"{double / one:.2f}" if double and one else "-"]
        rows.append(cells)
    if not any(cells[2] != "-" or cells[5] != "-" for cells in rows):
        return UNMEASURED
    return source(results) + table(
        ["ms, one GPU, 30 qubits", "random, double", "single", "gain", "zero, double", "single", "gain"], rows)


def interpreter(results):
    rows = []
    for name, label, *_ in ENGINE:
        cells = [label]
        for start in ("random", "zero"):
            plain = milliseconds(results.row(name, 30, start, forced="interpreter"))
            compiled = milliseconds(results.row(name, 30, start))
            cells += [number(plain), number(compiled), f"{plain / compiled:.2f}" if plain and compiled else "-"]
        rows.append(cells)
    if not any(cells[1] != "-" or cells[4] != "-" for cells in rows):
        return UNMEASURED
    return source(results) + table(
        ["ms, one GPU, 30 qubits", "random, interpreted", "specialised", "times", "zero, interpreted", "specialised",
         "times"], rows)


def transports(results):
    rows = []
    for key in sorted(results.rows, key=lambda key: (key[6], key[2], key[0])):
        if key[0].startswith("exchange_") and key[6] > 1 and results.newest(key)[1]["status"] == "ok":
            row = results.row_of(key)
            work = row["work"]
            rows.append([f"{key[2]} {key[3]}, from {key[4]}", str(key[6]), row["exchange"] or "-",
                         number(milliseconds(row)), number(row["exchange_s"] * 1e3), str(work["exchanges"]),
                         number(work["link_gbps"]), percent(work["link_fraction"])])
    return source(results) + table(
        ["circuit", "GPUs", "transport", "ms", "ms with a transfer in flight", "exchanges", "GB/s each way",
         "of link rate"], rows)


def capacity(results):
    rows = []
    for name in ("ghz", "qft"):
        for count, qubits in ((1, 33), (2, 34), (4, 35), (8, 36)):
            row = results.row(name, qubits, ranks=count)
            if not row:
                continue
            peak = max((int(value) for value in (row["work"] or {}).get("peak_bytes_per_rank", [])), default=0)
            checks = ", ".join(check["name"] for check in row["checks"] if check["passed"])
            rows.append([f"{name} {qubits}", str(count), shown(row, milliseconds(row)), f"{peak / 2**30:.1f} GiB",
                         checks])
    return source(results) + table(["double", "GPUs", "ms", "memory a GPU", "checked by"], rows)


def suite(results):
    rows, gains = [], []
    for name, hyquas in SUITE:
        file = suite_file(name)
        random, zero = (milliseconds(results.row(file, 30, start)) for start in ("random", "zero"))
        if hyquas and random and zero:
            gains.append((hyquas / random, hyquas / zero))
        rows.append([name, number(hyquas), number(random), f"{hyquas / random:.1f}x" if hyquas and random else "-",
                     number(zero), f"{hyquas / zero:.1f}x" if hyquas and zero else "-"])
    if gains:
        means = [math.exp(sum(math.log(gain[i]) for gain in gains) / len(gains)) for i in (0, 1)]
        rows.append(["geometric mean (targets 5x and 8x)", "", "", f"{means[0]:.1f}x", "", f"{means[1]:.1f}x"])
    return source(results) + table(
        ["public suite, 30 qubits, ms", "HyQuas", "from random", "faster", "from zero", "faster"], rows)


def small(results):
    rows = []
    for name in ("qft", "random"):
        for qubits in (10, 14, 18, 20):
            row = results.row(name, qubits)
            rows.append([f"{name} {qubits}", str(row["operations"]) if row else "-", shown(row, milliseconds(row))])
    return source(results) + table(["one GPU, from zero", "gates", "ms"], rows)
