"""What became of mutants: results, reasons, tables."""

import collections
import json
import re

from instrument import FOLDERS, HERE, WORK


def folder_of(file):
    return max((folder for folder in FOLDERS if file.startswith(folder + "/")), key=len)


def read_reasons():
    """[(pattern of the key, reason)]: a line "reason: ..." answers the patterns that follow it."""
    found, reason = [], ""
    for line in (HERE / "reasons.txt").read_text(encoding="utf-8").split("\n"):
        if line.startswith("reason: "):
            reason = line[len("reason: "):]
        elif line.strip() and not line.startswith("#"):
            found.append((line.strip(), reason))
    return found


def matches(pattern, key):
    # Only * is special: keys are full of brackets.
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), key) is not None


def reason_for(key, reasons):
    for pattern, reason in reasons:
        if matches(pattern, key):
            return reason
    return None


def stale_patterns(mutants, reasons):
    """Patterns that are like no mutant: the code that they were about has changed."""
    keys = [point.key(variant) for point, variant in mutants]
    return [pattern for pattern, _ in reasons if not any(matches(pattern, key) for key in keys)]


def load_results():
    file = WORK / "results.json"
    return json.loads(file.read_text()) if file.exists() else {}


def save_results(results):
    new = WORK / "results.new"
    new.write_text(json.dumps(results, indent=0))
    new.replace(WORK / "results.json")


def count_drawn(row, drawn):
    """Adds what became of a mutant when it was drawn to a row of tally()."""
    row["run"] += 1
    row[drawn if drawn in ("killed", "answered") else "open"] += 1


def tally_samples(results):
    """{sample: {run, killed, answered, open}} of all that was ever drawn, in the order of their first results."""
    rows = {}
    for result in results.values():
        count_drawn(rows.setdefault(result["sample"], collections.Counter()), result["drawn"])
    return rows


def tally_sample(results, mutants, sample):
    """{folder: ...} of one sample, as it was drawn."""
    rows = {folder: collections.Counter() for folder in FOLDERS}
    for point, variant in mutants:
        result = results.get(point.key(variant))
        if result is not None and result["sample"] == sample:
            count_drawn(rows[folder_of(point.file)], result["drawn"])
    return rows


def tally(results, mutants, reasons):
    """{folder: {run, killed, answered, open}} and the open survivors."""
    rows = {folder: collections.Counter() for folder in FOLDERS}
    left = []
    for point, variant in mutants:
        row = rows[folder_of(point.file)]
        result = results.get(point.key(variant))
        if result is None:
            continue
        row["run"] += 1
        if result["outcome"] == "killed":
            row["killed"] += 1
        elif reason_for(point.key(variant), reasons) is not None:
            row["answered"] += 1
        else:
            row["open"] += 1
            left.append((point, variant, result))
    return rows, left


def cells(row):
    judged = row["killed"] + row["open"]
    rate = f"{100 * row['killed'] / judged:.1f} %" if judged else "-"
    return f"{row['run']} | {row['killed']} | {row['answered']} | {row['open']} | {rate} |"


COLUMNS = "run | killed | survivors with a reason | survivors without | killed of those without a reason |"


def table(rows, mutants):
    sizes = collections.Counter(folder_of(point.file) for point, _ in mutants)
    lines = [f"| folder | mutants | {COLUMNS}", "|---|---|---|---|---|---|---|"]
    sizes["all"] = len(mutants)
    total = sum(rows.values(), collections.Counter())
    for folder, row in [*rows.items(), ("all", total)]:
        lines.append(f"| {folder} | {sizes[folder]} | {cells(row)}")
    return "\n".join(lines)


def table_of_samples(rows):
    lines = [f"| sample | {COLUMNS}", "|---|---|---|---|---|---|"]
    return "\n".join(lines + [f"| {sample} | {cells(row)}" for sample, row in rows.items()])


def used_reasons(results, mutants, reasons):
    """{reason: how many survivors it answers}, the most used first."""
    counts = collections.Counter()
    for point, variant in mutants:
        result = results.get(point.key(variant))
        if result is not None and result["outcome"] != "killed":
            counts[reason_for(point.key(variant), reasons)] += 1
    return [(reason, count) for reason, count in counts.most_common() if reason is not None]


def write_report(path, lines, reasons, left):
    """Puts `lines`, the reasons that were needed and the survivors into the page, between its two marks."""
    begin, end = "<!-- written by tests/mutation/mutate.py -->\n", "<!-- end -->"
    head, rest = path.read_text(encoding="utf-8").split(begin)
    tail = rest.split(end)[1]
    lines = lines + ["", "| reason | survivors it answers |", "|---|---|"]
    lines += [f"| {reason} | {count} |" for reason, count in reasons]
    if left:
        lines += ["", "Survivors without a reason:", ""]
        lines += [f"    {point.key(variant)}" for point, variant, _ in left]
    path.write_text(head + begin + "\n".join(lines) + "\n" + end + tail, encoding="utf-8")


def print_unreached(points, masks, tests):
    """Function by function, and by folder how many there are."""
    reached = {int(point) for test in tests for point in test["points"]}
    lines, counts = collections.defaultdict(set), collections.defaultdict(lambda: [0, 0])
    for point in points:
        if point.number not in masks:
            continue
        counts[folder_of(point.file)][0] += 1
        if point.number not in reached:
            counts[folder_of(point.file)][1] += 1
            lines[point.file, point.function].add(point.line)
    for (file, function), where in lines.items():
        print(f"{file}: {function}: lines {', '.join(map(str, sorted(where)))}")
    for folder, (there, missed) in counts.items():
        print(f"{folder}: {missed} of {there} points are reached by no test")
