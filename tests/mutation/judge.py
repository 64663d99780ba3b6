"""Which mutants are tried, and by which tests."""

import collections
import concurrent.futures
import math
import pathlib
import random
import re
import signal
import subprocess
import tempfile
import time

from instrument import FOLDERS, SUITES, TREE, environment, program, say
from report import folder_of, read_reasons, reason_for, save_results

MEMORY_BYTES = 12 << 30
WAITING_SECONDS = 240
# Tests that see any other plan, circuit or program: worth their time before anything is known.
STRONG = {"PlanShapes": 20, "PlanCosts": 5, "OptimizerSize": 20, "CpuProgramSize": 20, "CudaProgramSize": 20}


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


def finished(command, variables):
    """(exit status, output) of a program of tests; (None, "") where it has slept for long without ever working. One that
    only gets no processor is let be."""
    with tempfile.TemporaryFile() as output:
        with subprocess.Popen(command, cwd=TREE, stdout=output, stderr=subprocess.STDOUT, env=variables) as process:
            used, since, pause = None, time.monotonic(), 0.02
            while process.poll() is None:
                time.sleep(pause)
                pause = min(0.5, 1.2 * pause)
                fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
                state, now = fields[0], fields[11:15]  # processor time, its own and of children that have ended
                if now != used or state != "S":
                    used, since = now, time.monotonic()
                elif time.monotonic() - since > WAITING_SECONDS:
                    process.kill()
                    return None, ""
        output.seek(0)
        return process.returncode, output.read().decode(errors="replace")


class Judge:
    """Runs the tests in which a mutant differs from the source, quick ones and those that killed its neighbours first."""

    def __init__(self, tests, budget, results):
        self.by_mutant, self.reached = collections.defaultdict(list), set()
        self.budget = budget
        self.kills = collections.Counter()
        for test in tests:
            for point, mask in test["points"].items():
                self.reached.add(int(point))
                for variant in range(1, int(mask).bit_length()):
                    if int(mask) >> variant & 1:
                        self.by_mutant[int(point), variant].append(test)
        for key, result in results.items():
            if result["outcome"] == "killed":
                self.count(key.split(" | ")[0], result["detail"])

    def count(self, file, test):
        self.kills[file, test] += 1
        self.kills[folder_of(file), test] += 0.2

    def batches(self, point, variant):
        def weight(test):
            name = test["name"]
            power = self.kills[point.file, name] + self.kills[folder_of(point.file), name]
            power += STRONG.get(name.split(".")[0], 0)
            return (0.02 + test["seconds"]) / (1 + power)
        limit, some, seconds, total = 0.5, [], 0.0, 0.0
        for test in sorted(self.by_mutant[point.number, variant], key=weight):
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
        """("killed", test), ("survived", how many tests), ("never differs", 0) or ("unreached", 0)"""
        met = 0
        for batch in self.batches(point, variant):
            for suite in SUITES:
                tests = [test for test in batch if test["suite"] == suite]
                if not tests:
                    continue
                met += len(tests)
                by = self.run(suite, tests, point, variant)
                if by is not None:
                    self.count(point.file, by)
                    return "killed", by
        if met:
            return "survived", met
        return "never differs" if point.number in self.reached else "unreached", 0

    def run(self, suite, tests, point, variant):
        """The test that failed, None where none did."""
        names = [test["name"] for test in tests]
        seconds = math.ceil(3 + 4 * sum(test["seconds"] for test in tests))
        command = ["prlimit", f"--as={MEMORY_BYTES}", f"--cpu={seconds}:{seconds + 1}", "--core=0", "nice", "-n", "10",
                   program(suite), f"--gtest_filter={':'.join(names)}", "--gtest_fail_fast", "--gtest_brief=1"]
        code, text = finished(command, environment(QSIM_MUTANT=f"{point.number}:{variant}"))
        if code is None:
            return "timeout"
        if code == 0:
            return None
        if code in (-signal.SIGXCPU, -signal.SIGKILL):
            return "timeout"
        failed = re.search(r"\[  FAILED  \] (\S+?),? ", text + " ")
        return failed[1] if failed else f"end with {code}"


def judge_all(mutants, judge, results, sample, jobs):
    """Puts what becomes of each mutant into `results`, on `jobs` processors; what ends early keeps what is known, and
    what became of it when it was drawn stays beside what becomes of it now."""
    reasons = read_reasons()
    def one(mutant):
        begin = time.monotonic()
        outcome, detail = judge.judge(*mutant)
        return mutant, {"outcome": outcome, "detail": detail, "seconds": round(time.monotonic() - begin, 1)}

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        waiting = [pool.submit(one, mutant) for mutant in mutants]
        try:
            for number, done in enumerate(concurrent.futures.as_completed(waiting)):
                (point, variant), result = done.result()
                key = point.key(variant)
                before = results.get(key, {})
                answered = result["outcome"] != "killed" and reason_for(key, reasons) is not None
                results[key] = {**result, "sample": before.get("sample", sample),
                                "drawn": before.get("drawn", "answered" if answered else result["outcome"])}
                save_results(results)
                if result["outcome"] != "killed":
                    say(f"{number + 1}/{len(mutants)} {result['outcome']} {point.file}:{point.line} "
                        f"{point.number}:{variant} {point.key(variant)}")
        finally:
            pool.shutdown(cancel_futures=True)
