#!/usr/bin/env python3
"""Mutation testing: one operator, constant, condition or statement is changed at a time, and a test must notice.

  tests/mutation/mutate.py --sample 400 --seed 1     # that many mutants, spread over the folders
  tests/mutation/mutate.py --only src/plan/lower     # all mutants of the paths that begin so
  tests/mutation/mutate.py --survivors               # those that lived before once more
  tests/mutation/mutate.py --unreached               # runs none; the points that no test reaches at all
  tests/mutation/mutate.py --report docs/mutation.md # writes the table of what has been run

All mutants are compiled into the programs at once (tests/mutation/mutation.h) in a copy under build/mutation; the
environment chooses one. A first run of the tests records which points each reaches; a mutant then meets the tests that
reach it, quick ones first. tests/mutation/reasons.txt answers survivors that no test can or should kill.
Exit: 0, or 1 when a survivor has no answer.
"""

import argparse
import collections
import datetime
import hashlib
import json
import math
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import venv

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
WORK = SOURCE / "build" / "mutation"
TREE, BUILD = WORK / "tree", WORK / "build"

# What is mutated; a row of the report for each.
FOLDERS = ["src/optimizer", "src/optimizer/passes", "src/plan", "src/plan/cost", "src/plan/lower", "src/plan/search",
           "src/plan/sweep", "src/plan/timeline", "src/runtime", "src/runtime/read_out", "src/cpu/tile",
           "src/cuda/factor", "src/cuda/program", "src/cuda/generate"]
ONLY_FILES = {"src/runtime": ["program_run.cpp"], "src/runtime/read_out": ["sampling.cpp", "collapse.cpp"]}
SUITES = ["unit", "property", "contract"]
# Tests that read the sources, or measure time.
NOT_RUN = "Layering*:Documents*"
POINTS_OF_A_FILE = 2048
MEMORY_BYTES = 12 << 30
OPTIONS = ["-DCMAKE_BUILD_TYPE=Release", "-DQSIM_MPI=OFF", "-DQSIM_CUDA=ON", "-DQSIM_NCCL=OFF", "-DQSIM_WERROR=OFF"]


def with_parser():
    """Goes on in an environment that has tree-sitter's grammar of C++."""
    folder = WORK / "venv"
    if not (folder / "bin" / "python").exists():
        venv.create(folder, with_pip=True)
        subprocess.run([folder / "bin" / "pip", "install", "-q", "tree-sitter==0.26.1", "tree-sitter-cpp==0.23.4"],
                       check=True)
    if pathlib.Path(sys.prefix) != folder:
        os.execv(folder / "bin" / "python", [str(folder / "bin" / "python"), *sys.argv])


def say(text):
    print(text, file=sys.stderr, flush=True)


# The instrumented programs


def targets():
    found = []
    for folder in FOLDERS:
        for file in sorted((SOURCE / folder).iterdir()):
            wanted = ONLY_FILES.get(folder)
            if file.suffix in (".cpp", ".h") and (wanted is None or file.name in wanted):
                found.append(str(file.relative_to(SOURCE)))
    return found


