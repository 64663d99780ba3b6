#!/usr/bin/env python3
"""Times this package beside cuStateVec Ex and CUDA-Q on one GPU, the same files of OpenQASM 2, and checks every answer against ours.

  benchmarks/peers/gpu.py [OPTION...]

The others are measured where this Python or the system's loader finds them (the packages custatevec-cu13 and cuda-quantum-cu13);
nothing is installed. Ours is timed by `qsim bench` from a random state and from zero, the others from zero, which none of them makes
use of. A time is the circuit's alone: the median of calls after warm-ups, the GPU idle before and after each, the start state and the
library's circuit made before; where a call makes the state itself (CUDA-Q), what a call without gates takes is taken off. Right is
what agrees with ours in every amplitude of a smaller circuit of the family and in hundreds of the large one, relative to the largest
amplitude. The document (qsim.table/1, kind gpu_peers) is written after every case; called again, the same command goes on where it was
stopped. Exit: 0; 1: stopped before its end; 8: an answer was wrong.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.dont_write_bytecode = True
from circuits import FAMILIES, read_qasm  # noqa: E402
from gpu_simulators import SIMULATORS  # noqa: E402
from measure import HERE, TOP, Document, Worker, machine  # noqa: E402

SAMPLED = 256  # amplitudes of a large circuit that are compared
PRECISIONS = ("double", "single")
LABELS = {"qsim": "qsim", "custatevec": "cuStateVec Ex", "cudaq": "CUDA-Q"}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="gpu.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--qsim", default=str(TOP / "build/bin/qsim"), help="the program (default build/bin/qsim)")
    parser.add_argument("--output", default=str(TOP / "benchmarks/results/gpu1_peers.json"), help="the document")
    parser.add_argument("--qubits", type=int, default=30, help="of the timed circuits (default 30)")
    parser.add_argument("--small", type=int, default=20, help="qubits of which all amplitudes are compared (default 20)")
    parser.add_argument("--circuits", default=",".join(FAMILIES))
    parser.add_argument("--simulators", default=",".join(LABELS))
    parser.add_argument("--precisions", default=",".join(PRECISIONS))
    parser.add_argument("--variants", default="", help="of the others, as default,dense5 (default all)")
    parser.add_argument("--repeats", type=int, default=5, help="timed calls of each (default 5)")
    parser.add_argument("--limit", type=float, default=180, help="seconds after which a case is stopped (default 180)")
    parser.add_argument("--time", type=float, default=math.inf, help="seconds: no case is begun after them")
    parser.add_argument("--new", action="store_true", help="forget an earlier document instead of going on with it")
    return parser.parse_args()


class GpuDocument(Document):
    KEYS = ("circuit", "qubits", "precision", "simulator", "variant", "from")
    SAME = ("schema", "kind", "machine", "commit", "versions")

    def has(self, **names: Any) -> bool:
        """What failed is tried again."""
        row = self.of(**names)
        return row is not None and row["status"] != "failed"


def gpu() -> str:
    """The first GPU and its driver, or the processor where there is none."""
    try:
        command = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader", "--id=0"]
        name, driver = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip().split(", ")
        return f"{name}, driver {driver}"
    except (OSError, subprocess.CalledProcessError, ValueError):
        return machine()


def versions(environment: dict[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Versions of the others that are installed, and why the rest is not there."""
    found, missing = {}, {}
    for name in SIMULATORS:
        command = [sys.executable, str(HERE / "gpu_simulators.py"), name, "--version"]
        run = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        if run.returncode == 0:
            found[name] = run.stdout.split()[-1]
        else:
            missing[name] = f"not installed: {last_line(run)}"
    return found, missing


def last_line(run: subprocess.CompletedProcess[str]) -> str:
    """What a program said of its failure."""
    return (run.stderr.strip().splitlines() or [f"exit {run.returncode}"])[-1][:300]


