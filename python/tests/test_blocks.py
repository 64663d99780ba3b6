"""Circuits of the blocks that applications are made of, written for other gates by Qiskit, against Qiskit's state.

What the planner gives back from decompositions, and what waits while other gates pass, is met in them by chance. QSIM_CAMPAIGN is
how many there are, QSIM_CAMPAIGN_FIRST the first one's seed.
"""

import os
import random

import numpy as np
import pytest

pytest.importorskip("qiskit")
from qiskit import QuantumCircuit, qasm2, transpile
from qiskit.circuit import library
from qiskit.quantum_info import SparsePauliOp, Statevector, random_unitary

import qsim_hpc as qsim

GATES = (
    ["rz", "sx", "x", "cx"],
    ["u3", "cx"],
    ["h", "t", "tdg", "s", "sdg", "rz", "cx", "x"],
    ["rx", "ry", "rz", "cz"],
    ["rz", "rx", "rxx"],
    ["u1", "u2", "u3", "cx", "ccx", "cp", "cry", "swap"],
)


def angle(rng):
    return rng.choice([rng.uniform(-7, 7), np.pi / rng.choice([1, 2, 3, 4, 8, 16, 64]), -np.pi / rng.choice([1, 2, 4, 8]), 0.3, rng.uniform(-1e-8, 1e-8)])


def multiplexer(kind):
    def append(circuit, qubits, rng):
        controls = rng.randint(1, min(4, len(qubits) - 1))
        circuit.append(kind([angle(rng) for _ in range(2**controls)]), qubits[: controls + 1])

    return append


def transform(circuit, qubits, rng):
    wide = rng.randint(2, len(qubits))
    circuit.append(library.QFTGate(wide), qubits[:wide])


def adder(circuit, qubits, rng):
    bits = rng.randint(1, min(3, (len(qubits) - 2) // 2))
    circuit.append(library.CDKMRippleCarryAdder(bits).to_gate(), qubits[: 2 * bits + 2])


def evolution(circuit, qubits, rng):
    wide = rng.randint(2, len(qubits))
    string = "".join(rng.choice("IXYZ") for _ in range(wide))
    circuit.append(library.PauliEvolutionGate(SparsePauliOp([string]), time=angle(rng)), qubits[:wide])


def ladder(circuit, qubits, rng):
    pairs = list(zip(qubits, qubits[1:]))
    for a, b in pairs:
        circuit.cx(a, b)
    circuit.rz(angle(rng), qubits[-1])
    for a, b in reversed(pairs):
        circuit.cx(a, b)


def rotations_of_pairs(circuit, qubits, rng):
    for a, b in zip(qubits[::2], qubits[1::2]):
        circuit.rzz(angle(rng), a, b)
        circuit.rxx(angle(rng), a, b)


def toffolis(circuit, qubits, rng):
    for _ in range(6):
        circuit.ccx(*rng.sample(qubits, 3))


def flips(circuit, qubits, rng):
    for _ in range(rng.randint(1, 5)):
        circuit.cx(*rng.sample(qubits, 2))


def controlled(circuit, qubits, rng):
    gate = rng.choice([library.RXGate(angle(rng)), library.RYGate(angle(rng)), library.HGate(), library.SXGate()])
    controls = rng.randint(1, 3)
    circuit.append(gate.control(controls), qubits[: controls + 1])


BLOCKS = [
    lambda c, q, rng: c.mcx(q[: rng.randint(2, len(q) - 1)], q[-1]),
    lambda c, q, rng: c.mcp(angle(rng), q[: rng.randint(1, len(q) - 1)], q[-1]),
    multiplexer(library.UCRYGate),
    multiplexer(library.UCRZGate),
    transform,
    adder,
    evolution,
    ladder,
    rotations_of_pairs,
    toffolis,
    flips,
    flips,
    controlled,
    lambda c, q, rng: c.swap(q[0], q[1]),
    lambda c, q, rng: c.cry(angle(rng), q[0], q[1]),
    lambda c, q, rng: c.cu(angle(rng), angle(rng), angle(rng), angle(rng), q[0], q[1]),
    lambda c, q, rng: [c.h(x) for x in q],
    lambda c, q, rng: c.cswap(q[2], q[0], q[1]),
    lambda c, q, rng: c.append(library.UnitaryGate(random_unitary(4, seed=rng.randrange(1 << 30))), q[:2]),
    lambda c, q, rng: c.rccx(q[0], q[1], q[2]),
    lambda c, q, rng: c.append(library.DiagonalGate([np.exp(1j * angle(rng)) for _ in range(8)]), q[:3]),
    lambda c, q, rng: [c.t(q[0]), c.sx(q[1]), c.iswap(q[0], q[2]), c.dcx(q[1], q[3])],
]


def circuit_of(seed):
    rng = random.Random(seed)
    circuit = QuantumCircuit(rng.randint(5, 9))
    for _ in range(rng.randint(1, 6)):
        qubits = list(range(circuit.num_qubits))
        rng.shuffle(qubits)
        rng.choice(BLOCKS)(circuit, qubits, rng)
    if rng.random() < 0.3:
        circuit = circuit.compose(circuit.inverse())
    elif rng.random() < 0.3:
        circuit = circuit.repeat(2).decompose()
    return transpile(circuit, basis_gates=rng.choice(GATES), optimization_level=rng.choice([0, 1, 1, 2]), seed_transpiler=1)


def same_up_to_a_phase(found, wanted):
    overlap = np.vdot(found, wanted)
    np.testing.assert_allclose(found * overlap / abs(overlap), wanted, rtol=0, atol=1e-10)


FIRST = int(os.environ.get("QSIM_CAMPAIGN_FIRST", 1))
COUNT = int(os.environ.get("QSIM_CAMPAIGN", 120))


@pytest.mark.parametrize("ranks", [1, 2])
def test_states(ranks):
    with qsim.Session("cpu", threads=1, ranks=ranks) as session:
        for seed in range(FIRST, FIRST + COUNT):
            source = circuit_of(seed)
            program = session.compile(qsim.Circuit.from_qasm(qasm2.dumps(source)))
            state = session.run(program)
            try:
                same_up_to_a_phase(state.to_numpy(), Statevector(source).data)
                state.set_random(seed)
                before = state.to_numpy()
                state.run(program)
                state.set_amplitudes(before)
                state.run(program)  # again: the first run of little on one rank is not planned
                same_up_to_a_phase(state.to_numpy(), Statevector(before).evolve(source).data)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}, {ranks} ranks:\n{qasm2.dumps(source)}") from error
