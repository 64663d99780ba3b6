"""Tables beside other simulators: from benchmarks/peers, and on GPUs from the figures that others' runs gave."""

import math

from report_parts.figures import ENGINE, GPU, NEWEST, SCALING
from report_parts.text import UNMEASURED, measured, milliseconds, number, table

CIRCUITS = {"ghz": "GHZ", "qft": "QFT with swaps", "supremacy": "supremacy, depth 14", "random": "random, depth 20",
            "qv": "quantum volume, depth 10", "ising": "ising (Trotter), depth 5", "efficient_su2": "EfficientSU2, 3 repetitions",
            "qaoa": "QAOA, 3 layers", "qpe": "phase estimation", "grover": "Grover, 2 iterations"}
OTHERS = {"aer": "Aer", "lightning": "Lightning", "qulacs": "Qulacs", "google": "Google's qsim"}
OURS = ("qsim", "qsim-qiskit", "qsim-pennylane", "qsim-cirq")


class Peers:
    """The rows of the document; a simulator's time is that of its fastest way of being called."""

    def __init__(self, results):
        self.document = results.tables.get("peers")
        self.rows = self.document["rows"] if self.document else []

    def row(self, mode, circuit, qubits, precision, simulator):
        found = [row for row in self.rows if (row["mode"], row["circuit"], row["qubits"], row["precision"], row["simulator"])
                 == (mode, circuit, qubits, precision, simulator)]
        return min((row for row in found if row["status"] == "ok"), key=lambda row: row["ms"],
                   default=next((row for row in found if row["status"] == "wrong"), found[0] if found else None))

    def ms(self, *key):
        row = self.row(*key)
        return row["ms"] if row and row["status"] == "ok" else None

    def cell(self, *key):
        """A time, or why there is none."""
        row = self.row(*key)
        if row is None:
            return "-"
        return {"ok": number(row.get("ms")), "wrong": "WRONG", "left out": "too long"}.get(row["status"], row["status"])

    def qubits(self, mode="warm"):
        return sorted({row["qubits"] for row in self.rows if row["mode"] == mode})

    def circuits(self):
        present = {row["circuit"] for row in self.rows}
        return [name for name in CIRCUITS if name in present]

    def best(self, mode, circuit, qubits, precision):
        """(ms, name) of the fastest other."""
        found = [(self.ms(mode, circuit, qubits, precision, name), label) for name, label in OTHERS.items()]
        return min(((ms, label) for ms, label in found if ms), default=(None, None))

    def pairs(self, mode, qubits, precision, ours, others=None):
        """(ours, fastest of the others) in ms of every circuit where there are both."""
        found = []
        for name in self.circuits():
            mine = self.ms(mode, name, qubits, precision, ours)
            theirs = self.best(mode, name, qubits, precision)[0] if others is None else self.ms(mode, name, qubits, precision, others)
            if mine and theirs:
                found.append((mine, theirs))
        return found

    def source(self):
        versions = ", ".join(f"{name} {version}" for name, version in self.document["versions"].items() if name != "qsim-hpc")
        return measured(self.document) + f"{self.document['threads']} threads each; Python {self.document['python']}, {versions}.\n\n"


def mean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values))


def gain(pairs):
    """Geometric mean of how many times faster ours is, and the least of them."""
    if not pairs:
        return "-"
    gains = [theirs / mine for mine, theirs in pairs]
    return f"{times(mean(gains))} ({times(min(gains))})"


def times(value):
    return f"{value:.0f}x" if value >= 99.95 else f"{value:.1f}x" if value >= 0.95 else f"{value:.2f}x"


