"""Each simulator behind one interface: its own circuit object, one whole call to counts or a value, and its amplitudes.

Indices are ours everywhere: qubit 0 is the least significant bit. Modules are imported where they are used, so that a process
loads one simulator.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from circuits import Circuit

THREADS = int(os.environ.get("OMP_NUM_THREADS", "2"))


class Simulator:
    """`variants` are ways to call it, the default one first. A call answers counts ({index: times}, by `counts_of`) or a value."""

    precisions: tuple[str, ...] = ("double",)
    variants: tuple[str, ...] = ("default",)
    packages: tuple[str, ...] = ()

    def __init__(self, precision: str) -> None:
        self.precision = precision

    def build(self, circuit: Circuit) -> Any:
        """Its own object of the circuit; with measurements where counts are asked and it has them."""
        raise NotImplementedError

    def amplitudes(self, source: Any, circuit: Circuit) -> np.ndarray:
        """Shape (2**n,), without measurements."""
        raise NotImplementedError

    def call(self, source: Any, circuit: Circuit, variant: str, shots: int) -> Callable[[], Any]:
        """What is timed: from the object to its answer, of which nothing is kept for the next call."""
        raise NotImplementedError

    def counts_of(self, answer: Any) -> dict[int, int]:
        """The answer of a call for counts; by default a mapping of bit strings, qubit 0 right-most."""
        return {int(bits, 2): int(times) for bits, times in answer.items()}


def _pauli_label(term: dict[int, str], n: int) -> str:
    return "".join(term.get(q, "I") for q in range(n - 1, -1, -1))


# ---- Ours


class Ours(Simulator):
    """The package by itself: qsim.Circuit to qsim.run()."""

    precisions = ("double", "single")
    packages = ("qsim-hpc",)
    _NAMES = {"u1": "p", "u3": "u", "cu1": "cp"}

    def build(self, circuit: Circuit) -> Any:
        import qsim_hpc as qsim

        counted = circuit.answer == "counts"
        made = qsim.Circuit(circuit.qubits, circuit.qubits if counted else 0)
        for name, angles, qubits in circuit.gates:
            made.apply(self._NAMES.get(name, name), list(qubits), list(angles))
        if counted:
            made.measure(list(range(circuit.qubits)), list(range(circuit.qubits)))
        return made

    def amplitudes(self, source: Any, circuit: Circuit) -> np.ndarray:
        import qsim_hpc as qsim

        return qsim.run(source, statevector=True, precision=self.precision, threads=THREADS).statevector

    def call(self, source: Any, circuit: Circuit, variant: str, shots: int) -> Callable[[], Any]:
        import qsim_hpc as qsim

        options = {"precision": self.precision, "threads": THREADS}
        if circuit.answer == "counts":
            return lambda: qsim.run(source, shots=shots, **options).counts
        words = [(" ".join(f"{letter}{q}" for q, letter in term.items()), factor) for factor, term in circuit.terms]
        total = qsim.PauliSum(words, circuit.qubits)
        return lambda: float(qsim.run(source, observables=total, **options).expectations[0])


# ---- Qiskit and Aer


class _Qiskit(Simulator):
    _NAMES = {"u1": "p", "u3": "u", "cu1": "cp"}
    packages = ("qiskit",)

    def build(self, circuit: Circuit) -> Any:
        from qiskit import QuantumCircuit

        made = QuantumCircuit(circuit.qubits)
        for name, angles, qubits in circuit.gates:
            getattr(made, self._NAMES.get(name, name))(*angles, *qubits)
        if circuit.answer == "counts":
            made.measure_all()
        return made

    @staticmethod
    def operator(circuit: Circuit) -> Any:
        from qiskit.quantum_info import SparsePauliOp

        return SparsePauliOp.from_list([(_pauli_label(term, circuit.qubits), factor) for factor, term in circuit.terms])

    @staticmethod
    def saved(source: Any) -> Any:
        copy = source.remove_final_measurements(inplace=False)
        copy.save_statevector()
        return copy


class OursFromQiskit(_Qiskit):
    """Qiskit's circuit to QsimBackend or QsimEstimator."""

    packages = ("qsim-hpc", "qiskit")

    def amplitudes(self, source: Any, circuit: Circuit) -> np.ndarray:
        import qsim_hpc as qsim
        from qsim_hpc.qiskit import from_qiskit

        plain = from_qiskit(source.remove_final_measurements(inplace=False))
        return qsim.run(plain, statevector=True, precision=self.precision, threads=THREADS).statevector

    def call(self, source: Any, circuit: Circuit, variant: str, shots: int) -> Callable[[], Any]:
        from qsim_hpc.qiskit import QsimBackend, QsimEstimator

        if circuit.answer == "counts":
            backend = QsimBackend(precision=self.precision, threads=THREADS)
            return lambda: backend.run(source, shots=shots).result().get_counts()
        estimator, operator = QsimEstimator(precision=self.precision, threads=THREADS), self.operator(circuit)
        return lambda: float(estimator.run([(source, operator)]).result()[0].data.evs)


