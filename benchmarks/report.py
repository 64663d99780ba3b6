#!/usr/bin/env python3
"""Writes the generated tables and charts of docs/performance.md from benchmarks/results/*.json.

  benchmarks/report.py [--results FOLDER] [--page FILE] [--check]

A table is what stands between `<!-- begin generated NAME -->` and `<!-- end generated NAME -->`. --check writes nothing
and exits 1 when the page is not what the results say. Documents: qsim.bench/1 (qsim bench --json) and qsim.table/1.
Of several measurements of one thing, the latest counts.
"""

import argparse
import json
import math
import os
import re
import sys

# What was to be reached (ms, one H200, 30 qubits in double), and what the others take. None: no figure.
ENGINE = [  # name, label, Google qsim, QuEST 4.1, HyQuas, physical from random, target from random, target from zero
    ("ghz", "GHZ", 238, 146, 43, 24.5, 27, 5),
    ("qft", "QFT with swaps", 1608, 2199, 539, 24.5, 27, 6),
    ("supremacy", "supremacy, depth 14", 389, 1798, 388, 49, 60, 50),
    ("random", "random, depth 20", 1100, 6800, 1015, 107, 130, 120),
    ("qv", "quantum volume, depth 10", 590, 12000, 806, 107, 240, 230),
    ("ising", "ising (Trotter), depth 5", 545, 3710, None, 41, 70, 55),
]
# Published seconds of the challenge entry on 1, 2, 4, 8 A100s, and our targets in seconds by number of GPUs.
CHALLENGE = [
    ("asc:random30", "random 30", (8.24, 10.51, 13.17, 9.80), {1: 0.090}),
    ("asc:ghz_qft30", "GHZ + QFT 30", (1.15, 1.06, 1.64, 1.31), {}),
    ("asc:ghz_qft29", "GHZ + QFT 29", (0.560, 0.546, 0.840, 0.654), {}),
    ("asc:invqft34", "InvQFT 34", (None, None, None, 33.72), {2: 0.600, 4: 0.400, 8: 0.250}),
    ("asc:qftinvqft35", "QFT-InvQFT 35", (None, None, None, None), {8: 1.5}),
    ("asc:shor35", "Shor-like 35", (None, None, None, None), {}),
    ("asc:hamexp22", "HamExp 22", (15.13, 13.01, 18.06, 15.51), {1: 0.060}),
]
# The fastest other simulator on a CPU in single precision (AVX-512, 2 threads of an AMD EPYC), ms by file.
FIELD = {"ghz_n24.qasm": 90, "qft_n24.qasm": 987, "supremacy_n24_d14.qasm": 278, "ising_n24_d5.qasm": 364,
         "random_n24_d10.qasm": 447, "qv_n24_d5.qasm": 216}
UNMEASURED = "Not measured yet."
# The public suite on one GPU: HyQuas's ms at 30 qubits.
SUITE = [("graphstate", 59), ("qft", 539), ("qpeexact", 582), ("wstate", 173), ("realamprandom", None),
         ("twolocalrandom", None)]


class Results:
    """All documents of a folder; rows of benchmarks by what they measured."""

    def __init__(self, folder):
        self.rows = {}
        self.tables = {}
        self.exchanges = []  # documents of qsim_exchange: one for each machine and number of ranks
        self.documents = []
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            if name.endswith(".json"):
                self.read(os.path.join(folder, name))

    def read(self, path):
        with open(path, encoding="utf-8") as file:
            try:
                document = json.load(file)
            except ValueError as error:
                sys.exit(f"report.py: {path}: {error}")
        step = re.sub(r"^gpu\d+_", "", os.path.basename(path)[:-len(".json")])
        if document.get("schema") == "qsim.table/1" and document["kind"] == "exchange":
            self.exchanges.append(document)
            return
        if document.get("schema") == "qsim.table/1":
            old = self.tables.get(document["kind"])
            if old is None or document["date"] >= old["date"]:
                self.tables[document["kind"]] = document
            return
        if document.get("schema") != "qsim.bench/1" or document.get("error"):
            return
        self.documents.append((step, document))
        # Forced choices are rows of their own; everything else measures the program as it is.
        forced = step if step.startswith(("exchange_", "interpreter")) else ""
        for row in document["runs"]:
            key = (forced, row["backend"], os.path.basename(row["name"]), row["qubits"], row["from"], row["precision"],
                   row["ranks"])
            old = self.rows.get(key)
            # A weak-scaling row is not worth more than an ordinary one; the date decides.
            if row["status"] != "skipped" and (old is None or document["date"] >= old[0]):
                self.rows[key] = (document["date"], row, document)

    def row(self, name, qubits, start="zero", precision="double", ranks=1, backend="cuda", forced=""):
        found = self.rows.get((forced, backend, name, qubits, start, precision, ranks))
        return found[1] if found else None

    def rank_counts(self, backend="cuda"):
        return sorted({key[6] for key in self.rows if key[1] == backend}) or [1]


