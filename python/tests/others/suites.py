"""The tests of PennyLane, Cirq and Qiskit themselves, run on our device, simulator, primitives and backend.

    python python/tests/others/suites.py pennylane cirq qiskit [--sources FOLDER] [-- arguments of pytest]

PennyLane's and Cirq's tests are in their installed packages. Qiskit's are in its source archive: --sources names the unpacked one
of the installed version; without it pip fetches it. What is expected to fail is listed, with the reason, in expected.py; a test
that is listed there and passes fails the run. Nothing of theirs is kept here.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

HERE = Path(__file__).parent


def package(name: str) -> Path:
    """The folder of an installed package; SystemExit where it is not there."""
    found = importlib.util.find_spec(name)
    if found is None or found.origin is None:
        raise SystemExit(f"{name} is not installed")
    return Path(found.origin).parent


def pytest(plugin: str, folder: Path, files: list[str], arguments: list[str]) -> int:
    """Runs theirs with our plugin, in a process of its own: they set things of the whole process."""
    paths = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", plugin, "-W", "ignore", "--tb=short", *files]
    return subprocess.run([*command, *arguments], cwd=folder, env={**os.environ, "PYTHONPATH": paths}).returncode


def pennylane(arguments: list[str], sources: Path | None) -> int:
    tests = package("pennylane") / "devices" / "tests"
    options = ["--device=qsim", "--skip-ops", "--no-flaky-report", "--import-mode=importlib"]
    return pytest("pennylane_plugin", tests, [str(tests), *options], arguments)


def cirq(arguments: list[str], sources: Path | None) -> int:
    folder = package("cirq")
    files = ["sim/sparse_simulator_test.py", "work/sampler_test.py", "ops/classically_controlled_operation_test.py",
             "circuits/circuit_operation_test.py"]  # fmt: skip
    return pytest("cirq_plugin", folder, ["--import-mode=importlib", *files], arguments)


def qiskit(arguments: list[str], sources: Path | None) -> int:
    version = importlib.metadata.version("qiskit")
    with tempfile.TemporaryDirectory() as folder:
        if sources is None:
            wanted = [f"qiskit=={version}", "--no-binary", "qiskit", "--no-deps", "-d", folder]
            subprocess.run([sys.executable, "-m", "pip", "download", "-q", *wanted], check=True)
            with tarfile.open(next(Path(folder).glob("*.tar.gz"))) as archive:
                names = [one for one in archive.getmembers() if one.name.startswith(f"qiskit-{version}/test/")]
                archive.extractall(folder, names, filter="data")
            sources = Path(folder) / f"qiskit-{version}"
        files = ["primitives/test_statevector_sampler.py", "primitives/test_statevector_estimator.py",
                 "primitives/test_backend_sampler_v2.py", "primitives/test_backend_estimator_v2.py",
                 "providers/basic_provider"]  # fmt: skip
        return pytest("qiskit_plugin", sources, [f"test/python/{one}" for one in files], arguments)


SUITES = {one.__name__: one for one in (pennylane, cirq, qiskit)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suites", nargs="+", choices=SUITES)
    parser.add_argument("--sources", type=Path, help="Qiskit's unpacked source archive")
    own = sys.argv[1:]
    theirs: list[str] = []
    if "--" in own:
        own, theirs = own[: own.index("--")], own[own.index("--") + 1 :]
    asked = parser.parse_args(own)
    return max([SUITES[name](theirs, asked.sources) for name in asked.suites])


if __name__ == "__main__":
    raise SystemExit(main())