def write_if_changed(path, content):
    if path.exists() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def copy_tree(rewritten):
    """The project's files with those of `rewritten` in their place; what is unchanged keeps its time."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=SOURCE, check=True, text=True,
                            capture_output=True).stdout.split("\n")
    files = {name for name in listed if name and (SOURCE / name).is_file()}
    for name in files:
        content = rewritten[name] if name in rewritten else (SOURCE / name).read_bytes()
        write_if_changed(TREE / name, content)
        if os.access(SOURCE / name, os.X_OK):
            (TREE / name).chmod(0o755)
    listener = (HERE / "points_of_tests.cpp").read_bytes()
    for suite in SUITES:
        name = f"tests/{suite}/points_of_tests.cpp"
        write_if_changed(TREE / name, listener)
        files.add(name)
    for path in list(TREE.rglob("*")):
        if path.is_file() and str(path.relative_to(TREE)) not in files:
            path.unlink()


def rewrite_all(dropped):
    from rewrite import Rewriter  # needs tree-sitter
    rewritten, points = {}, []
    for index, file in enumerate(targets()):
        first = (index + 1) * POINTS_OF_A_FILE
        rewriter = Rewriter(file, (SOURCE / file).read_bytes(), first, dropped)
        rewritten[file] = rewriter.run()
        if rewriter.next_number > first + POINTS_OF_A_FILE:
            raise SystemExit(f"{file} has {rewriter.next_number - first} points, more than {POINTS_OF_A_FILE}")
        points += rewriter.points
    return rewritten, points


def configure():
    compiler = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    options = OPTIONS + [f"-DCMAKE_CUDA_COMPILER={compiler}",
                         f"-DCMAKE_CXX_FLAGS=-std=c++20 -w -Wno-narrowing -fpermissive -include {HERE}/mutation.h"]
    if shutil.which("ccache"):
        options += ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache", "-DCMAKE_CUDA_COMPILER_LAUNCHER=ccache"]
    subprocess.run(["cmake", "-S", TREE, "-B", BUILD, "-G", "Ninja", *options], check=True, stdout=subprocess.DEVNULL)


def blamed_lines(log):
    """{(file, line)} that the compiler's errors come from."""
    found, trail = set(), []
    for line in log.split("\n"):
        place = re.match(rf"(?:.*\s)?(?:{re.escape(str(TREE))}|\.\./tree)/([^:\s]+):(\d+)[:,]", line)
        if ": error:" in line:
            if place:
                found.add((place[1], int(place[2])))
            found.update(trail[-1:] if not place or "mutation.h" in line else [])
            trail = []
        elif place and ("required from" in line or "In instantiation" in line or "in 'constexpr' expansion" in line):
            trail.append((place[1], int(place[2])))
        elif place and "note:" in line:
            pass
    return found


def known_dropped():
    memory = WORK / "dropped.json"
    return set(json.loads(memory.read_text())) if memory.exists() else set()


