import numpy as np
import pytest

qml = pytest.importorskip("pennylane")
from pennylane import numpy as pnp

import qsim_hpc as qsim
from qsim_hpc.pennylane import QsimDevice, from_tape


def devices(wires=4, **options):
    return qml.device("default.qubit", wires=wires), QsimDevice(wires=wires, backend="cpu", **options)


OPERATORS = [
    lambda: qml.PauliX(0), lambda: qml.PauliY(1), lambda: qml.PauliZ(2), lambda: qml.Hadamard(3), lambda: qml.S(0),
    lambda: qml.T(1), lambda: qml.SX(2), lambda: qml.adjoint(qml.S(0)), lambda: qml.adjoint(qml.T(1)),
    lambda: qml.adjoint(qml.SX(2)), lambda: qml.RX(0.3, 0), lambda: qml.RY(0.4, 1), lambda: qml.RZ(0.5, 2),
    lambda: qml.PhaseShift(0.6, 3), lambda: qml.Rot(0.1, 0.2, 0.3, 0), lambda: qml.U1(0.7, 1), lambda: qml.U2(0.1, 0.2, 2),
    lambda: qml.U3(0.1, 0.2, 0.3, 3), lambda: qml.CNOT([0, 2]), lambda: qml.CY([3, 1]), lambda: qml.CZ([1, 2]),
    lambda: qml.CH([2, 0]), lambda: qml.SWAP([0, 3]), lambda: qml.CSWAP([2, 0, 3]), lambda: qml.Toffoli([3, 0, 1]),
    lambda: qml.CRX(0.3, [0, 1]), lambda: qml.CRY(0.4, [1, 3]), lambda: qml.CRZ(0.5, [2, 0]), lambda: qml.CRot(0.1, 0.2, 0.3, [3, 0]),
    lambda: qml.ControlledPhaseShift(0.4, [0, 3]), lambda: qml.IsingXX(0.3, [0, 2]), lambda: qml.IsingYY(0.3, [1, 2]),
    lambda: qml.IsingZZ(0.3, [3, 2]), lambda: qml.IsingXY(0.3, [3, 2]), lambda: qml.ISWAP([0, 1]), lambda: qml.ECR([1, 3]),
    lambda: qml.MultiRZ(0.3, [0, 1, 3]), lambda: qml.PauliRot(0.4, "XIY", [3, 1, 0]), lambda: qml.GlobalPhase(0.7),
    lambda: qml.Identity(2), lambda: qml.MultiControlledX([0, 1, 2, 3], control_values=[1, 0, 1]),
    lambda: qml.ctrl(qml.RX(0.4, 0), control=[2, 3], control_values=[0, 1]), lambda: qml.QubitUnitary(qml.matrix(qml.CRot(0.3, 0.1, 0.2, [0, 1])), [2, 0]),
    lambda: qml.DiagonalQubitUnitary(np.exp(1j * np.arange(4)), [3, 1]), lambda: qml.QFT([0, 1, 2, 3]), lambda: qml.DoubleExcitation(0.3, [0, 1, 2, 3]),
    lambda: qml.adjoint(qml.RX(0.3, 0)), lambda: qml.exp(qml.PauliX(0) @ qml.PauliZ(2), 0.3j), lambda: qml.GroverOperator([0, 1, 2]),
    lambda: qml.ctrl(qml.MultiRZ(0.3, [0, 2]), control=[1, 3], control_values=[0, 1]), lambda: qml.ctrl(qml.Rot(0.1, 0.2, 0.3, 2), control=0),
    lambda: qml.ctrl(qml.PauliRot(0.4, "XIY", [3, 1, 0]), control=2), lambda: qml.ctrl(qml.PauliRot(0.4, "II", [3, 1]), control=2),
    lambda: qml.ctrl(qml.GlobalPhase(0.7), control=[0, 2]), lambda: qml.ctrl(qml.GlobalPhase(0.7), control=[0, 1, 2, 3], control_values=[0, 1, 0, 1]),
    lambda: qml.ctrl(qml.adjoint(qml.SX(1)), control=[0, 2]), lambda: qml.adjoint(qml.ctrl(qml.T(1), control=[0, 2]), lazy=True),
    lambda: qml.CCZ([3, 0, 1]), lambda: qml.adjoint(qml.QFT([0, 1, 2, 3])), lambda: qml.pow(qml.RX(0.3, 1), 0.5), lambda: qml.PSWAP(0.2, [1, 2]),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(OPERATORS)))
