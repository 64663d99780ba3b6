"""Errors of the library. All are :class:`Error`, and the builtin exception that fits as well."""


class Error(Exception):
    """Base of all; ``hint`` may say more, ``code`` is the exit code of the command line."""

    hint: str = ""
    code: int = 1

    def __str__(self) -> str:
        text = super().__str__()
        return f"{text}\n{self.hint}" if self.hint else text


class UsageError(Error, ValueError):
    """A call that makes no sense: wrong values, use after close, two threads in one session."""


class CircuitError(Error, ValueError):
    """An operation that no circuit can have: the same qubit twice, a matrix that is not unitary."""


class ParseError(CircuitError):
    """Text that is no valid program; ``file``, ``line`` and ``column`` of the first mistake."""

    file: str = ""
    line: int = 0
    column: int = 0


class UnsupportedError(Error, NotImplementedError):
    """Valid, but not supported; ``file``, ``line`` and ``column`` where it comes from a program's text."""

    file: str = ""
    line: int = 0
    column: int = 0


class CapacityError(Error, MemoryError):
    """Does not fit, said before anything is allocated; ``wanted_bytes`` and ``free_bytes`` of a rank."""

    wanted_bytes: int = 0
    free_bytes: int = 0


class DeviceError(Error, RuntimeError):
    """There is no such device, or its library failed."""


class CommunicatorError(Error, RuntimeError):
    """Ranks could not start or reach each other."""

    rank: int = -1


class VerificationError(Error, ArithmeticError):
    """A result failed its check and is not shown."""


class FileError(Error, OSError):
    """A file cannot be read, written, or is not what it should be."""


class QasmWarning(UserWarning):
    """What a program contains that has no effect, or more than one reading."""