def peers(results):
    """The largest circuits one by one, then all sizes."""
    field = Peers(results)
    if not field.rows:
        return UNMEASURED
    largest = field.qubits()[-1]
    rows = []
    for name in field.circuits():
        cells = [CIRCUITS[name]]
        for precision, shown in (("double", ("aer", "lightning", "qulacs")), ("single", ("google", "aer", "lightning"))):
            mine, (theirs, _) = field.ms("warm", name, largest, precision, "qsim"), field.best("warm", name, largest, precision)
            cells.append(field.cell("warm", name, largest, precision, "qsim"))
            cells += [field.cell("warm", name, largest, precision, other) for other in shown]
            cells.append(times(theirs / mine) if mine and theirs else "-")
        rows.append(cells)
    text = table([f"{largest} qubits, ms", "double: qsim", "Aer", "Lightning", "Qulacs", "faster",
                  "single: qsim", "Google's qsim", "Aer", "Lightning", "faster"], rows)
    rows = []
    for qubits in field.qubits():
        program = field.pairs("whole", qubits, "double", "program"), field.pairs("whole", qubits, "single", "program")
        rows.append([str(qubits)] + [gain(field.pairs("warm", qubits, precision, "qsim")) for precision in ("double", "single")]
                    + [gain(pairs) for pairs in program])
    return field.source() + text + "\n\n" + table(
        ["qubits", "warm, double", "warm, single", "whole process, double", "whole process, single"], rows)


def python_speed(results):
    """Seconds of one circuit by size and way in, and how many times faster each way in is than the one beside it."""
    field = Peers(results)
    if not field.rows:
        return UNMEASURED
    rows = []
    for qubits in field.qubits():
        row = [str(qubits)]
        for name, precision in (("qsim", "double"), ("qulacs", "double"), ("qsim-qiskit", "double"), ("aer", "double"),
                                ("qsim-pennylane", "double"), ("lightning", "double"), ("qsim-cirq", "single"), ("google", "single")):
            row.append(field.cell("warm", "efficient_su2", qubits, precision, name))
        rows.append(row)
    text = table(["EfficientSU2 to its energy, ms: qubits", "here", "Qulacs", "from Qiskit", "Aer", "from PennyLane", "Lightning",
                  "from Cirq, single", "Google's qsim, single"], rows)
    rows = []
    for qubits in field.qubits():
        rows.append([str(qubits), gain(field.pairs("warm", qubits, "double", "qsim")),
                     gain(field.pairs("warm", qubits, "double", "qsim-qiskit", "aer")),
                     gain(field.pairs("warm", qubits, "double", "qsim-pennylane", "lightning")),
                     gain(field.pairs("warm", qubits, "single", "qsim-cirq", "google"))])
    return field.source() + text + "\n\n" + table(
        ["times faster: qubits", "here, than the fastest other", "from Qiskit, than Aer", "from PennyLane, than Lightning",
         "from Cirq, than Google's qsim"], rows)


class GpuPeers:
    """What benchmarks/peers/gpu.py measured with 30 qubits; a simulator's time is that of its fastest variant that is right."""

    LABELS = {"custatevec": "cuStateVec Ex", "cudaq": "CUDA-Q"}

    def __init__(self, results):
        self.document = results.tables.get("gpu_peers")
        self.rows = [row for row in self.document["rows"] if row["qubits"] == 30] if self.document else []

    def ms(self, circuit, precision, simulator, start="zero"):
        return min((row["ms"] for row in self.rows if row["status"] == "ok"
                    and (row["circuit"], row["precision"], row["simulator"], row["from"]) == (circuit, precision, simulator, start)), default=None)

    def best(self, circuit, precision):
        return min((ms for ms in (self.ms(circuit, precision, name) for name in self.LABELS) if ms), default=None)

    def names(self):
        """Those that are measured and right, with their versions."""
        right = [name for name in self.LABELS if any(row["simulator"] == name and row["status"] == "ok" for row in self.rows)]
        return ", ".join(f"{self.LABELS[name]} {self.document['versions'][name]}" for name in right)

    def counts(self):
        """Whether it was measured on the kind of GPU that the other tables are of."""
        return bool(self.document) and GPU in self.document["machine"] and bool(self.names())