def build(jobs):
    """Compiles until what does not compile is left out; (points, how many were dropped)."""
    dropped = known_dropped()
    programs = [f"qsim_{suite}_tests" for suite in SUITES]
    for _ in range(20):
        rewritten, points = rewrite_all(dropped)
        copy_tree(rewritten)
        configure()
        made = subprocess.run(["nice", "-n", "5", "ninja", "-C", BUILD, "-k", "0", f"-j{jobs}", *programs],
                              capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"})
        (WORK / "build.log").write_text(made.stdout + made.stderr)
        if made.returncode == 0:
            return points, len(dropped)
        blamed = blamed_lines(made.stdout)
        more = {f"{point.kind} | {point.place()}" for point in points
                if any((point.file, line) in blamed for line in range(point.line, point.last_line + 1))
                and (point.kind != "statement" or point.line == point.last_line)} - dropped
        say(f"{len(more)} points do not compile")
        if not more:
            raise SystemExit(f"the instrumented sources do not compile: {WORK}/build.log")
        dropped |= more
        (WORK / "dropped.json").write_text(json.dumps(sorted(dropped)))
    raise SystemExit("the instrumented sources do not compile")


def program(suite):
    return BUILD / "bin" / f"qsim_{suite}_tests"


def environment(**more):
    shared = os.environ.get("QSIM_SHARED", str(SOURCE.parent / "shared"))
    return {**os.environ, "QSIM_SHARED": shared, "OMP_NUM_THREADS": "1", **more}


def applicable():
    """{point: mask} of the variants that the types allow."""
    file = WORK / "points.txt"
    masks = collections.defaultdict(int)
    for suite in SUITES:
        file.unlink(missing_ok=True)
        subprocess.run([program(suite), "--gtest_list_tests"], check=True, stdout=subprocess.DEVNULL,
                       env=environment(QSIM_MUTATION_POINTS=str(file)))
        for line in file.read_text().split("\n")[:-1]:
            point, mask = map(int, line.split())
            masks[point] |= mask
    return masks


def digest_of(paths):
    digest = hashlib.sha256()
    for path in sorted(paths):
        if path.is_file() and path.suffix in (".cpp", ".h", ".cu", ".cuh", ".txt", ".json"):
            digest.update(str(path).encode() + path.read_bytes())
    return digest.hexdigest()


def tests_of(suite, product):
    """{name: digest of all that the test is made of}"""
    file = WORK / "tests.json"
    subprocess.run([program(suite), "--gtest_list_tests", f"--gtest_filter=-{NOT_RUN}", f"--gtest_output=json:{file}"],
                   check=True, stdout=subprocess.DEVNULL, env=environment())
    digests, found = {}, {}
    for group in json.loads(file.read_text())["testsuites"]:
        for test in group["testsuite"]:
            source = pathlib.Path(test["file"])
            if source not in digests:
                digests[source] = product + digest_of([source])
            found[f"{group['name']}.{test['name']}"] = digests[source]
    return found


def cover(known):
    """[{suite, name, digest, seconds, points}] of the tests that pass as the sources are; `known` holds earlier ones."""
    # What a changed helper of the tests reaches is taken to be what it reached.
    product = digest_of([*TREE.glob("src/**/*"), *TREE.glob("kernels/**/*"), *TREE.glob("include/**/*")])
    tests = []
    for suite in SUITES:
        found = tests_of(suite, product)
        kept = [test for test in known if test["suite"] == suite and found.get(test["name"]) == test["digest"]]
        missing = sorted(set(found) - {test["name"] for test in kept})
        tests += kept
        if not missing:
            continue
        file = WORK / f"coverage_{suite}.txt"
        file.unlink(missing_ok=True)
        with open(WORK / f"coverage_{suite}.log", "w", encoding="utf-8") as log:
            subprocess.run(["nice", "-n", "10", program(suite), f"--gtest_filter={':'.join(missing)}",
                            "--gtest_brief=1"], cwd=TREE, check=False, stdout=log, stderr=subprocess.STDOUT,
                           env=environment(QSIM_MUTATION_COVERAGE=str(file)))
        for line in file.read_text().split("\n")[:-1]:
            name, seconds, *points = line.split()
            tests.append({"suite": suite, "name": name, "digest": found[name], "seconds": float(seconds),
                          "points": list(map(int, points))})
        say(f"{suite}: {len(kept)} tests as before, {len(missing)} watched")
    return tests


def prepare(jobs, as_built):
    """(points, masks, tests, dropped)"""
    memory = WORK / "coverage.json"
    tests = json.loads(memory.read_text()) if memory.exists() else []
    if as_built:
        dropped = known_dropped()
        return rewrite_all(dropped)[1], applicable(), tests, len(dropped)
    points, dropped = build(jobs)
    tests = cover(tests)
    memory.write_text(json.dumps(tests))
    return points, applicable(), tests, dropped


# Mutants


def folder_of(file):
    return max((folder for folder in FOLDERS if file.startswith(folder + "/")), key=len)


def all_mutants(points, masks):
    found = []
    for point in points:
        for variant in point.variants:
            if masks.get(point.number, 0) >> variant & 1:
                found.append((point, variant))
    return found


def spread(mutants, count, seed):
    """A random sample, the same number from every folder as far as it has them."""
    by_folder = collections.defaultdict(list)
    generator = random.Random(seed)
    for mutant in mutants:
        by_folder[folder_of(mutant[0].file)].append(mutant)
    for some in by_folder.values():
        generator.shuffle(some)
    chosen = []
    while len(chosen) < count and any(by_folder.values()):
        for folder in sorted(by_folder):
            if by_folder[folder] and len(chosen) < count:
                chosen.append(by_folder[folder].pop())
    return chosen


class Judge:
    """Runs the tests that reach a mutant, quick ones and those that killed its neighbours first."""

    def __init__(self, tests, budget):
        self.by_point = collections.defaultdict(list)
        self.budget = budget
        self.kills = collections.Counter()
        for test in tests:
            for point in test["points"]:
                self.by_point[point].append(test)

    def batches(self, point):
        def weight(test):
            return (0.02 + test["seconds"]) / (1 + self.kills[point.file, test["name"]])
        tests = sorted(self.by_point.get(point.number, []), key=weight)
        limit, some, seconds, total = 0.5, [], 0.0, 0.0
        for test in tests:
            if total + test["seconds"] > self.budget and total > 0:
                continue
            some.append(test)
            seconds += test["seconds"]
            total += test["seconds"]
            if seconds >= limit:
                yield some
                limit, some, seconds = 4 * limit, [], 0.0
        if some:
            yield some

    def judge(self, point, variant):
        """("killed", test), ("survived", how many tests) or ("unreached", 0)"""
        met = 0
        for batch in self.batches(point):
            for suite in SUITES:
                tests = [test for test in batch if test["suite"] == suite]
                if not tests:
                    continue
                met += len(tests)
                by = self.run(suite, tests, point, variant)
                if by is not None:
                    self.kills[point.file, by] += 1
                    return "killed", by
        return ("survived" if met else "unreached"), met

    def run(self, suite, tests, point, variant):
        """The test that failed, None where none did."""
        names = [test["name"] for test in tests]
        seconds = math.ceil(5 + 5 * sum(test["seconds"] for test in tests))
        command = ["nice", "-n", "10", program(suite), f"--gtest_filter={':'.join(names)}", "--gtest_fail_fast",
                   "--gtest_brief=1"]

        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        try:  # what waits for ever uses no processor time
            done = subprocess.run(command, cwd=TREE, check=False, capture_output=True, timeout=60 + 10 * seconds,
                                  env=environment(QSIM_MUTANT=f"{point.number}:{variant}"), preexec_fn=limit)
        except subprocess.TimeoutExpired:
            return "timeout"
        if done.returncode == 0:
            return None
        if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            return "timeout"
        failed = re.search(r"\[  FAILED  \] (\S+?),? ", done.stdout.decode(errors="replace") + " ")
        return failed[1] if failed else f"end with {done.returncode}"


# Reasons and the report


def read_reasons():
    """[(pattern of the key, reason)]: a line "reason: ..." answers the patterns that follow it."""
    found, reason = [], ""
    for line in (HERE / "reasons.txt").read_text(encoding="utf-8").split("\n"):
        if line.startswith("reason: "):
            reason = line[len("reason: "):]
        elif line.strip() and not line.startswith("#"):
            found.append((line.strip(), reason))
    return found


def reason_for(key, reasons):
    # Only * is special: keys are full of brackets.
    for pattern, reason in reasons:
        if re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), key):
            return reason
    return None


