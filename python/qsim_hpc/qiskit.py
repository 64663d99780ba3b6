"""Qiskit 2.x: its circuits run here, as a backend and as primitives.

    >>> from qsim_hpc.qiskit import QsimBackend, QsimEstimator, QsimSampler
    >>> QsimSampler(seed=7).run([circuit], shots=1000).result()[0].data.meas.get_counts()

The bit order is Qiskit's own: qubit 0 is the least significant, and right-most in a bit string.
"""

from __future__ import annotations

import uuid
import warnings
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from qiskit.circuit import (
    ClassicalRegister,
    ControlledGate,
    ForLoopOp,
    IfElseOp,
    Measure,
    ParameterExpression,
    QuantumCircuit,
    Reset,
    SwitchCaseOp,
    WhileLoopOp,
)
from qiskit.circuit import Parameter as QiskitParameter
from qiskit.circuit.library import MCXGate, UnitaryGate, get_standard_gate_name_mapping
from qiskit.primitives import (
    BaseEstimatorV2,
    BaseSamplerV2,
    BitArray,
    DataBin,
    PrimitiveJob,
    PrimitiveResult,
    PubResult,
    SamplerPubResult,
)
from qiskit.primitives.containers.estimator_pub import EstimatorPub
from qiskit.primitives.containers.sampler_pub import SamplerPub
from qiskit.providers import BackendV2, JobStatus, JobV1, Options
from qiskit.quantum_info import Operator
from qiskit.result import Result as QiskitResult
from qiskit.result.models import ExperimentResult, ExperimentResultData
from qiskit.transpiler import Target

from ._core import Angle, Circuit, Parameter, PauliSum, Program, Session, VERSION as __version__, gates
from ._run import Result, run
from .errors import UnsupportedError, UsageError

_OURS = {name for name, _, _, _ in gates()}
# Qiskit's name: ours, and how many further controls come first.
_NAMES = {name: (name, 0) for name in get_standard_gate_name_mapping() if name in _OURS}
_NAMES |= {"ccz": ("z", 2), "cs": ("s", 1), "csdg": ("sdg", 1), "rcccx": ("rc3x", 0), "c3sx": ("c3sqrtx", 0)}
_FLOW = {"if_else", "for_loop", "while_loop", "switch_case", "break_loop", "continue_loop", "store", "box"}
_CLASS_NAMES = {
    IfElseOp: "if_else", ForLoopOp: "for_loop", WhileLoopOp: "while_loop", SwitchCaseOp: "switch_case",
    UnitaryGate: "unitary", MCXGate: "mcx",
}  # fmt: skip
_MATRIX_QUBITS = 3  # up to which a gate that is not ours becomes a matrix rather than its definition


class _HasFlow(Exception):
    """The circuit has control flow: it is read from its text."""


def _angle(value: Any) -> float | Angle:
    if not isinstance(value, ParameterExpression):
        return float(value)
    if not value.parameters:
        return float(value.numeric())
    angle = Angle(float(value.bind({one: 0.0 for one in value.parameters}).numeric()))
    for one in value.parameters:
        slope = value if isinstance(value, QiskitParameter) else value.gradient(one)
        if isinstance(value, QiskitParameter):
            slope = 1.0
        if isinstance(slope, ParameterExpression):
            if slope.parameters:
                raise UnsupportedError(f"the angle {value} is no sum of multiples of parameters: bind it first")
            slope = slope.numeric()
        angle = angle + float(slope) * Parameter(one.name)
    return angle