def test_every_operator_gives_pennylanes_state(number):
    results = []
    for device in devices():
        @qml.qnode(device)
        def circuit():
            for wire in range(4):
                qml.U3(0.3 + wire, 0.2 * wire, 0.5, wires=wire)
            OPERATORS[number]()
            return qml.state()

        results.append(circuit())
    np.testing.assert_allclose(results[1], results[0], atol=1e-12)


def ansatz(x):
    for wire in range(4):
        qml.RX(x[wire], wires=wire)
        qml.RY(x[wire] * 2, wires=wire)
    for wire in range(3):
        qml.CNOT([wire, wire + 1])


MEASUREMENTS = [
    lambda: qml.expval(qml.PauliZ(0)), lambda: qml.expval(qml.PauliX(1) @ qml.PauliY(3)), lambda: qml.var(qml.PauliY(2)),
    lambda: qml.expval(0.5 * qml.PauliZ(0) @ qml.PauliZ(1) - 1.2 * qml.PauliX(3)), lambda: qml.probs([2, 0]),
    lambda: qml.expval(qml.Hermitian(np.array([[1, 2j], [-2j, 0]]), 1)), lambda: qml.expval(qml.Projector([1, 0], [0, 2])),
    lambda: qml.purity([0]), lambda: qml.density_matrix([1, 2]), lambda: qml.probs(op=qml.PauliX(0)), lambda: qml.vn_entropy([1]),
    lambda: qml.expval(2 * qml.Hermitian(np.array([[1, 2j], [-2j, 0]]), 1) + qml.PauliX(0) @ qml.Hermitian(np.diag([1, 3.0]), 2)),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(MEASUREMENTS)))
def test_every_measurement_agrees(number):
    results = []
    for device in devices():
        @qml.qnode(device)
        def circuit(x):
            ansatz(x)
            return MEASUREMENTS[number](), qml.expval(qml.PauliZ(3))

        results.append(circuit(np.array([0.1, 0.5, 0.9, 1.3])))
    for mine, other in zip(results[1], results[0]):
        np.testing.assert_allclose(mine, other, atol=1e-10)


def test_gradients_and_broadcasting():
    x = pnp.array([0.1, 0.5, 0.9, 1.3], requires_grad=True)
    gradients, broadcast = [], []
    for device in devices():
        @qml.qnode(device)
        def circuit(x):
            ansatz(x)
            return qml.expval(qml.PauliZ(0) @ qml.PauliX(2))

        gradients.append(qml.grad(circuit)(x))

        @qml.qnode(device)
        def wide(a):
            qml.RX(a, wires=0)
            return qml.expval(qml.PauliZ(0))

        broadcast.append(wide(np.array([0.1, 0.2, 0.3])))
    np.testing.assert_allclose(gradients[1], gradients[0], atol=1e-10)
    np.testing.assert_allclose(broadcast[1], np.cos([0.1, 0.2, 0.3]), atol=1e-12)