def load_results():
    file = WORK / "results.json"
    return json.loads(file.read_text()) if file.exists() else {}


def save_results(results):
    new = WORK / "results.new"
    new.write_text(json.dumps(results, indent=0))
    new.replace(WORK / "results.json")


def tally(results, mutants, reasons):
    """{folder: {all, run, killed, answered, open}} and the open survivors."""
    rows = {folder: collections.Counter() for folder in FOLDERS}
    left = []
    for point, variant in mutants:
        row = rows[folder_of(point.file)]
        row["all"] += 1
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


def table(rows):
    lines = ["| folder | mutants | run | killed | survivors with a reason | survivors without | killed of those without a reason |",
             "|---|---|---|---|---|---|---|"]
    total = collections.Counter()
    for folder, row in list(rows.items()) + [("all", total)]:
        if folder != "all":
            total.update(row)
        judged = row["killed"] + row["open"]
        rate = f"{100 * row['killed'] / judged:.1f} %" if judged else "-"
        lines.append(f"| {folder} | {row['all']} | {row['run']} | {row['killed']} | {row['answered']} | {row['open']} | "
                     f"{rate} |")
    return "\n".join(lines)


def used_reasons(results, mutants, reasons):
    """{reason: how many survivors it answers}, the most used first."""
    counts = collections.Counter()
    for point, variant in mutants:
        result = results.get(point.key(variant))
        if result is not None and result["outcome"] != "killed":
            counts[reason_for(point.key(variant), reasons)] += 1
    return [(reason, count) for reason, count in counts.most_common() if reason is not None]


