"""Drawings of circuits: text, folded to the width of a terminal, and SVG."""

from __future__ import annotations

import math
import shutil
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

from ._core import Angle, Circuit
from ._operation import Operation
from .errors import UnsupportedError, UsageError

_MOST_SHOWN = 1000  # operations that print() and notebooks draw


class Marks(NamedTuple):
    """The characters of a style."""

    wire: str
    classical: str
    link: str
    classical_link: str
    crossing: str
    classical_crossing: str
    control: str
    swap: str
    measured: str
    barrier: str
    pi: str


_MARKS = {
    "unicode": Marks("─", "═", "│", "║", "┼", "╫", "●", "×", "╩", "░", "π"),
    "ascii": Marks("-", "=", "|", "|", "+", "+", "*", "x", "v", ":", "pi"),
}


@dataclass
class Item:
    """An operation in its column: what stands on which wire, and the wires between."""

    cells: dict[int, str]
    top: int
    bottom: int
    first_classical: int | None = None
    """The wire below which the link is a classical one."""
    barrier: bool = False


def number_text(value: float, pi: str) -> str:
    """Short; simple fractions of pi as such."""
    if value != 0:
        for denominator in (1, 2, 3, 4, 6, 8, 16, 32, 64):
            numerator = value / math.pi * denominator
            if abs(numerator - round(numerator)) < 1e-12 and 0 < abs(round(numerator)) <= 16:
                whole = round(numerator)
                text = {1: pi, -1: "-" + pi}.get(whole, f"{whole}{pi}")
                return text if denominator == 1 else f"{text}/{denominator}"
    return f"{value:.4g}"


def _label(operation: Operation, marks: Marks) -> str:
    name = operation.base
    if len(name) <= 2 and name.isalpha():
        name = name.capitalize()
    if not operation.angles:
        return name
    shown = [str(one) if isinstance(one, Angle) else number_text(one, marks.pi) for one in operation.angles]
    return f"{name}({','.join(shown)})"


def _item(operation: Operation, marks: Marks, num_qubits: int, register_of: list[tuple[int, int]]) -> Item:
    cells = dict.fromkeys(operation.controls, marks.control)
    first_classical = None
    label = _label(operation, marks)
    if operation.name == "barrier":
        cells.update(dict.fromkeys(operation.targets, marks.barrier))
    elif operation.name == "measure":
        cells[operation.targets[0]] = "M"
        wire, bit = register_of[operation.clbit]
        cells[num_qubits + wire] = f"{marks.measured}{bit}"
        first_classical = operation.targets[0]
    elif operation.name == "reset":
        cells[operation.targets[0]] = "|0>"
    elif operation.name == "pauli_rotation":
        angle = label[len(operation.base) :]
        for letter, target in zip(operation.letters, operation.targets):
            cells[target] = f"R{operation.letters}{angle}:{letter}" if len(operation.letters) > 1 else f"R{letter}{angle}"
    elif operation.base == "swap":
        cells.update(dict.fromkeys(operation.targets, marks.swap))
    elif len(operation.targets) == 1:
        cells[operation.targets[0]] = label
    else:
        cells.update({target: f"{label}:{place}" for place, target in enumerate(operation.targets)})
    if operation.condition is not None:
        creg = operation.condition.register
        lowest = max(cells)
        sign = "!=" if operation.condition.negated else "="
        text = f"{sign}{operation.condition.value}"
        cells[num_qubits + creg] = cells.get(num_qubits + creg, "") + text
        first_classical = lowest if first_classical is None else first_classical
    return Item(cells, min(cells, default=0), max(cells, default=0), first_classical, operation.name == "barrier")


def layout(circuit: Circuit, marks: Marks) -> tuple[list[str], list[list[Item]]]:
    """Labels of the wires, and items by column: each as far to the left as its wires allow."""
    if circuit.has_control_flow:
        raise UnsupportedError("a program whose measurements decide what runs has no drawing: see to_qasm()")
    labels = [f"{name}[{i}]" for name, size in circuit.qregs for i in range(size)]
    register_of = []
    for number, (name, size) in enumerate(circuit.cregs):
        labels.append(f"{name or 'hidden'}/{size}")
        register_of += [(number, bit) for bit in range(size)]
    free = [0] * len(labels)
    columns: list[list[Item]] = []
    for operation in circuit:
        item = _item(operation, marks, circuit.num_qubits, register_of)
        if not item.cells:
            continue
        wires = range(item.top, item.bottom + 1)
        column = max(free[wire] for wire in wires)
        for wire in wires:
            free[wire] = column + 1
        if column == len(columns):
            columns.append([])
        columns[column].append(item)
    return labels, columns


