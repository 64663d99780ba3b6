"""Circuits of public families, by name: Qiskit's library, MQT Bench's algorithms, and what neither has.

CIRCUITS is a row for each: name -> (smallest number of qubits that makes sense, function of the number of qubits). A function gives a circuit
of that many qubits or a few fewer, always the same one, without measurements.
"""

import math
import random

import numpy as np
from mqt.bench import BenchmarkLevel, get_benchmark
from qiskit import QuantumCircuit, QuantumRegister
from qiskit.circuit import library
from qiskit.circuit.library import PauliEvolutionGate
from qiskit.quantum_info import SparsePauliOp
from qiskit.synthesis import LieTrotter, SuzukiTrotter

SEED = 20261130


def bound(circuit):
    """The circuit with a random angle for each of its parameters."""
    draw = random.Random(SEED)
    return circuit.assign_parameters([draw.uniform(-math.pi, math.pi) for _ in circuit.parameters])


def mqt(name):
    """A benchmark of MQT Bench."""

    def make(n):
        circuit = get_benchmark(name, BenchmarkLevel.ALG, n)
        circuit.remove_final_measurements()
        return bound(circuit) if circuit.parameters else circuit

    return make


def on_pairs(pairs, letters):
    return SparsePauliOp.from_sparse_list([(word, list(pair), 0.1 + 0.07 * i) for i, pair in enumerate(pairs) for word in letters], max(map(max, pairs)) + 1)


def evolution(operator, steps, synthesis=LieTrotter):
    circuit = QuantumCircuit(operator.num_qubits)
    circuit.append(PauliEvolutionGate(operator, 0.4, synthesis=synthesis(reps=steps)), range(operator.num_qubits))
    return circuit.decompose()


def chain(n):
    return [(i, i + 1) for i in range(n - 1)]


