"""From a circuit to its results in one call."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from typing import Any

from ._core import Circuit, Program, Session, too_small_for_a_gpu
from ._draw import draw_histogram
from .errors import UsageError

_LARGE_BYTES = 256 << 20  # of a state: sessions that held one are not kept
_GPU_OPTIONS = frozenset(("backend", "gpu_ids", "jit", "exchange", "mpi"))  # whoever gives one of these chooses
_local = threading.local()


@dataclass(eq=False)
class Result:
    """What a run answered; what was not asked for is None. Batches have a first axis, and a list of counts."""

    counts: Any = None
    """{bits: times}: registers are separated by a space, the last one first; the right-most character is bit 0."""
    distribution: Any = None
    """{bits: probability}, exact."""
    expectations: Any = None
    """Shape (observables,)."""
    marginals: Any = None
    """Shape (n,): the probability that qubit q is 1."""
    probabilities: Any = None
    """One array a list of qubits: at v the probability that qubits[j] equals bit j of v."""
    statevector: Any = None
    """Shape (2**n,): the amplitudes by index, before terminal measurements."""
    shots: int = 0
    seed: int | None = None
    """Of the shots; drawn where none was given."""
    branches: Any = 1
    """Ways of outcomes through a circuit that measures on its way; 1 otherwise."""
    backend: str = ""
    precision: str = ""
    cregs: list[tuple[str, int]] = field(default_factory=list)
    """(name, size) of the registers in the bit strings, the first declared first."""

    def memory(self) -> Any:
        """Shape (shots,): the outcome of every shot as text, in an order that the seed draws. UsageError for batches."""
        import numpy

        if not isinstance(self.counts, dict):
            raise UsageError("memory() needs the counts of one run")
        each = numpy.repeat(numpy.array(list(self.counts)), list(self.counts.values()))
        numpy.random.default_rng(self.seed).shuffle(each)
        return each

    def draw(self, *, most: int = 64, width: int = 760, matplotlib: bool = False) -> Any:
        """Bars of the exact distribution where there is one, else of the counts: draw_histogram(). UsageError for batches."""
        values = self.counts if self.distribution is None else self.distribution
        if not isinstance(values, dict):
            raise UsageError("draw() needs the counts or the distribution of one run")
        return draw_histogram(values, most=most, width=width, matplotlib=matplotlib)

    def to_dict(self) -> dict[str, Any]:
        """Plain values and numpy arrays."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Result:
        """What to_dict() gave."""
        return cls(**values)

    def _rows(self) -> list[tuple[str, str]]:
        rows = [("ran on", f"{self.backend}, {self.precision} precision")]
        if self.shots:
            rows.append(("shots", f"{self.shots}, seed {self.seed}"))
        for name in ("expectations", "marginals", "probabilities", "statevector"):
            value = getattr(self, name)
            if value is None:
                continue
            shape = getattr(value, "shape", None)
            rows.append((name, f"array of shape {shape}" if shape is not None and value.size > 8 else str(value)))
        return rows

    def _tables(self) -> list[tuple[str, list[tuple[str, str, float]]]]:
        tables = []
        for name in ("counts", "distribution"):
            table = getattr(self, name)
            if not isinstance(table, dict):
                continue
            total = sum(table.values()) or 1
            most = sorted(table.items(), key=lambda one: -one[1])[:20]
            rows = [(bits, f"{value:.6f}" if name == "distribution" else str(value), value / total) for bits, value in most]
            if len(table) > len(most):
                rows.append((f"{len(table) - len(most)} more", "", 0.0))
            tables.append((name, rows))
        return tables

    def __repr__(self) -> str:
        lines = [f"{name:<14}{value}" for name, value in self._rows()]
        for name, rows in self._tables():
            lines.append(f"{name} (right-most character is bit 0)")
            width = max((len(bits) for bits, _, _ in rows), default=0)
            lines += [f"  {bits:<{width}}  {value:>10}  {'#' * round(40 * share)}".rstrip() for bits, value, share in rows]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{escape(a)}</th><td colspan='2'>{escape(b)}</td></tr>" for a, b in self._rows())
        for name, table in self._tables():
            rows += f"<tr><th colspan='3'>{name} (right-most character is bit 0)</th></tr>"
            for bits, value, share in table:
                bar = f"<div style='background:#4c78a8;height:0.8em;width:{200 * share:.1f}px'></div>"
                rows += f"<tr><td><code>{escape(bits)}</code></td><td>{value}</td><td>{bar}</td></tr>"
        return f"<table>{rows}</table>"


def _session(options: Mapping[str, Any], circuit: Circuit | Program) -> Session:
    """This thread's session with these options: kept from one call to the next, for the last options only. Circuits that
    cores have done before a GPU's driver has started have one of their own."""
    on_cores = isinstance(circuit, Circuit) and not _GPU_OPTIONS.intersection(options) and too_small_for_a_gpu(circuit)
    if not hasattr(_local, "kept"):
        _local.kept = {}
    of, pid, session = _local.kept.get(on_cores, (None, 0, None))
    if session is None or of != options or pid != os.getpid() or session.closed:
        _local.kept.pop(on_cores, None)
        session = Session(**{"backend": "cpu", **options} if on_cores else options)
        _local.kept[on_cores] = ({name: _copy(value) for name, value in options.items()}, os.getpid(), session)
    return session


def _copy(value: Any) -> Any:
    return list(value) if isinstance(value, list) else value


