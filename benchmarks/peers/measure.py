#!/usr/bin/env python3
"""Times this package beside other simulators on a processor, the same circuits, and checks every answer against ours.

  benchmarks/peers/run.sh [OPTION...]    makes the environment that this needs, and runs it there

Two ways: `warm`, the whole call from a simulator's own circuit object to counts or a value, median after a first call; `whole`, a
fresh process from a file of OpenQASM 2 to its counts. The document (qsim.table/1, kind peers) is written after every case; called
again, the same command goes on where it was stopped. benchmarks/report.py makes the tables of it.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import os
import pickle
import re
import select
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.dont_write_bytecode = True
from circuits import NAMES, Circuit, make  # noqa: E402
from simulators import SIMULATORS  # noqa: E402
from worker import counts_are_right, versions  # noqa: E402

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[1]
SHOTS = 1000
SMALL = 16  # qubits from which the time of a call follows from that on fewer
WHOLE = ("program", "qsim", "aer", "lightning", "qulacs", "google")  # what is timed as whole processes


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="run.sh", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--qsim", default=str(TOP / "build/bin/qsim"), help="the program (default build/bin/qsim)")
    parser.add_argument("--output", default=str(TOP / "benchmarks/results/cpu_peers.json"), help="the document")
    parser.add_argument("--qubits", default="8,12,20,24,22", help="of warm calls, even numbers, in this order (default %(default)s)")
    parser.add_argument("--whole-qubits", default="12,20,24", help="of whole processes (default %(default)s)")
    parser.add_argument("--circuits", default=",".join(NAMES))
    parser.add_argument("--simulators", default=",".join(SIMULATORS))
    parser.add_argument("--modes", default="warm,whole")
    parser.add_argument("--threads", type=int, default=2, help="of every simulator (default 2)")
    parser.add_argument("--repeats", type=int, default=5, help="of a call that takes less than a second (default 5)")
    parser.add_argument("--limit", type=float, default=20, help="seconds: calls that would take longer are left out (default 20)")
    parser.add_argument("--time", type=float, default=math.inf, help="seconds: no case is begun after them")
    parser.add_argument("--quick", action="store_true", help="8 and 12 qubits, three repeats, a document in the working folder")
    parser.add_argument("--new", action="store_true", help="forget an earlier document instead of going on with it")
    given = parser.parse_args()
    if given.quick:
        given.repeats = 3
        given.qubits = given.qubits if given.qubits != parser.get_default("qubits") else "8,12"
        given.whole_qubits = given.whole_qubits if given.whole_qubits != parser.get_default("whole_qubits") else "12"
        given.output = given.output if given.output != parser.get_default("output") else "cpu_peers_quick.json"
    return given


class Worker:
    """A simulator's process, begun when it is first asked and again after it was stopped."""

    def __init__(self, name: str, environment: dict[str, str], script: str = "worker.py") -> None:
        self.name, self.environment, self.script = name, environment, script
        self.process: subprocess.Popen[bytes] | None = None

    def ask(self, case: dict[str, Any], limit: float) -> dict[str, Any]:
        if self.process is None:
            command = [sys.executable, str(HERE / self.script), self.name]
            self.said = tempfile.TemporaryFile()
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.said, env=self.environment)
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            self.process.stdin.write(json.dumps(case).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # said below
        ready, _, _ = select.select([self.process.stdout], [], [], limit)
        line = self.process.stdout.readline() if ready else b""
        if line:
            return json.loads(line)
        self.stop()
        self.said.seek(0)
        last = self.said.read().decode(errors="replace").strip().splitlines()[-1:]
        return {"error": ": ".join(["its process ended", *last])[:300] if ready else f"stopped after {limit:.0f} s"}

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


class Reference:
    """Our program's exact answers to a circuit, as files that workers read."""

    def __init__(self, circuit: Circuit, qsim: str, folder: Path) -> None:
        self.circuit = circuit
        self.qasm, self.pickled, self.amplitudes = folder / "circuit.qasm", folder / "circuit.pickle", folder / "amplitudes.npy"
        self.qasm.write_text(circuit.qasm(), encoding="utf-8")
        self.pickled.write_bytes(pickle.dumps(circuit))
        command = [qsim, "run", str(self.qasm), "--backend", "cpu", "--shots", "0", "--json", "--marginals", "--statevector", str(self.amplitudes)]
        if circuit.terms:
            text = " + ".join(f"{factor!r} " + " ".join(f"{letter}{q}" for q, letter in term.items()) for factor, term in circuit.terms)
            command += ["--expectation", text.replace("+ -", "- ")]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        self.marginals: list[float] = found["results"]["marginals"]
        self.value: float | None = found["results"]["expectation"][0]["value"] if circuit.terms else None

    def case(self) -> dict[str, Any]:
        return {"circuit": str(self.pickled), "amplitudes": str(self.amplitudes), "marginals": self.marginals, "value": self.value, "shots": SHOTS}


class Document:
    """The rows that there are, on disk after every change."""

    KEYS: tuple[str, ...] = ("mode", "circuit", "qubits", "precision", "simulator", "variant")
    SAME: tuple[str, ...] = ("schema", "kind", "machine", "commit", "threads", "versions")  # or it is another document

    def __init__(self, path: Path, head: dict[str, Any], new: bool) -> None:
        self.path, self.rows = path, {}
        self.head = head
        if new or not path.exists():
            return
        old = json.loads(path.read_text(encoding="utf-8"))
        for name in self.SAME:
            if old.get(name) != head[name]:
                sys.exit(f"{path} has another {name}: {old.get(name)} instead of {head[name]}; --new begins anew")
        self.rows = {self.key(row): row for row in old["rows"]}

    @classmethod
    def key(cls, row: dict[str, Any]) -> tuple:
        return tuple(row[name] for name in cls.KEYS)

    def has(self, **names: Any) -> bool:
        return self.key(names) in self.rows

    def of(self, **names: Any) -> dict[str, Any] | None:
        return self.rows.get(self.key(names))

    def add(self, row: dict[str, Any]) -> None:
        self.rows[self.key(row)] = row
        text = json.dumps({**self.head, "rows": list(self.rows.values())}, indent=1)
        beside = self.path.with_suffix(".part")
        beside.write_text(text + "\n", encoding="utf-8")
        beside.replace(self.path)


def machine() -> str:
    info = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    name = re.search(r"^model name\s*:\s*(.*)$", info, flags=re.MULTILINE)
    return f"{name.group(1) if name else 'unknown processor'}, {os.cpu_count()} cores"


def head(given: argparse.Namespace) -> dict[str, Any]:
    text = subprocess.run([given.qsim, "--version"], check=True, capture_output=True, text=True).stdout
    commit = re.search(r"\b[0-9a-f]{7,40}\+?", text)
    found: dict[str, str] = {}
    for name in given.simulators.split(","):
        found |= versions(name)
    return {
        "schema": "qsim.table/1", "kind": "peers", "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "machine": machine(), "commit": commit.group() if commit else "", "threads": given.threads,
        "python": sys.version.split()[0], "versions": dict(sorted(found.items())), "shots": SHOTS,
    }  # fmt: skip


class Session:
    def __init__(self, given: argparse.Namespace) -> None:
        self.given = given
        self.begin = time.monotonic()
        self.environment = {**os.environ, "OMP_NUM_THREADS": str(given.threads), "QULACS_NUM_THREADS": str(given.threads),
                            "PYTHONDONTWRITEBYTECODE": "1", "QISKIT_PARALLEL": "FALSE"}
        self.qubits = {mode: [int(one) for one in text.split(",")] for mode, text in (("warm", given.qubits), ("whole", given.whole_qubits))}
        self.circuits, self.simulators, self.modes = (getattr(given, name).split(",") for name in ("circuits", "simulators", "modes"))
        for one, known in ((self.circuits, NAMES), (self.simulators, SIMULATORS), (self.modes, ("warm", "whole"))):
            unknown = set(one) - set(known)
            if unknown:
                sys.exit(f"run.sh: unknown: {', '.join(sorted(unknown))}; known: {', '.join(known)}")
        self.document = Document(Path(given.output), head(given), given.new)
        self.begun: set[str] = set()  # simulators whose files the system has read
        self.workers = {name: Worker(name, self.environment) for name in self.simulators}

    def whole_names(self) -> Iterator[tuple[str, str]]:
        """(name, precision): the program goes with the package and in both precisions, the others in their first."""
        for name in WHOLE:
            if name == "program":
                yield from ((name, precision) for precision in ("double", "single") if "qsim" in self.simulators)
            elif name in self.simulators:
                yield name, SIMULATORS[name].precisions[0]

    def not_worth(self, row: dict[str, Any]) -> str | None:
        """Why a call is left out: on fewer qubits it was too long, or another way to call the same simulator far faster."""
        known = [n for n in self.qubits[row["mode"]] if SMALL <= n < row["qubits"] and self.document.has(**{**row, "qubits": n})]
        if not known:
            return None
        smaller = max(known)
        before = self.document.of(**{**row, "qubits": smaller})
        if before["status"] != "ok":
            return before.get("reason")
        if before["ms"] * 2 ** (row["qubits"] - smaller) > self.given.limit * 1e3:
            return f"{before['ms'] / 1e3:.1f} s with {smaller} qubits; calls of more than {self.given.limit:g} s are left out"
        if row["mode"] == "warm":
            for variant in SIMULATORS[row["simulator"]].variants:
                other = self.document.of(**{**row, "qubits": smaller, "variant": variant})
                if other and other["status"] == "ok" and before["ms"] > 1.5 * other["ms"]:
                    return f"{before['ms'] / other['ms']:.1f} times {variant}'s time with {smaller} qubits"
        return None

    def told(self, row: dict[str, Any]) -> None:
        self.document.add({**row, "load": round(os.getloadavg()[0], 2)})
        what = f"{row['ms']:.3f} ms" if row["status"] in ("ok", "wrong") else row["reason"]
        status = "" if row["status"] == "ok" else f"{row['status'].upper()}: "
        print(f"{time.monotonic() - self.begin:6.0f} s  {row['mode']:<5} {row['circuit']:<13} {row['qubits']:>2} {row['precision']} "
              f"{row['simulator']} {row['variant']}: {status}{what}", flush=True)

    def warm(self, reference: Reference) -> None:
        circuit = reference.circuit
        for precision in ("double", "single"):
            for name in self.simulators:
                if precision not in SIMULATORS[name].precisions:
                    continue
                plain = {"mode": "warm", "circuit": circuit.name, "qubits": circuit.qubits, "precision": precision, "simulator": name}
                asked = []
                for variant in SIMULATORS[name].variants:
                    row = {**plain, "variant": variant}
                    if self.document.has(**row):
                        continue
                    reason = self.not_worth(row)
                    if reason:
                        self.told({**row, "status": "left out", "reason": reason})
                    else:
                        asked.append(variant)
                if asked:
                    case = {**reference.case(), "precision": precision, "variants": asked, "repeats": self.given.repeats}
                    self.answered(plain, asked, circuit, self.workers[name].ask(case, 60 + 12 * self.given.limit))

    def answered(self, plain: dict[str, Any], asked: list[str], circuit: Circuit, answer: dict[str, Any]) -> None:
        if "error" in answer:
            for variant in asked:
                self.told({**plain, "variant": variant, "status": "failed", "reason": answer["error"]})
            return
        for row in answer["rows"]:
            self.told({**plain, "answer": circuit.answer, "gates": len(circuit.gates), **row, "status": "ok" if row["equal"] else "wrong"})

    def whole(self, reference: Reference) -> None:
        circuit = reference.circuit
        for name, precision in self.whole_names():
            variant = self.fastest_variant(name, circuit, precision)
            row = {"mode": "whole", "circuit": circuit.name, "qubits": circuit.qubits, "precision": precision, "simulator": name, "variant": variant}
            if self.document.has(**row):
                continue
            reason = self.not_worth(row)
            if reason:
                self.told({**row, "status": "left out", "reason": reason})
                continue
            if name == "program":
                command = [self.given.qsim, "run", str(reference.qasm), "--backend", "cpu", "--threads", str(self.given.threads),
                           "--precision", precision, "--shots", str(SHOTS), "--json"]
            else:
                command = [sys.executable, str(HERE / "worker.py"), name, str(reference.qasm), str(SHOTS), variant, precision]
            self.told({**row, "answer": "counts", "gates": len(circuit.gates), **self.processes(name, command, reference)})

    def fastest_variant(self, name: str, circuit: Circuit, precision: str) -> str:
        """The one that was fastest warm, where that was measured."""
        if name == "program":
            return "default"
        found = []
        for variant in SIMULATORS[name].variants:
            row = self.document.of(mode="warm", circuit=circuit.name, qubits=circuit.qubits, precision=precision, simulator=name, variant=variant)
            if row is not None and row["status"] == "ok":
                found.append((row["ms"], variant))
        return min(found)[1] if found else SIMULATORS[name].variants[0]

    def processes(self, name: str, command: list[str], reference: Reference) -> dict[str, Any]:
        """Fresh processes, three or more until they have taken five seconds; the first of a simulator does not count."""
        seconds: list[float] = []
        limit = 30 + 3 * self.given.limit
        first = name not in self.begun
        self.begun.add(name)
        for number in range(self.given.repeats + first):
            begin = time.perf_counter()
            try:
                run = subprocess.run(command, capture_output=True, env=self.environment, timeout=limit, check=False)
            except subprocess.TimeoutExpired:
                return {"status": "failed", "reason": f"stopped after {limit:.0f} s"}
            took = time.perf_counter() - begin
            if run.returncode != 0:
                return {"status": "failed", "reason": run.stderr.decode(errors="replace").strip().splitlines()[-1][:300]}
            if number > 0 or not first:
                seconds.append(took)
            if sum(seconds) > 5 or (len(seconds) >= 3 and sum(seconds) > 2):
                break
        found = json.loads(run.stdout)
        base, found = (2, found["results"]["counts"]) if "results" in found else (10, found)
        counts = {int(key, base): times for key, times in found.items()}
        right = counts_are_right(counts, SHOTS, reference.marginals)
        return {"ms": 1e3 * statistics.median(seconds), "fastest_ms": 1e3 * min(seconds), "repeats": len(seconds), "equal": right,
                "status": "ok" if right else "wrong"}

    def run(self) -> int:
        for mode in self.modes:
            for qubits in self.qubits[mode]:
                for name in self.circuits:
                    if time.monotonic() - self.begin > self.given.time:
                        print(f"{self.given.time:g} s are over: the same command goes on", flush=True)
                        return 1
                    with tempfile.TemporaryDirectory(prefix="qsim_peers_") as folder:
                        reference = Reference(make(name, qubits, self.given.qsim), self.given.qsim, Path(folder))
                        getattr(self, mode)(reference)
            self.close()
        return 8 if any(row["status"] == "wrong" for row in self.document.rows.values()) else 0

    def close(self) -> None:
        for worker in self.workers.values():
            worker.stop()


def main() -> int:
    session = Session(arguments())
    try:
        return session.run()
    finally:
        session.close()


if __name__ == "__main__":
    sys.exit(main())
