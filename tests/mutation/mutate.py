#!/usr/bin/env python3
"""Mutation testing: one operator, constant, condition or statement is changed at a time, and a test must notice.

  tests/mutation/mutate.py --sample 400 --seed 1     # that many mutants, spread over the folders
  tests/mutation/mutate.py --fresh --sample 400 --seed 2  # only mutants of no other sample
  tests/mutation/mutate.py --only src/plan/lower     # all mutants of paths that begin so (A,B: of several)
  tests/mutation/mutate.py --survivors               # those that lived before once more
  tests/mutation/mutate.py --unreached               # runs none; the points that no test reaches at all
  tests/mutation/mutate.py --report docs/mutation.md # writes the table of what has been run

All mutants are compiled into the programs at once (tests/mutation/mutation.h) in a copy under build/mutation; the
environment chooses one. A first run of the tests records which points each reaches; a mutant then meets the tests that
reach it, quick ones first. tests/mutation/reasons.txt answers survivors that no test can or should kill.
Exit: 0, or 1 when a survivor has no answer.
"""

import argparse
import datetime
import pathlib
import sys

sys.dont_write_bytecode = True

from instrument import WORK, prepare, with_parser  # noqa: E402
from judge import Judge, all_mutants, judge_all, spread  # noqa: E402
from report import (load_results, print_unreached, read_reasons, reason_for, stale_patterns, table, tally,  # noqa: E402
                    tally_sample, tally_samples, table_of_samples, used_reasons, write_report)


def to_run(result, survivors):
    """Is a mutant with this result to be tried?"""
    return result is None if not survivors else result is not None and result["outcome"] != "killed"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, help="how many mutants (default: all)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fresh", action="store_true", help="draw the sample among mutants of no other sample")
    parser.add_argument("--only", default="",
                        help="paths that begin so, with commas between them; others are compiled without mutants")
    parser.add_argument("--survivors", action="store_true", help="only mutants that lived before and have no reason")
    parser.add_argument("--again", action="store_true", help="also mutants that have been judged before")
    parser.add_argument("--budget", type=float, default=60, help="processor seconds of tests that a mutant meets at most")
    parser.add_argument("--jobs", type=int, default=1, help="compilations, and then mutants, at a time")
    parser.add_argument("--as-built", action="store_true", help="use the programs as they were last built")
    parser.add_argument("--unreached", action="store_true", help="run nothing; print the points that no test reaches")
    parser.add_argument("--list", action="store_true",
                        help="run nothing; print survivors without a reason, and reasons that are like no mutant")
    parser.add_argument("--report", type=pathlib.Path, help="write the table into this page")
    arguments = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    with_parser()
    only = tuple(arguments.only.split(","))
    points, masks, tests, dropped = prepare(arguments.jobs, arguments.as_built, only)
    if arguments.unreached:
        print_unreached(points, masks, tests)
        return
    mutants = all_mutants(points, masks)
    results, reasons = load_results(), read_reasons()
    asked = mutants
    sample = f"{arguments.sample} of {arguments.only or 'all'}, seed {arguments.seed}"
    if arguments.fresh:
        asked = [(point, variant) for point, variant in asked
                 if results.get(point.key(variant), {"sample": sample})["sample"] == sample]
    if arguments.sample:
        asked = spread(asked, arguments.sample, arguments.seed)
    if not arguments.list:
        chosen = [(point, variant) for point, variant in asked
                  if arguments.again or to_run(results.get(point.key(variant)), arguments.survivors)
                  and (not arguments.survivors or reason_for(point.key(variant), reasons) is None)]
        judge_all(chosen, Judge(tests, arguments.budget, results), results, sample, arguments.jobs)
    rows, left = tally(results, asked, reasons)
    for point, variant, result in left:
        print(f"{point.file}:{point.line}: {result['outcome']} ({result['detail']}), QSIM_MUTANT={point.number}:{variant}: "
              f"{point.key(variant)}")
    for pattern in stale_patterns(mutants, reasons) if arguments.list else []:
        print(f"a reason that is like no mutant: {pattern}")
    print(table(rows, mutants))
    if arguments.report:
        head = (f"{datetime.date.today()}: {len(points)} points, {len(mutants)} mutants; {dropped} more points do not "
                f"compile. {len(tests)} tests of {sum(test['seconds'] for test in tests):.0f} s met those that were run, "
                f"each for at most {arguments.budget:.0f} s.")
        rows, left = tally(results, mutants, reasons)
        lines = [head, "", f"### {sample}, as it was drawn", "", table(tally_sample(results, mutants, sample), mutants),
                 "", "### Every sample, as it was drawn", "", table_of_samples(tally_samples(results)),
                 "", "### All that was drawn and is still there, with the answers", "", table(rows, mutants)]
        write_report(arguments.report, lines, used_reasons(results, mutants, reasons), left)
    print(f"{len(points)} points, {len(mutants)} mutants, {dropped} points that do not compile")
    sys.exit(1 if left else 0)


if __name__ == "__main__":
    main()