def write_report(path, rows, points, mutants, tests, dropped, reasons, left):
    text = path.read_text(encoding="utf-8")
    begin, end = "<!-- written by tests/mutation/mutate.py -->\n", "<!-- end -->"
    head, rest = text.split(begin)
    tail = rest.split(end)[1]
    seconds = sum(test["seconds"] for test in tests)
    lines = [f"{datetime.date.today()}: {len(points)} points, {len(mutants)} mutants; {dropped} more points do not compile. "
             f"{len(tests)} tests of {seconds:.0f} s met them.", "", table(rows), "",
             "| reason | survivors it answers |", "|---|---|"]
    lines += [f"| {reason} | {count} |" for reason, count in reasons]
    lines += ["", "Survivors without a reason:", ""]
    lines += [f"    {point.key(variant)}" for point, variant, _ in left]
    path.write_text(head + begin + "\n".join(lines) + "\n" + end + tail, encoding="utf-8")


def print_unreached(points, masks, tests, only):
    """Function by function, and by folder how many there are."""
    reached = {point for test in tests for point in test["points"]}
    lines, counts = collections.defaultdict(set), collections.defaultdict(lambda: [0, 0])
    for point in points:
        if point.number not in masks or not point.file.startswith(only):
            continue
        counts[folder_of(point.file)][0] += 1
        if point.number not in reached:
            counts[folder_of(point.file)][1] += 1
            lines[point.file, point.function].add(point.line)
    for (file, function), where in lines.items():
        print(f"{file}: {function}: lines {', '.join(map(str, sorted(where)))}")
    for folder, (there, missed) in counts.items():
        print(f"{folder}: {missed} of {there} points are reached by no test")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, help="how many mutants (default: all)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="paths that begin so")
    parser.add_argument("--survivors", action="store_true", help="only mutants that lived before and have no reason")
    parser.add_argument("--again", action="store_true", help="also mutants that have been judged before")
    parser.add_argument("--budget", type=float, default=60, help="processor seconds of tests that a mutant meets at most")
    parser.add_argument("--jobs", type=int, default=1, help="compilations at a time")
    parser.add_argument("--as-built", action="store_true", help="use the programs as they were last built")
    parser.add_argument("--unreached", action="store_true", help="run nothing; print the points that no test reaches")
    parser.add_argument("--list", action="store_true", help="run nothing; print the survivors without a reason")
    parser.add_argument("--report", type=pathlib.Path, help="write the table into this page")
    arguments = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    with_parser()
    points, masks, tests, dropped = prepare(arguments.jobs, arguments.as_built)
    if arguments.unreached:
        print_unreached(points, masks, tests, arguments.only)
        return
    mutants = all_mutants(points, masks)
    results, reasons = load_results(), read_reasons()
    chosen = [mutant for mutant in mutants if mutant[0].file.startswith(arguments.only)]
    if arguments.sample:
        chosen = spread(chosen, arguments.sample, arguments.seed)
    if arguments.survivors:
        chosen = [(point, variant) for point, variant in chosen
                  if results.get(point.key(variant), {"outcome": "killed"})["outcome"] != "killed"
                  and reason_for(point.key(variant), reasons) is None]
    elif not arguments.again:
        chosen = [(point, variant) for point, variant in chosen if point.key(variant) not in results]
    if not arguments.list:
        judge = Judge(tests, arguments.budget)
        for number, (point, variant) in enumerate(chosen):
            begin = time.monotonic()
            outcome, detail = judge.judge(point, variant)
            results[point.key(variant)] = {"outcome": outcome, "detail": detail,
                                           "seconds": round(time.monotonic() - begin, 1)}
            save_results(results)
            if outcome != "killed":
                say(f"{number + 1}/{len(chosen)} {outcome} {point.file}:{point.line} "
                    f"{point.number}:{variant} {point.key(variant)}")
    rows, left = tally(results, mutants, reasons)
    for point, variant, result in left:
        print(f"{point.file}:{point.line}: {result['outcome']} ({result['detail']}), QSIM_MUTANT={point.number}:{variant}: "
              f"{point.key(variant)}")
    print(table(rows))
    if arguments.report:
        write_report(arguments.report, rows, points, mutants, tests, dropped, used_reasons(results, mutants, reasons),
                     left)
    print(f"{len(points)} points, {len(mutants)} mutants, {dropped} points that do not compile")
    sys.exit(1 if left else 0)


if __name__ == "__main__":
    main()
