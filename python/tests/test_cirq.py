import numpy as np
import pytest

cirq = pytest.importorskip("cirq")
import sympy

import qsim_hpc as qsim
from qsim_hpc.cirq import QsimSimulator, from_cirq

Q = cirq.LineQubit.range(4)


def spread():
    return cirq.Circuit(cirq.PhasedXZGate(x_exponent=0.3 + 0.2 * i, z_exponent=0.4 * i, axis_phase_exponent=0.17)(q) for i, q in enumerate(Q))


OPERATIONS = [
    cirq.X(Q[0]), cirq.Y(Q[1]), cirq.Z(Q[2]), cirq.H(Q[3]), cirq.S(Q[0]), cirq.T(Q[1]) ** -1, cirq.X(Q[2]) ** 0.3, cirq.Y(Q[0]) ** 0.7,
    cirq.Z(Q[1]) ** 0.2, cirq.rx(0.3)(Q[0]), cirq.ry(0.4)(Q[1]), cirq.rz(0.5)(Q[2]), cirq.CNOT(Q[0], Q[2]), cirq.CZ(Q[3], Q[1]),
    cirq.CNOT(Q[3], Q[1]) ** 0.3, cirq.SWAP(Q[0], Q[3]), cirq.ISWAP(Q[1], Q[2]) ** 0.5, cirq.FSimGate(0.3, 0.5)(Q[0], Q[2]),
    cirq.TOFFOLI(Q[3], Q[0], Q[1]), cirq.FREDKIN(Q[2], Q[0], Q[3]), cirq.CCZ(Q[0], Q[1], Q[2]) ** 0.2, cirq.MatrixGate(cirq.testing.random_unitary(8, random_state=1))(Q[2], Q[0], Q[3]),
    cirq.ControlledGate(cirq.Y**0.3, control_values=[0])(Q[1], Q[2]), cirq.X(Q[0]).controlled_by(Q[1], Q[2], Q[3], control_values=[0, 1, 1]),
    cirq.QuantumFourierTransformGate(4)(*Q), cirq.GlobalPhaseGate(1j)(), cirq.ZZ(Q[0], Q[3]) ** 0.3, cirq.I(Q[0]),
    cirq.CircuitOperation(cirq.FrozenCircuit(cirq.H(Q[0]), cirq.CNOT(Q[0], Q[1])), repetitions=3), cirq.PhasedISwapPowGate(phase_exponent=0.2)(Q[0], Q[1]),
    cirq.CZ(Q[2], Q[0]) ** 0.3, cirq.CZPowGate(exponent=0.3, global_shift=0.2)(Q[1], Q[3]), cirq.ZPowGate(exponent=0.2, global_shift=-0.5)(Q[3]),
    cirq.DiagonalGate(np.arange(16))(*Q), cirq.X(Q[0]).with_tags("t"), cirq.Z(Q[0]).controlled_by(Q[3], control_values=[{0, 1}]),
]  # fmt: skip


@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_every_operation_gives_cirqs_state(operation):
    circuit = spread() + operation
    found = QsimSimulator(backend="cpu").simulate(circuit, qubit_order=Q).final_state_vector
    expected = cirq.Simulator(dtype=np.complex128).simulate(circuit, qubit_order=Q).final_state_vector
    assert found.dtype == np.complex128
    np.testing.assert_allclose(found, expected, atol=1e-7 if "CZ" in str(operation) else 1e-9)


def test_amplitudes_expectations_and_orders():
    a = sympy.Symbol("a")
    circuit = spread() + cirq.Circuit(cirq.rx(a)(Q[0]), cirq.CNOT(Q[0], Q[3]))
    ours, theirs = QsimSimulator(), cirq.Simulator(dtype=np.complex128)
    sweep = cirq.Linspace("a", 0, 1, 3)
    for order in (Q, Q[::-1], [Q[2], Q[0], Q[3], Q[1]]):
        found = ours.compute_amplitudes_sweep(circuit, [0, 5, 8], sweep, qubit_order=order)
        expected = theirs.compute_amplitudes_sweep(circuit, [0, 5, 8], sweep, qubit_order=order)
        np.testing.assert_allclose(found, expected, atol=1e-9)
        observables = [cirq.Z(Q[0]) * cirq.X(Q[3]), 0.5 * cirq.Y(Q[1]) - 2 * cirq.Z(Q[2])]
        found = ours.simulate_expectation_values_sweep(circuit, observables, sweep, qubit_order=order)
        expected = theirs.simulate_expectation_values_sweep(circuit, observables, sweep, qubit_order=order)
        np.testing.assert_allclose(found, expected, atol=1e-6)
        for initial in (5, np.arange(16) / np.linalg.norm(np.arange(16))):
            found = ours.simulate(circuit, {"a": 0.4}, qubit_order=order, initial_state=initial).final_state_vector
            expected = theirs.simulate(circuit, {"a": 0.4}, qubit_order=order, initial_state=initial).final_state_vector
            np.testing.assert_allclose(found, expected, atol=1e-7)
    measured = circuit + cirq.measure(*Q)
    with pytest.raises(ValueError):
        ours.simulate_expectation_values(measured, observables, {"a": 0.4})
    assert len(ours.simulate_expectation_values(measured, observables, {"a": 0.4}, permit_terminal_measurements=True)) == 2