def _column_text(items: list[Item], wires: int, num_qubits: int, marks: Marks) -> list[str]:
    """Rows of one column: a wire, the gap below it, the next wire."""
    width = max(len(text) for item in items for text in item.cells.values())
    rows = []
    for wire in range(wires):
        line = marks.wire if wire < num_qubits else marks.classical
        cell, below = "", " "
        for item in items:
            if item.top <= wire <= item.bottom:
                classical = item.first_classical is not None and wire > item.first_classical
                between = marks.classical_crossing if classical else marks.crossing
                cell = item.cells.get(wire, line if item.barrier else between)
            if item.top <= wire < item.bottom and not item.barrier:
                classical = item.first_classical is not None and wire >= item.first_classical
                below = marks.classical_link if classical else marks.link
        left = (width - len(cell)) // 2
        rows.append(line + (line * left + cell).ljust(width, line) + line)
        middle = (width - 1) // 2
        rows.append(" " + (" " * middle + below).ljust(width) + " ")
    return rows


def text(circuit: Circuit, style: str, width: int | None) -> str:
    marks = _MARKS[style]
    labels, columns = layout(circuit, marks)
    if not labels:
        return ""
    width = shutil.get_terminal_size().columns if width is None else width
    heading = max(len(label) for label in labels) + 2
    blocks: list[list[list[str]]] = [[]]
    used = heading
    for items in columns:
        rows = _column_text(items, len(labels), circuit.num_qubits, marks)
        if width > 0 and blocks[-1] and used + len(rows[0]) > width:
            blocks.append([])
            used = heading
        blocks[-1].append(rows)
        used += len(rows[0])
    lines = []
    for number, block in enumerate(blocks):
        if number > 0:
            lines.append("")
        for row in range(2 * len(labels) - 1):
            wire, gap = divmod(row, 2)
            head = " " * heading if gap else f"{labels[wire]}: ".rjust(heading)
            lines.append((head + "".join(rows[row] for rows in block)).rstrip())
    return "\n".join(lines)


class Drawing(str):
    """Text that shows itself as it prints."""

    def __repr__(self) -> str:
        return str(self)


class Svg(str):
    """SVG that notebooks show."""

    def _repr_svg_(self) -> str:
        return str(self)


def svg(circuit: Circuit) -> str:
    marks = _MARKS["unicode"]
    labels, columns = layout(circuit, marks)
    letter, row, gap = 8, 40, 14
    heading = letter * max((len(label) for label in labels), default=0) + 16
    widths = [max(letter * max(len(t) for i in items for t in i.cells.values()) + 12, 26) + gap for items in columns]
    total, height = heading + sum(widths) + gap, row * len(labels) + 10

    def y(wire: int) -> int:
        return row * wire + row // 2 + 5

    parts = []
    for wire, label in enumerate(labels):
        parts.append(f'<text x="{heading - 8}" y="{y(wire) + 4}" text-anchor="end">{escape(label)}</text>')
        for shift in (0,) if wire < circuit.num_qubits else (-2, 2):
            parts.append(f'<path d="M{heading} {y(wire) + shift}H{total}"/>')
    left = heading
    for items, width in zip(columns, widths):
        x = left + width // 2
        for item in items:
            if item.barrier:
                parts += [f'<path d="M{x} {y(w) - row // 2}v{row}" stroke-dasharray="3"/>' for w in item.cells]
                continue
            if item.top != item.bottom:
                parts.append(f'<path d="M{x} {y(item.top)}V{y(item.bottom)}"/>')
            for wire, label in item.cells.items():
                if label == marks.control:
                    parts.append(f'<circle cx="{x}" cy="{y(wire)}" r="4" fill="black"/>')
                    continue
                box = letter * len(label) + 12
                parts.append(f'<rect x="{x - box // 2}" y="{y(wire) - 13}" width="{box}" height="26" fill="white"/>')
                parts.append(f'<text x="{x}" y="{y(wire) + 4}" text-anchor="middle">{escape(label)}</text>')
        left += width
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{total}" height="{height}" viewBox="0 0 {total} {height}">'
        f'<rect width="100%" height="100%" fill="white"/><g font-family="monospace" font-size="12">'
        f'<g stroke="black" fill="none">{"".join(p for p in parts if not p.startswith("<text"))}</g>'
        f'{"".join(p for p in parts if p.startswith("<text"))}</g></svg>'
    )


def draw(circuit: Circuit, style: str, width: int | None) -> str:
    if style == "svg":
        return Svg(svg(circuit))
    if style not in _MARKS:
        raise UsageError(f"'{style}' is none of unicode, ascii, svg")
    return Drawing(text(circuit, style, width))


def printed(circuit: Circuit) -> str:
    """What print() shows."""
    if circuit.has_control_flow or len(circuit) > _MOST_SHOWN:
        return repr(circuit)
    return text(circuit, "unicode", None)


def html(circuit: Circuit) -> Any:
    """What a notebook shows."""
    if circuit.has_control_flow or len(circuit) > _MOST_SHOWN:
        return f"<code>{escape(repr(circuit))}</code>"
    return svg(circuit)