class Reference:
    """A circuit as a file of its size and a smaller one, with our program's answers to both in double."""

    def __init__(self, name: str, given: argparse.Namespace, folder: Path) -> None:
        self.name, self.qsim = name, given.qsim
        self.file, small = (folder / f"{name}_n{n}.qasm" for n in (given.qubits, given.small))
        for file, qubits in ((self.file, given.qubits), (small, given.small)):
            file.write_text(self._program("gen", name, "-n", str(qubits)), encoding="utf-8")
        self.gates = len(read_qasm(self.file.read_text(encoding="utf-8"))[1])
        draws, last = random.Random(given.qubits), (1 << given.qubits) - 1
        indices = sorted({0, last, *(draws.randint(0, last) for _ in range(SAMPLED - 2))})
        found = self._run(self.file, "--amplitudes", ",".join(map(str, indices)))
        self.backend = found["run"]["backend"]
        all_small = folder / f"{name}_small.npy"
        self._run(small, "--statevector", str(all_small))
        self.case = {"circuit": str(self.file), "small": str(small), "small_amplitudes": str(all_small), "indices": indices,
                     "amplitudes": [(one["re"], one["im"]) for one in found["results"]["amplitudes"]]}

    def _program(self, *words: str) -> str:
        return subprocess.run([self.qsim, *words], check=True, capture_output=True, text=True).stdout

    def _run(self, file: Path, *words: str) -> dict[str, Any]:
        return json.loads(self._program("run", str(file), "--shots", "0", "--precision", "double", "--json", *words))


