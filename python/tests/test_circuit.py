import copy
import pickle

import numpy as np
import pytest
from conftest import dense

import qsim_hpc as qsim
from qsim_hpc import Circuit, Parameter

NO_SECOND_OPINION = {"rccx", "rc3x", "rc3xdg"}


def state_of(circuit, session):
    return session.run(circuit).to_numpy()


@pytest.mark.parametrize("name, controls, targets, angles", qsim.gates())
def test_every_gate_is_a_method_and_does_what_its_matrix_says(session, name, controls, targets, angles):
    values = [0.3 + 0.5 * i for i in range(angles)]
    qubits = list(range(controls + targets))
    circuit = Circuit(6)
    for q in range(6):
        circuit.ry(0.4 + 0.3 * q, q).rz(0.2 * q, q)
    before = len(circuit)
    assert getattr(circuit, name)(*values, *qubits) is circuit
    operation = circuit[-1]
    assert operation.qubits == tuple(qubits)
    assert operation.angles == pytest.approx(tuple(values))
    assert len(operation.controls) == controls
    by_name = circuit.copy()
    by_name.apply(operation.name, qubits, values)
    assert by_name[-1] == operation and len(by_name) == before + 2
    if operation.base in NO_SECOND_OPINION:
        with_inverse = Circuit(6).compose(circuit).compose(circuit.inverse())
        assert abs(state_of(with_inverse, session)[0]) == pytest.approx(1, abs=1e-12)
        return
    np.testing.assert_allclose(state_of(circuit, session), dense(circuit)[:, 0], atol=1e-13)


@pytest.mark.parametrize("name, controls, targets, angles", [g for g in qsim.gates() if g[3] > 0 and g[0] != "u0"])
def test_angles_may_be_open(name, controls, targets, angles):
    names = [f"a{i}" for i in range(angles)]
    qubits = list(range(controls + targets))
    open_one = getattr(Circuit(6), name)(*[2 * Parameter(n) - 0.25 for n in names], *qubits)
    assert open_one.parameters == tuple(names)
    values = [0.1 * (i + 1) for i in range(angles)]
    bound = getattr(Circuit(6), name)(*[2 * v - 0.25 for v in values], *qubits)
    assert open_one.bind(values) == bound
    assert open_one.bind(dict(zip(names, values))) == bound
    assert open_one.bind({Parameter(n): v for n, v in zip(names, values)}) == bound
    assert open_one != bound


def test_controls_on_one_and_zero(session):
    circuit = Circuit(4)
    for q in range(4):
        circuit.h(q)
    circuit.rx(0.7, 3, controls={0: True, 2: False}).h(1, controls=[0]).cz(1, 2, controls=3)
    circuit.rz(Parameter("a"), 0, controls={1: 0})
    bound = circuit.bind([0.9])
    np.testing.assert_allclose(state_of(bound, session), dense(bound)[:, 0], atol=1e-13)
    by_hand = Circuit(4)
    for q in range(4):
        by_hand.h(q)
    by_hand.x(2).rx(0.7, 3, controls=[0, 2]).x(2).ch(0, 1).z(2, controls=[1, 3]).x(1).crz(0.9, 1, 0).x(1)
    np.testing.assert_allclose(state_of(bound, session), state_of(by_hand, session), atol=1e-13)


def test_a_matrix_of_ones_own(session):
    generator = np.random.default_rng(3)
    matrix, _ = np.linalg.qr(generator.normal(size=(4, 4)) + 1j * generator.normal(size=(4, 4)))
    circuit = Circuit(3).h(0).h(1).h(2).unitary(matrix, [2, 0], controls={1: False})
    np.testing.assert_allclose(circuit[4].matrix, matrix)
    np.testing.assert_allclose(state_of(circuit, session), dense(circuit)[:, 0], atol=1e-13)
    # bit 0 of an index is the first target
    flip_first = np.kron(np.eye(2), [[0, 1], [1, 0]])
    assert abs(state_of(Circuit(3).unitary(flip_first, [2, 0]), session)[4]) == pytest.approx(1)


