"""A part of PennyLane's and Cirq's own tests, run on ours; python/tests/others/suites.py runs all of them, and Qiskit's."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

SUITES = Path(__file__).parent / "others" / "suites.py"


@pytest.mark.parametrize(
    "suite, needs, part, least",
    [
        ("pennylane", ["pennylane", "pytest_mock", "flaky"], "test_wires or test_return_system or TestExpval or TestProbs", 15),
        ("cirq", ["cirq"], "sampler_test or classically_controlled", 60),
    ],
    ids=["pennylane", "cirq"],
)
def test_a_part_of_their_tests(suite, needs, part, least):
    for name in needs:
        pytest.importorskip(name)
    done = subprocess.run([sys.executable, str(SUITES), suite, "--", "-k", part], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) >= least, done.stdout[-300:]