class _Converter:
    def __init__(self, source: QuantumCircuit) -> None:
        self.circuit = Circuit(source.num_qubits)
        self.clbit_of: dict[Any, int] = {}
        for register in source.cregs:
            own = [bit for bit in register if bit not in self.clbit_of]  # a bit may be in several registers
            if own or register.size == 0:
                self.circuit.add_creg(register.name, len(own))
            for bit in own:
                self.clbit_of[bit] = len(self.clbit_of)
        loose = [bit for bit in source.clbits if bit not in self.clbit_of]
        if loose:
            self.circuit.add_creg("loose", len(loose))
            for bit in loose:
                self.clbit_of[bit] = len(self.clbit_of)
        self.methods = {name: (getattr(self.circuit, ours), more) for name, (ours, more) in _NAMES.items()}
        self.saves = False
        self.turned: Any = 0.0  # the global phase that is not in the circuit yet
        self.measured: set[int] = set()

    def walk(self, source: QuantumCircuit, qubit_of: Mapping[Any, int], clbit_of: Mapping[Any, int]) -> None:
        self.turned = self.turned + _angle(source.global_phase)
        methods = self.methods
        for instruction in source.data:
            qubits = [qubit_of[bit] for bit in instruction.qubits]
            if instruction.is_standard_gate():
                found = methods.get(instruction.name)
                if found is not None:
                    method, more = found
                    angles = [_angle(one) if type(one) is not float else one for one in instruction.params]
                    if more:
                        method(*angles, *qubits[more:], controls=qubits[:more])
                    else:
                        method(*angles, *qubits)
                    continue
            self.other(instruction, qubits, clbit_of)

    def phase(self, angle: float | Angle, controls: Mapping[int, bool]) -> None:
        """A phase of the whole state where the controls hold; it is nobody's after all are measured."""
        free = [q for q in range(self.circuit.num_qubits) if q not in controls and q not in self.measured]
        if free and not (isinstance(angle, float) and angle == 0):
            self.circuit.uphase(0.0, 0.0, 0.0, angle, free[0], controls=controls)

    def settle(self) -> None:
        """Puts in the global phase, on a qubit that nothing has measured."""
        self.phase(self.turned, {})
        self.turned = 0.0

    def other(self, instruction: Any, qubits: list[int], clbit_of: Mapping[Any, int]) -> None:
        operation, name = instruction.operation, instruction.name
        if isinstance(operation, Measure):
            self.settle()
            self.measured.add(qubits[0])
            self.circuit.measure(qubits[0], clbit_of[instruction.clbits[0]])
        elif isinstance(operation, Reset):
            self.circuit.reset(qubits[0])
        elif name == "barrier":
            self.circuit.barrier(*qubits)
        elif name == "delay":
            pass
        elif name in _FLOW:
            raise _HasFlow
        elif name == "save_statevector":
            self.saves = True
        elif name == "global_phase" and not qubits:
            self.turned = self.turned + _angle(operation.params[0])
        elif isinstance(operation, ControlledGate) and self.controlled(operation, qubits):
            pass
        else:
            self.unknown(instruction, operation, qubits, clbit_of)

    def controlled(self, operation: ControlledGate, qubits: list[int]) -> bool:
        """Whether a gate of ours with controls does it."""
        base = operation.base_gate
        state = operation.ctrl_state
        controls = {q: bool(state >> i & 1) for i, q in enumerate(qubits[: operation.num_ctrl_qubits])}
        targets = qubits[operation.num_ctrl_qubits :]
        if base.name not in self.methods or type(base) is not type(get_standard_gate_name_mapping()[base.name]):
            return False
        method, more = self.methods[base.name]
        if base.name == "u" and len(base.params) == 4:  # of CUGate, which has a phase as well
            method = self.circuit.uphase
        controls |= dict.fromkeys(targets[:more], True)
        method(*[_angle(one) for one in base.params], *targets[more:], controls=controls)
        return True

    def unknown(self, instruction: Any, operation: Any, qubits: list[int], clbit_of: Mapping[Any, int]) -> None:
        """A gate that is not ours: its matrix where it is small, else its definition."""
        is_open = any(isinstance(one, ParameterExpression) and one.parameters for one in getattr(operation, "params", []))
        definition = getattr(operation, "definition", None)
        small = len(qubits) <= (_MATRIX_QUBITS if definition is not None else 10)
        if not instruction.clbits and not is_open and small and qubits:
            try:
                matrix = Operator(operation).data
            except Exception as error:  # what Qiskit raises differs by operation
                if definition is None:
                    raise UnsupportedError(f"{instruction.name} has neither a matrix nor a definition") from error
            else:
                self.circuit.unitary(matrix, qubits)
                return
        if definition is None:
            raise UnsupportedError(f"{instruction.name} on {len(qubits)} qubits has no definition")
        inner_clbits = {bit: clbit_of[outer] for bit, outer in zip(definition.clbits, instruction.clbits)}
        self.walk(definition, dict(zip(definition.qubits, qubits)), inner_clbits)