def fastest_other(results, name):
    """The fastest other on one GPU in double, ms: of what is measured here and what others' runs gave."""
    field = GpuPeers(results)
    known = next(row[2:5] for row in ENGINE if row[0] == name)
    here = field.best(name, "double") if field.counts() else None
    return min(value for value in (*known, NEWEST[name][0], here) if value is not None)


def gpu_peers(results):
    """Ours from a random state beside the newest others, both precisions."""
    field = GpuPeers(results)
    if not field.rows:
        return UNMEASURED
    rows = []
    for name, label, *_ in ENGINE:
        cells = [label]
        for precision in ("double", "single"):
            mine, theirs = field.ms(name, precision, "qsim", "random"), field.best(name, precision)
            cells += [number(mine), *(number(field.ms(name, precision, other)) for other in field.LABELS)]
            cells.append(times(theirs / mine) if mine and theirs else "-")
        rows.append(cells)
    labels = list(field.LABELS.values())
    return measured(field.document) + f"{field.names()}.\n\n" + table(
        ["30 qubits, ms", "double: qsim", *labels, "faster", "single: qsim", *labels, "faster"], rows)


def on_gpus(results):
    """Of each number of GPUs, (label, ours, fastest other) in ms, 30 qubits in double from a random state."""
    found = {1: [], 2: [], 4: []}
    for name, label, *_ in ENGINE:
        one, two, four = map(milliseconds, results.side_by_side(name, 30, "random", (1, 2, 4)))
        single = milliseconds(results.row(name, 30, "random"))
        known = SCALING.get(name, (None, {}))[1].values()
        for count, mine, theirs in ((1, single or one, fastest_other(results, name)),
                                    (2, two, min((pair[0] for pair in known if pair[0]), default=None)),
                                    (4, four, min((pair[1] for pair in known if pair[1]), default=None))):
            if mine and theirs:
                found[count].append((label, mine, theirs))
    return found


def on_cores(results, precision="double"):
    """(qubits, [(label, ours, fastest other)]) in ms of the largest size, whole calls."""
    field = Peers(results)
    if not field.rows:
        return None, []
    qubits = field.qubits()[-1]
    found = []
    for name in field.circuits():
        mine, (theirs, _) = field.ms("warm", name, qubits, precision, "qsim"), field.best("warm", name, qubits, precision)
        if mine and theirs:
            found.append((CIRCUITS[name], mine, theirs))
    return qubits, found


def headline(results):
    """README's five lines."""
    gpus = on_gpus(results)
    newest = GpuPeers(results).names() if GpuPeers(results).counts() else "cuStateVec Ex 1.15, CUDA-Q 0.16"
    lines = [(f"one {GPU}, 30 qubits in double, {{}} circuits", gpus[1], f"{newest}, HyQuas"),
             ("two H200s, {}", gpus[2], "HyQuas"), ("four H200s, {}", gpus[4], "HyQuas")]
    for precision, others in (("double", "Aer, Lightning, Qulacs"), ("single", "Google's qsim, Aer, Lightning")):
        qubits, found = on_cores(results, precision)
        lines.append((f"two cores, {qubits} qubits in {precision}, {{}} circuits", found, others))
    rows = []
    for what, found, others in lines:
        if not found:
            continue
        named = what.format(len(found) if "circuits" in what else " and ".join(label for label, _, _ in found))
        gains = [theirs / mine for _, mine, theirs in found]
        spread = f"{times(mean(gains))}" + (f" ({times(min(gains))} to {times(max(gains))})" if len(gains) > 1 else "")
        rows.append([named, f"{number(mean([mine for _, mine, _ in found]))} ms",
                     f"{number(mean([theirs for *_, theirs in found]))} ms", spread, others])
    results.sources()
    return table(["geometric means", "qsim", "fastest other", "faster", "of"], rows) if rows else UNMEASURED
