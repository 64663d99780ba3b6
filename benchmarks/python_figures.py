"""What the Python package costs: appending gates, one run beside the same call in C++, conversion, import, the wheel.

    python benchmarks/python_figures.py [--library build/libqsim.a] [--wheel FILE.whl]

With --library, the C++ call is compiled and timed as well. Medians of several repeats; the machine's load is printed. Other
simulators are beside ours in benchmarks/peers.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import qsim_hpc as qsim

TOP = Path(__file__).resolve().parents[1]

CALL = r"""
#include <algorithm>
#include <chrono>
#include <cstdio>
#include "qsim/qsim.h"
int main() {
  qsim::Target target;
  target.backend = qsim::BackendKind::kCpu;
  target.threads = 1;
  qsim::Session session(target);
  qsim::Circuit circuit(10);
  for (unsigned i = 0; i < 50; ++i) circuit.u(0.1 + i, 0.2 * i, 0.3, i % 10).cx(i % 10, (i + 3) % 10);
  const qsim::Program program = session.compile(circuit);
  const qsim::PauliSum sum = qsim::parse_pauli_sum("Z0 Z1", 10);
  double total = 0;
  std::vector<double> each;
  for (int repeat = 0; repeat < 21; ++repeat) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 500; ++i) {
      qsim::State state = session.run(program);
      total += state.expectation(sum);
    }
    each.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / 500);
  }
  std::nth_element(each.begin(), each.begin() + 10, each.end());
  std::printf("%.9f\n", total == 0 ? 0 : each[10]);
}
"""


def median(call, count=1, repeats=7):
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        for _ in range(count):
            call()
        times.append((time.perf_counter() - begin) / count)
    return statistics.median(times)


def appending():
    def one_by_one():
        circuit = qsim.Circuit(20)
        cx, rz = circuit.cx, circuit.rz
        for i in range(500_000):
            cx(i % 20, (i + 1) % 20)
            rz(0.1, i % 20)

    qubits = np.arange(1_000_000) % 20
    angles = np.linspace(0, 1, 1_000_000)
    print(f"append 10^6 gates one by one   {median(one_by_one, repeats=3):.3f} s")
    print(f"append 10^6 rz by arrays       {median(lambda: qsim.Circuit(20).append('rz', qubits, angles)):.3f} s")
    pairs = np.stack([qubits, (qubits + 1) % 20], axis=1)
    print(f"append 10^6 cx by arrays       {median(lambda: qsim.Circuit(20).append('cx', pairs)):.3f} s")


def one_run(library):
    circuit = qsim.Circuit(10)
    for i in range(50):
        circuit.u(0.1 + i, 0.2 * i, 0.3, i % 10).cx(i % 10, (i + 3) % 10)
    session = qsim.Session("cpu", threads=1)
    program, total = session.compile(circuit), qsim.PauliSum("Z0 Z1", 10)
    here = median(lambda: qsim.run(program, session=session, observables=total), 500, 21)
    print(f"run, 10 qubits, 100 gates      {here * 1e6:.1f} us")
    if library:
        with tempfile.TemporaryDirectory() as folder:
            source, program_file = Path(folder) / "call.cpp", Path(folder) / "call"
            source.write_text(CALL)
            subprocess.run(["g++", "-O2", "-std=c++20", f"-I{TOP / 'include'}", str(source), str(library), "-lpthread", "-o", str(program_file)], check=True)
            there = float(subprocess.run([str(program_file)], check=True, capture_output=True, text=True).stdout)
        print(f"the same call in C++           {there * 1e6:.1f} us: overhead {1e6 * (here - there):.1f} us")


def starting(wheel):
    command = [sys.executable, "-c", "import time; t = time.perf_counter(); import qsim_hpc; print(time.perf_counter() - t)"]
    times = [float(subprocess.run(command, check=True, capture_output=True, text=True).stdout) for _ in range(7)]
    print(f"import                         {statistics.median(times):.3f} s")
    if wheel:
        print(f"wheel                          {os.path.getsize(wheel) / 1e6:.2f} MB")


def conversion():
    try:
        from qiskit import QuantumCircuit

        from qsim_hpc.qiskit import from_qiskit
    except ImportError:
        return
    circuit = QuantumCircuit(20)
    for i in range(33_334):
        circuit.h(i % 20)
        circuit.cx(i % 20, (i + 1) % 20)
        circuit.rz(0.1 * i, i % 20)
    print(f"convert 10^5 gates of Qiskit   {median(lambda: from_qiskit(circuit)):.3f} s")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", type=Path)
    parser.add_argument("--wheel", type=Path)
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, Python {sys.version.split()[0]}, numpy {np.__version__}")
    starting(options.wheel)
    appending()
    one_run(options.library)
    conversion()


if __name__ == "__main__":
    main()