def _converted(source: QuantumCircuit) -> tuple[Circuit, bool]:
    converter = _Converter(source)
    try:
        converter.walk(source, {bit: i for i, bit in enumerate(source.qubits)}, converter.clbit_of)
        converter.settle()
    except _HasFlow:
        from qiskit import qasm3

        program = Circuit.from_qasm(qasm3.dumps(source))
        registers = [(one.name, one.size) for one in source.cregs]
        if program.cregs[: len(registers)] != registers or program.num_qubits != source.num_qubits:
            raise UnsupportedError("control flow with classical bits outside of registers") from None
        return program, False
    return converter.circuit, converter.saves


def from_qiskit(source: QuantumCircuit) -> Circuit:
    """A circuit of Qiskit as one of ours, its global phase included; parameters keep their names.

    Qubits and registers keep their order. A circuit with control flow is read from its OpenQASM 3 and keeps its phase only
    up to a common factor.
    """
    return _converted(source)[0]


def _program(session: Session, source: QuantumCircuit) -> tuple[Program, list[int]]:
    """The program, and the places of its parameters in those of Qiskit's circuit."""
    program = session.compile(from_qiskit(source))
    places = {one.name: i for i, one in enumerate(source.parameters)}
    return program, [places[name] for name in program.parameters]


def _each_program(session: Session, source: QuantumCircuit, values: np.ndarray) -> Iterable[tuple[tuple, Program, Any]]:
    """(index, program, values) of every set of values."""
    shape = values.shape[:-1]
    try:
        program, order = _program(session, source)
    except UnsupportedError:
        if values.shape[-1] == 0:
            raise
        for index in np.ndindex(shape):  # angles that are not linear are bound one by one
            bound = source.assign_parameters(values[index])
            yield index, session.compile(from_qiskit(bound)), None
        return
    for index in np.ndindex(shape):
        yield index, program, values[index][order]


