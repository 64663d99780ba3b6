"""What the Python package costs: appending gates, one run beside the same call in C++, conversion, import, the wheel.

    python benchmarks/python_figures.py [--library build/libqsim.a] [--wheel FILE.whl] [--compare 20]

With --library, the C++ call is compiled and timed as well. --compare N runs the same circuits of N qubits with what is installed
of Aer, Lightning and Qulacs. Medians of several repeats; the machine's load is printed.
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


def layers(qubits):
    """An EfficientSU2-like circuit as (name, angles, qubits)."""
    generator = np.random.default_rng(1)
    for _ in range(6):
        for q in range(qubits):
            yield "ry", [generator.uniform(0, 3)], [q]
            yield "rz", [generator.uniform(0, 3)], [q]
        for q in range(qubits - 1):
            yield "cx", [], [q, q + 1]


def compare(qubits):
    """The whole call, from the framework's circuit to the expectation value of Z0 Z1, in double precision."""
    gates = list(layers(qubits))

    def ours():
        circuit = qsim.Circuit(qubits)
        for name, angles, on in gates:
            getattr(circuit, name)(*angles, *on)
        return qsim.run(circuit, observables="Z0 Z1").expectations[0]

    found = {"qsim_hpc": ours}
    try:
        from qiskit import QuantumCircuit
        from qiskit.quantum_info import SparsePauliOp

        from qsim_hpc.qiskit import QsimEstimator

        circuit = QuantumCircuit(qubits)
        for name, angles, on in gates:
            getattr(circuit, name)(*angles, *on)
        operator = SparsePauliOp("I" * (qubits - 2) + "ZZ")
        estimator = QsimEstimator()
        found["qsim_hpc, from Qiskit"] = lambda: float(estimator.run([(circuit, operator)]).result()[0].data.evs)
        from qiskit_aer.primitives import EstimatorV2

        aer = EstimatorV2()
        found["Aer"] = lambda: float(aer.run([(circuit, operator)]).result()[0].data.evs)
    except ImportError:
        pass
    try:
        import pennylane as qml

        def tape_on(device):
            @qml.qnode(device)
            def node():
                for name, angles, on in gates:
                    {"ry": qml.RY, "rz": qml.RZ, "cx": qml.CNOT}[name](*angles, wires=on)
                return qml.expval(qml.PauliZ(0) @ qml.PauliZ(1))

            return lambda: float(node())

        from qsim_hpc.pennylane import QsimDevice

        found["qsim_hpc, from PennyLane"] = tape_on(QsimDevice(wires=qubits))
        found["Lightning"] = tape_on(qml.device("lightning.qubit", wires=qubits))
    except ImportError:
        pass
    try:
        import qulacs

        def with_qulacs():
            circuit, state = qulacs.QuantumCircuit(qubits), qulacs.QuantumState(qubits)
            for name, angles, on in gates:
                if name == "cx":
                    circuit.add_CNOT_gate(*on)
                else:  # its angles have the other sign
                    getattr(circuit, f"add_{name.upper()}_gate")(on[0], -angles[0])
            circuit.update_quantum_state(state)
            observable = qulacs.Observable(qubits)
            observable.add_operator(1.0, "Z 0 Z 1")
            return observable.get_expectation_value(state)

        found["Qulacs"] = with_qulacs
    except ImportError:
        pass
    expected = ours()
    for name, call in found.items():
        assert abs(call() - expected) < 1e-9, (name, call(), expected)
        print(f"{qubits} qubits, {len(gates)} gates, {name:<26}{median(call, repeats=5):.4f} s")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", type=Path)
    parser.add_argument("--wheel", type=Path)
    parser.add_argument("--compare", type=int, nargs="*", default=[])
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, Python {sys.version.split()[0]}, numpy {np.__version__}")
    starting(options.wheel)
    appending()
    one_run(options.library)
    conversion()
    for qubits in options.compare:
        compare(qubits)


if __name__ == "__main__":
    main()
