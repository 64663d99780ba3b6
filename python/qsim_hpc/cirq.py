"""A Cirq simulator: ``QsimSimulator().run(circuit, repetitions=1000)``.

Cirq's first qubit (of the qubit order) is the most significant bit of an index; results are in its order, in complex128, or in
complex64 with precision="single".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import cirq
import numpy as np

from ._core import Circuit, PauliSum, Session, State
from .errors import UnsupportedError, UsageError

_NAMES = {
    cirq.X: "x", cirq.Y: "y", cirq.Z: "z", cirq.H: "h", cirq.S: "s", cirq.S**-1: "sdg", cirq.T: "t", cirq.T**-1: "tdg",
    cirq.CNOT: "cx", cirq.CZ: "cz", cirq.SWAP: "swap", cirq.TOFFOLI: "ccx", cirq.FREDKIN: "cswap",
}  # fmt: skip
_TURNS = {cirq.Rx: "rx", cirq.Ry: "ry", cirq.Rz: "rz"}
_PHASES = {cirq.ZPowGate: "p", cirq.CZPowGate: "cp"}
_MATRIX_QUBITS = 5  # up to which an operation that is not ours is taken as its matrix


class _Converter:
    def __init__(self, qubits: Sequence[cirq.Qid]) -> None:
        for qubit in qubits:
            if qubit.dimension != 2:
                raise UnsupportedError(f"{qubit} has {qubit.dimension} levels")
        self.place = {qubit: len(qubits) - 1 - i for i, qubit in enumerate(qubits)}
        self.circuit = Circuit(len(qubits))
        self.registers: list[tuple[str, int, Sequence[bool]]] = []  # key, size and what is inverted, of each measurement
        self.phase = 1.0 + 0j

    def add(self, operation: cirq.Operation) -> None:
        gate = operation.gate
        operation = operation.untagged
        qubits = [self.place[qubit] for qubit in operation.qubits]
        if isinstance(operation, cirq.ClassicallyControlledOperation):
            self.conditional(operation)
        elif isinstance(operation, cirq.CircuitOperation):
            for one in cirq.decompose_once(operation):
                self.add(one)
        elif isinstance(gate, cirq.MeasurementGate):
            self.measure(gate, qubits)
        elif isinstance(gate, cirq.ResetChannel):
            self.reset(qubits)
        elif gate is not None and gate in _NAMES:
            self.circuit.apply(_NAMES[gate], qubits)
        elif type(gate) in _TURNS:
            self.circuit.apply(_TURNS[type(gate)], qubits, [float(gate._rads)])
        elif type(gate) in _PHASES and gate.global_shift == 0 and isinstance(gate.exponent, (int, float)):
            self.circuit.apply(_PHASES[type(gate)], qubits, [np.pi * gate.exponent])
        elif isinstance(operation, cirq.ControlledOperation) and self.controlled(operation):
            pass
        elif cirq.has_unitary(operation) and len(qubits) <= _MATRIX_QUBITS:
            matrix = cirq.unitary(operation)
            if qubits:
                self.circuit.unitary(matrix, qubits[::-1])  # Cirq's first qubit is the most significant
            else:
                self.phase *= complex(matrix[0, 0])
        else:
            parts = cirq.decompose_once(operation, default=None)
            if parts is None:
                raise UnsupportedError(f"{operation} has neither a matrix nor a decomposition")
            for one in parts:
                self.add(one)

    def reset(self, qubits: Sequence[int]) -> None:
        self.circuit.reset(qubits)

    def measure(self, gate: cirq.MeasurementGate, qubits: Sequence[int]) -> None:
        if gate.confusion_map:
            raise UnsupportedError("a measurement with a confusion map")
        first = self.circuit.num_clbits
        self.circuit.add_creg(f"m{len(self.registers)}", len(qubits))
        self.registers.append((cirq.measurement_key_name(gate), len(qubits), gate.full_invert_mask()))
        self.circuit.measure(list(qubits), list(range(first, first + len(qubits))))

    def controlled(self, operation: cirq.ControlledOperation) -> bool:
        """Whether one of our gates with controls does it."""
        inner = operation.sub_operation
        choices = operation.control_values.expand()
        values = list(choices)
        if inner.gate is None or len(values) != 1 or len(inner.qubits) > _MATRIX_QUBITS or not cirq.has_unitary(inner):
            return False
        controls = {self.place[q]: bool(v) for q, v in zip(operation.controls, values[0])}
        qubits = [self.place[qubit] for qubit in inner.qubits]
        if not qubits:
            return False
        if inner.gate in _NAMES:
            self.circuit.apply(_NAMES[inner.gate], qubits, controls=controls)
        else:
            self.circuit.unitary(cirq.unitary(inner), qubits[::-1], controls=controls)
        return True

    def conditional(self, operation: cirq.ClassicallyControlledOperation) -> None:
        if len(operation.classical_controls) != 1:
            raise UnsupportedError("an operation with more than one classical control")
        (condition,) = operation.classical_controls
        if not isinstance(condition, cirq.KeyCondition):
            raise UnsupportedError(f"the classical control {condition}: only keys of measurements are known")
        places = [i for i, (key, _, _) in enumerate(self.registers) if key == str(condition.key)]
        if not places:
            raise UsageError(f"Measurement key {condition.key} missing when testing classical control")
        place = places[condition.index]
        _, size, inverted = self.registers[place]
        zero = sum(1 << i for i in range(size) if inverted[i])  # what the register holds where the result is 0
        with self.circuit.when(f"m{place}", zero, negated=True):
            self.add(operation.without_classical_controls())


class _Shot(_Converter):
    """One shot: what is measured decides what follows, and the state that is left is kept."""

    def __init__(self, qubits: Sequence[cirq.Qid], session: Session, state: State, generator: np.random.Generator) -> None:
        super().__init__(qubits)
        self.session, self.state, self.generator = session, state, generator
        self.data = cirq.ClassicalDataDictionaryStore()
        self.place_of = {place: qubit for qubit, place in self.place.items()}

    def settle(self) -> None:
        """Runs what was appended so far."""
        if len(self.circuit):
            self.state.run(self.session.compile(self.circuit))
            self.circuit = Circuit(self.circuit.num_qubits)

    def drawn(self, qubits: Sequence[int]) -> list[int]:
        """The outcome of measuring qubits, on whose part of the state it then lies."""
        self.settle()
        table = self.state.probabilities(list(qubits))
        outcome = int(self.generator.choice(len(table), p=table / table.sum()))
        bits = [outcome >> i & 1 for i in range(len(qubits))]
        amplitudes = self.state.to_numpy().reshape((2,) * self.circuit.num_qubits)
        kept = [slice(None)] * self.circuit.num_qubits
        for qubit, bit in zip(qubits, bits):
            kept[-1 - qubit] = slice(bit, bit + 1)
        collapsed = np.zeros_like(amplitudes)
        collapsed[tuple(kept)] = amplitudes[tuple(kept)] / np.linalg.norm(amplitudes[tuple(kept)])
        self.state.set_amplitudes(collapsed.reshape(-1))
        return bits

    def reset(self, qubits: Sequence[int]) -> None:
        for qubit, bit in zip(qubits, self.drawn(qubits)):
            if bit:
                self.circuit.x(qubit)

    def measure(self, gate: cirq.MeasurementGate, qubits: Sequence[int]) -> None:
        if gate.confusion_map:
            raise UnsupportedError("a measurement with a confusion map")
        bits = [bit ^ inverted for bit, inverted in zip(self.drawn(qubits), gate.full_invert_mask())]
        self.data.record_measurement(gate.mkey, bits, [self.place_of[qubit] for qubit in qubits])

    def conditional(self, operation: cirq.ClassicallyControlledOperation) -> None:
        if all(condition.resolve(self.data) for condition in operation.classical_controls):
            self.add(operation.without_classical_controls())


def _require_resolved(circuit: cirq.AbstractCircuit) -> None:
    if cirq.is_parameterized(circuit):
        names = ", ".join(sorted(cirq.parameter_names(circuit)))
        raise UsageError(f"Circuit contains ops whose symbols were not specified: {names}")


def _converted(circuit: cirq.AbstractCircuit, qubits: Sequence[cirq.Qid]) -> _Converter:
    _require_resolved(circuit)
    converter = _Converter(qubits)
    for operation in circuit.all_operations():
        converter.add(operation)
    return converter


def from_cirq(circuit: cirq.AbstractCircuit, qubit_order: cirq.QubitOrderOrList = cirq.QubitOrder.DEFAULT) -> Circuit:
    """A circuit of Cirq as one of ours: the first qubit of the order is the last of ours, so that indices mean the same.

    Every measurement gets a register of its own, m0, m1, ... A global phase is left out. Parameters must be resolved.
    """
    return _converted(circuit, cirq.QubitOrder.as_qubit_order(qubit_order).order_for(circuit.all_qubits())).circuit


def _decides(circuit: cirq.AbstractCircuit) -> bool:
    """Whether something is measured, reset, or decided by a measurement."""
    return circuit.has_measurements() or any(
        isinstance(operation.gate, cirq.ResetChannel) or cirq.control_keys(operation) or cirq.is_measurement(operation)
        for operation in circuit.all_operations()
    )


def _without_measurements(circuit: cirq.AbstractCircuit) -> cirq.Circuit:
    """Without the terminal ones; UnsupportedError where there are others."""
    if not circuit.are_all_measurements_terminal():
        raise UnsupportedError("the circuit measures on its way: it has no single final state")
    return cirq.Circuit(
        [op for op in moment if not cirq.is_measurement(op)] for moment in circuit
    )


class QsimSimulator(
    cirq.SimulatesSamples, cirq.SimulatesAmplitudes, cirq.SimulatesFinalState, cirq.SimulatesExpectationValues
):
    """Samples, amplitudes, final states and exact expectation values.

    seed: of the samples. options: those of :class:`qsim_hpc.Session`. simulate() of a circuit that measures is one shot: its
    results, and the state that they leave; the amplitudes are copied for every measurement. Expectation values are those before
    the measurements at the end, where these are permitted.
    """

    def __init__(self, *, seed: int | None = None, **options: Any) -> None:
        self._session = Session(**options)
        self._generator = np.random.default_rng(seed)

    def _run(self, circuit: cirq.AbstractCircuit, param_resolver: cirq.ParamResolver, repetitions: int) -> dict[str, np.ndarray]:
        resolved = cirq.resolve_parameters(circuit, param_resolver)
        converter = _converted(resolved, cirq.QubitOrder.DEFAULT.order_for(resolved.all_qubits()))
        sizes: dict[str, list[int]] = {}
        for key, size, _ in converter.registers:
            sizes.setdefault(key, []).append(size)
        results = {key: np.zeros((repetitions, len(each), each[0]), dtype=np.uint8) for key, each in sizes.items()}
        if any(size != each[0] for each in sizes.values() for size in each):
            raise UnsupportedError("measurements of one key on different numbers of qubits")
        if repetitions == 0 or not converter.registers:
            return results
        program = self._session.compile(converter.circuit)
        seed = int(self._generator.integers(2**63))
        counts = self._session._answer(program, repetitions, seed, False, False, [], [], None)["counts"]
        order = np.repeat(np.arange(len(counts)), list(counts.values()))
        self._generator.shuffle(order)
        outcomes = [text.split(" ")[::-1] for text in counts]
        seen: dict[str, int] = {}
        for place, (key, _, inverted) in enumerate(converter.registers):
            instance = seen.get(key, 0)
            seen[key] = instance + 1
            bits = np.array([[int(bit) for bit in reversed(parts[place])] for parts in outcomes], dtype=np.uint8)
            results[key][:, instance, :] = (bits ^ np.array(inverted, dtype=np.uint8))[order]
        return results

    def _start(self, qubits: Sequence[cirq.Qid], initial: Any) -> State:
        state = self._session.state(len(qubits))
        if isinstance(initial, (int, np.integer)):
            state.set_basis(int(initial))
        elif initial is not None:
            shape = (2,) * len(qubits)
            values = cirq.to_valid_state_vector(initial, qid_shape=shape, dtype=np.complex128)
            state.set_amplitudes(values.reshape(-1))
        return state

    def _state(self, circuit: cirq.AbstractCircuit, qubits: Sequence[cirq.Qid], initial: Any) -> tuple[State, complex]:
        converter = _converted(circuit, qubits)
        program = self._session.compile(converter.circuit)
        if initial is None or (isinstance(initial, (int, np.integer)) and initial == 0):
            return self._session.run(program), converter.phase
        state = self._start(qubits, initial)
        state.run(program)
        return state, converter.phase

    def _shot(
        self, circuit: cirq.AbstractCircuit, qubits: Sequence[cirq.Qid], initial: Any
    ) -> tuple[State, complex, dict[str, np.ndarray]]:
        """One shot of a circuit that measures or resets on its way or at its end."""
        _require_resolved(circuit)
        shot = _Shot(qubits, self._session, self._start(qubits, initial), self._generator)
        for operation in circuit.all_operations():
            shot.add(operation)
        shot.settle()
        results = {str(key): np.array(bits[-1], dtype=np.uint8) for key, bits in shot.data.records.items()}
        return shot.state, shot.phase, results

    def _each_state(
        self, program: cirq.AbstractCircuit, params: cirq.Sweepable, qubit_order: cirq.QubitOrderOrList, initial: Any
    ) -> Iterator[tuple[cirq.ParamResolver, Sequence[cirq.Qid], State, complex]]:
        qubits = cirq.QubitOrder.as_qubit_order(qubit_order).order_for(program.all_qubits())
        for resolver in cirq.to_resolvers(params):
            state, phase = self._state(cirq.resolve_parameters(program, resolver), qubits, initial)
            yield resolver, qubits, state, phase

    def compute_amplitudes_sweep_iter(
        self, program: cirq.AbstractCircuit, bitstrings: Sequence[int], params: cirq.Sweepable,
        qubit_order: cirq.QubitOrderOrList = cirq.QubitOrder.DEFAULT,
    ) -> Iterator[Sequence[complex]]:  # fmt: skip
        if np.ndim(bitstrings) != 1:
            raise UsageError("The list of bitstrings must be 1-dimensional")
        for _, _, state, phase in self._each_state(_without_measurements(program), params, qubit_order, None):
            yield list(phase * state.amplitudes(list(bitstrings)))

    def simulate_sweep_iter(
        self, program: cirq.AbstractCircuit, params: cirq.Sweepable,
        qubit_order: cirq.QubitOrderOrList = cirq.QubitOrder.DEFAULT, initial_state: Any = None,
    ) -> Iterator[cirq.StateVectorTrialResult]:  # fmt: skip
        qubits = cirq.QubitOrder.as_qubit_order(qubit_order).order_for(program.all_qubits())
        for resolver in cirq.to_resolvers(params):
            resolved = cirq.resolve_parameters(program, resolver)
            if _decides(resolved):
                state, phase, measurements = self._shot(resolved, qubits, initial_state)
            else:
                (state, phase), measurements = self._state(resolved, qubits, initial_state), {}
            amplitudes = state.to_numpy()
            if phase != 1:
                amplitudes = (phase * amplitudes).astype(amplitudes.dtype)
            final = cirq.StateVectorSimulationState(
                qubits=qubits, initial_state=amplitudes, dtype=amplitudes.dtype.type, prng=np.random.RandomState(0)
            )
            yield cirq.StateVectorTrialResult(params=resolver, measurements=measurements, final_simulator_state=final)

    def simulate_expectation_values_sweep_iter(
        self, program: cirq.AbstractCircuit, observables: Any, params: cirq.Sweepable,
        qubit_order: cirq.QubitOrderOrList = cirq.QubitOrder.DEFAULT, initial_state: Any = None,
        permit_terminal_measurements: bool = False,
    ) -> Iterator[list[float]]:  # fmt: skip
        if not permit_terminal_measurements and program.are_any_measurements_terminal():
            raise ValueError("the circuit has terminal measurements: permit_terminal_measurements=True leaves them out")
        wanted = list(observables) if isinstance(observables, (list, tuple)) else [observables]
        for _, qubits, state, _ in self._each_state(_without_measurements(program), params, qubit_order, initial_state):
            place = {qubit: len(qubits) - 1 - i for i, qubit in enumerate(qubits)}
            yield [complex(state.expectation(_sum(one, place))) for one in wanted]


def _sum(observable: cirq.PauliSumLike, place: dict[cirq.Qid, int]) -> PauliSum:
    total = cirq.PauliSum.wrap(observable)
    x, z, factors = [], [], []
    for term in total:
        if abs(term.coefficient.imag) > 1e-12:
            raise UsageError(f"the coefficient {term.coefficient} is not real")
        x.append(sum(1 << place[q] for q, letter in term.items() if letter in (cirq.X, cirq.Y)))
        z.append(sum(1 << place[q] for q, letter in term.items() if letter in (cirq.Z, cirq.Y)))
        factors.append(term.coefficient.real)
    return PauliSum.from_masks(np.array(x, dtype=np.int64), np.array(z, dtype=np.int64), np.array(factors, dtype=float))
