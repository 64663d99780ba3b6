import xml.etree.ElementTree as xml

import numpy as np
import pytest

import qsim_hpc as qsim
from qsim_hpc import Circuit, Parameter, UsageError


def everything():
    circuit = Circuit(3, 2).h(0).cx(0, 2).rx(np.pi / 4, 1).rzz(0.3, 0, 2).swap(1, 2).barrier().measure(0, 1)
    with circuit.when("c", 2):
        circuit.x(2)
    return circuit.pauli_rotation(Parameter("t"), "X0 Z2").ccx(0, 1, 2).reset(1).rz(-1.23456, 0).measure(2, 0)


def test_text():
    assert everything().draw(width=0).splitlines() == [
        "q[0]: ─H──●───────────rzz(0.3):0─────░──M───────RXZ(t):X──●──Rz(-1.235)─",
        "          │               │             ║          │      │",
        "q[1]: ────┼──Rx(π/4)──────┼───────×──░──╫──────────┼──────●─────|0>─────",
        "          │               │       │     ║          │      │",
        "q[2]: ────X───────────rzz(0.3):1──×──░──╫───X───RXZ(t):Z──X──────M──────",
        "                                        ║   ║                    ║",
        " c/2: ══════════════════════════════════╩1══=2═══════════════════╩0═════",
    ]


def test_ascii_is_ascii_and_folds_to_the_width():
    circuit = everything()
    wide = circuit.draw("ascii", width=0)
    assert wide.isascii() and len(wide.splitlines()) == 7
    folded = circuit.draw("ascii", width=40)
    assert folded.isascii() and max(len(line) for line in folded.splitlines()) <= 40
    lines = folded.splitlines()
    rows = [lines[i : i + 7] for i in range(0, len(lines), 8)]  # of seven lines, and an empty one between
    assert len(rows) > 1 and all(row[0].startswith("q[0]: ") for row in rows)
    # put together again, they are the drawing
    for wire in (0, 2, 4, 6):
        assert "".join(row[wire][6:] for row in rows) == wide.splitlines()[wire][6:]


def test_wires_between_and_registers():
    circuit = Circuit().add_qreg("a", 1).add_qreg("b", 2).add_creg("r", 1).add_creg("s", 3).cx(2, 0).measure(1, 3)
    assert circuit.draw(width=0).splitlines() == [
        "a[0]: ─X─────",
        "       │",
        "b[0]: ─┼──M──",
        "       │  ║",
        "b[1]: ─●──╫──",
        "          ║",
        " r/1: ════╫══",
        "          ║",
        " s/3: ════╩2═",
    ]


def test_svg_is_well_formed():
    circuit = everything().add_creg("<&>", 1).rx(Parameter("<a&b>"), 0)
    picture = circuit.draw("svg")
    root = xml.fromstring(picture)
    texts = [one.text for one in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "Rx(<a&b>)" in texts and "<&>/1" in texts and texts.count("RXZ(t)") == 2
    assert picture._repr_svg_() == picture == circuit._repr_html_()


def test_svg_folds_to_the_width():
    circuit = everything()
    wide, narrow = (xml.fromstring(circuit.draw("svg", width)) for width in (0, 400))
    assert float(narrow.get("width")) <= 400 < float(wide.get("width"))
    assert float(narrow.get("height")) > float(wide.get("height"))


def test_latex():
    latex = everything().draw("latex")
    assert latex.count("\\lstick") == 4 and latex.count("\\meter") == 2 and "\\pi /4" in latex
    assert repr(latex) == str(latex)


def test_controls_on_zero():
    assert Circuit(2).x(1, controls={0: False}).draw("ascii", 0).splitlines()[0] == "q[0]: -o-"


def test_what_is_no_style():
    with pytest.raises(UsageError, match="none of text, ascii, svg, latex"):
        Circuit(1).draw("unicode")


def test_loops():
    loop = Circuit.from_qasm("OPENQASM 3.0; qubit q; bit c; c = measure q; while (c) { U(pi, 0, pi) q; c = measure q; }")
    lines = loop.draw("ascii", 0).splitlines()
    assert "while c" in lines[0] and lines[0].count("M") == 2
    assert str(loop) == loop.draw() and loop._repr_html_() == loop.draw("svg")


def test_what_prints():
    assert str(Circuit(1).h(0)) == "q[0]: ─H─" and str(Circuit()) == ""
    large = Circuit(2).append("h", np.zeros(2000, int))
    wide = Circuit(5_000_000).h(0)
    for one, words in ((large, "2000 operations"), (wide, "5000000 qubits")):
        assert words in str(one) and "<code>&lt;Circuit of" in one._repr_html_() and words in one._repr_html_()
    assert repr(Circuit(1).h(0).draw()) == "q[0]: ─H─"


def svg_texts(picture):
    return [one.text for one in xml.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")]


def test_histogram():
    result = qsim.run(Circuit(2, 2).h(0).cx(0, 1).measure([0, 1], [0, 1]), shots=1000, seed=7)
    picture = result.draw()
    assert picture == qsim.draw_histogram(result.counts) == picture._repr_svg_()
    texts = svg_texts(picture)
    assert {"00", "11", "491  49.10 %", "509  50.90 %", "of 1000 shots"} <= set(texts)
    few = svg_texts(qsim.draw_histogram({str(i): i + 1 for i in range(9)}, most=2, title="<t>"))
    assert "<t>" in few and "the 2 largest of 9; 7 others together 28, 62.22 %" in few
    with pytest.raises(UsageError):
        qsim.draw_histogram({"0": -0.5})
    with pytest.raises(UsageError):
        qsim.run(Circuit(1).h(0), marginals=True).draw()


def test_distribution_and_probabilities():
    circuit = Circuit(2, 1).ry(0.7, 0).measure(0, 0)
    texts = svg_texts(qsim.run(circuit, distribution=True).draw())
    assert "0.882421" in texts and "probability" in texts
    with qsim.Session("cpu") as session:
        state = session.run(session.compile(Circuit(3).x(2).ry(0.7, 0)))
        texts = svg_texts(qsim.draw_probabilities(state, [0, 2]))
    assert "0.882421" in texts[texts.index("10") :] and "probability of q2 q0" in texts


def test_bloch():
    texts = svg_texts(qsim.draw_bloch(Circuit(3).h(0).x(1).rx(np.pi / 2, 2)))
    for vector in ("+1.000 +0.000 +0.000", "+0.000 +0.000 -1.000", "+0.000 -1.000 +0.000"):
        assert vector in texts
    bell = Circuit(2).h(0).cx(0, 1)
    assert svg_texts(qsim.draw_bloch(bell, [1])).count("length 0.000") == 1
    assert "length 1.000" in svg_texts(qsim.draw_bloch(np.array([[0.6, 0, -0.8]])))
    with pytest.raises(UsageError):
        qsim.draw_bloch([[1, 1, 1]])


def test_program_is_a_timetable():
    with qsim.Session("cpu") as session:
        program = session.compile(Circuit(3).h(0).ry(Parameter("a"), 1))
        texts = svg_texts(program.draw([0.3]))
        assert any(text.startswith("Plan of 3 qubits") for text in texts) and "rank 0" in texts
        with pytest.raises(UsageError):
            program.draw()


def test_matplotlib_only_where_it_is_asked_for():
    axes = pytest.importorskip("matplotlib") and qsim.draw_histogram({"0": 3, "1": 5, "2": 1}, most=2, matplotlib=True)
    assert [bar.get_width() for bar in axes.patches] == [3, 5]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["0", "1"]