def milliseconds(row):
    return row["simulate_s"]["median"] * 1e3 if row and row["status"] == "ok" else None


def total_seconds(row):
    """State and the values that belong to the workload."""
    if not row or row["status"] != "ok":
        return None
    return row["simulate_s"]["median"] + (row["read_out_s"]["median"] if row["read_out_s"] else 0)


def number(value):
    if value is None:
        return "-"
    if value == 0 or value >= 100:
        return f"{value:.0f}"
    return f"{value:.3g}"


def percent(value):
    return "-" if value is None else f"{100 * value:.0f} %"


def ratio(measured, target):
    if measured is None or target is None:
        return "-"
    text = f"{measured / target:.2f}"
    return text if measured <= target else f"**{text}**"


def shown(row, value):
    """A time, or why there is none."""
    if row and row["status"] == "failed":
        return "FAILED"
    return number(value)


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "|".join(["---"] + ["---:"] * (len(header) - 1)) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def source(results, names):
    """Where the figures are from: machine, date and commit of the documents used."""
    seen = []
    for step, document in results.documents:
        if step in names:
            environment = document["environment"]
            text = f"{document['machine']}; {document['date'][:10]}; commit {environment['commit'] or 'unknown'}"
            if environment["cuda"]:
                text += f"; CUDA {environment['cuda']}, driver {environment['driver'] or 'unknown'}"
            if text not in seen:
                seen.append(text)
    return "\n".join(f"Measured on {text}." for text in seen) + "\n\n" if seen else UNMEASURED


def engine(results):
    rows = []
    for name, label, google, quest, hyquas, physical, target_random, target_zero in ENGINE:
        random, zero = (results.row(name, 30, start) for start in ("random", "zero"))
        others = min(value for value in (google, quest, hyquas) if value is not None)
        measured = milliseconds(random)
        rows.append([label, number(others), number(physical), number(target_random), shown(random, measured),
                     ratio(measured, target_random), f"{others / measured:.1f}x" if measured else "-",
                     number(target_zero), shown(zero, milliseconds(zero)), ratio(milliseconds(zero), target_zero),
                     str(random["work"]["sweeps"]) if random and random["work"] else "-",
                     percent(random["work"]["memory_fraction"]) if random and random["work"] else "-"])
    return source(results, ["engine"]) + table(
        ["ms", "best of the others", "physical", "target, random", "measured", "ratio", "faster than the others",
         "target, zero", "measured", "ratio", "sweeps", "of copy rate"], rows)


def scaling(results):
    counts = [count for count in (1, 2, 4, 8) if count in results.rank_counts()]
    rows = []
    for name, label, *_ in ENGINE:
        for start in ("random", "zero"):
            found = [results.row(name, 30, start, ranks=count) for count in counts]
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
    return source(results, ["engine"]) + table(header + ["exchanges", "of link rate"], rows)


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
        checks = [check for count in counts for check in (results.row(name, qubits, ranks=count) or {}).get("checks", [])
                  if check["name"] == "reference"]
        cells.append("-" if not checks else "yes" if all(check["passed"] for check in checks) else "NO")
        rows.append(cells)
    header = ["seconds, with read-outs"]
    for count in counts:
        header += [f"published, {count}", f"ours, {count}", "to target"]
    return source(results, ["asc", "hamexp", "asc_large"]) + table(header + ["equals reference"], rows)


