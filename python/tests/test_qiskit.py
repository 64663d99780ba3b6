import numpy as np
import pytest

pytest.importorskip("qiskit")
from qiskit import QuantumCircuit, QuantumRegister, ClassicalRegister, transpile
from qiskit.circuit import Parameter
from qiskit.circuit.library import HGate, QFTGate, RYGate, UnitaryGate, XGate, efficient_su2, get_standard_gate_name_mapping
from qiskit.primitives import BackendSamplerV2, StatevectorEstimator
from qiskit.quantum_info import SparsePauliOp, Statevector, random_unitary

import qsim_hpc as qsim
from qsim_hpc.qiskit import QsimBackend, QsimEstimator, QsimSampler, from_qiskit


def same_state(source):
    found = qsim.run(from_qiskit(source), statevector=True).statevector
    np.testing.assert_allclose(found, Statevector(source).data, atol=1e-12)


def spread(qubits):
    circuit = QuantumCircuit(qubits)
    for q in range(qubits):
        circuit.u(0.3 + q, 0.7 * q + 0.4, 0.2, q)
    return circuit


@pytest.mark.parametrize("name", sorted(set(get_standard_gate_name_mapping()) - {"measure", "reset", "delay", "global_phase"}))
def test_every_standard_gate(name):
    gate = get_standard_gate_name_mapping()[name]
    gate = type(gate)(*[0.3 + 0.4 * i for i in range(len(gate.params))])
    circuit = spread(gate.num_qubits + 1)
    circuit.append(gate, list(range(gate.num_qubits, 0, -1)))
    same_state(circuit)
    circuit.append(gate.control(1, ctrl_state=0), [0, *range(1, gate.num_qubits + 1)])
    same_state(circuit)


def test_what_is_not_in_the_table():
    circuit = spread(5)
    circuit.append(UnitaryGate(random_unitary(8, seed=1)), [4, 0, 2])
    circuit.append(HGate().control(3, ctrl_state="010"), [0, 1, 2, 3])
    circuit.mcx([0, 1, 2, 3], 4)
    circuit.mcp(0.3, [0, 1, 2], 3)
    circuit.append(QFTGate(4), [1, 2, 3, 4])
    inner = QuantumCircuit(2, name="h", global_phase=0.4)  # a gate of another meaning under a known name
    inner.x(0)
    inner.cry(0.2, 0, 1)
    circuit.append(inner.to_gate(), [3, 1])
    circuit.append(inner.to_gate().control(1), [0, 3, 1])
    circuit.append(RYGate(0.4).power(0.3), [0])
    circuit.append(XGate().control(2, annotated=True), [4, 2, 0])
    circuit.pauli("XYZ", [0, 3, 2])
    circuit.global_phase += 1.1
    same_state(circuit)


def test_an_initial_state_and_a_phase():
    circuit = QuantumCircuit(3, global_phase=0.7)
    amplitudes = np.random.default_rng(0).normal(size=4) + 0j
    circuit.initialize(amplitudes / np.linalg.norm(amplitudes), [2, 0])
    amplitudes /= np.linalg.norm(amplitudes)
    expected = np.zeros(8, dtype=complex)
    for i in range(4):
        expected[(i & 1) << 2 | i >> 1] = np.exp(0.7j) * amplitudes[i]
    found = qsim.run(from_qiskit(circuit), statevector=True).statevector
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_a_phase_does_not_make_a_measured_circuit_dynamic():
    circuit = QuantumCircuit(2, 2, global_phase=0.7)
    circuit.h(0)
    circuit.measure([0, 1], [0, 1])
    ours = from_qiskit(circuit)
    assert not ours.dynamic
    expected = np.exp(0.7j) * np.sqrt(0.5) * np.array([1, 1, 0, 0])
    np.testing.assert_allclose(qsim.run(ours, statevector=True).statevector, expected, atol=1e-14)


