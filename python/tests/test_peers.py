"""The measurements beside other simulators on a GPU (benchmarks/peers), with a simulator in numpy in their place."""

import sys
from pathlib import Path

import numpy as np
import pytest

import qsim_hpc as qsim

FOLDER = Path(__file__).parents[2] / "benchmarks" / "peers"
TEXT = """OPENQASM 2.0; include "qelib1.inc"; qreg q[4];
h q[0]; h q[1]; ry(0.3) q[2]; rx(pi/3) q[3]; x q[1]; y q[2]; z q[0]; s q[1]; sdg q[2]; t q[3]; tdg q[0]; rz(0.7) q[1];
p(0.4) q[2]; u(0.1,0.2,0.3) q[3]; cx q[0],q[3]; cz q[1],q[2]; cp(-0.6) q[3],q[1]; swap q[0],q[2]; ccx q[2],q[3],q[0];
"""


@pytest.fixture(scope="module")
def peers():
    sys.path.insert(0, str(FOLDER))
    try:
        import gpu_simulators
    finally:
        sys.path.remove(str(FOLDER))
    return gpu_simulators


def stand_in(peers, factor):
    class StandIn(peers.GpuSimulator):
        def load(self, circuit):
            self.circuit = circuit

        def prepare(self):
            self.state = np.zeros(1 << self.circuit.qubits, dtype=complex)
            self.state[0] = 1

        def run(self):
            for name, angles, qubits in self.circuit.gates:
                controls, kind, elements = peers.form(name, angles)
                on, targets = qubits[:controls], qubits[controls:]
                size = 1 << len(targets)
                matrix = {"dense": lambda: np.reshape(elements, (size, size)), "diagonal": lambda: np.diag(elements),
                          "antidiagonal": lambda: np.fliplr(np.diag(elements))}[kind]()
                before, indices = self.state.copy(), np.arange(len(self.state))
                applies = np.all([indices >> q & 1 for q in on], axis=0) if on else np.full(len(indices), True)
                row = sum((indices >> q & 1) << k for k, q in enumerate(targets))
                clear = indices & ~sum(1 << q for q in targets)
                columns = [before[clear | sum((column >> k & 1) << q for k, q in enumerate(targets))] for column in range(size)]
                self.state = np.where(applies, sum(matrix[row, column] * columns[column] for column in range(size)), before)

        def amplitudes(self, indices):
            return factor * (self.state if indices is None else self.state[list(indices)])

        def close(self):
            self.state = None

    return StandIn


@pytest.mark.parametrize("factor, right", [(1j, True), (1.001, False), (np.nan, False)])
def test_answers_count_where_they_agree_up_to_a_phase(peers, monkeypatch, tmp_path, factor, right):
    monkeypatch.setitem(peers.SIMULATORS, "stand-in", stand_in(peers, factor))
    file, reference = tmp_path / "circuit.qasm", tmp_path / "small.npy"
    file.write_text(TEXT, encoding="utf-8")
    state = qsim.run(qsim.Circuit.from_qasm(TEXT), statevector=True).statevector
    np.save(reference, state)
    indices = [0, 5, 9, 15]
    (row,) = peers.rows_of_case("stand-in", {
        "circuit": str(file), "small": str(file), "small_amplitudes": str(reference), "indices": indices,
        "amplitudes": [(state[i].real, state[i].imag) for i in indices], "precision": "double", "variant": "default", "repeats": 3,
    })  # fmt: skip
    assert row["equal"] == right, row
    assert row["repeats"] == 3 and row["ms"] > 0