class Aer(_Qiskit):
    """AerSimulator's state vectors. transpiled: transpile() for it first, as its documents have it; direct: the circuit as it
    is, as its own primitives take it."""

    precisions = ("double", "single")
    variants = ("transpiled", "direct")
    packages = ("qiskit", "qiskit-aer")

    def _options(self) -> dict[str, Any]:
        return {"method": "statevector", "precision": self.precision, "max_parallel_threads": THREADS}

    def amplitudes(self, source: Any, circuit: Circuit) -> np.ndarray:
        from qiskit_aer import AerSimulator

        found = AerSimulator(**self._options()).run(self.saved(source), shots=1).result()
        return np.asarray(found.data()["statevector"])

    def call(self, source: Any, circuit: Circuit, variant: str, shots: int) -> Callable[[], Any]:
        from qiskit import transpile
        from qiskit_aer import AerSimulator
        from qiskit_aer.primitives import EstimatorV2

        backend = AerSimulator(**self._options())
        if circuit.answer == "counts":
            if variant == "direct":
                return lambda: backend.run(source, shots=shots).result().get_counts()
            return lambda: backend.run(transpile(source, backend), shots=shots).result().get_counts()
        operator = self.operator(circuit)
        if variant == "direct":
            estimator = EstimatorV2(options={"backend_options": self._options()})
            return lambda: float(estimator.run([(source, operator)]).result()[0].data.evs)

        def transpiled() -> float:
            asked = source.copy()
            asked.save_expectation_value(operator, range(circuit.qubits))
            return float(backend.run(transpile(asked, backend)).result().data()["expectation_value"])

        return transpiled


# ---- PennyLane and Lightning


class _PennyLane(Simulator):
    """A tape to qml.execute(). Wire i is qubit n - 1 - i, so that indices are ours."""

    packages = ("pennylane",)
    _NAMES = {
        "x": "PauliX", "y": "PauliY", "z": "PauliZ", "h": "Hadamard", "s": "S", "t": "T", "rx": "RX", "ry": "RY", "rz": "RZ",
        "u1": "PhaseShift", "u3": "U3", "cx": "CNOT", "cz": "CZ", "cu1": "ControlledPhaseShift", "swap": "SWAP", "ccx": "Toffoli",
    }  # fmt: skip

    def device(self, circuit: Circuit, variant: str) -> Any:
        raise NotImplementedError

    def build(self, circuit: Circuit) -> Any:
        import pennylane as qml

        last = circuit.qubits - 1
        made = []
        for name, angles, qubits in circuit.gates:
            wires = [last - q for q in qubits]
            if name == "sdg":
                made.append(qml.adjoint(qml.S(wires[0])))
            elif name == "tdg":
                made.append(qml.adjoint(qml.T(wires[0])))
            else:
                made.append(getattr(qml, self._NAMES[name])(*angles, wires=wires))
        return made

    def amplitudes(self, source: Any, circuit: Circuit) -> np.ndarray:
        import pennylane as qml

        tape = qml.tape.QuantumScript(source, [qml.state()])
        return qml.execute([tape], self.device(circuit, self.variants[0]), diff_method=None)[0]

    def call(self, source: Any, circuit: Circuit, variant: str, shots: int) -> Callable[[], Any]:
        import pennylane as qml

        device, last = self.device(circuit, variant), circuit.qubits - 1
        if circuit.answer == "counts":
            tape = qml.tape.QuantumScript(source, [qml.counts(wires=range(circuit.qubits))], shots=shots)
            return lambda: qml.execute([tape], device, diff_method=None)[0]
        letters = {"X": qml.X, "Y": qml.Y, "Z": qml.Z}
        factors = [factor for factor, _ in circuit.terms]
        words = [qml.prod(*(letters[letter](last - q) for q, letter in term.items())) if len(term) > 1
                 else next(letters[letter](last - q) for q, letter in term.items()) for _, term in circuit.terms]
        tape = qml.tape.QuantumScript(source, [qml.expval(qml.Hamiltonian(factors, words))])
        return lambda: float(qml.execute([tape], device, diff_method=None)[0])