def test_parameters_stay_open():
    a, b = Parameter("a"), Parameter("b")
    circuit = QuantumCircuit(2, global_phase=a)
    circuit.rx(2 * a - b / 3 + 1, 0)
    circuit.crz(b, 0, 1)
    ours = from_qiskit(circuit)
    assert set(ours.parameters) == {"a", "b"}
    found = qsim.run(ours, params={"a": 0.3, "b": 0.8}, statevector=True).statevector
    np.testing.assert_allclose(found, Statevector(circuit.assign_parameters({a: 0.3, b: 0.8})).data, atol=1e-13)
    circuit.rx(a * b, 0)
    with pytest.raises(qsim.UnsupportedError):
        from_qiskit(circuit)


def test_backend_counts_memory_and_registers():
    backend = QsimBackend()
    circuit = QuantumCircuit(QuantumRegister(3, "q"), ClassicalRegister(2, "a"), ClassicalRegister(1, "b"))
    circuit.x(0)
    circuit.x(2)
    circuit.measure([0, 1, 2], [0, 1, 2])
    job = backend.run(transpile(circuit, backend), shots=50, memory=True, seed_simulator=3)
    assert job.result().get_counts() == {"1 01": 50} and job.result().get_memory() == ["1 01"] * 50 and job.done()
    bell = QuantumCircuit(2, 2)
    bell.h(0)
    bell.cx(0, 1)
    bell.measure([0, 1], [1, 0])
    first, second = backend.run([bell, circuit], shots=1000, seed_simulator=1).result().get_counts()
    assert set(first) == {"00", "11"} and sum(first.values()) == 1000 and second == {"1 01": 1000}
    with pytest.raises(ValueError, match="colour"):
        backend.run(bell, colour=1)
    a = Parameter("a")
    turned = QuantumCircuit(1, 1)
    turned.rx(a, 0)
    turned.measure(0, 0)
    swept = backend.run(turned, parameter_binds=[{a: [0.0, np.pi]}], shots=10).result()
    assert [swept.get_counts(i) for i in range(2)] == [{"0": 10}, {"1": 10}]
    sampled = BackendSamplerV2(backend=backend).run([bell], shots=100).result()[0].data.c.get_counts()
    assert set(sampled) == {"00", "11"}


def test_control_flow():
    backend = QsimBackend()
    circuit = QuantumCircuit(QuantumRegister(2, "q"), ClassicalRegister(2, "c"))
    circuit.ry(1.0, 0)
    circuit.measure(0, 0)
    with circuit.if_test((circuit.clbits[0], True)):
        circuit.x(1)
    with circuit.for_loop(range(3)):
        circuit.x(0)
    circuit.measure([0, 1], [0, 1])
    counts = backend.run(circuit, shots=4000, seed_simulator=5).result().get_counts()
    assert set(counts) == {"01", "10"}
    p = np.sin(0.5) ** 2
    assert abs(counts["10"] - 4000 * p) < 5 * np.sqrt(4000 * p * (1 - p))
    transpiled = transpile(circuit, backend, seed_transpiler=1)
    assert set(backend.run(transpiled, shots=100).result().get_counts()) == {"01", "10"}


def test_sampler():
    a = Parameter("a")
    circuit = QuantumCircuit(QuantumRegister(2, "q"), ClassicalRegister(1, "a"), ClassicalRegister(10, "wide"))
    circuit.rx(a, 0)
    circuit.x(1)
    circuit.measure(0, 0)
    circuit.measure(1, 10)
    values = np.array([[0.0], [np.pi], [np.pi / 2]])
    data = QsimSampler(seed=4).run([(circuit, values)], shots=200).result()[0].data
    assert data.shape == (3,) and data.wide.num_bits == 10 and data.wide.array.shape == (3, 200, 2)
    assert data.a.get_counts(0) == {"0": 200} and data.a.get_counts(1) == {"1": 200}
    assert data.wide.get_counts(2) == {"1000000000": 200} and data.wide.array[0, 0].tolist() == [2, 0]
    half = data.a.get_counts(2)["1"]
    assert 60 < half < 140
    again = QsimSampler(seed=4).run([(circuit, values)], shots=200).result()[0].data
    np.testing.assert_array_equal(again.a.array, data.a.array)
    order = data.a.array[2, :, 0].tolist()
    assert order != sorted(order)
    # registers belong together, shot by shot
    bell = QuantumCircuit(QuantumRegister(2, "q"), ClassicalRegister(1, "x"), ClassicalRegister(1, "y"))
    bell.h(0)
    bell.cx(0, 1)
    bell.measure([0, 1], [0, 1])
    pair = QsimSampler(seed=1).run([bell]).result()[0].data
    np.testing.assert_array_equal(pair.x.array, pair.y.array)
    squared = QuantumCircuit(1, 1)
    squared.rx(a * a, 0)
    squared.measure(0, 0)
    assert QsimSampler().run([(squared, [np.sqrt(np.pi)])], shots=9).result()[0].data.c.get_counts() == {"1": 9}
    with pytest.raises(TypeError):
        QsimSampler().run([bell], shots=1.5)


