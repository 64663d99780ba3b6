import numpy as np
import pytest

import qsim_hpc as qsim


@pytest.fixture
def session():
    with qsim.Session("cpu") as opened:
        yield opened


def dense(circuit: qsim.Circuit) -> np.ndarray:
    """The matrix of a circuit by numpy alone, from its operations' matrices on |0>, |1>, ...: a second opinion."""
    size = 2**circuit.num_qubits
    total = np.eye(size, dtype=complex)
    for operation in circuit:
        if operation.name in ("barrier", "measure"):
            continue
        own = matrix_of(operation)
        step = np.zeros((size, size), dtype=complex)
        for column in range(size):
            if not all(column >> q & 1 for q in operation.controls):
                step[column, column] = 1
                continue
            place = sum((column >> q & 1) << j for j, q in enumerate(operation.targets))
            rest = column
            for q in operation.targets:
                rest &= ~(1 << q)
            for row in range(own.shape[0]):
                index = rest | sum((row >> j & 1) << q for j, q in enumerate(operation.targets))
                step[index, column] += own[row, place]
        total = step @ total
    return total


_I, _X, _Y, _Z = np.eye(2), np.array([[0, 1], [1, 0]]), np.array([[0, -1j], [1j, 0]]), np.diag([1, -1])
_PAULIS = {"X": _X, "Y": _Y, "Z": _Z}


def _turn(letters: str, angle: float) -> np.ndarray:
    product = np.eye(1)
    for letter in letters:
        product = np.kron(_PAULIS[letter], product)
    return np.cos(angle / 2) * np.eye(product.shape[0]) - 1j * np.sin(angle / 2) * product


def _u(theta, phi, lam, gamma=0.0):
    c, s = np.cos(theta / 2), np.sin(theta / 2)
    return np.exp(1j * gamma) * np.array([[c, -np.exp(1j * lam) * s], [np.exp(1j * phi) * s, np.exp(1j * (phi + lam)) * c]])


def matrix_of(operation) -> np.ndarray:
    angles = operation.angles
    if operation.name == "unitary":
        return operation.matrix
    if operation.name == "pauli_rotation":
        return _turn(operation.letters, angles[0])
    root = np.sqrt(0.5)
    fixed = {
        "id": _I, "x": _X, "y": _Y, "z": _Z, "h": root * np.array([[1, 1], [1, -1]]), "s": np.diag([1, 1j]),
        "sdg": np.diag([1, -1j]), "t": np.diag([1, np.exp(0.25j * np.pi)]), "tdg": np.diag([1, np.exp(-0.25j * np.pi)]),
        "sx": 0.5 * np.array([[1 + 1j, 1 - 1j], [1 - 1j, 1 + 1j]]),
        "sxdg": 0.5 * np.array([[1 - 1j, 1 + 1j], [1 + 1j, 1 - 1j]]),
        "swap": np.array([[1, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1]]),
        "iswap": np.array([[1, 0, 0, 0], [0, 0, 1j, 0], [0, 1j, 0, 0], [0, 0, 0, 1]]),
        "dcx": np.array([[1, 0, 0, 0], [0, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 0]]),
        "dcxdg": np.array([[1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 1, 0, 0]]),
        "ecr": root * (np.kron(_I, _X) - np.kron(_X, _Y)),
    }  # fmt: skip
    name = operation.base
    if name in fixed:
        return fixed[name]
    turns = {"rx": "X", "ry": "Y", "rz": "Z", "rxx": "XX", "ryy": "YY", "rzz": "ZZ", "rzx": "ZX"}
    if name in turns:
        return _turn(turns[name], angles[0])
    if name == "p":
        return np.diag([1, np.exp(1j * angles[0])])
    if name == "u2":
        return _u(np.pi / 2, *angles)
    if name in ("u", "uphase"):
        return _u(*angles)
    if name == "u0":
        return _I
    if name == "r":
        return _turn("Z", angles[1]) @ _turn("X", angles[0]) @ _turn("Z", -angles[1])
    if name in ("xx_plus_yy", "xx_minus_yy"):
        sign = 1 if name == "xx_plus_yy" else -1
        about = np.kron(_I, _turn("Z", -sign * angles[1]))  # on the first qubit
        return about @ _turn("XX", angles[0] / 2) @ _turn("YY", sign * angles[0] / 2) @ about.conj()
    raise KeyError(name)