class OursFromPennyLane(_PennyLane):
    """PennyLane's device "qsim"."""

    packages = ("qsim-hpc", "pennylane")

    def device(self, circuit: Circuit, variant: str) -> Any:
        import pennylane as qml

        return qml.device("qsim", wires=circuit.qubits, precision=self.precision, threads=THREADS)


class Lightning(_PennyLane):
    """lightning.qubit, and lightning.kokkos, which its documents name for the threads of a processor."""

    precisions = ("double", "single")
    variants = ("lightning.qubit", "lightning.kokkos")
    packages = ("pennylane", "pennylane-lightning", "pennylane-lightning-kokkos")

    def device(self, circuit: Circuit, variant: str) -> Any:
        import pennylane as qml

        kind = np.complex64 if self.precision == "single" else np.complex128
        return qml.device(variant, wires=circuit.qubits, c_dtype=kind)


# ---- Qulacs


class Qulacs(Simulator):
    """Circuit and state of Qulacs; light and block: after optimize_light() or optimize() to blocks of 3 qubits, timed as well."""

    variants = ("plain", "light", "block")
    packages = ("qulacs",)
    _PLAIN = {"x": "X", "y": "Y", "z": "Z", "h": "H", "s": "S", "t": "T", "sdg": "Sdag", "tdg": "Tdag", "cx": "CNOT", "cz": "CZ",
              "swap": "SWAP"}

    def build(self, circuit: Circuit) -> Any:
        import qulacs
        from qulacs import gate

        made = qulacs.QuantumCircuit(circuit.qubits)
        for name, angles, qubits in circuit.gates:
            if name in self._PLAIN:
                getattr(made, f"add_{self._PLAIN[name]}_gate")(*qubits)
            elif name in ("rx", "ry", "rz"):  # its angles have the other sign
                getattr(made, f"add_{name.upper()}_gate")(qubits[0], -angles[0])
            elif name == "u1":
                made.add_U1_gate(qubits[0], *angles)
            elif name == "u3":
                made.add_U3_gate(qubits[0], *angles)
            elif name == "cu1":
                phase = gate.to_matrix_gate(gate.U1(qubits[1], angles[0]))
                phase.add_control_qubit(qubits[0], 1)
                made.add_gate(phase)
            elif name == "ccx":
                made.add_gate(gate.TOFFOLI(*qubits))
            else:
                raise ValueError(f"no gate {name}")
        return made

    def amplitudes(self, source: Any, circuit: Circuit) -> np.ndarray:
        import qulacs

        state = qulacs.QuantumState(circuit.qubits)
        source.update_quantum_state(state)
        return state.get_vector()

    def call(self, source: Any, circuit: Circuit, variant: str, shots: int) -> Callable[[], Any]:
        import qulacs
        from qulacs.circuit import QuantumCircuitOptimizer

        observable = qulacs.Observable(circuit.qubits)
        for factor, term in circuit.terms:
            observable.add_operator(factor, " ".join(f"{letter} {q}" for q, letter in term.items()))

        def run() -> Any:
            wanted = source
            if variant != "plain":
                wanted = source.copy()
                if variant == "light":
                    QuantumCircuitOptimizer().optimize_light(wanted)
                else:
                    QuantumCircuitOptimizer().optimize(wanted, 3)
            state = qulacs.QuantumState(circuit.qubits)
            wanted.update_quantum_state(state)
            return observable.get_expectation_value(state) if circuit.terms else state.sampling(shots)

        return run

    def counts_of(self, answer: Any) -> dict[int, int]:
        indices, times = np.unique(answer, return_counts=True)
        return dict(zip(indices.tolist(), times.tolist()))