def test_pauli_rotations(session):
    circuit = Circuit(3).h(0).h(1).h(2).pauli_rotation(0.4, "XZ", [2, 0]).pauli_rotation(0.8, "Y1 Z2")
    circuit.pauli_rotation(-0.3, "IZX").pauli_rotation(1.1, "Y", [0], controls={1: 0})
    assert circuit[4].letters == "YZ" and circuit[4].targets == (1, 2)
    assert circuit[5].letters == "XZ" and circuit[5].targets == (0, 1)
    np.testing.assert_allclose(state_of(circuit, session), dense(circuit)[:, 0], atol=1e-13)


def test_many_at_once_are_the_same_as_one_by_one():
    generator = np.random.default_rng(1)
    at_once, one_by_one = Circuit(5), Circuit(5)
    pairs = np.array([generator.permutation(5)[:2] for _ in range(50)])
    angles = generator.normal(size=(50, 3))
    at_once.append("h", [0, 3, 4]).append("cx", pairs).append("cu3", pairs, angles).append("rz", pairs[:, 0], angles[:, 0])
    at_once.append("rx", [1, 2], 0.5).append("u", [[2], [3]], [0.1, 0.2, 0.3]).append("z", [0, 1], controls={4: 0})
    for q in (0, 3, 4):
        one_by_one.h(q)
    for a, b in pairs:
        one_by_one.cx(a, b)
    for (a, b), three in zip(pairs, angles):
        one_by_one.cu3(*three, a, b)
    for a, three in zip(pairs[:, 0], angles):
        one_by_one.rz(three[0], a)
    one_by_one.rx(0.5, 1).rx(0.5, 2).u(0.1, 0.2, 0.3, 2).u(0.1, 0.2, 0.3, 3)
    one_by_one.z(0, controls={4: 0}).z(1, controls={4: 0})
    assert at_once == one_by_one


def test_arrays_of_another_shape_or_kind_are_refused_whole():
    circuit = Circuit(3).h(0)
    before = circuit.copy()
    with pytest.raises(ValueError, match=r"shape \(m, 2\) expected, \(2, 3\) found"):
        circuit.append("cx", np.zeros((2, 3), int))
    with pytest.raises(TypeError, match="int64 expected, float64 found"):
        circuit.append("h", [0.5])
    with pytest.raises(ValueError, match="angles"):
        circuit.append("rx", [0, 1, 2], [0.1, 0.2])
    with pytest.raises(ValueError, match="takes 0 angles"):
        circuit.append("h", [0, 1], [0.1, 0.2])
    with pytest.raises(qsim.CircuitError, match="qubit 3 does not exist"):
        circuit.append("h", [0, 1, 3])
    with pytest.raises(qsim.CircuitError, match="qubit -1"):
        circuit.append("h", [0, -1])
    with pytest.raises(TypeError, match="complex128 expected"):
        circuit.unitary([["a"]], [0])
    with pytest.raises(ValueError, match=r"t = 1 targets expected, \(4, 4\) found"):
        circuit.unitary(np.eye(4), [0])
    with pytest.raises(qsim.CircuitError, match="not unitary"):
        circuit.unitary(np.ones((2, 2)), [0], controls={1: 0})
    assert circuit == before