def test_samples():
    circuit = cirq.Circuit(cirq.H(Q[0]), cirq.CNOT(Q[0], Q[1]), cirq.X(Q[2]), cirq.measure(Q[0], key="a"), cirq.measure(Q[2], Q[1], Q[3], key="b", invert_mask=(False, False, True)))
    result = QsimSimulator(seed=1).run(circuit, repetitions=1000)
    a, b = result.measurements["a"], result.measurements["b"]
    assert a.shape == (1000, 1) and b.shape == (1000, 3) and a.dtype == np.uint8
    np.testing.assert_array_equal(a[:, 0], b[:, 1])
    assert (b[:, 0] == 1).all() and (b[:, 2] == 1).all() and 400 < a.sum() < 600
    assert list(a[:, 0]) != sorted(a[:, 0])
    again = QsimSimulator(seed=1).run(circuit, repetitions=1000)
    np.testing.assert_array_equal(again.measurements["a"], a)
    swept = QsimSimulator().run_sweep(cirq.Circuit(cirq.X(Q[0]) ** sympy.Symbol("t"), cirq.measure(Q[0], key="m")), cirq.Points("t", [0, 1]), repetitions=5)
    assert [one.measurements["m"].sum() for one in swept] == [0, 5]


def test_measurements_that_decide():
    circuit = cirq.Circuit(
        cirq.X(Q[0]), cirq.measure(Q[0], Q[1], key="m"), cirq.X(Q[2]).with_classical_controls("m"), cirq.measure(Q[0], key="r"), cirq.reset(Q[0]),
        cirq.measure(Q[0], key="r"), cirq.measure(Q[1], key="inverted", invert_mask=(True,)), cirq.X(Q[3]).with_classical_controls("inverted"),
        cirq.measure(Q[2], Q[3], key="out"),
    )  # fmt: skip
    result = QsimSimulator().run(circuit, repetitions=10)
    assert (result.records["out"][:, 0] == [1, 1]).all() and result.records["r"].shape == (10, 2, 1)
    np.testing.assert_array_equal(result.records["r"][:, :, 0], [[1, 0]] * 10)
    theirs = cirq.Simulator().run(circuit, repetitions=10)
    for key in ("out", "m", "inverted"):
        np.testing.assert_array_equal(result.records[key], theirs.records[key])


def test_a_key_that_is_measured_again_decides_by_its_last_result():
    circuit = cirq.Circuit(
        cirq.measure(Q[0], key="k"), cirq.X(Q[0]), cirq.measure(Q[0], key="k"), cirq.X(Q[1]).with_classical_controls("k"),
        cirq.measure(Q[1], key="out"),
    )  # fmt: skip
    assert (QsimSimulator().run(circuit, repetitions=5).records["out"] == 1).all()
    assert (cirq.Simulator().run(circuit, repetitions=5).records["out"] == 1).all()


def test_simulate_of_a_circuit_that_measures_is_one_shot():
    seen = set()
    simulator = QsimSimulator(seed=3)
    condition = sympy.Symbol("a") + 2 * sympy.Symbol("b") > 2
    for _ in range(30):
        circuit = cirq.Circuit(
            cirq.H(Q[0]), cirq.CNOT(Q[0], Q[1]), cirq.measure(Q[0], key="a"), cirq.measure(Q[1], key="b", invert_mask=(True,)),
            cirq.X(Q[2]).with_classical_controls("a"), cirq.Y(Q[0]).with_classical_controls(condition),
            cirq.H(Q[1]), cirq.reset(Q[1]), cirq.ry(0.3)(Q[1]),
        )  # fmt: skip
        result = simulator.simulate(circuit, initial_state=0)
        a, b = int(result.measurements["a"][0]), int(result.measurements["b"][0])
        assert a != b
        seen.add(a)
        turned = [np.cos(0.15), np.sin(0.15)]
        expected = np.kron(np.kron(np.eye(2)[a], turned), np.eye(2)[a])  # Y never acts: a + 2 b is 1 or 2
        np.testing.assert_allclose(np.abs(result.final_state_vector), expected, atol=1e-12)
    assert seen == {0, 1}


def test_what_is_refused():
    for circuit in (
        cirq.Circuit(cirq.depolarize(0.1)(Q[0]), cirq.measure(Q[0])), cirq.Circuit(cirq.X(Q[0]).with_classical_controls(sympy.Symbol("m") > 1)),
        cirq.Circuit(cirq.measure(cirq.LineQid(0, 3))),
    ):  # fmt: skip
        with pytest.raises((qsim.UnsupportedError, ValueError)):
            QsimSimulator().run(circuit)
    with pytest.raises(ValueError, match="not specified: a"):
        QsimSimulator().simulate(cirq.Circuit(cirq.X(Q[0]) ** sympy.Symbol("a")))
    with pytest.raises(ValueError, match="1-dimensional"):
        QsimSimulator().compute_amplitudes(cirq.Circuit(cirq.X(Q[0])), [[0]])
    assert from_cirq(cirq.Circuit(cirq.H(Q[0]), cirq.CNOT(Q[0], Q[1]))) == qsim.Circuit(2).h(1).cx(1, 0)
