import xml.etree.ElementTree as xml

import numpy as np

from qsim_hpc import Circuit, Parameter


def everything():
    circuit = Circuit(3, 2).h(0).cx(0, 2).rx(np.pi / 4, 1).rzz(0.3, 0, 2).swap(1, 2).barrier().measure(0, 1)
    with circuit.when("c", 2):
        circuit.x(2)
    return circuit.pauli_rotation(Parameter("t"), "X0 Z2").ccx(0, 1, 2).reset(1).rz(-1.23456, 0).measure(2, 0)


def test_unicode():
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
    assert "Rx(<a&b>)" in texts and "<&>/1" in texts and texts.count("M") == 2
    assert picture._repr_svg_() == picture == circuit._repr_html_()


def test_what_prints():
    assert str(Circuit(1).h(0)) == "q[0]: ─H─" and str(Circuit()) == ""
    large = Circuit(2).append("h", np.zeros(2000, int))
    assert "2000 operations" in str(large) and "2000 operations" in large._repr_html_()
    assert repr(Circuit(1).h(0).draw()) == "q[0]: ─H─"