@pytest.mark.parametrize(
    "wrong, error",
    [
        (lambda c: c.h(3), qsim.CircuitError),
        (lambda c: c.h(-1), ValueError),
        (lambda c: c.cx(1, 1), qsim.CircuitError),
        (lambda c: c.h(0.5), TypeError),
        (lambda c: c.rx("a", 0), TypeError),
        (lambda c: c.rx(float("nan"), 0), qsim.CircuitError),
        (lambda c: c.apply("cphases", [0, 1], [0.1]), qsim.CircuitError),
        (lambda c: c.measure(0, 2), qsim.CircuitError),
        (lambda c: c.measure([0, 1], [0]), ValueError),
        (lambda c: c.bind([0.1]), ValueError),
        (lambda c: c.when("no", 1), qsim.CircuitError),
        (lambda c: c.when("c", -1), qsim.CircuitError),
        (lambda c: c.x(0, controls=[0]), qsim.CircuitError),
        (lambda c: c.x(0, controls="ab"), TypeError),
        (lambda c: c.compose(Circuit(4)), None),
        (lambda c: c.compose(Circuit(4).h(3)), qsim.CircuitError),
        (lambda c: c.compose(Circuit(2), qubits=[0]), ValueError),
        (lambda c: c.to_qasm(4), ValueError),
        (lambda c: c.draw("png"), ValueError),
        (lambda c: Parameter(""), ValueError),
        (lambda c: Parameter("a") / 0, ZeroDivisionError),
        (lambda c: Circuit(-1), ValueError),
        (lambda c: Circuit._from_bytes(b"junk"), ValueError),
    ],
)
def test_what_makes_no_sense_is_refused_and_changes_nothing(wrong, error):
    circuit = Circuit(3, 2).h(0)
    before = circuit.copy()
    if error is None:
        wrong(circuit)
    else:
        with pytest.raises(error):
            wrong(circuit)
    assert circuit == before


def test_angles():
    a, b = Parameter("a"), Parameter("b")
    angle = 2 * a - b / 2 + 1
    assert angle.terms == {"a": 2.0, "b": -0.5} and angle.constant == 1
    assert angle.bind({"a": 0.5, "b": 2}) == 1.0
    assert repr(angle) == "2.0*a - 0.5*b + 1.0" and repr(-a) == "-a"
    assert 1 - a == -(a - 1) and hash(a) == hash(Parameter("a")) and a != b and a != "a"
    assert a - a == 0
    assert pickle.loads(pickle.dumps(angle)) == angle == copy.deepcopy(angle)


def everything():
    circuit = Circuit(3, 2).add_creg("d", 70)
    circuit.h(0).cu(0.1, 0.2, 0.3, 0.4, 0, 1).rx(Parameter("t") * 2 + 1, 2).ryy(0.3, 0, 2).swap(0, 1).barrier(0, 2)
    circuit.unitary(np.diag([1, 1j]), [1], controls=0).pauli_rotation(Parameter("s"), "XY", [0, 2]).measure(0, 1)
    with circuit.when("d", 2**69 + 1, negated=True):
        circuit.x(1)
        with circuit.when(0, 3):
            circuit.y(2)
        circuit.z(1)
    return circuit.reset(0).measure([1, 2], [0, 71]).x(0)


def test_pickling_copies_and_equality():
    circuit = everything()
    for other in (pickle.loads(pickle.dumps(circuit)), copy.copy(circuit), copy.deepcopy(circuit), circuit.copy()):
        assert other == circuit and list(other)[3] == circuit[3]
        other.x(0)
        assert other != circuit
    assert circuit != "text" and Circuit(2) != Circuit(3) and Circuit(2) != Circuit(2, 1)
    assert Circuit(2).rx(0.1, 0) != Circuit(2).rx(0.1 + 1e-16 * 2, 0)
    data = pickle.dumps(circuit)
    for cut in range(0, len(circuit.__reduce__()[1][0]), 97):
        with pytest.raises(ValueError):
            Circuit._from_bytes(circuit.__reduce__()[1][0][:cut])
    assert pickle.loads(data).parameters == ("t", "s")


def test_reading():
    circuit = everything()
    assert len(circuit) == 16 and len(list(circuit)) == 16 and bool(Circuit())
    assert circuit.num_qubits == 3 and circuit.num_clbits == 72 and circuit.cregs == [("c", 2), ("d", 70)]
    conditional = [operation for operation in circuit if operation.condition is not None]
    assert [operation.name for operation in conditional] == ["x", "y", "z"]
    assert conditional[0].condition == qsim.Condition(1, 2**69 + 1, True)
    assert conditional[1].condition == (0, 3, False)
    assert circuit[1].name == "cu" and circuit[1].base == "uphase" and circuit[-1].name == "x"
    assert circuit.dynamic and circuit.measures
    with pytest.raises(IndexError):
        circuit[16]
    assert Circuit(3).h(0).cx(0, 1).cx(1, 2).depth() == 3