def test_values_are_in_qiskits_order_of_parameters():
    a, b = Parameter("a"), Parameter("b")
    circuit = QuantumCircuit(1, 1)
    circuit.rx(b, 0)
    circuit.rz(a, 0)
    operator = SparsePauliOp(["X", "Y"], [1, 2])
    mine = QsimEstimator().run([(circuit, operator, [[0.3, 0.9], [1.0, 0.1]])]).result()[0].data.evs
    theirs = StatevectorEstimator().run([(circuit, operator, [[0.3, 0.9], [1.0, 0.1]])]).result()[0].data.evs
    np.testing.assert_allclose(mine, theirs, atol=1e-12)


def test_estimator_agrees_with_qiskits():
    circuit = efficient_su2(4, reps=1)
    generator = np.random.default_rng(2)
    values = generator.normal(size=(3, 1, circuit.num_parameters))
    operators = [SparsePauliOp(["ZZII", "IXYI", "IIIZ"], [0.5, -1, 2]), SparsePauliOp("XXXX"), {"ZIII": -1}]
    pubs = [(circuit, operators, values), (circuit, operators[0], values[0, 0])]
    ours = QsimEstimator().run(pubs, precision=0.01).result()
    theirs = StatevectorEstimator().run(pubs).result()
    for mine, other in zip(ours, theirs):
        assert mine.data.shape == other.data.shape
        np.testing.assert_allclose(mine.data.evs, other.data.evs, atol=1e-12)
        assert not mine.data.stds.any() and mine.metadata["target_precision"] == 0.01


def test_estimator_knows_projectors():
    circuit = spread(4)
    state = Statevector(circuit)
    found = QsimEstimator().run([(circuit, [{"01+r": 1.5, "ZIII": -1}, {"l-II": 2}])]).result()[0].data.evs

    def overlap(labels):
        left = {q: Statevector.from_label(one).data for q, one in labels.items()}
        data = state.data.reshape([2] * 4)  # axis 3 - q
        for q in sorted(left, reverse=True):
            axis = 3 - q - sum(p > q for p in left)
            data = np.tensordot(left[q].conj(), data, axes=(0, axis))
        return np.sum(np.abs(data) ** 2)

    z3 = state.expectation_value(SparsePauliOp("ZIII")).real
    np.testing.assert_allclose(found[0], 1.5 * overlap({3: "0", 2: "1", 1: "+", 0: "r"}) - z3, atol=1e-12)
    np.testing.assert_allclose(found[1], 2 * overlap({3: "l", 2: "-"}), atol=1e-12)


def test_large_circuits_convert_gate_by_gate():
    circuit = QuantumCircuit(20)
    for i in range(500):
        circuit.h(i % 20)
        circuit.cx(i % 20, (i + 1) % 20)
        circuit.rz(0.1 * i, i % 20)
    assert len(from_qiskit(circuit)) == 1500


def test_a_classical_bit_may_be_in_several_registers():
    first = ClassicalRegister(3, "first")
    second = ClassicalRegister(bits=[first[2], first[0]], name="second")
    source = QuantumCircuit(QuantumRegister(3), first, second)
    source.x(0)
    source.measure([0, 1, 2], [0, 1, 2])
    data = QsimSampler(seed=1).run([source], shots=5).result()[0].data
    assert data.first.get_counts() == {"001": 5} and data.second.get_counts() == {"10": 5}
    assert list(QsimBackend().run(source, shots=5).result().results[0].data.counts) == ["0x1"]


def test_a_circuit_without_registers_warns():
    with pytest.warns(UserWarning, match="without classical registers"):
        assert len(QsimSampler().run([QuantumCircuit(2)]).result()[0].data) == 0
