"""State-vector simulation of quantum circuits.

    >>> import qsim_hpc as qsim
    >>> bell = qsim.Circuit(2, 2).h(0).cx(0, 1).measure([0, 1], [0, 1])
    >>> qsim.run(bell, shots=1000, seed=7).counts
    {'00': 491, '11': 509}

Qubit q is bit q of an index; the right-most character of a bit string is bit 0. Angles are radians. Errors are
:class:`Error` and the builtin exception that fits. It is not Google's qsim.
"""

from __future__ import annotations

from ._core import Angle, Circuit, Parameter, PauliSum, Program, Session, State, VERSION as __version__, gates, info, run_batch
from ._draw import draw_bloch, draw_histogram, draw_probabilities
from ._operation import Condition, Operation
from ._run import Result, run
from .errors import (
    CapacityError,
    CircuitError,
    CommunicatorError,
    DeviceError,
    Error,
    FileError,
    ParseError,
    QasmWarning,
    UnsupportedError,
    UsageError,
    VerificationError,
)

__all__ = [
    "Angle",
    "CapacityError",
    "Circuit",
    "CircuitError",
    "CommunicatorError",
    "Condition",
    "DeviceError",
    "Error",
    "FileError",
    "Operation",
    "Parameter",
    "ParseError",
    "PauliSum",
    "Program",
    "QasmWarning",
    "Result",
    "Session",
    "State",
    "UnsupportedError",
    "UsageError",
    "VerificationError",
    "__version__",
    "draw_bloch",
    "draw_histogram",
    "draw_probabilities",
    "gates",
    "info",
    "run",
    "run_batch",
]