def test_compose_and_inverse(session):
    part = Circuit(2, 1).h(0).cu(0.1, 0.2, 0.3, 0.4, 0, 1).rx(Parameter("a"), 1)
    whole = Circuit(4, 2).compose(part, qubits=[3, 1], clbits=[1])
    assert whole == Circuit(4, 2).h(3).cu(0.1, 0.2, 0.3, 0.4, 3, 1).rx(Parameter("a"), 1)
    back = whole.copy().compose(whole.inverse()).bind({"a": 0.7})
    assert abs(state_of(back, session)[0]) == pytest.approx(1, abs=1e-13)
    twice = part.copy()
    assert len(twice.compose(twice)) == 6
    measured = Circuit(2, 2).compose(Circuit(1, 1).measure(0, 0), qubits=[1], clbits=[1])
    assert measured[0].clbit == 1 and measured[0].targets == (1,)
    with pytest.raises(qsim.UnsupportedError):
        measured.inverse()
    conditional = Circuit(1, 1)
    with conditional.when("c", 1):
        conditional.x(0)
    with pytest.raises(NotImplementedError):
        Circuit(1, 2).compose(conditional)
    assert Circuit(2, 1).compose(conditional, qubits=[1])[0].condition == (0, 1, False)


def test_qasm_both_ways(session, tmp_path):
    circuit = Circuit(2, 2).h(0).cu(0.1, 0.2, 0.3, 0.4, 0, 1).measure([0, 1], [0, 1])
    for version in (2, 3):
        text = circuit.to_qasm(version)
        assert text.startswith(f"OPENQASM {version}")
        assert Circuit.from_qasm(text) == circuit
    path = tmp_path / "a.qasm"
    path.write_text(circuit.to_qasm())
    assert Circuit.from_qasm(path) == circuit == Circuit.from_qasm(str(path))
    with pytest.raises(qsim.FileError):
        Circuit.from_qasm(tmp_path / "none.qasm")
    with pytest.raises(OSError):
        Circuit.from_qasm("none.qasm")
    with pytest.raises(qsim.ParseError, match="did you mean|cxx") as caught:
        Circuit.from_qasm("OPENQASM 2.0;\ninclude \"qelib1.inc\";\nqreg q[2];\ncxx q[0],q[1];\n")
    assert caught.value.line == 4 and isinstance(caught.value, ValueError) and caught.value.code == 3
    with_input = "OPENQASM 3.1;\ninclude \"stdgates.inc\";\ninput float turn;\nqubit q;\nrx(2*turn) q;\n"
    assert Circuit.from_qasm(with_input, {"turn": 0.25}) == Circuit.from_qasm(with_input.replace("input float turn;", "const float turn = 0.25;"))


LOOP = """OPENQASM 3.1;
include "stdgates.inc";
qubit q; bit c;
reset q; h q; c = measure q;
while (c == 0) { h q; c = measure q; }
"""


def test_programs_with_loops_run_and_travel_but_cannot_be_looked_into():
    program = Circuit.from_qasm(LOOP)
    assert program.has_control_flow
    again = pickle.loads(pickle.dumps(program))
    assert program.copy() == program and program != Circuit(1, 1)
    for one in (program, again):
        assert qsim.run(one, shots=50, seed=1).counts == {"1": 50}
    for refused in (lambda: program.x(0), lambda: len(program), lambda: program[0], lambda: program.measure_all(),
                    lambda: Circuit(1, 1).compose(program), lambda: program.append("x", [0])):
        with pytest.raises(qsim.UnsupportedError):
            refused()
    # What is read back means the same, and is drawn as it was written.
    assert "while" in program.draw("ascii", 0) and "[" in again.draw("ascii", 0)


def test_a_condition_ends_with_its_block():
    circuit = Circuit(1, 1)
    with pytest.raises(RuntimeError):
        with circuit.when("c", 1) as _:
            circuit.x(0)
            raise RuntimeError
    circuit.y(0)
    assert [operation.condition is None for operation in circuit] == [False, True]
    scope = circuit.when("c", 1)
    with scope, pytest.raises(ValueError):
        scope.__enter__()
