"""The documents of a folder, and their rows by what they measured."""

import json
import os
import re
import sys


class Results:
    """All documents of a folder; rows of benchmarks by what they measured."""

    def __init__(self, folder):
        self.rows = {}  # of each key, by commit: the newest of each as (date, row, document)
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
            # A weak-scaling row is not worth more than an ordinary one; the date decides.
            if row["status"] == "skipped":
                continue
            by_commit = self.rows.setdefault(key, {})
            commit = document["environment"]["commit"]
            if commit not in by_commit or document["date"] >= by_commit[commit][0]:
                by_commit.pop(commit, None)  # of equal dates the last one read is the newest
                by_commit[commit] = (document["date"], row, document)

    def row(self, name, qubits, start="zero", precision="double", ranks=1, backend="cuda", forced=""):
        key = (forced, backend, name, qubits, start, precision, ranks)
        return self.row_of(key) if key in self.rows else None

    def side_by_side(self, name, qubits, start, counts):
        """Rows of one circuit on each number of GPUs, all of one commit where one has them all: the newest such. Numbers
        of GPUs without a row in it are left to the newest row that there is."""
        keys = [("", "cuda", name, qubits, start, "double", count) for count in counts]
        present = [key for key in keys if key in self.rows]
        commits = set.intersection(*(set(self.rows[key]) for key in present)) if present else set()
        complete = [[self.rows[key][commit] for key in present] for commit in commits]
        newest = max(complete, key=lambda rows: rows[-1][0], default=[self.newest(key) for key in present])
        self.used += [document for _, _, document in newest]
        rows = iter(row for _, row, _ in newest)
        return [next(rows) if key in self.rows else None for key in keys]

    def newest(self, key):
        return max(reversed(self.rows[key].values()), key=lambda entry: entry[0])

    def newest_rows(self):
        return [self.newest(key)[1] for key in self.rows]

    def row_of(self, key):
        _, row, document = self.newest(key)
        self.used.append(document)
        return row

    def sources(self):
        """The documents of the rows asked for since the last call, earliest first."""
        used, self.used = self.used, []
        return sorted(used, key=lambda document: document["date"])

    def rank_counts(self):
        return sorted({key[6] for key in self.rows if key[1] == "cuda" and not key[0]}) or [1]