def test_shots():
    device = QsimDevice(wires=3, seed=5)

    @qml.set_shots(4000)
    @qml.qnode(device)
    def circuit():
        qml.RY(0.6, wires=0)
        qml.CNOT([0, 2])
        return qml.expval(qml.PauliZ(0)), qml.expval(qml.PauliX(1)), qml.counts(wires=[0, 2]), qml.sample(wires=2), qml.probs(wires=[0])

    z, x, counts, sample, probs = circuit()
    p = np.sin(0.3) ** 2
    five_sigma = 5 * np.sqrt(p * (1 - p) / 4000)
    assert abs(z - np.cos(0.6)) < 2 * five_sigma and abs(x) < 5 / np.sqrt(4000)
    assert set(counts) == {"00", "11"} and abs(counts["11"] / 4000 - p) < five_sigma
    assert sample.size == 4000 and list(sample.ravel()) != sorted(sample.ravel()) and abs(probs[1] - p) < five_sigma
    again = qml.set_shots(qml.QNode(circuit.func, QsimDevice(wires=3, seed=5)), 4000)()
    assert again[0] == z and again[2] == counts
    parts = qml.set_shots(qml.QNode(circuit.func, device), [10, 100])()
    assert len(parts) == 2 and parts[1][3].size == 100


def test_measurements_on_the_way_are_deferred():
    device = QsimDevice(wires=3)

    @qml.qnode(device)
    def circuit():
        qml.RY(1.0, wires=0)
        m = qml.measure(0)
        qml.cond(m, qml.PauliX)(1)
        return qml.expval(qml.PauliZ(1)), qml.expval(m)

    z, m = circuit()
    assert z == pytest.approx(np.cos(1.0)) and m == pytest.approx(np.sin(0.5) ** 2)


def test_initial_states_and_labels():
    amplitudes = np.array([0.6, 0, 0, 0.8j])
    for prepare in (lambda: qml.StatePrep(amplitudes, wires=["b", "c"]), lambda: qml.BasisState([1, 0], wires=["c", "b"])):
        results = []
        for device in devices(["a", "b", "c"]):
            @qml.qnode(device)
            def circuit():
                prepare()
                qml.RX(0.3, wires="a")
                qml.CNOT(["c", "a"])
                return qml.state()

            results.append(circuit())
        np.testing.assert_allclose(results[1], results[0], atol=1e-12)


def test_the_file_of_capabilities_says_what_the_device_does():
    from qsim_hpc.pennylane import _NAMES

    capabilities = QsimDevice.capabilities
    assert set(_NAMES) <= set(capabilities.operations)
    assert not any(one.differentiable for one in capabilities.operations.values())  # no derivatives by the device
    assert not QsimDevice(wires=1).supports_derivatives(qml.devices.ExecutionConfig(gradient_method="device"))
    exact, sampled = capabilities.filter(False).measurement_processes, capabilities.filter(True).measurement_processes
    assert "StateMP" in exact and "StateMP" not in sampled and "CountsMP" in sampled and "CountsMP" not in exact
    config = QsimDevice(wires=1).setup_execution_config(qml.devices.ExecutionConfig(gradient_method="best"))
    assert config.gradient_method == "parameter-shift" and config.mcm_config.mcm_method == "deferred"


def test_tapes_and_what_is_refused():
    tape = qml.tape.QuantumScript([qml.Hadamard(0), qml.CNOT([0, 1])], [qml.state()])
    assert from_tape(tape) == qsim.Circuit(2).h(1).cx(1, 0)
    device = QsimDevice(wires=2)
    with pytest.raises(qml.exceptions.QuantumFunctionError, match="tree-traversal"):
        qml.QNode(lambda: qml.state(), device, mcm_method="tree-traversal")()
    with pytest.raises(qml.exceptions.WireError):
        qml.QNode(lambda: qml.expval(qml.PauliZ(5)), device)()
    with pytest.raises(qml.exceptions.DeviceError):
        qml.set_shots(qml.QNode(lambda: qml.classical_shadow(wires=[0]), device), 10)()


def test_the_entry_point():
    from importlib.metadata import entry_points

    if not entry_points(group="pennylane.plugins", name="qsim"):
        pytest.skip("the package is not installed")
    assert qml.device("qsim", wires=2).name == "qsim"
