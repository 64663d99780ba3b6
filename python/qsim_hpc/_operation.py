"""What reading a circuit gives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ._core import Circuit

if TYPE_CHECKING:
    from ._core import Angle


class Condition(NamedTuple):
    """Holds where the classical register number ``register`` equals ``value`` (``negated``: differs)."""

    register: int
    value: int
    negated: bool


class Operation(NamedTuple):
    """One operation of a circuit."""

    name: str
    """The gate's name, with its controls where it has one of its own ('cx'); 'unitary', 'pauli_rotation', 'measure',
    'reset' or 'barrier'."""
    targets: tuple[int, ...]
    controls: tuple[int, ...]
    """Qubits that must be 1."""
    angles: tuple[float | Angle, ...]
    """Radians; open ones are Angles."""
    clbit: int | None
    """Of a measurement."""
    condition: Condition | None
    matrix: Any
    """Of 'unitary': an array of shape (2**t, 2**t); bit j of an index is targets[j]."""
    letters: str
    """Of 'pauli_rotation': letters[j] acts on targets[j]."""
    base: str
    """The name without the controls: 'x' of 'cx'."""

    @property
    def qubits(self) -> tuple[int, ...]:
        """Controls, then targets."""
        return self.controls + self.targets


def iterate(circuit: Circuit) -> Iterator[Operation]:
    for index in range(len(circuit)):
        yield circuit[index]


def from_bytes(data: bytes) -> Circuit:
    """What pickling a circuit names."""
    return Circuit._from_bytes(data)


def from_qasm(text: str) -> Circuit:
    """What pickling a program with control flow names."""
    return Circuit.from_qasm(text)