class Session:
    def __init__(self, given: argparse.Namespace) -> None:
        self.given, self.begin = given, time.monotonic()
        self.environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        self.circuits, self.simulators, self.precisions = (getattr(given, name).split(",") for name in ("circuits", "simulators", "precisions"))
        for one, known in ((self.circuits, FAMILIES), (self.simulators, LABELS), (self.precisions, PRECISIONS)):
            unknown = set(one) - set(known)
            if unknown:
                sys.exit(f"gpu.py: unknown: {', '.join(sorted(unknown))}; known: {', '.join(known)}")
        found, self.missing = versions(self.environment)
        text = subprocess.run([given.qsim, "--version"], check=True, capture_output=True, text=True).stdout
        commit = re.search(r"\b[0-9a-f]{7,40}\+?", text)
        self.document = GpuDocument(Path(given.output), {
            "schema": "qsim.table/1", "kind": "gpu_peers", "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "machine": gpu(), "commit": commit.group() if commit else "", "python": sys.version.split()[0], "versions": found,
        }, given.new)  # fmt: skip

    def told(self, row: dict[str, Any]) -> None:
        self.document.add(row)
        what = f"{row['ms']:.2f} ms" if row["status"] in ("ok", "wrong") else row["reason"]
        status = "" if row["status"] == "ok" else f"{row['status'].upper()}: "
        print(f"{time.monotonic() - self.begin:6.0f} s  {row['circuit']:<10} {row['qubits']:>2} {row['precision']} {row['simulator']} "
              f"{row['variant']} from {row['from']}: {status}{what}", flush=True)

    def row(self, reference: Reference, precision: str, simulator: str, variant: str, start: str) -> dict[str, Any]:
        return {"circuit": reference.name, "qubits": self.given.qubits, "precision": precision, "simulator": simulator, "variant": variant,
                "from": start, "gates": reference.gates}

    def ours(self, reference: Reference) -> None:
        for precision in self.precisions:
            rows = {start: self.row(reference, precision, "qsim", "default", start) for start in ("random", "zero")}
            if all(self.document.has(**row) for row in rows.values()):
                continue
            command = [self.given.qsim, "bench", str(reference.file), "--from", "both", "--precision", precision, "--json",
                       "--repeats", str(self.given.repeats), *(["--jit", "only"] if reference.backend == "cuda" else [])]
            run = subprocess.run(command, capture_output=True, text=True, check=False)
            found = {row["from"]: row for row in json.loads(run.stdout)["runs"]} if run.stdout.startswith("{") else {}
            for start, row in rows.items():
                measured = found.get(start)
                if measured is None or measured["simulate_s"] is None:
                    self.told({**row, "status": "failed", "reason": (measured or {}).get("reason") or last_line(run)})
                    continue
                seconds = measured["simulate_s"]
                right = measured["status"] == "ok"
                self.told({**row, "device": measured["device"], "ms": 1e3 * seconds["median"], "fastest_ms": 1e3 * seconds["minimum"],
                           "repeats": len(seconds["repeats"]), "equal": right, "status": "ok" if right else "wrong"})

    def others(self, reference: Reference, name: str, variant: str, worker: Worker) -> None:
        for precision in self.precisions:
            row = self.row(reference, precision, name, variant, "zero")
            if self.document.has(**row):
                continue
            answer = worker.ask({**reference.case, "precision": precision, "variant": variant, "repeats": self.given.repeats}, self.given.limit)
            if "error" in answer:
                worker.stop()  # with what it may still hold of the GPU
                self.told({**row, "status": "failed", "reason": answer["error"]})
            else:
                measured = answer["rows"][0]
                self.told({**row, **measured, "status": "ok" if measured["equal"] else "wrong"})

    def run(self) -> int:
        with tempfile.TemporaryDirectory(prefix="qsim_peers_") as folder:
            references = [Reference(name, self.given, Path(folder)) for name in self.circuits]
            for name, variant in self.asked():
                environment = self.environment | (SIMULATORS[name].environment(variant) if name in SIMULATORS else {})
                worker = Worker(name, environment, "gpu_simulators.py")  # one at a time: each may take the GPU's memory
                for reference in references:
                    if time.monotonic() - self.begin > self.given.time:
                        print(f"{self.given.time:g} s are over: the same command goes on", flush=True)
                        worker.stop()
                        return 1
                    if name == "qsim":
                        self.ours(reference)
                    elif name in self.missing:
                        for row in (self.row(reference, precision, name, variant, "zero") for precision in self.precisions):
                            self.told({**row, "status": "failed", "reason": self.missing[name]})
                    else:
                        self.others(reference, name, variant, worker)
                worker.stop()
        return 8 if any(row["status"] == "wrong" for row in self.document.rows.values()) else 0

    def asked(self) -> list[tuple[str, str]]:
        """(simulator, variant), the default of each before the rest of any."""
        wanted = self.given.variants.split(",") if self.given.variants else None
        found = [(name, variant) for name in self.simulators
                 for variant in (SIMULATORS[name].variants if name in SIMULATORS and name not in self.missing else ("default",))
                 if name == "qsim" or name in self.missing or wanted is None or variant in wanted]
        return sorted(found, key=lambda one: one[1] != "default")

    def cell(self, *key: Any) -> str:
        """The fastest right time and what gave it, or why there is none."""
        found = [row for row in self.document.rows.values() if (row["circuit"], row["precision"], row["simulator"], row["from"]) == key]
        right = min((row for row in found if row["status"] == "ok"), key=lambda row: row["ms"], default=None)
        if right is None:
            return found[0]["status"] if found else "-"
        return f"{right['ms']:.2f}" + (f" ({right['variant']})" if right["variant"] != "default" else "")

    def table(self) -> str:
        columns = [(name, start) for name in self.simulators for start in (("random", "zero") if name == "qsim" else ("zero",))]
        rows = [["ms", *(LABELS[name] + (f" from {start}" if name == "qsim" else "") for name, start in columns)]]
        for precision in self.precisions:
            for circuit in self.circuits:
                rows.append([f"{circuit} {self.given.qubits}, {precision}"] + [self.cell(circuit, precision, name, start) for name, start in columns])
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        return "\n".join("  ".join(word.rjust(width) if i else word.ljust(width) for i, (word, width) in enumerate(zip(row, widths))) for row in rows)


def main() -> int:
    session = Session(arguments())
    code = session.run()
    print(session.table())
    return code


if __name__ == "__main__":
    sys.exit(main())