def _register_bytes(texts: Sequence[str], size: int) -> np.ndarray:
    """Shape (outcomes, ceil(size / 8)): each bit string as Qiskit's big-endian bytes."""
    width = max(1, -(-size // 8))
    data = b"".join((int(text, 2) if text else 0).to_bytes(width, "big") for text in texts)
    return np.frombuffer(data, dtype=np.uint8).reshape(len(texts), width)


class QsimSampler(BaseSamplerV2):
    """SamplerV2: counts of measured circuits, dynamic ones included.

    default_shots: where neither the pub nor run() says. seed: of the draws; pub p's set of values i uses a seed of its own
    that follows from it. options: those of :class:`qsim_hpc.Session`.
    """

    def __init__(self, *, default_shots: int = 1024, seed: int | None = None, **options: Any) -> None:
        self._default_shots, self._seed = default_shots, seed
        self._session = Session(**options)

    @property
    def default_shots(self) -> int:
        return self._default_shots

    @property
    def seed(self) -> int | None:
        return self._seed

    def run(self, pubs: Iterable[Any], *, shots: int | None = None) -> PrimitiveJob:
        coerced = [SamplerPub.coerce(pub, self._default_shots if shots is None else shots) for pub in pubs]
        job = PrimitiveJob(self._run, coerced)
        job._submit()
        return job

    def _run(self, pubs: Sequence[SamplerPub]) -> PrimitiveResult:
        seeds = np.random.SeedSequence(self._seed).spawn(len(pubs))
        return PrimitiveResult([self._pub(pub, seed) for pub, seed in zip(pubs, seeds)], metadata={"version": 2})

    def _pub(self, pub: SamplerPub, seeds: np.random.SeedSequence) -> SamplerPubResult:
        source = pub.circuit
        values = np.asarray(pub.parameter_values.as_array(source.parameters), dtype=float)
        values = values.reshape((*pub.shape, len(source.parameters)))
        registers = source.cregs
        if not registers:
            warnings.warn("a circuit without classical registers is sampled: its result is empty", UserWarning, stacklevel=2)
        arrays = {
            one.name: np.zeros((*pub.shape, pub.shots, max(1, -(-one.size // 8))), dtype=np.uint8) for one in registers
        }
        if registers and pub.shots:
            each_seed = seeds.generate_state(max(1, int(np.prod(pub.shape))), dtype=np.uint64)
            for number, (index, program, sets) in enumerate(_each_program(self._session, source, values)):
                seed = int(each_seed[number] >> np.uint64(1))
                found = _sampled(program, self._session, sets, pub.shots, seed)
                for name, data in _shots(found, registers, seed).items():
                    arrays[name][index] = data
        bits = {one.name: BitArray(arrays[one.name], one.size) for one in registers}
        metadata = {"shots": pub.shots, "circuit_metadata": source.metadata}
        return SamplerPubResult(DataBin(**bits, shape=pub.shape), metadata=metadata)


def _sampled(program: Program, session: Session, values: Any, shots: int, seed: int | None) -> Result:
    if program.circuit.measures:
        return run(program, shots=shots, seed=seed, params=values, session=session)
    # Nothing is measured: all bits stay 0.
    return Result(counts={" ".join("0" * size for _, size in reversed(program.circuit.cregs) if size): shots}, seed=seed)


def _texts(found: Result, registers: Sequence[ClassicalRegister]) -> list[list[str]]:
    """Of each register, in order of declaration, the text of every outcome."""
    place: dict[Any, int] = {}
    for register in registers:
        for bit in register:
            place.setdefault(bit, len(place))
    outcomes = [key.replace(" ", "")[::-1] for key in found.counts]  # bit by bit, the first declared first
    texts = []
    for register in registers:
        where = [place[bit] for bit in register]
        if where == list(range(where[0], where[0] + len(where)) if where else []):
            first, end = (where[0], where[-1] + 1) if where else (0, 0)
            texts.append([one[first:end][::-1] for one in outcomes])
        else:
            texts.append(["".join(one[i] for i in reversed(where)) for one in outcomes])
    return texts


def _shots(found: Result, registers: Sequence[ClassicalRegister], seed: int | None) -> dict[str, np.ndarray]:
    """Every shot's bytes by register; the shots are in an order that the seed draws."""
    times = list(found.counts.values())
    order = np.repeat(np.arange(len(times)), times)
    np.random.default_rng(seed).shuffle(order)
    texts = _texts(found, registers)
    return {one.name: _register_bytes(text, one.size)[order] for one, text in zip(registers, texts)}


_PROJECTORS = {
    "0": [("I", 0.5), ("Z", 0.5)], "1": [("I", 0.5), ("Z", -0.5)], "+": [("I", 0.5), ("X", 0.5)],
    "-": [("I", 0.5), ("X", -0.5)], "r": [("I", 0.5), ("Y", 0.5)], "l": [("I", 0.5), ("Y", -0.5)],
}  # fmt: skip


def _observable(terms: Mapping[str, float]) -> PauliSum:
    """Labels of Paulis and projectors, qubit 0 right-most, as a sum."""
    masks: dict[tuple[int, int], float] = {}
    for label, coefficient in terms.items():
        for choice in product(*(_PROJECTORS.get(letter, [(letter, 1.0)]) for letter in label)):
            x = z = 0
            factor = float(np.real(coefficient))
            for place, (letter, part) in enumerate(reversed(choice)):
                x |= (letter in "XY") << place
                z |= (letter in "YZ") << place
                factor *= part
            masks[x, z] = masks.get((x, z), 0.0) + factor
    return PauliSum.from_masks([x for x, _ in masks], [z for _, z in masks], list(masks.values()))


class QsimEstimator(BaseEstimatorV2):
    """EstimatorV2: exact expectation values, computed from the state: `stds` are 0 whatever precision is asked for.

    options: those of :class:`qsim_hpc.Session`.
    """

    def __init__(self, *, default_precision: float = 0.0, **options: Any) -> None:
        self._default_precision = default_precision
        self._session = Session(**options)

    @property
    def default_precision(self) -> float:
        return self._default_precision

    def run(self, pubs: Iterable[Any], *, precision: float | None = None) -> PrimitiveJob:
        coerced = [EstimatorPub.coerce(pub, self._default_precision if precision is None else precision) for pub in pubs]
        job = PrimitiveJob(self._run, coerced)
        job._submit()
        return job

    def _run(self, pubs: Sequence[EstimatorPub]) -> PrimitiveResult:
        return PrimitiveResult([self._pub(pub) for pub in pubs], metadata={"version": 2})

    def _pub(self, pub: EstimatorPub) -> PubResult:
        source = pub.circuit
        values = np.asarray(pub.parameter_values.as_array(source.parameters), dtype=float)
        values = values.reshape((*pub.parameter_values.shape, len(source.parameters)))
        sums = np.empty(pub.observables.shape, dtype=object)
        for index in np.ndindex(sums.shape):
            sums[index] = _observable(pub.observables[index])
        wanted = np.broadcast_to(sums, pub.shape)
        numbers = np.arange(int(np.prod(values.shape[:-1]))).reshape(values.shape[:-1])
        of_values = np.broadcast_to(numbers, pub.shape)
        evs = np.zeros(pub.shape)
        for index, program, sets in _each_program(self._session, source, values):
            asked = np.argwhere(of_values == numbers[index]) if pub.shape else [()]
            if len(asked) == 0:
                continue
            observables = [wanted[tuple(one)] for one in asked]
            found = run(program, observables=observables, params=sets, session=self._session, shots=0).expectations
            for one, value in zip(asked, found):
                evs[tuple(one)] = value
        metadata = {"target_precision": pub.precision, "circuit_metadata": source.metadata}
        return PubResult(DataBin(evs=evs, stds=np.zeros(pub.shape), shape=pub.shape), metadata=metadata)


class QsimJob(JobV1):
    """A job that is done when it is made."""

    def __init__(self, backend: BackendV2, result: QiskitResult) -> None:
        super().__init__(backend, result.job_id)
        self._result = result

    def submit(self) -> None:
        pass

    def result(self) -> QiskitResult:
        return self._result

    def status(self) -> JobStatus:
        return JobStatus.DONE

    def cancel(self) -> bool:
        return False


class QsimBackend(BackendV2):
    """BackendV2: any gates between any qubits, and control flow; as many qubits as memory holds.

    options: those of :class:`qsim_hpc.Session`.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(name="qsim", description="State vectors, exact", backend_version=__version__)
        self._session = Session(**options)
        amplitude = 8 if self._session.precision == "single" else 16
        qubits = (self._session.memory_bytes * self._session.ranks // amplitude).bit_length() - 1
        known = get_standard_gate_name_mapping()
        basis = [name for name in (*_NAMES, "global_phase", "measure", "reset", "delay") if name in known]
        self._target = Target.from_configuration(basis_gates=basis, num_qubits=qubits)
        for operation in (IfElseOp, ForLoopOp, WhileLoopOp, SwitchCaseOp, UnitaryGate, MCXGate):
            self._target.add_instruction(operation, name=_CLASS_NAMES[operation])

    @property
    def target(self) -> Target:
        return self._target

    @property
    def max_circuits(self) -> None:
        return None

    @classmethod
    def _default_options(cls) -> Options:
        return Options(shots=1024, seed_simulator=None, memory=False)

    def run(self, run_input: QuantumCircuit | Sequence[QuantumCircuit], **options: Any) -> QsimJob:
        """Runs circuits; options: shots, seed_simulator, memory, parameter_binds."""
        binds = options.pop("parameter_binds", None)
        wanted = {**vars(self.options), **options}
        unknown = set(wanted) - {"shots", "seed_simulator", "memory"}
        if unknown:
            raise UsageError(f"unknown options of run(): {', '.join(sorted(unknown))}")
        circuits = [run_input] if isinstance(run_input, QuantumCircuit) else list(run_input)
        if binds is not None:
            if len(binds) != len(circuits):
                raise UsageError(f"{len(binds)} parameter_binds for {len(circuits)} circuits")
            circuits = [one for source, bind in zip(circuits, binds) for one in _bound(source, bind)]
        job_id = str(uuid.uuid4())
        results = [self._experiment(one, i, wanted) for i, one in enumerate(circuits)]
        return QsimJob(self, QiskitResult(backend_name=self.name, backend_version=__version__, job_id=job_id, success=True, results=results))

    def _experiment(self, source: QuantumCircuit, number: int, options: Mapping[str, Any]) -> ExperimentResult:
        circuit, saves = _converted(source)
        program = self._session.compile(circuit)
        seed = options["seed_simulator"]
        data: dict[str, Any] = {}
        shots = options["shots"]
        if source.clbits and circuit.measures:
            found = run(program, shots=shots, seed=None if seed is None else seed + number, session=self._session)
            seed = found.seed
            keys = [hex(value) for value in _memory_numbers(found, source)]
            data["counts"] = dict(zip(keys, found.counts.values()))
            if options["memory"]:
                each = np.repeat(np.array(keys, dtype=object), list(found.counts.values()))
                np.random.default_rng(seed).shuffle(each)
                data["memory"] = each.tolist()
        if saves:
            data["statevector"] = run(program, statevector=True, session=self._session).statevector
        header = {
            "name": source.name, "creg_sizes": [[one.name, one.size] for one in source.cregs],
            "qreg_sizes": [[one.name, one.size] for one in source.qregs], "memory_slots": source.num_clbits,
            "n_qubits": source.num_qubits, "global_phase": 0.0, "metadata": source.metadata or {},
        }  # fmt: skip
        return ExperimentResult(shots, True, ExperimentResultData(**data), meas_level=2, header=header, seed=seed)


def _bound(source: QuantumCircuit, bind: Mapping[Any, Sequence[float]]) -> Iterable[QuantumCircuit]:
    lengths = {len(values) for values in bind.values()}
    if len(lengths) > 1:
        raise UsageError("lists of values of several lengths in parameter_binds")
    for i in range(lengths.pop() if lengths else 1):
        yield source.assign_parameters({one: values[i] for one, values in bind.items()})


def _memory_numbers(found: Result, source: QuantumCircuit) -> list[int]:
    """Every outcome as a number whose bit i is Qiskit's classical bit i."""
    order = list(dict.fromkeys(bit for register in source.cregs for bit in register))
    order += [bit for bit in source.clbits if bit not in set(order)]
    place = {bit: i for i, bit in enumerate(source.clbits)}
    straight = [place[bit] for bit in order] == list(range(len(order)))
    numbers = []
    for key in found.counts:
        text = key.replace(" ", "")
        if straight:
            numbers.append(int(text, 2))
        else:
            numbers.append(sum(1 << place[bit] for bit, digit in zip(order, reversed(text)) if digit == "1"))
    return numbers
