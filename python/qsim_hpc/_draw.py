"""Pictures, as texts that show themselves. What they look like is the library's; matplotlib only where it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._core import Circuit, Session, State, _bars, _spheres


class Drawing(str):
    """Text that shows itself as it prints."""

    def __repr__(self) -> str:
        return str(self)


class Svg(str):
    """SVG that notebooks show."""

    def _repr_svg_(self) -> str:
        return str(self)


def draw_histogram(
    values: Any, *, title: str = "", unit: str | None = None, most: int = 64, width: int = 760, matplotlib: bool = False
) -> Any:
    """Bars of counts or probabilities, {bits: value}, in the order of their labels. Of more than ``most`` the largest are
    drawn, and the picture says how many others there are. ``width`` in pixels. ``matplotlib``: an Axes instead of an SVG;
    ImportError without it."""
    labels, numbers = [str(one) for one in values], [float(one) for one in values.values()]
    counts = all(isinstance(one, int) for one in values.values())
    if unit is None:
        unit = f"of {sum(values.values())} shots" if counts else "probability"
    picture = Svg(_bars(labels, numbers, title, unit, most, width))
    if not matplotlib:
        return picture
    shown = sorted(sorted(zip(labels, numbers), key=lambda one: (-one[1], one[0]))[:most])
    axes = _axes(width / 100, 1.2 + 0.22 * len(shown))
    axes.barh([label for label, _ in shown], [number for _, number in shown])
    axes.invert_yaxis()
    axes.set(title=title, xlabel=unit if len(shown) == len(labels) else f"{unit}; {len(labels) - len(shown)} others not shown")
    return axes


def draw_bloch(state: Any, qubits: Sequence[int] | None = None, *, width: int = 760) -> Svg:
    """The Bloch vectors of single qubits (None: all). ``state``: a State, an array of shape (k, 3) with a vector a row, or
    Circuit, which is run. ``width`` in pixels. UsageError for qubits that do not exist."""
    if isinstance(state, Circuit):
        with Session("cpu") as session:
            return draw_bloch(session.run(session.compile(state)), qubits, width=width)
    if isinstance(state, State):
        numbers = list(range(state.num_qubits) if qubits is None else qubits)
        return Svg(_spheres([f"q{one}" for one in numbers], _vectors(state, numbers), width))
    rows = [[float(one) for one in row] for row in state]
    numbers = list(range(len(rows)) if qubits is None else qubits)
    return Svg(_spheres([f"q{one}" for one in numbers], [rows[one] for one in numbers], width))


def _vectors(state: State, qubits: Sequence[int]) -> list[list[float]]:
    values = state.expectations([f"{letter}{qubit}" for qubit in qubits for letter in "XYZ"])
    return [[float(one) for one in values[3 * i : 3 * i + 3]] for i in range(len(qubits))]


def draw_probabilities(
    state: State, qubits: Sequence[int], *, title: str = "", most: int = 64, width: int = 760, matplotlib: bool = False
) -> Any:
    """Bars of the probabilities of a few qubits together; in a label the right-most character is qubits[0]. UsageError for
    qubits that do not exist, ImportError for ``matplotlib`` without it."""
    qubits = list(qubits)
    table = state.probabilities(qubits)
    values = {format(index, f"0{len(qubits)}b"): float(p) for index, p in enumerate(table)}
    unit = "probability of " + " ".join(f"q{one}" for one in reversed(qubits))
    return draw_histogram(values, title=title, unit=unit, most=most, width=width, matplotlib=matplotlib)


def _axes(width: float, height: float) -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure.add_subplot()