def ring_with_chords(n):
    return [(i, (i + 1) % n) for i in range(n)] + [(i, (i + n // 2) % n) for i in range(n // 2)]


def random_clifford_t(n):
    draw = random.Random(SEED)
    circuit = QuantumCircuit(n)
    for _ in range(20 * n):
        a, b = draw.sample(range(n), 2)
        getattr(circuit, draw.choice(["h", "s", "t", "tdg"]))(a)
        circuit.cx(a, b)
    return circuit


def toffoli_network(n):
    draw = random.Random(SEED)
    circuit = QuantumCircuit(n)
    circuit.h(range(n))
    for _ in range(4 * n):
        circuit.ccx(*draw.sample(range(n), 3))
    return circuit


def multiplexed_ry(n):
    """RY of the last qubit, its angle chosen by six others, once for each of many last qubits."""
    draw = random.Random(SEED)
    circuit = QuantumCircuit(n)
    circuit.h(range(n))
    for target in range(6, n):
        circuit.append(library.UCRYGate([draw.uniform(-1, 1) for _ in range(64)]), [target, *draw.sample(range(target), 6)])
    return circuit.decompose()


def prepared_state(n):
    """A random state of eight qubits, spread to the others by CX gates."""
    draw = np.random.default_rng(SEED)
    amplitudes = draw.normal(size=256) + 1j * draw.normal(size=256)
    circuit = QuantumCircuit(n)
    circuit.append(library.StatePreparation(amplitudes / np.linalg.norm(amplitudes)), range(8))
    for i in range(8, n):
        circuit.cx(i - 8, i)
    return circuit.decompose()


def controlled(mode):
    """X under all other qubits, or under half of them with the ancillas of a mode of Qiskit's synthesis."""

    def make(n):
        circuit = QuantumCircuit(n)
        if mode == "noancilla":
            circuit.mcx(list(range(n - 1)), n - 1)
            return circuit
        controls = (n + 1) // 2
        circuit.mcx(list(range(controls)), controls, list(range(controls + 1, controls + 1 + controls - 2)), mode=mode)
        return circuit

    return make


def controlled_phases(n):
    circuit = QuantumCircuit(n)
    for top in range(n // 2, n, 2):
        circuit.mcp(0.3 + 0.01 * top, list(range(top - n // 2 + 1, top)), top)
        circuit.ry(0.2, top)
    return circuit


def grover(n):
    """Two rounds of Grover's search over half of the qubits, the others the ancillas of its gates."""
    k = (n + 2) // 2
    ancillas = list(range(k, k + k - 3))
    circuit = QuantumCircuit(n)
    circuit.h(range(k))
    for _ in range(2):
        for flips in ([i for i in range(k) if i % 3], range(k)):
            if len(flips) == k:
                circuit.h(range(k))
            circuit.x(flips)
            circuit.h(k - 1)
            circuit.mcx(list(range(k - 1)), k - 1, ancillas, mode="v-chain")
            circuit.h(k - 1)
            circuit.x(flips)
            if len(flips) == k:
                circuit.h(range(k))
    return circuit


def weighted_sum(n):
    terms = next(k for k in range(n, 1, -1) if library.WeightedAdder(k, [1 + i % 3 for i in range(k)]).num_qubits <= n)
    return library.WeightedAdder(terms, [1 + i % 3 for i in range(terms)]).decompose()


def givens(n):
    circuit = QuantumCircuit(n)
    draw = random.Random(SEED)
    circuit.x(range(0, n, 2))
    for layer in range(n // 2):
        for i in range(layer % 2, n - 1, 2):
            circuit.append(library.XXPlusYYGate(draw.uniform(-1, 1), draw.uniform(-1, 1)), [i, i + 1])
    return circuit


def fermionic_swaps(n):
    circuit = QuantumCircuit(n)
    draw = random.Random(SEED)
    for layer in range(n):
        for i in range(layer % 2, n - 1, 2):
            circuit.append(library.XXPlusYYGate(draw.uniform(-1, 1)), [i, i + 1])
            circuit.cp(draw.uniform(-1, 1), i, i + 1)
            circuit.swap(i, i + 1)
            circuit.cz(i, i + 1)
    return circuit


def excitations(n):
    """Double excitations of coupled cluster: eight strings for each four orbitals, by ladders."""
    circuit = QuantumCircuit(n)
    draw = random.Random(SEED)
    circuit.x(range(n // 2))
    for _ in range(n // 2):
        four = sorted(draw.sample(range(n), 4))
        angle = draw.uniform(-1, 1)
        for word in ("XXXY", "XXYX", "XYXX", "YXXX", "YYYX", "YYXY", "YXYY", "XYYY"):
            circuit.append(PauliEvolutionGate(SparsePauliOp.from_sparse_list([(word, four, angle)], n), 1), range(n))
    return circuit.decompose()


def surface_round(n):
    """Rounds of parities of four neighbours on a grid, data and ancillas interleaved."""
    side = int(math.sqrt(n))
    circuit = QuantumCircuit(side * side)
    for _ in range(3):
        for row in range(side):
            for column in range(side):
                if (row + column) % 2:
                    here = row * side + column
                    near = [(row + a) * side + column + b for a, b in ((0, 1), (1, 0), (0, -1), (-1, 0)) if 0 <= row + a < side and 0 <= column + b < side]
                    if row % 2:
                        circuit.h(here)
                    for other in near:
                        circuit.cx(*((here, other) if row % 2 else (other, here)))
                    if row % 2:
                        circuit.h(here)
        circuit.rx(0.1, range(side * side))
    return circuit


def dicke(n):
    """A Dicke state of three excitations, by rotations under one and two controls."""
    k = 3
    circuit = QuantumCircuit(n)
    circuit.x(range(n - k, n))
    for m in range(n, 1, -1):
        for j in range(1, min(k, m - 1) + 1):
            target, control = m - 1 - j, m - 1
            circuit.cx(target, control)
            angle = 2 * math.acos(math.sqrt(j / m))
            if j == 1:
                circuit.cry(angle, control, target)
            else:
                circuit.append(library.RYGate(angle).control(2), [control, target + 1, target])
            circuit.cx(target, control)
    return circuit


def of_registers(circuit):
    """The circuit with one register, of gates that OpenQASM 2 can define."""
    flat = QuantumCircuit(QuantumRegister(circuit.num_qubits, "q"))
    flat.compose(circuit, range(circuit.num_qubits), inplace=True)
    return flat.decompose(["permutation", "c-unitary"])


def random_symmetric(n):
    """A symmetric matrix of 0 and 1."""
    bits = np.random.default_rng(SEED).integers(0, 2, (n, n))
    return np.triu(bits) + np.triu(bits, 1).T


def sized(make, qubits, least=1):
    """A family that `make` gives by another size, which takes `qubits(size)` qubits."""
    return lambda n: make(max(k for k in range(least, n + 1) if qubits(k) <= n))


CIRCUITS = {
    "adder": (6, sized(lambda k: library.CDKMRippleCarryAdder(k).decompose(), lambda k: 2 * k + 2)),
    "vbe_adder": (8, sized(lambda k: library.VBERippleCarryAdder(k).decompose(), lambda k: 3 * k + 1)),
    "draper_adder": (6, sized(lambda k: library.DraperQFTAdder(k).decompose(), lambda k: 2 * k)),
    "hrs_multiplier": (9, sized(lambda k: library.HRSCumulativeMultiplier(k).decompose(), lambda k: 4 * k + 1)),
    "qft_multiplier": (8, sized(lambda k: library.RGQFTMultiplier(k).decompose(), lambda k: 4 * k)),
    "comparator": (5, sized(lambda k: library.IntegerComparator(k, 2 ** (k - 1) + 3).decompose(), lambda k: 2 * k)),
    "weighted_adder": (7, weighted_sum),
    "linear_rotations": (5, lambda n: library.LinearPauliRotations(n - 1, 0.1, 0.2).decompose()),
    "piecewise_rotations": (7, sized(lambda k: library.PiecewiseLinearPauliRotations(k, [0, 2, 5], [0.1, -0.2, 0.3], [0.5, 0.3, 0.1]).decompose(), lambda k: 2 * k + 1, 3)),
    "linear_function": (7, sized(lambda k: library.LinearAmplitudeFunction(k, 0.5, 0.1, (0, 1), (0, 1)).decompose(), lambda k: k + 1)),
    "bernstein_vazirani": (4, mqt("bv")),
    "deutsch_jozsa": (4, mqt("dj")),
    "ghz": (4, mqt("ghz")),
    "qft": (4, mqt("qft")),
    "qft_entangled": (4, mqt("qftentangled")),
    "phase_estimation": (4, mqt("qpeexact")),
    "phase_estimation_inexact": (4, mqt("qpeinexact")),
    "amplitude_estimation": (4, mqt("ae")),
    "graph_state": (4, mqt("graphstate")),
    "qaoa": (4, mqt("qaoa")),
    "qnn": (4, mqt("qnn")),
    "real_amplitudes": (4, mqt("vqe_real_amp")),
    "su2": (4, mqt("vqe_su2")),
    "two_local": (4, mqt("vqe_two_local")),
    "w_state": (4, mqt("wstate")),
    "cardinality": (4, mqt("bmw_quark_cardinality")),
    "copula": (4, lambda n: mqt("bmw_quark_copula")(n - n % 2)),
    "hhl": (5, lambda n: mqt("hhl")(min(n, 16))),
    "grover_oracle": (4, lambda n: mqt("grover")(min(n, 10))),
    "walk": (4, mqt("qwalk")),
    "multiplier": (8, lambda n: mqt("multiplier")(n - n % 4)),
    "full_adder": (6, lambda n: mqt("full_adder")(n - n % 2)),
    "half_adder": (7, lambda n: mqt("half_adder")(n - 1 + n % 2)),
    "modular_adder": (6, lambda n: mqt("modular_adder")(n - n % 2)),
    "random_gates": (4, mqt("randomcircuit")),
    "iqp": (4, lambda n: library.random_iqp(n, SEED).decompose()),
    "hidden_linear": (4, lambda n: library.hidden_linear_function(random_symmetric(n))),
    "zz_features": (4, lambda n: bound(library.zz_feature_map(n, 2))),
    "excitation_preserving": (4, lambda n: bound(library.excitation_preserving(n, reps=3))),
    "pauli_two_design": (4, lambda n: bound(library.pauli_two_design(n, 4, seed=SEED))),
    "heisenberg_chain": (4, lambda n: evolution(on_pairs(chain(n), ("XX", "YY", "ZZ")), 3)),
    "heisenberg_ring": (6, lambda n: evolution(on_pairs(ring_with_chords(n), ("XX", "YY", "ZZ")), 2, lambda reps: SuzukiTrotter(2, reps))),
    "ising_ring": (6, lambda n: evolution(on_pairs(ring_with_chords(n), ("ZZ",)) + SparsePauliOp.from_sparse_list([("X", [i], 0.3) for i in range(n)], n), 4)),
    "excitations": (6, excitations),
    "givens": (4, givens),
    "fermionic_swaps": (4, fermionic_swaps),
    "dicke": (5, dicke),
    "multiplexed_ry": (8, multiplexed_ry),
    "prepared_state": (9, prepared_state),
    "mcx": (4, controlled("noancilla")),
    "mcx_clean": (7, controlled("v-chain")),
    "mcx_dirty": (7, controlled("v-chain-dirty")),
    "controlled_phases": (6, controlled_phases),
    "grover": (8, grover),
    "clifford_t": (4, random_clifford_t),
    "toffoli": (4, toffoli_network),
    "surface_code": (9, surface_round),
    "quantum_volume": (4, lambda n: library.quantum_volume(n, 6, seed=SEED).decompose()),
}
