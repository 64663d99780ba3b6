"""The circuits that every simulator gets, as gates (name, angles, qubits) with OpenQASM 2's names and meaning.

Six families are read from what `qsim gen` writes; four applications are made by the rules below, of the same gates.
"""

from __future__ import annotations

import ast
import math
import operator
import random
import re
import subprocess
from dataclasses import dataclass, field

FAMILIES = ("ghz", "qft", "supremacy", "random", "qv", "ising")
APPLICATIONS = ("efficient_su2", "qaoa", "qpe", "grover")
NAMES = FAMILIES + APPLICATIONS

Gate = tuple[str, tuple[float, ...], tuple[int, ...]]


@dataclass(frozen=True)
class Circuit:
    """Gates on qubits 0 .. n - 1; terms are the Pauli sum whose value is asked, (factor, {qubit: letter}); without them counts
    of all qubits are."""

    name: str
    qubits: int
    gates: list[Gate]
    terms: list[tuple[float, dict[int, str]]] = field(default_factory=list)

    @property
    def answer(self) -> str:
        return "value" if self.terms else "counts"

    def depth(self) -> int:
        reached = [0] * self.qubits
        for _, _, qubits in self.gates:
            level = 1 + max(reached[q] for q in qubits)
            for q in qubits:
                reached[q] = level
        return max(reached, default=0)

    def qasm(self) -> str:
        """OpenQASM 2, with a measurement of every qubit at its end."""
        lines = ["OPENQASM 2.0;", 'include "qelib1.inc";', f"qreg q[{self.qubits}];", f"creg c[{self.qubits}];"]
        for name, angles, qubits in self.gates:
            values = f"({','.join(map(repr, angles))})" if angles else ""
            lines.append(f"{name}{values} {','.join(f'q[{q}]' for q in qubits)};")
        return "\n".join([*lines, "measure q -> c;", ""])


_OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.USub: operator.neg}


def _angle(text: str) -> float:
    """A number, or sums and products of numbers and pi."""
    try:
        return float(text)
    except ValueError:
        return _value(ast.parse(text.strip(), mode="eval").body)


def _value(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=value):
            return float(value)
        case ast.Name(id="pi"):
            return math.pi
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATORS[type(op)](_value(left), _value(right))
        case ast.UnaryOp(op=op, operand=operand):
            return _OPERATORS[type(op)](_value(operand))
    raise ValueError(f"no angle: {ast.unparse(node)}")


_OLD_NAMES = {"p": "u1", "u": "u3", "cp": "cu1"}  # which every reader knows
_STATEMENT = re.compile(r"\b(?!qreg\b|measure\b)(\w+)\s*(?:\(([^;]*)\))?\s+(q\[[^;]*);")


def read_qasm(text: str) -> tuple[int, list[Gate]]:
    """(qubits, gates) of a program of one register q, plain gates, and measurements at its end, which are left out."""
    qubits = int(re.search(r"qreg q\[(\d+)\];", text).group(1))
    gates = []
    for name, angles, on in _STATEMENT.findall(text):
        values = tuple(_angle(one) for one in angles.split(",")) if angles else ()
        gates.append((_OLD_NAMES.get(name, name), values, tuple(int(one) for one in re.findall(r"q\[(\d+)\]", on))))
    return qubits, gates


def _efficient_su2(n: int) -> Circuit:
    """Three repetitions of ry, rz and a chain of cx from the last pair to the first, angles drawn; the energy of an Ising chain."""
    draws, gates = random.Random(n), []
    for layer in range(4):
        gates += [(name, (draws.uniform(-math.pi, math.pi),), (q,)) for name in ("ry", "rz") for q in range(n)]
        if layer < 3:
            gates += [("cx", (), (q, q + 1)) for q in range(n - 2, -1, -1)]
    terms = [(-1.0, {q: "Z", q + 1: "Z"}) for q in range(n - 1)] + [(-0.7, {q: "X"}) for q in range(n)]
    return Circuit("efficient_su2", n, gates, terms)


def _qaoa(n: int) -> Circuit:
    """Three layers for the largest cut of a graph of degree 3, a ring and drawn chords; the cut's value without its constant."""
    draws = random.Random(n)
    order = list(range(n))
    draws.shuffle(order)
    edges = [(q, (q + 1) % n) for q in range(n)] + list(zip(order[::2], order[1::2]))
    gates: list[Gate] = [("h", (), (q,)) for q in range(n)]
    for layer in range(3):
        for a, b in edges:
            gates += [("cx", (), (a, b)), ("rz", (0.3 + 0.2 * layer,), (b,)), ("cx", (), (a, b))]
        gates += [("rx", (1.2 - 0.3 * layer,), (q,)) for q in range(n)]
    return Circuit("qaoa", n, gates, [(-0.5, {a: "Z", b: "Z"}) for a, b in edges])


def _qpe(n: int) -> Circuit:
    """The phase 1/3 of a phase gate on the last qubit, to n - 1 bits."""
    bits, target = n - 1, n - 1
    gates: list[Gate] = [("x", (), (target,))] + [("h", (), (q,)) for q in range(bits)]
    for q in range(bits):
        turns = 2**q % 3 / 3  # of 2**q / 3, exact
        gates.append(("cu1", (2 * math.pi * turns,), (q, target)))
    gates += [("swap", (), (q, bits - 1 - q)) for q in range(bits // 2)]
    for q in range(bits):
        gates += [("cu1", (-math.pi / 2 ** (q - control),), (control, q)) for control in range(q)]
        gates.append(("h", (), (q,)))
    return Circuit("qpe", n, gates)


def _grover(n: int) -> Circuit:
    """Two iterations on n / 2 + 1 qubits towards the index of alternating bits; the rest holds partial products of controls."""
    searched = n // 2 + 1
    free = list(range(searched, n))

    def flip_sign() -> list[Gate]:
        """-1 where all searched qubits are 1."""
        products: list[Gate] = [("ccx", (), (0, 1, free[0]))]
        products += [("ccx", (), (i + 2, free[i], free[i + 1])) for i in range(searched - 3)]
        return [*products, ("cz", (), (free[searched - 3], searched - 1)), *reversed(products)]

    def all_of(name: str, which: range) -> list[Gate]:
        return [(name, (), (q,)) for q in which]

    everywhere, zeros = range(searched), range(0, searched, 2)
    gates = all_of("h", everywhere)
    for _ in range(2):
        gates += all_of("x", zeros) + flip_sign() + all_of("x", zeros)
        gates += all_of("h", everywhere) + all_of("x", everywhere) + flip_sign() + all_of("x", everywhere) + all_of("h", everywhere)
    return Circuit("grover", n, gates)


_RULES = {"efficient_su2": _efficient_su2, "qaoa": _qaoa, "qpe": _qpe, "grover": _grover}


def make(name: str, qubits: int, qsim: str) -> Circuit:
    """One of NAMES; `qsim` is the program that makes the families. Qubits: even, at least 6."""
    if qubits < 6 or qubits % 2:
        raise ValueError(f"{qubits} qubits: the circuits are made for even numbers from 6 on")
    if name in _RULES:
        return _RULES[name](qubits)
    text = subprocess.run([qsim, "gen", name, "-n", str(qubits)], check=True, capture_output=True, text=True).stdout
    read, gates = read_qasm(text)
    if read != qubits:
        raise ValueError(f"qsim gen {name} -n {qubits} made {read} qubits")
    return Circuit(name, qubits, gates)
