"""The documents of a folder, and their rows by what they measured."""

import json
import os
import re
import sys


class Results:
    """All documents of a folder; rows of benchmarks by what they measured."""

    def __init__(self, folder):
        self.rows = {}
        self.tables = {}
        self.micro = {}  # Google Benchmark's documents by step and backend
        self.exchanges = []  # documents of qsim_exchange: one for each machine and number of ranks
        self.used = []  # qsim.bench/1 documents whose rows were asked for since sources() was
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            if name.endswith(".json"):
                self.read(os.path.join(folder, name))

    def read(self, path):
        with open(path, encoding="utf-8") as file:
            try:
                document = json.load(file)
            except ValueError as error:
                sys.exit(f"report.py: {path}: {error}")
        step = re.sub(r"^(gpu\d+|cpu)_", "", os.path.basename(path)[:-len(".json")])
        if document.get("schema") == "qsim.table/1" and document["kind"] == "exchange":
            self.exchanges.append(document)
            return
        if document.get("schema") == "qsim.table/1":
            old = self.tables.get(document["kind"])
            if old is None or document["date"] >= old["date"]:
                self.tables[document["kind"]] = document
            return
        if "benchmarks" in document:  # Google Benchmark's
            key = (step, document["context"].get("backend", "cpu"))
            old = self.micro.get(key)
            if old is None or document["context"]["date"] >= old["context"]["date"]:
                self.micro[key] = document
            return
        if document.get("schema") != "qsim.bench/1" or document.get("error"):
            return
        # Forced choices are rows of their own; everything else measures the program as it is.
        backends = [row["backend"] for row in document["runs"] if row["backend"]]
        for row in document["runs"]:
            # A run that was stopped by a failed check may not say where it ran.
            backend = row["backend"] or (backends[0] if len(set(backends)) == 1 else None)
            chosen = step.startswith("interpreter") or step.startswith("exchange_") and row["ranks"] > 1
            forced = step if chosen else ""
            key = (forced, backend, os.path.basename(row["name"]), row["qubits"], row["from"], row["precision"],
                   row["ranks"])
            old = self.rows.get(key)
            # A weak-scaling row is not worth more than an ordinary one; the date decides.
            if row["status"] != "skipped" and (old is None or document["date"] >= old[0]):
                self.rows[key] = (document["date"], row, document)

    def row(self, name, qubits, start="zero", precision="double", ranks=1, backend="cuda", forced=""):
        key = (forced, backend, name, qubits, start, precision, ranks)
        return self.row_of(key) if key in self.rows else None

    def row_of(self, key):
        self.used.append(self.rows[key][2])
        return self.rows[key][1]

    def sources(self):
        """The documents of the rows asked for since the last call, earliest first."""
        used, self.used = self.used, []
        return sorted(used, key=lambda document: document["date"])

    def rank_counts(self):
        return sorted({key[6] for key in self.rows if key[1] == "cuda" and not key[0]}) or [1]
