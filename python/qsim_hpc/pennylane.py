"""A PennyLane device: ``qml.device("qsim", wires=4)``.

PennyLane's wire 0 is the most significant bit of an index and left-most in a sample; results are in its order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pennylane as qml
from pennylane.devices import Device, DeviceCapabilities, ExecutionConfig
from pennylane.devices.modifiers import simulator_tracking, single_tape_support
from pennylane.devices.preprocess import decompose, validate_device_wires, validate_measurements
from pennylane.measurements import ExpectationMP, SampleMeasurement, StateMeasurement
from pennylane.operation import StatePrepBase
from pennylane.ops import Adjoint, Controlled, SProd, Sum
from pennylane.tape import QuantumScript
from pennylane.transforms import broadcast_expand, defer_measurements, split_non_commuting
from pennylane.transforms.core import CompilePipeline

from ._core import Circuit, PauliSum, Session, State
from .errors import UnsupportedError

# PennyLane's name: ours. Angles, then wires, in the same order and with the same meaning.
_NAMES = {
    "PauliX": "x", "PauliY": "y", "PauliZ": "z", "Hadamard": "h", "S": "s", "T": "t", "SX": "sx", "RX": "rx", "RY": "ry",
    "RZ": "rz", "PhaseShift": "p", "U1": "p", "U2": "u2", "U3": "u", "CNOT": "cx", "CY": "cy", "CZ": "cz", "CH": "ch",
    "SWAP": "swap", "CSWAP": "cswap", "Toffoli": "ccx", "CRX": "crx", "CRY": "cry", "CRZ": "crz",
    "ControlledPhaseShift": "cp", "IsingXX": "rxx", "IsingYY": "ryy", "IsingZZ": "rzz",
}  # fmt: skip
_ADJOINTS = {"S": "sdg", "T": "tdg", "SX": "sxdg"}
_MATRIX_WIRES = 4  # up to which an operator that is not ours is taken as its matrix


_CAPABILITIES = DeviceCapabilities.from_toml_file(str(Path(__file__).with_name("pennylane.toml")))


def _is_known(operator: Any) -> bool:
    return _CAPABILITIES.supports_operation(operator) or (operator.has_matrix and len(operator.wires) <= _MATRIX_WIRES)


def _angles(operator: Any) -> list[float]:
    return [float(one) for one in operator.parameters]


def _add_phase(circuit: Circuit, angle: float, controls: Mapping[int, bool]) -> None:
    """A phase of all amplitudes where the controls hold."""
    free = next((qubit for qubit in range(circuit.num_qubits) if qubit not in controls), None)
    if free is not None:
        circuit.uphase(0.0, 0.0, 0.0, angle, free, controls=controls)
        return
    (target, value), *others = controls.items()  # on all qubits: of one of them where it has its value
    circuit.uphase(0.0, 0.0, angle if value else -angle, 0.0 if value else angle, target, controls=dict(others))


def _add(
    circuit: Circuit, operator: Any, qubit_of: Callable[[Any], int], controls: Mapping[int, bool] | None = None
) -> None:
    name = operator.name
    controls = dict(controls or {})
    qubits = [qubit_of(wire) for wire in operator.wires]
    if name in _NAMES:
        circuit.apply(_NAMES[name], qubits, _angles(operator), controls=controls)
    elif name in ("Identity", "Barrier"):
        pass
    elif name == "GlobalPhase":
        _add_phase(circuit, -_angles(operator)[0], controls)
    elif name == "Rot":
        phi, theta, omega = _angles(operator)
        circuit.uphase(theta, omega, phi, -(phi + omega) / 2, qubits[0], controls=controls)
    elif name == "MultiRZ":
        circuit.pauli_rotation(_angles(operator)[0], "Z" * len(qubits), qubits, controls=controls)
    elif name == "PauliRot":
        word = operator.hyperparameters["pauli_word"]
        kept = [(letter, qubit) for letter, qubit in zip(word, qubits) if letter != "I"]
        letters, qubits = "".join(letter for letter, _ in kept), [qubit for _, qubit in kept]
        if kept:
            circuit.pauli_rotation(_angles(operator)[0], letters, qubits, controls=controls)
        else:
            _add_phase(circuit, -_angles(operator)[0] / 2, controls)
    elif isinstance(operator, Adjoint) and operator.base.name in _ADJOINTS:
        circuit.apply(_ADJOINTS[operator.base.name], qubits, controls=controls)
    elif isinstance(operator, Adjoint) and isinstance(operator.base, Controlled):
        inner = operator.base
        more = {qubit_of(w): bool(v) for w, v in zip(inner.control_wires, inner.control_values)}
        _add(circuit, qml.adjoint(inner.base), qubit_of, controls | more)
    elif isinstance(operator, Controlled) and _CAPABILITIES.supports_operation(operator):
        more = {qubit_of(w): bool(v) for w, v in zip(operator.control_wires, operator.control_values)}
        _add(circuit, operator.base, qubit_of, controls | more)
    else:
        matrix = np.asarray(qml.matrix(operator, wire_order=operator.wires), dtype=complex)
        circuit.unitary(matrix, qubits[::-1], controls=controls)  # PennyLane's first wire is the most significant


def from_tape(tape: QuantumScript, wires: Sequence[Any] | None = None) -> Circuit:
    """The operations of a tape as one of our circuits; wire i of `wires` (the tape's, in order) is qubit n - 1 - i, so that
    indices mean the same."""
    order = list(tape.wires if wires is None else wires)
    place = {wire: len(order) - 1 - i for i, wire in enumerate(order)}
    circuit = Circuit(len(order))
    for operator in tape.operations:
        _add(circuit, operator, place.__getitem__)
    return circuit


def _pauli_sum(sentence: Any, qubit_of: Callable[[Any], int]) -> PauliSum | None:
    x, z, factors = [], [], []
    for word, coefficient in sentence.items():
        if abs(np.imag(coefficient)) > 0:
            return None
        x.append(sum(1 << qubit_of(wire) for wire, letter in word.items() if letter in "XY"))
        z.append(sum(1 << qubit_of(wire) for wire, letter in word.items() if letter in "YZ"))
        factors.append(float(np.real(coefficient)))
    return PauliSum.from_masks(np.array(x, dtype=np.int64), np.array(z, dtype=np.int64), np.array(factors))


def _accepts(finite_shots: bool) -> Callable[[Any], bool]:
    known = _CAPABILITIES.filter(finite_shots).measurement_processes
    kind = SampleMeasurement if finite_shots else StateMeasurement

    def accepts(measurement: Any) -> bool:
        of = type(measurement)
        users_own = isinstance(measurement, kind) and not of.__module__.startswith("pennylane.measurements")
        return of.__name__ in known or users_own

    return accepts


@simulator_tracking
@single_tape_support
class QsimDevice(Device):
    """State vectors, exact or with shots. Measurements on the way are deferred; gradients are parameter shifts. What it does by
    itself is in pennylane.toml, PennyLane's file of capabilities.

    wires: their number or labels. seed: of the shots. options: those of :class:`qsim_hpc.Session`.
    """

    config_filepath = str(Path(__file__).with_name("pennylane.toml"))

    @property
    def name(self) -> str:
        return "qsim"

    def __init__(self, wires: Any = None, shots: Any = None, seed: int | None = None, **options: Any) -> None:
        super().__init__(wires=wires, shots=shots)
        self._session = Session(**options)
        self._generator = np.random.default_rng(seed)

    def setup_execution_config(self, config: ExecutionConfig | None = None, circuit: QuantumScript | None = None) -> ExecutionConfig:
        config = config or ExecutionConfig()
        if config.device_options:
            raise qml.exceptions.DeviceError(f"no such device options: {', '.join(config.device_options)}")
        config = super().setup_execution_config(config, circuit)  # refuses ways to measure that the file does not name
        changes: dict[str, Any] = {"convert_to_numpy": True}
        if config.gradient_method == "best":
            changes["gradient_method"] = "parameter-shift"
        for field in ("use_device_gradient", "use_device_jacobian_product", "grad_on_execution"):
            if getattr(config, field) is None:
                changes[field] = False
        return replace(config, **changes)

    def preprocess_transforms(self, execution_config: ExecutionConfig | None = None) -> CompilePipeline:
        pipeline = CompilePipeline()
        pipeline.add_transform(defer_measurements, allow_postselect=False)
        pipeline.add_transform(
            decompose, stopping_condition=_is_known, device_wires=self.wires, target_gates={*_NAMES, "GlobalPhase", "QubitUnitary"},
            name=self.name,
        )  # fmt: skip
        pipeline.add_transform(validate_device_wires, self.wires, name=self.name)
        pipeline.add_transform(
            validate_measurements, analytic_measurements=_accepts(False), sample_measurements=_accepts(True), name=self.name
        )
        pipeline.add_transform(broadcast_expand)
        pipeline.add_transform(_split_where_sampled)
        return pipeline

    def execute(self, circuits: Sequence[QuantumScript], execution_config: ExecutionConfig | None = None) -> tuple:
        return tuple(self._one(one) for one in circuits)

    def _one(self, tape: QuantumScript) -> Any:
        # The operations' wires first, as PennyLane's own simulators have them where the device has none.
        wires = list(self.wires if self.wires is not None else tape.wires)
        if not wires:
            raise UnsupportedError("a tape without wires")
        if tape.shots:
            return self._sampled(tape, wires)
        state = self._state(tape, wires, [])
        results = tuple(self._exact(state, measurement, wires) for measurement in tape.measurements)
        return results[0] if len(results) == 1 else results

    def _state(self, tape: QuantumScript, wires: list, more: Sequence[Any]) -> State:
        operations = list(tape.operations)
        place = {wire: len(wires) - 1 - i for i, wire in enumerate(wires)}
        circuit = Circuit(len(wires))
        first = operations[0] if operations and isinstance(operations[0], StatePrepBase) else None
        for operator in [*operations[1 if first is not None else 0 :], *more]:
            _add(circuit, operator, place.__getitem__)
        program = self._session.compile(circuit)
        if first is None:
            return self._session.run(program)
        state = self._session.state(len(wires))
        state.set_amplitudes(np.asarray(first.state_vector(wire_order=wires), dtype=complex).reshape(-1))
        state.run(program)
        return state

    def _exact(self, state: State, measurement: Any, wires: list) -> Any:
        if isinstance(measurement, ExpectationMP) and measurement.obs is not None:
            return np.float64(self._expectation(state, measurement.obs, wires))
        return self._processed(state, measurement, wires)

    def _expectation(self, state: State, observable: Any, wires: list) -> float:
        place = {wire: len(wires) - 1 - i for i, wire in enumerate(wires)}
        if observable.pauli_rep is not None:
            total = _pauli_sum(observable.pauli_rep, place.__getitem__)
            if total is not None:
                return state.expectation(total)
        if isinstance(observable, qml.SparseHamiltonian):
            amplitudes = state.to_numpy()
            return float(np.vdot(amplitudes, observable.sparse_matrix(wire_order=wires) @ amplitudes).real)
        if isinstance(observable, Sum):
            return sum(self._expectation(state, one, wires) for one in observable.operands)
        if isinstance(observable, SProd):
            return float(np.real(observable.scalar)) * self._expectation(state, observable.base, wires)
        return float(self._processed(state, qml.expval(observable), wires))

    def _processed(self, state: State, measurement: Any, wires: list) -> Any:
        """By PennyLane, from the amplitudes in the measurement's own basis."""
        turns = measurement.diagonalizing_gates()
        if turns:
            place = {wire: len(wires) - 1 - i for i, wire in enumerate(wires)}
            circuit = Circuit(len(wires))
            for operator in turns:
                _add(circuit, operator, place.__getitem__)
            state = state.copy()
            state.run(circuit)
        return measurement.process_state(state.to_numpy(), qml.wires.Wires(wires))

    def _sampled(self, tape: QuantumScript, wires: list) -> Any:
        state = self._state(tape, wires, tape.diagonalizing_gates)
        shots = tape.shots.total_shots
        indices, times = state.sample(shots, seed=int(self._generator.integers(2**63)))
        drawn = np.repeat(indices, times.astype(np.int64))
        self._generator.shuffle(drawn)
        shift = np.arange(len(wires) - 1, -1, -1, dtype=np.uint64)
        samples = (drawn[:, None] >> shift & np.uint64(1)).astype(np.int64)
        order = qml.wires.Wires(wires)

        def answers(shot_range: tuple[int, int] | None) -> Any:
            all_of = tuple(one.process_samples(samples, order, shot_range=shot_range) for one in tape.measurements)
            return all_of[0] if len(all_of) == 1 else all_of

        if not tape.shots.has_partitioned_shots:
            return answers(None)
        return tuple(answers((low, high)) for low, high in tape.shots.bins())


@qml.transform
def _split_where_sampled(tape: QuantumScript) -> Any:
    """Measurements that share no basis are sampled apart."""
    if tape.shots:
        return split_non_commuting(tape)
    return (tape,), lambda results: results[0]
