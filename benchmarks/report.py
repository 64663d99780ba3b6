#!/usr/bin/env python3
"""Writes the generated tables and charts of the documents from benchmarks/results/*.json.

  benchmarks/report.py [--results FOLDER] [--page FILE [FILE...]] [--check]

A table is what stands between `<!-- begin generated NAME -->` and `<!-- end generated NAME -->`. --check writes nothing
and exits 1 when a page or a drawing is not what the results say; drawings lie in images/ beside the first page. Documents: qsim.bench/1 (qsim bench --json),
qsim.table/1 and Google Benchmark's. Of several measurements of one thing, the latest counts.
"""

import argparse
import os
import re
import sys

sys.dont_write_bytecode = True  # the test suite runs this from the source tree
from report_parts import charts, circuit_tables, device_tables, host_tables, peer_tables, summary
from report_parts.results import Results
from report_parts.text import UNMEASURED

REGIONS = {"figures": summary.summary}
for part, names in ((circuit_tables, ("gpu", "engine", "scaling", "challenge", "single", "interpreter", "transports",
                                      "capacity", "suite", "small")),
                    (device_tables, ("exchanges", "reductions", "dense", "sampling", "readouts", "batches", "gram", "sessions",
                                     "floor", "kitchen_sinks", "sweeps", "cold")),
                    (host_tables, ("host", "cpu", "cpu_ranks", "naive", "parser", "planner", "cpu_sweeps", "gpu_sweeps")),
                    (peer_tables, ("peers", "gpu_peers", "python_speed", "headline"))):
    REGIONS.update((name, getattr(part, name)) for name in names)


def replaced(page, results):
    """The page with every region's text renewed."""
    def renew(match):
        name = match.group(1)
        if name not in REGIONS:
            sys.exit(f"report.py: there is no table '{name}'; known: {', '.join(REGIONS)}")
        text = REGIONS[name](results).strip()
        results.sources()
        if text.startswith(UNMEASURED):
            text = UNMEASURED
        return f"<!-- begin generated {name} -->\n{text}\n<!-- end generated {name} -->"
    begins = len(re.findall(r"<!-- begin generated", page))
    text, count = re.subn(r"<!-- begin generated (\w+) -->\n.*?<!-- end generated \1 -->", renew, page, flags=re.DOTALL)
    if count != begins:
        sys.exit("report.py: a region begins without its end")
    return text


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", default=os.path.join(here, "results"))
    docs = os.path.join(here, "..", "docs")
    pages = ("performance.md", "log/measurements.md", "python.md", "../README.md")
    parser.add_argument("--page", nargs="+", default=[os.path.normpath(os.path.join(docs, page)) for page in pages])
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    results = Results(arguments.results)
    pages = {page: replaced(text_of(page), results) for page in arguments.page}
    wrong = [page for page, text in pages.items() if text_of(page) != text]
    images = os.path.join(os.path.dirname(arguments.page[0]), "images")
    for name, drawing in charts.all_charts(results).items():
        path = os.path.join(images, name)
        if arguments.check:
            if not os.path.exists(path) or text_of(path) != drawing:
                wrong.append(path)
        else:
            os.makedirs(images, exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(drawing)
    if not arguments.check:
        for page, text in pages.items():
            with open(page, "w", encoding="utf-8") as file:
                file.write(text)
    elif wrong:
        sys.exit(f"report.py: {', '.join(wrong)}: not what {arguments.results} says; run benchmarks/report.py")


if __name__ == "__main__":
    main()