def single(results):
    rows = []
    for name, label, *_ in ENGINE:
        cells = [label]
        for start in ("random", "zero"):
            double, one = (milliseconds(results.row(name, 30, start, precision)) for precision in ("double", "single"))
            cells += [number(double), number(one), f"{double / one:.2f}" if double and one else "-"]
        rows.append(cells)
    return source(results, ["single"]) + table(
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
    return source(results, ["interpreter"]) + table(
        ["ms, one GPU, 30 qubits", "random, interpreted", "specialised", "times", "zero, interpreted", "specialised",
         "times"], rows)


def transports(results):
    rows = []
    for key, (_, row, _) in sorted(results.rows.items(), key=lambda item: (item[0][6], item[0][2], item[0][0])):
        if key[0].startswith("exchange_") and row["status"] == "ok":
            work = row["work"]
            rows.append([f"{key[2]} {key[3]}, from {key[4]}", str(key[6]), row["exchange"] or "-",
                         number(milliseconds(row)), number(row["exchange_s"] * 1e3), str(work["exchanges"]),
                         number(work["link_gbps"]), percent(work["link_fraction"])])
    steps = ["exchange_p2p", "exchange_nccl", "exchange_staged"]
    return source(results, steps) + table(
        ["circuit", "GPUs", "transport", "ms", "ms with a transfer in flight", "exchanges", "GB/s each way",
         "of link rate"], rows)


def exchanges(results):
    latest = {}
    for document in sorted(results.exchanges, key=lambda document: document["date"]):
        for row in document["rows"]:
            key = tuple(row[name] for name in ("engines_gbps", "ranks", "qubits", "swapped_bits", "local_bits",
                                               "transport", "communicator", "chunk_mib", "slots"))
            latest[(key[0] is None,) + key[1:]] = row
    if not latest:
        return UNMEASURED
    rows = []
    for _, row in sorted(latest.items()):
        engines = row["engines_gbps"]
        rows.append([f"{row['transport']} ({row['communicator']})", str(row["ranks"]), str(row["qubits"]),
                     str(row["swapped_bits"]), row["local_bits"], number(row["chunk_mib"]), str(row["slots"]),
                     number(row["ms"]) if row["equal"] else "WRONG", number(row["gbps"]), number(engines),
                     percent(row["gbps"] / engines if engines else None)])
    seen = sorted({f"Measured on {document['machine']}; {document['date'][:10]}; commit {document['commit']}."
                   for document in results.exchanges})
    return "\n".join(seen) + "\n\n" + table(
        ["transport", "ranks", "qubits", "bits swapped", "which local bits", "chunk, MiB", "slots", "ms",
         "GB/s each way", "copy engines alone", "of them"], rows)


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


def capacity(results):
    rows = []
    for name in ("ghz", "qft"):
        for count, qubits in ((1, 33), (2, 34), (4, 35), (8, 36)):
            row = results.row(name, qubits, ranks=count)
            if not row:
                continue
            peak = max((int(value) for value in (row["work"] or {}).get("peak_bytes_per_rank", [])), default=0)
            checks = ", ".join(check["name"] for check in row["checks"] if check["passed"])
            rows.append([f"{name} {qubits}", str(count), shown(row, milliseconds(row)), f"{peak / 2**30:.1f} GiB", checks])
    return source(results, ["capacity"]) + table(["double", "GPUs", "ms", "memory a GPU", "checked by"], rows)


def suite(results):
    rows, gains = [], []
    for name, hyquas in SUITE:
        file = f"MQTBench_30q__{name}_indep_qiskit_30.qasm"
        random, zero = (milliseconds(results.row(file, 30, start)) for start in ("random", "zero"))
        if hyquas and random and zero:
            gains.append((hyquas / random, hyquas / zero))
        rows.append([name, number(hyquas), number(random), f"{hyquas / random:.1f}x" if hyquas and random else "-",
                     number(zero), f"{hyquas / zero:.1f}x" if hyquas and zero else "-"])
    if gains:
        means = [math.exp(sum(math.log(gain[i]) for gain in gains) / len(gains)) for i in (0, 1)]
        rows.append(["geometric mean (targets 5x and 8x)", "", "", f"{means[0]:.1f}x", "", f"{means[1]:.1f}x"])
    return source(results, ["suite"]) + table(
        ["public suite, 30 qubits, ms", "HyQuas", "from random", "faster", "from zero", "faster"], rows)


def small(results):
    rows = []
    for name in ("qft", "random"):
        for qubits in (10, 14, 18, 20):
            row = results.row(name, qubits)
            rows.append([f"{name} {qubits}", str(row["operations"]) if row else "-", shown(row, milliseconds(row))])
    return source(results, ["small"]) + table(["one GPU, from zero", "gates", "ms"], rows)


def reductions(results):
    document = results.tables.get("reductions")
    if not document:
        return UNMEASURED
    sizes = sorted({row["log2_doubles"] for row in document["rows"]})
    rows, seen = [], []
    for row in document["rows"]:
        key = (row["what"], row["method"], row["blocks"] if "one element" not in row["method"] else None)
        if key in seen:
            continue
        seen.append(key)
        cells = [row["what"], row["method"] + (f", {key[2]} blocks" if key[2] else "")]
        for size in sizes:
            match = [other for other in document["rows"] if other["log2_doubles"] == size and
                     (other["what"], other["method"]) == key[:2] and (key[2] is None or other["blocks"] == key[2])]
            cells.append("-" if not match else number(match[0]["ms"]) if match[0]["equal"] else "WRONG")
        rows.append(cells)
    text = f"Measured on {document['machine']}; {document['date'][:10]}; driver CUDA {document['driver']}.\n\n"
    return text + table(["ms for 2^k doubles", "method"] + [f"2^{size}" for size in sizes], rows)


def dense(results):
    document = results.tables.get("dense_products")
    if not document:
        return UNMEASURED
    rows = [[str(row["qubits"]), row["method"], number(row["ms"]) if row["equal"] else "WRONG", number(row["tflops"]),
             number(row["gbps"])] for row in document["rows"]]
    text = f"Measured on {document['machine']}; {document['date'][:10]}; a state of " \
           f"{document['rows'][0]['state_qubits']} qubits in double.\n\n"
    return text + table(["qubits", "method", "ms", "TFLOP/s", "GB/s"], rows)


def batches(results):
    document = results.tables.get("batches")
    if not document:
        return UNMEASURED
    rows = [[str(row["qubits"]), str(row["gates"]), row["device"], number(row["circuits_per_s"]),
             ratio_of_rate(row)] for row in document["rows"]]
    text = f"Measured on {document['machine']}; {document['date'][:10]}.\n\n"
    return text + table(["qubits", "gates", "device", "circuits a second", "of the target"], rows)


def gram(results):
    document = results.tables.get("gram")
    if not document:
        return UNMEASURED
    rows = []
    for qubits in sorted({row["qubits"] for row in document["rows"]}):
        cells = [str(qubits)]
        totals = {}
        for device in ("cpu", "cuda"):
            found = [row for row in document["rows"] if row["qubits"] == qubits and row["device"] == device]
            cells += [number(found[0]["prepare_s"]) if found else "-", number(found[0]["product_s"]) if found else "-"]
            if found:
                totals[device] = found[0]["prepare_s"] + found[0]["product_s"]
        speed_up = totals["cpu"] / totals["cuda"] if len(totals) == 2 else None
        cells.append(f"{speed_up:.0f}x " + "#" * max(1, round(4 * math.log10(max(speed_up, 1)))) if speed_up else "-")
        rows.append(cells)
    text = f"Measured on {document['machine']}; {document['date'][:10]}; {document['rows'][0]['states']} states.\n\n"
    return text + table(["qubits", "CPU, prepared in s", "compared in s", "GPU, prepared in s", "compared in s",
                         "speed-up (4 # a decade)"], rows)


def ratio_of_rate(row):
    return f"{row['circuits_per_s'] / 1e5:.2f}" if row["qubits"] == 4 and row["device"] == "cuda" else "-"


def kitchen_sinks(results):
    document = results.tables.get("kitchen_sinks")
    if not document:
        return UNMEASURED
    rows = [[row["model"], str(row["episodes"]), f"{100 * row['train_accuracy']:.1f} %", f"{100 * row['accuracy']:.1f} %",
             number(row["encode_s"]), number(row["fit_s"])] for row in document["rows"]]
    text = f"Measured on {document['machine']}; {document['date'][:10]}.\n\n"
    return text + table(["model", "episodes", "training set", "test set", "circuits, s", "regression, s"], rows)


def cpu(results):
    rows = []
    keys = sorted(key for key in results.rows if key[1] == "cpu" and not key[0])
    for key in keys:
        row = results.rows[key][1]
        if row["status"] != "ok":
            continue
        rows.append([f"{key[2]} {key[3]}, from {key[4]}", key[5], str(key[6]), str(row["threads"]),
                     number(total_seconds(row) * 1e3),
                     number((row["simulate_s"]["minimum"] + (row["read_out_s"] or {"minimum": 0})["minimum"]) * 1e3),
                     str(row["work"]["sweeps"]), number(row["work"]["memory_gbps"]),
                     percent(row["work"]["memory_fraction"])])
    steps = [step for step, document in results.documents if any(run["backend"] == "cpu" for run in document["runs"])]
    return source(results, steps) + table(
        ["circuit", "precision", "ranks", "threads a rank", "ms", "fastest", "sweeps", "GB/s", "of copy rate"], rows)


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


REGIONS = {"naive": naive,
           "engine": engine, "scaling": scaling, "challenge": challenge, "single": single, "interpreter": interpreter,
           "transports": transports, "exchanges": exchanges, "capacity": capacity, "suite": suite, "small": small,
           "reductions": reductions, "dense": dense, "batches": batches, "gram": gram, "kitchen_sinks": kitchen_sinks, "cpu": cpu,
           "cpu_ranks": cpu_ranks}


def chart(results):
    """Bars of ours and the others', 30 qubits from a random state, logarithmic; None without measurements."""
    groups = []
    for name, label, google, quest, hyquas, *_ in ENGINE:
        ours = milliseconds(results.row(name, 30, "random"))
        if ours:
            groups.append((label, [("qsim (this project)", ours, "#4269d0"), ("HyQuas", hyquas, "#6cc5b0"),
                                   ("Google qsim", google, "#efb118"), ("QuEST 4.1", quest, "#ff725c")]))
    if not groups:
        return None
    left, width, bar = 190, 560, 13
    low, high = 1, 20000
    scale = width / math.log10(high / low)
    parts, y = [], 76
    for ms in (1, 10, 100, 1000, 10000):
        x = left + scale * math.log10(ms / low)
        parts.append(f'<line x1="{x:.1f}" y1="66" x2="{x:.1f}" y2="{{bottom}}" class="grid"/>')
        parts.append(f'<text x="{x:.1f}" y="{{axis}}" class="small" text-anchor="middle">{ms} ms</text>')
    for label, bars in groups:
        parts.append(f'<text x="{left - 10}" y="{y + 2 * bar + 4}" class="small" text-anchor="end">{label}</text>')
        for who, ms, colour in bars:
            if ms is not None:
                length = scale * math.log10(ms / low)
                parts.append(f'<rect x="{left}" y="{y}" width="{length:.1f}" height="{bar - 2}" rx="2" fill="{colour}">'
                             f"<title>{who}: {number(ms)} ms</title></rect>")
                parts.append(f'<text x="{left + length + 5:.1f}" y="{y + bar - 3}" class="tiny">{number(ms)}</text>')
            y += bar
        y += 12
    legend = "".join(f'<rect x="{left + 150 * i}" y="44" width="11" height="11" rx="2" fill="{colour}"/>'
                     f'<text x="{left + 150 * i + 16}" y="54" class="small">{who}</text>'
                     for i, (who, _, colour) in enumerate(groups[0][1]))
    body = "\n".join(parts).replace("{bottom}", str(y)).replace("{axis}", str(y + 16))
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 820 {y + 34}" width="820" height="{y + 34}" role="img">
<title>Time of circuits of 30 qubits on one H200</title>
<style>
text {{ font-family: -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; fill: #1f2328; }}
.title {{ font-size: 15px; font-weight: 600; }} .small {{ font-size: 11.5px; }} .tiny {{ font-size: 10px; }}
.grid {{ stroke: #d1d9e0; }} .paper {{ fill: #ffffff; stroke: #d1d9e0; }}
@media (prefers-color-scheme: dark) {{
text {{ fill: #e6edf3; }} .grid {{ stroke: #3d444d; }} .paper {{ fill: #0d1117; stroke: #3d444d; }}
}}
</style>
<rect class="paper" x="0.5" y="0.5" width="819" height="{y + 33}" rx="8"/>
<text x="24" y="28" class="title">30 qubits in double on one H200, from a random state (ms, logarithmic)</text>
{legend}
{body}
</svg>
"""


def replaced(page, results):
    """The page with every region's text renewed."""
    def renew(match):
        name = match.group(1)
        if name not in REGIONS:
            sys.exit(f"report.py: there is no table '{name}'; known: {', '.join(REGIONS)}")
        text = REGIONS[name](results).strip()
        if text.startswith(UNMEASURED):
            text = UNMEASURED
        return f"<!-- begin generated {name} -->\n{text}\n<!-- end generated {name} -->"
    begins = len(re.findall(r"<!-- begin generated", page))
    text, count = re.subn(r"<!-- begin generated (\w+) -->\n.*?<!-- end generated \1 -->", renew, page, flags=re.DOTALL)
    if count != begins:
        sys.exit("report.py: a region begins without its end")
    return text


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", default=os.path.join(here, "results"))
    parser.add_argument("--page", default=os.path.join(here, "..", "docs", "performance.md"))
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    results = Results(arguments.results)
    with open(arguments.page, encoding="utf-8") as file:
        before = file.read()
    after = replaced(before, results)
    drawing = chart(results)
    drawing_path = os.path.join(os.path.dirname(arguments.page), "images", "engine.svg")
    if arguments.check:
        if after != before:
            sys.exit(f"report.py: {arguments.page} is not what {arguments.results} says; run benchmarks/report.py")
        return
    with open(arguments.page, "w", encoding="utf-8") as file:
        file.write(after)
    if drawing:
        os.makedirs(os.path.dirname(drawing_path), exist_ok=True)
        with open(drawing_path, "w", encoding="utf-8") as file:
            file.write(drawing)


if __name__ == "__main__":
    main()
