"""Tables of parts measured alone on GPUs, from qsim.table/1 documents."""

from report_parts.figures import BATCH_RATE, COLD_SECONDS, SAMPLING_MS
from report_parts.text import UNMEASURED, cell, measured, number, percent, ratio, table


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
                     cell(row), number(row["gbps"]), number(engines),
                     percent(row["gbps"] / engines if engines else None)])
    seen = sorted({f"Measured on {document['machine']}; {document['date'][:10]}; commit {document['commit']}."
                   for document in results.exchanges})
    return "\n".join(seen) + "\n\n" + table(
        ["transport", "ranks", "qubits", "bits swapped", "which local bits", "chunk, MiB", "slots", "ms",
         "GB/s each way", "copy engines alone", "of them"], rows)


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
            cells.append(cell(match[0]) if match else "-")
        rows.append(cells)
    return measured(document) + table(["ms for 2^k doubles", "method"] + [f"2^{size}" for size in sizes], rows)


def dense(results):
    document = results.tables.get("dense_products")
    if not document:
        return UNMEASURED
    rows = [[str(row["qubits"]), row["method"], cell(row), number(row["tflops"]),
             number(row["gbps"])] for row in document["rows"]]
    first = f"on {document['rows'][0]['state_qubits']} qubits in double: unitary's qubits"
    return measured(document) + table([first, "method", "ms", "TFLOP/s", "GB/s"], rows)


def batches(results):
    document = results.tables.get("batches")
    if not document:
        return UNMEASURED
    rows = [[str(row["qubits"]), str(row["gates"]), row["device"], number(row["circuits_per_s"]),
             ratio_of_rate(row)] for row in document["rows"]]
    return measured(document) + table(["qubits", "gates", "device", "circuits a second", "of the target"], rows)


def sessions(results):
    text = ""
    for kind in ("cpu_sessions", "gpu_sessions"):
        document = results.tables.get(kind)
        if not document:
            continue
        rows = [[str(row["qubits"]), str(row["gates"]), *(number(row[key]) if key in row else "-" for key in
                 ("run_us", "simulate_us", "overhead_us", "same_values_us", "new_values_us"))] for row in document["rows"]
                if "circuit" not in row]
        text += measured(document) + table(["qubits", "gates", "a run, us", "simulate, us", "more, us", "same values again, us",
                                            "new values, us"], rows) + "\n\n"
        first = [[row["circuit"], str(row["qubits"]), str(row["gates"]), number(row["first_us"]), number(row["second_us"])]
                 for row in document["rows"] if "circuit" in row]
        if first:
            text += table(["program", "qubits", "gates", "first run, us", "second run, planned, us"], first) + "\n\n"
    return text or UNMEASURED


def floor(results):
    """What holding a session, a program and a batch costs, beside what was wanted."""
    def rows_of(kind):
        document = results.tables.get(kind)
        return document["rows"] if document else []
    def line(what, wanted, values, where, best=max):
        return [what, wanted, number(best(values)) if values else "not measured", where]
    over = {device: [row["overhead_us"] for kind in ("cpu_sessions", "gpu_sessions") for row in rows_of(kind)
                     if row.get("device") == device and "overhead_us" in row] for device in ("cpu", "cuda")}
    put_in = [row["put_in_us"] for row in rows_of("cpu_rebinding") if row["put_in_us"] is not None]
    rate = {device: [row["circuits_per_s"] / 1e6 for row in rows_of("batches")
                     if row["device"] == device and row["qubits"] == 4] for device in ("cpu", "cuda")}
    sources = [results.tables[kind] for kind in ("cpu_sessions", "gpu_sessions", "cpu_rebinding", "batches")
               if kind in results.tables]
    if not sources:
        return UNMEASURED
    seen = sorted({f"Measured on {document['machine']}; {document['date'][:10]}; commit {document['commit']}."
                   for document in sources})
    return "\n".join(seen) + "\n\n" + table(
        ["", "wanted", "measured", "by"],
        [line("a run above its simulate time, 10 qubits, 1,500 gates, one core, us", "at most 20", over["cpu"],
              "`qsim_sessions`"),
         line("the same, 20 qubits, a GPU, us", "at most 50", over["cuda"], "`qsim_sessions cuda`"),
         line("new values put into a program of 500 gates, at most, us", "at most 50", put_in, "`qsim_rebinding`"),
         line("circuits of 4 qubits in a batch, a GPU, millions a second", "at least 66", rate["cuda"],
              "`qsim_batches`"),
         line("the same on that machine's cores", "-", rate["cpu"], "`qsim_batches`")])


