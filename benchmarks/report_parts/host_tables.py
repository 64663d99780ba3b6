"""Tables of what runs on the host's cores: whole circuits, the parser, the planner."""

import math

from report_parts.circuit_tables import short_table
from report_parts.figures import FIELD, PARSER_SECONDS, PLANNER_MS, PLANNER_SECONDS
from report_parts.text import UNMEASURED, number, percent, ratio, source, table, total_seconds


def host(results):
    return short_table(results, 24, "cpu", False)


def cpu(results):
    rows = []
    keys = sorted(key for key in results.rows if key[1] == "cpu" and not key[0])
    for key in keys:
        if results.newest(key)[1]["status"] != "ok":
            continue
        row = results.row_of(key)
        rows.append([f"{key[2]} {key[3]}, from {key[4]}", key[5], str(key[6]), str(row["threads"]),
                     number(total_seconds(row) * 1e3),
                     number((row["simulate_s"]["minimum"] + (row["read_out_s"] or {"minimum": 0})["minimum"]) * 1e3),
                     str(row["work"]["sweeps"]), number(row["work"]["memory_gbps"]),
                     percent(row["work"]["memory_fraction"])])
    return source(results) + table(
        ["circuit", "precision", "ranks", "threads a rank", "ms", "fastest", "sweeps", "GB/s", "of copy rate"], rows)


def cpu_ranks(results):
    document = results.tables.get("cpu_ranks")
    if not document:
        return UNMEASURED
    rows = [[f"{row['circuit']} {row['qubits']}, from random", str(row["one_rank_threads"]), number(row["one_rank_ms"]),
             f"{row['ranks']} x {row['ranks_threads']}", number(row["ranks_ms"]), str(row["exchanges"]),
             ratio(row["ranks_ms"] / row["one_rank_ms"], 1.15)] for row in document["rows"]]
    text = f"Measured on {document['machine']}; {document['date'][:10]}; commit {document['commit']}.\n\n"
    return text + table(["fastest of all rounds", "threads of one rank", "ms", "MPI ranks x threads", "ms",
                         "exchanges", "ratio to 1.15 times one rank"], rows)


def naive(results):
    document = results.tables.get("naive")
    if not document:
        return UNMEASURED
    rows, gains = [], []
    for row in document["rows"]:
        field = FIELD.get(row["circuit"]) if row["precision"] == "single" else None
        if field:
            gains.append(field / row["ms"])
        rows.append([row["circuit"], row["precision"], str(row["gates"]), str(row["sweeps"]), number(row["ms"]),
                     number(row["fastest_ms"]), str(row["naive_sweeps"]), number(row["naive_ms"]),
                     f"{row['naive_ms'] / row['ms']:.1f}x", number(field),
                     f"{field / row['ms']:.1f}x" if field else "-", f"{100 * row['overhead_ms'] / row['ms']:.4f} %"])
    if gains:
        mean = math.exp(sum(math.log(gain) for gain in gains) / len(gains))
        rows.append(["geometric mean (target 3x)", "single"] + [""] * 8 + [f"{mean:.1f}x", ""])
    text = f"Measured on {document['machine']}; {document['date'][:10]}; commit {document['commit'] or 'unknown'}.\n\n"
    return text + table(["from random", "precision", "gates", "sweeps", "ms", "fastest", "sweeps gate by gate",
                         "ms gate by gate", "gain (target 5x)", "the field, ms", "faster", "overhead"], rows)


def micro_source(document):
    context = document["context"]
    machine = context.get("machine") or context["host_name"]
    return f"Measured on {machine}; {context['date'][:10]}; commit {context.get('commit') or 'unknown'}.\n\n"


def parser(results):
    document = results.micro.get(("parser", "cpu"))
    if not document:
        return UNMEASURED
    rows = []
    for run in document["benchmarks"]:
        gates = int(run["name"].split("/")[1]) if run["name"].startswith("parse/") else None
        whole = run["real_time"] * 1e-3 if gates == 1_000_000 else None
        rows.append([run["name"], number(run["real_time"]), f"{run['items_per_second'] / 1e6:.3g}",
                     ratio(whole, PARSER_SECONDS) if whole else "-"])
    return micro_source(document) + table(
        ["OpenQASM text", "ms", "million gates a second", f"ratio to {PARSER_SECONDS:g} s a million"], rows)


def planner(results):
    document = results.micro.get(("planner", "cpu"))
    if not document:
        return UNMEASURED
    rows = []
    for run in document["benchmarks"]:
        name = run["name"].split("/")
        million = run["name"].startswith("million")
        ms = run["real_time"]
        target = PLANNER_SECONDS * 1e3 if million else PLANNER_MS if run["gates"] < 10_000 else None
        rows.append(["random, a million gates" if million else name[1], "1" if million else name[2].split(":")[1],
                     f"{run['gates']:.0f}", number(ms), f"{run['gates'] / ms:.3g}", number(target), ratio(ms, target),
                     f"{run['sweeps']:.0f}", f"{run['exchanges']:.0f}", number(run["predicted_ms"])])
    return micro_source(document) + table(
        ["searched plans, from random", "ranks", "gates", "ms", "thousand gates a second", "target", "ratio", "sweeps",
         "exchanges", "predicted ms on an H200"], rows)


def sweep_cells(document):
    """(operation, k, operations, low) -> (ms, GB/s) of double-precision sweeps."""
    cells = {}
    for run in document["benchmarks"]:
        if run.get("error_occurred") or not run["name"].startswith("double/"):
            continue
        parts = run["name"].split("/")
        values = [int(part.split(":")[1]) for part in parts[2:5]]
        cells[(parts[1], *values)] = (run["real_time"], run["bytes_per_second"] * 1e-9)
    return cells


def sweeps_alone(results, backend):
    """Rates of empty sweeps by tile size and by which bits are active; times by operations a sweep."""
    document = results.micro.get(("sweep_rates", backend))
    if not document:
        return UNMEASURED
    cells = sweep_cells(document)
    rows = [[f"{k}", f"{low}", number(ms), number(rate)] for (kind, k, _, low), (ms, rate) in cells.items()
            if kind == "empty"]
    text = micro_source(document) + table(["empty sweep: active bits", "of them lowest", "ms", "GB/s"], rows)
    kinds = list(dict.fromkeys(key[0] for key in cells if key[0] != "empty"))
    rows = []
    for kind in kinds:
        for (name, k, count, _), (ms, rate) in cells.items():
            if name == kind and k == 12:
                rows.append([kind, str(count), number(ms), number(rate)])
    return text + "\n\n" + table(["12 active bits, 3 lowest: operation", "a sweep", "ms", "GB/s"], rows)


def cpu_sweeps(results):
    return sweeps_alone(results, "cpu")


def gpu_sweeps(results):
    return sweeps_alone(results, "cuda")