def _forget_sessions() -> None:
    kept = getattr(_local, "kept", {})
    while kept:
        kept.popitem()[1][2].close()


atexit.register(_forget_sessions)


def _is_batch(params: Any) -> bool:
    if params is None or isinstance(params, Mapping):
        return False
    shape = getattr(params, "shape", None)
    if shape is not None:
        return len(shape) > 1
    return len(params) > 0 and hasattr(params[0], "__len__")


def run(
    circuit: Circuit | Program,
    *,
    shots: int | None = None,
    seed: int | None = None,
    observables: Any = None,
    params: Any = None,
    distribution: bool = False,
    marginals: bool = False,
    probabilities: Sequence[Sequence[int]] | None = None,
    statevector: bool = False,
    max_iterations: int = 1 << 20,
    session: Session | None = None,
    **options: Any,
) -> Result:
    """Runs a circuit from ``|0...0>`` and answers what is asked.

    shots: draws of the classical bits; by default 1024 where the circuit measures and nothing else is asked, else none.
    seed: of the draws; the same seed gives the same counts on any target.
    observables: Pauli sums ('Z0 Z1 + 0.5 X2', a mapping, pairs or a PauliSum): one, or a list.
    params: values of the open parameters in radians, {name: value} or in the order of ``circuit.parameters``; of shape
      (m, parameters) for m runs, whose answers are stacked; run i draws its shots with seed + i.
    distribution: the exact distribution of the classical bits. marginals: P(qubit = 1). probabilities: lists of qubits.
    statevector: the amplitudes; UnsupportedError for a circuit that measures or resets on its way.
    max_iterations: of loops that measurements decide, together in one branch; more is an UnsupportedError.
    session: where it runs; else a session with ``options`` (those of :class:`Session`) that the next call uses again,
      unless its state takes more than 256 MiB.

    Expectation values, marginals and probabilities are exact, of the state before terminal measurements, and averages
    over all branches of a circuit that measures on its way. UsageError and CircuitError (ValueErrors) for what makes no
    sense, CapacityError (a MemoryError) for what does not fit, VerificationError where a result fails its check; Ctrl-C
    ends the run.
    """
    if session is not None and options:
        raise UsageError(f"options {', '.join(options)} of a session that is given")
    here = session if session is not None else _session(options, circuit)
    program = circuit if isinstance(circuit, Program) else here.compile(circuit)
    one_observable = observables is not None and not isinstance(observables, (list, tuple))
    sums = [] if observables is None else [observables] if one_observable else list(observables)
    lists = [] if probabilities is None else [list(one) for one in probabilities]
    if shots is None:
        asked = bool(sums or lists or distribution or marginals or statevector)
        shots = 1024 if not asked and _measures(circuit) else 0
    wanted = (shots, seed, distribution, marginals, lists, sums, statevector, max_iterations)
    try:
        if not _is_batch(params):
            return _one(here, program, wanted, params)
        each = []
        for number, values in enumerate(params):
            one_seed = None if seed is None else seed + number
            each.append(_one(here, program, (shots, one_seed, *wanted[2:]), values))
        return _stacked(each, seed)
    finally:
        if session is None and (8 if here.precision == "single" else 16) << program.num_qubits > _LARGE_BYTES:
            _forget_sessions()


def _measures(circuit: Circuit | Program) -> bool:
    return circuit.circuit.measures if isinstance(circuit, Program) else circuit.measures


def _one(session: Session, program: Program, wanted: tuple, params: Any) -> Result:
    shots, seed, distribution, marginals, lists, sums, statevector, max_iterations = wanted
    result = Result(shots=shots, backend=session.backend, precision=session.precision)
    if statevector:
        result.statevector = session.run(program, params).to_numpy()
    if shots or distribution or program.dynamic:
        answers = session._answer(program, shots, seed, distribution, marginals, lists, sums, params, max_iterations)
        result.counts, result.seed = answers["counts"], answers["seed"]
        result.distribution, result.branches = answers["distribution"], answers["branches"]
        result.cregs = answers["cregs"]
        if marginals:
            result.marginals = answers["marginals"]
        if lists:
            result.probabilities = answers["probabilities"]
        if sums:
            result.expectations = answers["expectations"]
    elif marginals or lists or sums:
        state = session.run(program, params)
        if marginals:
            result.marginals = state.marginals()
        if lists:
            result.probabilities = [state.probabilities(one) for one in lists]
        if sums:
            result.expectations = state.expectations(sums)
    elif not statevector:
        session.run(program, params)
    return result


def _stacked(each: Sequence[Result], seed: int | None) -> Result:
    import numpy

    if not each:
        raise UsageError("a batch without sets of values")
    first = each[0]
    stacked = Result(
        shots=first.shots, backend=first.backend, precision=first.precision, seed=seed, cregs=first.cregs,
        branches=[one.branches for one in each],
    )
    for name in ("expectations", "marginals", "statevector"):
        if getattr(first, name) is not None:
            setattr(stacked, name, numpy.stack([getattr(one, name) for one in each]))
    if first.probabilities is not None:
        tables: Iterable = range(len(first.probabilities))
        stacked.probabilities = [numpy.stack([one.probabilities[i] for one in each]) for i in tables]
    for name in ("counts", "distribution"):
        if getattr(first, name) is not None:
            setattr(stacked, name, [getattr(one, name) for one in each])
    return stacked