# ---- Cirq and Google's qsim


class _Cirq(Simulator):
    """LineQubit(q) is qubit q, and the order of qubits is reversed, so that indices are ours."""

    packages = ("cirq-core",)

    def build(self, circuit: Circuit) -> Any:
        import cirq

        qubits = cirq.LineQubit.range(circuit.qubits)
        plain = {"x": cirq.X, "y": cirq.Y, "z": cirq.Z, "h": cirq.H, "s": cirq.S, "t": cirq.T, "sdg": cirq.S**-1, "tdg": cirq.T**-1,
                 "cx": cirq.CNOT, "cz": cirq.CZ, "swap": cirq.SWAP, "ccx": cirq.TOFFOLI}
        turns = {"rx": cirq.rx, "ry": cirq.ry, "rz": cirq.rz}
        made = []
        for name, angles, on in circuit.gates:
            if name in plain:
                gate = plain[name]
            elif name in turns:
                gate = turns[name](*angles)
            elif name == "u1":
                gate = cirq.ZPowGate(exponent=angles[0] / np.pi)
            elif name == "cu1":
                gate = cirq.CZPowGate(exponent=angles[0] / np.pi)
            elif name == "u3":
                theta, phi, lam = angles
                gate = cirq.PhasedXZGate(x_exponent=theta / np.pi, z_exponent=(phi + lam) / np.pi, axis_phase_exponent=0.5 - lam / np.pi)
            else:
                raise ValueError(f"no gate {name}")
            made.append(gate.on(*(qubits[q] for q in on)))
        if circuit.answer == "counts":
            made.append(cirq.measure(*reversed(qubits), key="all"))
        return cirq.Circuit(made)

    def simulator(self, variant: str) -> Any:
        raise NotImplementedError

    def amplitudes(self, source: Any, circuit: Circuit) -> np.ndarray:
        import cirq

        plain = cirq.Circuit(op for op in source.all_operations() if not cirq.is_measurement(op))
        order = cirq.LineQubit.range(circuit.qubits)[::-1]
        return self.simulator(self.variants[0]).simulate(plain, qubit_order=order).final_state_vector

    def call(self, source: Any, circuit: Circuit, variant: str, shots: int) -> Callable[[], Any]:
        import cirq

        simulator = self.simulator(variant)
        if circuit.answer == "counts":
            return lambda: simulator.run(source, repetitions=shots).histogram(key="all")
        qubits = cirq.LineQubit.range(circuit.qubits)
        letters = {"X": cirq.X, "Y": cirq.Y, "Z": cirq.Z}
        total = cirq.PauliSum.from_pauli_strings(
            cirq.PauliString(factor, *(letters[letter](qubits[q]) for q, letter in term.items())) for factor, term in circuit.terms
        )
        return lambda: float(np.real(simulator.simulate_expectation_values(source, [total])[0]))

    def counts_of(self, answer: Any) -> dict[int, int]:
        return {int(index): int(times) for index, times in answer.items()}


class OursFromCirq(_Cirq):
    """QsimSimulator of this package, in Google's precision."""

    precisions = ("single",)
    packages = ("qsim-hpc", "cirq-core")

    def simulator(self, variant: str) -> Any:
        from qsim_hpc.cirq import QsimSimulator

        return QsimSimulator(precision=self.precision, threads=THREADS)


class Google(_Cirq):
    """qsimcirq, in single precision only; fused gates of 2 qubits, its default, and of 4, which its documents advise for large
    circuits."""

    precisions = ("single",)
    variants = ("fused2", "fused4")
    packages = ("cirq-core", "qsimcirq")

    def simulator(self, variant: str) -> Any:
        import qsimcirq

        return qsimcirq.QSimSimulator(qsimcirq.QSimOptions(max_fused_gate_size=int(variant[-1]), cpu_threads=THREADS))


SIMULATORS: dict[str, type[Simulator]] = {
    "qsim": Ours, "qsim-qiskit": OursFromQiskit, "qsim-pennylane": OursFromPennyLane, "qsim-cirq": OursFromCirq,
    "aer": Aer, "lightning": Lightning, "qulacs": Qulacs, "google": Google,
}  # fmt: skip