def ratio_of_rate(row):
    return f"{row['circuits_per_s'] / BATCH_RATE:.2f}" if row["qubits"] == 4 and row["device"] == "cuda" else "-"


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
        cells.append(f"{speed_up:.0f}x" if speed_up else "-")
        rows.append(cells)
    return measured(document) + table(
        [f"qubits of {document['rows'][0]['states']} states", "CPU, prepared in s", "compared in s",
         "GPU, prepared in s", "compared in s", "speed-up"], rows)


def kitchen_sinks(results):
    document = results.tables.get("kitchen_sinks")
    if not document:
        return UNMEASURED
    rows = [[row["model"], str(row["episodes"]), f"{100 * row['train_accuracy']:.1f} %",
             f"{100 * row['accuracy']:.1f} %", number(row["encode_s"]), number(row["fit_s"])]
            for row in document["rows"]]
    return measured(document) + table(
        ["model", "episodes", "training set", "test set", "circuits, s", "regression, s"], rows)


def sampling(results):
    document = results.tables.get("readouts")
    if not document:
        return UNMEASURED
    rows = [[f"{row['shots']} of {row['qubits']} qubits", row["device"], cell(row), cell(row, "fastest_ms"),
             number(row["distribution_ms"]), str(row["outcomes"]),
             ratio(row["ms"], SAMPLING_MS) if row["equal"] and row["device"] == "cuda" and row["qubits"] == 30 else "-"]
            for row in document["rows"] if "shots" in row]
    return measured(document) + table(
        ["shots", "device", "ms, to sorted pairs in host memory", "fastest", "of it the integer distribution",
         "outcomes", f"ratio to {SAMPLING_MS} ms"], rows)


def readouts(results):
    document = results.tables.get("readouts")
    if not document:
        return UNMEASURED
    found = [row for row in document["rows"] if "shots" not in row]
    sizes = sorted({row["qubits"] for row in found})
    rows = []
    for what in dict.fromkeys(row["what"] for row in found):
        by_size = {row["qubits"]: row for row in found if row["what"] == what}
        last = by_size[max(by_size)]
        cells = [cell(by_size[size]) if size in by_size else "-" for size in sizes]
        rows.append([what] + cells + [number(last["gbps"])])
    return measured(document) + table(
        [f"ms on the {'GPU' if found[0]['device'] == 'cuda' else 'CPU'}, double"] + [f"2^{size}" for size in sizes] +
        ["GB/s, largest"], rows)


def sweeps(results):
    document = results.tables.get("sweeps")
    if not document:
        return UNMEASURED
    rows = []
    for row in document["rows"]:
        each = [f"{sweep['ms']:.1f} ({sweep['predicted_ms']:.1f})" for sweep in row["each"]]
        rows.append([row["circuit"], row["precision"], number(row["seconds"] * 1e3), number(row["predicted"] * 1e3),
                     f"{row['predicted'] / row['seconds']:.2f}", number(row["gbps"]), ", ".join(each)])
    return measured(document) + table(
        ["from random", "precision", "ms", "predicted", "ratio", "GB/s", "each sweep: ms (predicted)"], rows)


def cold(results):
    document = results.tables.get("cold")
    if not document:
        return UNMEASURED
    rows = [[row["circuit"], number(row["wall_s"]), number(row["simulate_s"] * 1e3), number(row["beyond_s"]),
             ratio(row["beyond_s"], COLD_SECONDS), number(row["warm_wall_s"])] for row in document["rows"]]
    return measured(document) + table(
        ["30 qubits, from zero", "whole run, empty cache, s", "of it simulate, ms", "beyond simulate, s",
         f"ratio to {COLD_SECONDS} s", "whole run again, s"], rows)
