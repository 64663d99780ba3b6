"""The programs with all mutants in them, and what each of their tests reaches."""

import collections
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import venv

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
WORK = SOURCE / "build" / "mutation"
TREE = WORK / "tree"
BUILD = TREE / "build"  # as the project's own: what is not mutated is the same to ccache
HEADER = TREE / "tests" / "mutation" / "mutation.h"

# What is mutated; a row of the report for each.
FOLDERS = ["src/optimizer", "src/optimizer/passes", "src/plan", "src/plan/cost", "src/plan/lower", "src/plan/make",
           "src/plan/program", "src/plan/search", "src/plan/sweep", "src/plan/timeline", "src/runtime/branch",
           "src/runtime/execute", "src/runtime/read_out", "src/cpu/tile", "src/cuda/factor", "src/cuda/tile",
           "src/cuda/program", "src/cuda/generate"]
ONLY_FILES = {"src/runtime/read_out": ["sampling.cpp"]}
SUITES = ["unit", "property", "contract"]
# Tests that read the sources, or measure time; that take longer than most budgets, and kill nothing that others do not.
NOT_RUN = "Layering*:Documents*:SimulateAt20Qubits.*:*AMillionGates*"
# Campaigns at a part of their usual dose: what kills does so early.
DOSES = {"QSIM_CAMPAIGN": "40", "QSIM_EDGES": "30", "QSIM_DEEP": "3"}
POINTS_OF_A_FILE = 2048
OPTIONS = ["-DCMAKE_BUILD_TYPE=Release", "-DQSIM_MPI=OFF", "-DQSIM_CUDA=ON", "-DQSIM_NCCL=OFF"]


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
        if path.is_file() and BUILD not in path.parents and str(path.relative_to(TREE)) not in files:
            path.unlink()


def rewrite_all(dropped, only):
    from rewrite import Rewriter  # needs tree-sitter
    rewritten, points = {}, []
    for index, file in enumerate(targets()):
        if not file.startswith(only):
            continue
        first = (index + 1) * POINTS_OF_A_FILE
        rewriter = Rewriter(file, (SOURCE / file).read_bytes(), first, dropped, HEADER)
        rewritten[file] = rewriter.run()
        if rewriter.next_number > first + POINTS_OF_A_FILE:
            raise SystemExit(f"{file} has {rewriter.next_number - first} points, more than {POINTS_OF_A_FILE}")
        points += rewriter.points
    return rewritten, points


def configure(rewritten):
    compiler = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    sources = " ".join(f'"{TREE / name}"' for name in sorted(rewritten) if name.endswith(".cpp"))
    write_if_changed(WORK / "flags.cmake", (f"set_source_files_properties({sources} PROPERTIES COMPILE_OPTIONS "
                                            '"-O1;-w;-Wno-error;-Wno-narrowing;-fpermissive")\n').encode())
    options = OPTIONS + [f"-DCMAKE_CUDA_COMPILER={compiler}", f"-DCMAKE_PROJECT_INCLUDE={WORK}/flags.cmake"]
    if shutil.which("ccache"):
        options += ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache", "-DCMAKE_CUDA_COMPILER_LAUNCHER=ccache"]
    subprocess.run(["cmake", "-S", TREE, "-B", BUILD, "-G", "Ninja", *options], check=True, stdout=subprocess.DEVNULL)


def blamed_lines(log):
    """{(file, line)} that the compiler's errors come from."""
    found, trail = set(), []
    for line in log.split("\n"):
        place = re.match(rf"(?:.*\s)?(?:{re.escape(str(TREE))}|\.\.)/([^:\s]+):(\d+)[:,]", line)
        if ": error:" in line:
            inside = place and place[1].endswith("mutation.h")
            found.update([(place[1], int(place[2]))] if place and not inside else trail[-1:])
            trail = []
        elif place and not place[1].endswith("mutation.h") and any(
                words in line for words in ("required from", "In instantiation", "in 'constexpr' expansion")):
            trail.append((place[1], int(place[2])))
    return found


def known_dropped():
    memory = WORK / "dropped.json"
    return set(json.loads(memory.read_text())) if memory.exists() else set()


def build(jobs, only):
    """Compiles until what does not compile is left out; (points, how many were dropped)."""
    dropped = known_dropped()
    programs = [f"qsim_{suite}_tests" for suite in SUITES]
    for _ in range(20):
        rewritten, points = rewrite_all(dropped, only)
        copy_tree(rewritten)
        configure(rewritten)
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
    return {**os.environ, **DOSES, "QSIM_SHARED": shared, "OMP_NUM_THREADS": "1", **more}


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
    """[{suite, name, digest, seconds, points: {point: mask of the variants that would have given something else}}] of
    the tests that pass as the sources are; `known` holds earlier ones."""
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
                          "points": dict(point.split(":") for point in points)})
        say(f"{suite}: {len(kept)} tests as before, {len(missing)} watched")
    return tests


def prepare(jobs, as_built, only):
    """(points, masks, tests, dropped)"""
    memory = WORK / "coverage.json"
    tests = json.loads(memory.read_text()) if memory.exists() else []
    if as_built:
        dropped = known_dropped()
        return rewrite_all(dropped, only)[1], applicable(), tests, len(dropped)
    points, dropped = build(jobs, only)
    tests = cover(tests)
    memory.write_text(json.dumps(tests))
    return points, applicable(), tests, dropped
