import copy
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import dense

import qsim_hpc as qsim
from qsim_hpc import Circuit, Parameter, Session


def bell():
    return Circuit(2, 2).h(0).cx(0, 1).measure([0, 1], [0, 1])


def random_circuit(qubits, seed, gates=60):
    generator = np.random.default_rng(seed)
    circuit = Circuit(qubits)
    for _ in range(gates):
        a, b = generator.permutation(qubits)[:2]
        circuit.u(*generator.normal(size=3), a).cx(a, b).rzz(generator.normal(), a, b)
    return circuit


def test_counts_of_one_call():
    result = qsim.run(bell(), shots=1000, seed=7)
    assert set(result.counts) == {"00", "11"} and sum(result.counts.values()) == 1000
    assert qsim.run(bell(), shots=1000, seed=7).counts == result.counts
    assert qsim.run(bell(), shots=1000, seed=8).counts != result.counts
    assert result.shots == 1000 and result.seed == 7 and result.cregs == [("c", 2)]
    assert sum(qsim.run(bell()).counts.values()) == 1024
    assert qsim.run(bell(), shots=0).counts is None
    memory = result.memory()
    assert len(memory) == 1000 and dict(zip(*np.unique(memory, return_counts=True))) == result.counts
    assert list(memory) != sorted(memory)


def test_registers_stand_in_the_bit_string_as_documented():
    circuit = Circuit(3, 2).add_creg("d", 1).x(0).x(2).measure(0, 0).measure(1, 1).measure(2, 2)
    assert qsim.run(circuit, shots=5).counts == {"1 01": 5}
    assert qsim.run(Circuit(3).x(1).measure_all(), shots=5).counts == {"010": 5}
    wide = Circuit(1).add_creg("w", 130).x(0).measure(0, 129)
    assert qsim.run(wide, shots=3).counts == {"1" + "0" * 129: 3}


def test_everything_that_may_be_asked():
    circuit = random_circuit(5, 1).measure_all()
    amplitudes = dense(circuit)[:, 0]
    p = np.abs(amplitudes) ** 2
    result = qsim.run(circuit, shots=10, seed=1, distribution=True, marginals=True, probabilities=[[3, 0], [1]],
                      observables=["Z0 X3 + 0.5 Y1", {"Z4": 2.0}, [("X0", 1), ("Z0", -1)]], statevector=True)
    np.testing.assert_allclose(result.statevector, amplitudes, atol=1e-13)
    bits = np.array([[i >> q & 1 for q in range(5)] for i in range(32)])
    np.testing.assert_allclose(result.marginals, p @ bits, atol=1e-13)
    expected = np.zeros(4)
    for i in range(32):
        expected[(i >> 3 & 1) + 2 * (i & 1)] += p[i]
    np.testing.assert_allclose(result.probabilities[0], expected, atol=1e-13)
    for text, probability in result.distribution.items():
        assert probability == pytest.approx(p[int(text, 2)], abs=1e-12)
    letters = {"I": np.eye(2), "X": np.array([[0, 1], [1, 0]]), "Y": np.array([[0, -1j], [1j, 0]]), "Z": np.diag([1, -1])}

    def value(string):
        matrix = np.eye(1)
        for letter in string:
            matrix = np.kron(matrix, letters[letter])
        return (amplitudes.conj() @ matrix @ amplitudes).real

    wanted = [value("IXIIZ") + 0.5 * value("IIIYI"), 2 * value("ZIIII"), value("IIIIX") - value("IIIIZ")]
    np.testing.assert_allclose(result.expectations, wanted, atol=1e-12)
    # the same, without the classical bits
    again = qsim.run(circuit, observables="IXIIZ", marginals=True, probabilities=[[3, 0]])
    assert again.expectations[0] == pytest.approx(value("IXIIZ"), abs=1e-12) and again.counts is None
    np.testing.assert_allclose(again.marginals, result.marginals, atol=1e-12)
    sums = qsim.PauliSum.from_masks([8, 0], [1, 16], [1.0, 2.0])
    assert qsim.run(circuit, observables=sums).expectations[0] == pytest.approx(value("IXIIZ") + 2 * value("ZIIII"))
    assert sums.terms == [("Z0 X3", 1.0), ("Z4", 2.0)]


def test_a_circuit_that_decides_on_its_way():
    circuit = Circuit(2, 2).ry(1.0, 0).measure(0, 0)
    with circuit.when("c", 1):
        circuit.x(1)
    circuit.measure(1, 1)
    result = qsim.run(circuit, shots=1000, seed=7, distribution=True, observables=["Z1"], marginals=True)
    one = np.sin(0.5) ** 2
    assert result.counts == {"00": 759, "11": 241}
    assert result.distribution == pytest.approx({"00": 1 - one, "11": one})
    assert result.marginals[1] == pytest.approx(one) and result.expectations[0] == pytest.approx(1 - 2 * one)
    assert result.branches == 2
    with pytest.raises(qsim.UnsupportedError):
        qsim.run(circuit, statevector=True)


def test_batches_take_and_give_arrays():
    a = Parameter("a")
    circuit = Circuit(2, 2).ry(a, 0).cx(0, 1).measure([0, 1], [0, 1])
    values = np.linspace(0, 3, 7)[:, None]
    result = qsim.run(circuit, params=values, observables=["Z0", "Z0 Z1"], shots=20, seed=3, statevector=True, marginals=True)
    np.testing.assert_allclose(result.expectations, np.column_stack([np.cos(values[:, 0]), np.ones(7)]), atol=1e-12)
    assert result.statevector.shape == (7, 4) and result.marginals.shape == (7, 2) and len(result.counts) == 7
    for i in range(7):
        alone = qsim.run(circuit, params=values[i], shots=20, seed=3 + i)
        assert alone.counts == result.counts[i]
    assert qsim.run(circuit, params={"a": 0.5}, observables=["Z0"]).expectations[0] == pytest.approx(np.cos(0.5))
    many = qsim.run_batch(circuit, values, shots=4, states=True)
    np.testing.assert_allclose(many["states"], result.statevector, atol=1e-13)
    np.testing.assert_allclose(many["marginals"], result.marginals, atol=1e-13)
    assert many["outcomes"].shape == (7, 4) and many["outcomes"].dtype == np.uint32


@pytest.mark.parametrize(
    "wrong, error",
    [
        (lambda: qsim.run(Circuit(2).h(0), shots=10), qsim.UsageError),
        (lambda: qsim.run(Circuit(2, 1).rx(Parameter("a"), 0), params=[1.0, 2.0]), ValueError),
        (lambda: qsim.run(Circuit(2, 1).rx(Parameter("a"), 0), params={"b": 1.0}), ValueError),
        (lambda: qsim.run(Circuit(2, 1).rx(Parameter("a"), 0)), ValueError),
        (lambda: qsim.run(Circuit(2, 1).rx(Parameter("a"), 0), params=[float("nan")]), ValueError),
        (lambda: qsim.run(bell(), observables=["Z2"]), ValueError),
        (lambda: qsim.run(bell(), observables=["W0"]), ValueError),
        (lambda: qsim.run(bell(), observables=[{"Z0": 1j}]), ValueError),
        (lambda: qsim.run(bell(), probabilities=[[0, 0]]), ValueError),
        (lambda: qsim.run(bell(), precision="half"), ValueError),
        (lambda: qsim.run(bell(), ranks=3), ValueError),
        (lambda: qsim.run(bell(), colour="red"), TypeError),
        (lambda: qsim.run(bell(), shots=-1), TypeError),
        (lambda: qsim.run(bell(), shots=1.5), TypeError),
        (lambda: qsim.run("bell"), TypeError),
        (lambda: qsim.run_batch(bell(), [1.0]), ValueError),
        (lambda: qsim.run(Circuit(50).h(0), statevector=True), MemoryError),
    ],
)
def test_what_makes_no_sense_is_refused(wrong, error):
    with pytest.raises(error):
        wrong()


def test_a_session_without_a_gpu_says_so():
    try:
        Session("cuda").close()
    except qsim.DeviceError as error:
        assert isinstance(error, RuntimeError) and str(error)


def test_sizes_stand_in_the_error_of_what_does_not_fit(session):
    with pytest.raises(qsim.CapacityError) as caught:
        session.state(45)
    assert caught.value.wanted_bytes >= 16 << 45 and 0 < caught.value.free_bytes < 16 << 45 and caught.value.code == 5


@pytest.mark.parametrize("precision, dtype", [("double", np.complex128), ("single", np.complex64)])
@pytest.mark.parametrize("ranks", [1, 4])
def test_states_as_arrays(precision, dtype, ranks):
    circuit = random_circuit(9, 2).swap(0, 8).cx(8, 3)
    expected = qsim.run(circuit, statevector=True, backend="cpu").statevector
    tolerance = 1e-13 if precision == "double" else 1e-6
    with Session("cpu", precision=precision, ranks=ranks) as session:
        state = session.run(circuit)
        for array in (state.to_numpy(), np.asarray(state), np.array(state)):
            assert array.dtype == dtype and array.flags.writeable
            np.testing.assert_allclose(array, expected, atol=tolerance)
        assert np.asarray(state, dtype=np.complex128).dtype == np.complex128
        if ranks > 1:
            with pytest.raises(qsim.UnsupportedError):
                state.to_numpy(copy=False)
            return
        for view in (state.to_numpy(copy=False), np.asarray(state, copy=False), np.from_dlpack(state)):
            assert view.dtype == dtype and not view.flags.writeable and not view.flags.owndata
            np.testing.assert_allclose(view, expected, atol=tolerance)
        addresses = {state.to_numpy(copy=False).__array_interface__["data"][0] for _ in range(3)}
        assert len(addresses) == 1
        assert state.__dlpack_device__() == (1, 0) and not hasattr(state, "__cuda_array_interface__")


def test_memory_that_an_array_shares_is_not_overwritten(session):
    state, other = session.run(random_circuit(8, 3)), session.run(random_circuit(8, 4))
    view = state.to_numpy(copy=False)
    before = view.copy()
    program = session.compile(Circuit(8).h(0))
    for refused in (lambda: state.run(program), lambda: session.run(program), lambda: other.norm(), lambda: session.state(3),
                    lambda: state.set_basis(0), lambda: state.copy(), lambda: other.to_numpy(), lambda: state.inner_product(other)):
        with pytest.raises(qsim.UsageError, match="share memory"):
            refused()
    assert state.norm() == pytest.approx(1) and len(state.top(3)) == 3
    np.testing.assert_array_equal(state.to_numpy(), before)
    np.testing.assert_array_equal(view, before)
    del view
    state.run(program)
    last = state.to_numpy(copy=False)
    values = last.copy()
    del state
    session.close()
    np.testing.assert_array_equal(last, values)


def test_questions(session):
    circuit = random_circuit(6, 5)
    state = session.run(circuit)
    psi = dense(circuit)[:, 0]
    p = np.abs(psi) ** 2
    assert len(state) == 64 and state.num_qubits == 6
    np.testing.assert_allclose(state.amplitudes([[3, 0], [63, 5]]), psi[[[3, 0], [63, 5]]], atol=1e-13)
    np.testing.assert_allclose(state.probabilities(), p, atol=1e-13)
    assert [index for index, _, _ in state.top(5)] == list(np.argsort(-p)[:5])
    index, amplitude, probability = state.top(1)[0]
    assert amplitude == pytest.approx(psi[index]) and probability == pytest.approx(p[index])
    indices, times = state.sample(5000, seed=2)
    assert times.sum() == 5000 and (np.diff(indices.astype(int)) > 0).all()
    assert state.sample_counts(5000, seed=2) == {f"{i:06b}": t for i, t in zip(indices.tolist(), times.tolist())}
    full = np.zeros(64)
    full[indices] = times
    assert ((full - 5000 * p) ** 2 / (5000 * p)).sum() < 130  # chi squared of 63: beyond 1e-6
    assert state.expectation("Z0") == pytest.approx(p @ (1 - 2 * (np.arange(64) & 1)))
    np.testing.assert_allclose(state.expectations(["Z0", {"I": 2.0}]), [state.expectation("Z0"), 2.0])
    other = session.run(random_circuit(6, 6))
    overlap = state.inner_product(other)
    assert overlap == pytest.approx(np.vdot(other.to_numpy(), psi))
    for wrong in (lambda: state.amplitudes([64]), lambda: state.amplitudes([-1]), lambda: state.probabilities([6]),
                  lambda: state.expectation("Z9"), lambda: state.set_basis(64)):
        with pytest.raises(ValueError):
            wrong()
    with pytest.raises(TypeError):
        state.amplitudes([0.5])


def test_setting_saving_and_loading(session, tmp_path):
    state = session.state(3)
    state.set_basis(5)
    assert state.sample_counts(3) == {"101": 3}
    generator = np.random.default_rng(0)
    values = generator.normal(size=8) + 1j * generator.normal(size=8)
    values /= np.linalg.norm(values)
    state.set_amplitudes(values)
    np.testing.assert_allclose(state.to_numpy(), values, atol=1e-15)
    state.save(tmp_path / "a.npy")
    np.testing.assert_allclose(np.load(tmp_path / "a.npy"), values, atol=1e-15)
    pairs = np.array([[0.6, 0.8], [1, 0], [1j * np.sqrt(0.5), np.sqrt(0.5)]])
    state.set_product(pairs)
    np.testing.assert_allclose(state.to_numpy(), np.kron(pairs[2], np.kron(pairs[1], pairs[0])), atol=1e-15)
    state.load(tmp_path / "a.npy")
    np.testing.assert_allclose(state.to_numpy(), values, atol=1e-15)
    twin = state.copy()
    state.run(Circuit(3).x(0))
    np.testing.assert_allclose(twin.to_numpy(), values, atol=1e-15)
    np.testing.assert_allclose(state.to_numpy(), values.reshape(4, 2)[:, ::-1].ravel(), atol=1e-15)
    state.set_random(3)
    assert state.norm() == pytest.approx(1)
    with pytest.raises(qsim.UsageError):
        state.set_amplitudes(np.ones(8))
    with pytest.raises(ValueError):
        state.set_amplitudes(np.eye(8))
    with pytest.raises(ValueError, match=r"\(3, 2\) expected"):
        state.set_product(np.eye(2))
    with pytest.raises(qsim.FileError):
        state.load(tmp_path / "none.npy")


def test_use_after_close():
    session = Session("cpu")
    program, state = session.compile(bell()), session.run(bell())
    with session:
        pass
    assert session.closed and "closed" in repr(session)
    for refused in (lambda: session.run(bell()), lambda: state.norm(), lambda: session.compile(bell()), lambda: state.to_numpy(),
                    lambda: session.backend):
        with pytest.raises(qsim.UsageError, match="closed"):
            refused()
    session.close()
    with Session("cpu") as other:
        assert other.run(program).norm() == pytest.approx(1)


def test_use_after_fork(session):
    state = session.run(bell())
    qsim.run(bell(), shots=5)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            try:
                state.norm()
            except qsim.UsageError as error:
                if "forked" in str(error) and sum(qsim.run(bell(), shots=5).counts.values()) == 5:
                    status = 0
            del state
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert state.norm() == pytest.approx(1)


def test_two_threads_in_one_session_are_told(session):
    long = random_circuit(18, 1, gates=400)
    started, errors = threading.Event(), []

    def work():
        started.set()
        for _ in range(3):
            try:
                session.run(long)
            except qsim.UsageError as error:
                errors.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    started.wait()
    while thread.is_alive():
        try:
            session.state(2)
        except qsim.UsageError as error:
            errors.append(str(error))
            with pytest.raises(qsim.UsageError, match="in use"):
                session.close()
            break
    thread.join()
    assert errors and "in use" in errors[0] and not session.closed
    assert session.run(bell()).norm() == pytest.approx(1)


def test_threads_each_run_on_their_own():
    circuits = [random_circuit(10, i) for i in range(4)]
    expected = [qsim.run(c, statevector=True).statevector for c in circuits]
    found = [None] * 4

    def work(i):
        found[i] = qsim.run(circuits[i], statevector=True).statevector

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one, other in zip(found, expected):
        np.testing.assert_array_equal(one, other)


INTERRUPTED = """
import signal, sys, threading, qsim_hpc as qsim
signal.signal(signal.SIGINT, signal.default_int_handler)  # a parent may have had it ignored
circuit = qsim.Circuit(22)
for i in range(4000):
    circuit.u(0.1, 0.2, 0.3, i % 22).cx(i % 22, (i * 7 + 1) % 22 if (i * 7 + 1) % 22 != i % 22 else (i + 1) % 22)
session = qsim.Session("cpu", ranks={ranks}, progress=lambda fraction, left: print("running", flush=True))
program = session.compile(circuit)
try:
    session.run(program)
except KeyboardInterrupt:
    state = session.run(qsim.Circuit(2).h(0).cx(0, 1))
    session.close()
    print("stopped and went on", threading.active_count())
    sys.exit(7)
"""


@pytest.mark.parametrize("ranks", [1, 2])
def test_ctrl_c_stops_a_run_and_the_session_goes_on(ranks):
    process = subprocess.Popen([sys.executable, "-c", INTERRUPTED.format(ranks=ranks)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "running\n"
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 7 and "stopped and went on 1" in out


INTERRUPTED_BATCH = """
import signal, sys, time, numpy, qsim_hpc as qsim
signal.signal(signal.SIGINT, signal.default_int_handler)


def threads():
    with open("/proc/self/status") as status:
        return next(line for line in status if line.startswith("Threads:"))


circuit = qsim.Circuit({qubits}).ry(qsim.Parameter("a"), 0)
for i in range(200):
    circuit.h(i % {qubits}).cx(i % {qubits}, (i + 1) % {qubits})
with qsim.Session("cpu") as session:
    before = session.run(qsim.Circuit(2).h(0)).norm(), threads()
    print("running", flush=True)
    begin = time.perf_counter()
    try:
        qsim.run_batch(circuit, numpy.zeros(({many}, 1)), backend="cpu", threads={threads}, marginals=False, shots=1)
    except KeyboardInterrupt:
        norm, end = session.run(qsim.Circuit(2).h(0)).norm(), time.perf_counter() + 5
        while threads() != before[1] and time.perf_counter() < end:  # the system counts one that was joined for a moment
            time.sleep(0.01)
        after = norm, threads()
        small = qsim.run_batch(circuit, numpy.zeros((3, 1)), backend="cpu")["marginals"].shape == (3, {qubits})
        print("stopped and went on" if before == after and small else (before, after))
        sys.exit(7)
    print("ran to its end in", time.perf_counter() - begin)
"""


@pytest.mark.parametrize("qubits, many", [(2, 10**8), (18, 2000)])
@pytest.mark.parametrize("threads", [1, 3])
def test_ctrl_c_stops_a_batch_and_leaves_nothing(qubits, many, threads):
    program = INTERRUPTED_BATCH.format(qubits=qubits, many=many, threads=threads)
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "running\n"
    time.sleep(1.0)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    begin = time.perf_counter()
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 7 and out == "stopped and went on\n", out
    assert time.perf_counter() - begin < 20


def test_progress_may_end_a_run():
    class Enough(Exception):
        pass

    def stop(fraction, remaining):
        assert 0 <= fraction <= 1 and remaining >= 0
        raise Enough

    for ranks in (1, 2):
        with Session("cpu", progress=stop, ranks=ranks) as session:
            with pytest.raises(Enough):
                session.run(random_circuit(22, 1, gates=3000))
            assert session.run(bell()).norm() == pytest.approx(1)


def test_the_lock_is_released_while_computing(session):
    program = session.compile(random_circuit(20, 1, gates=600))
    ticks = []
    done = threading.Event()

    def count():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    begin = time.perf_counter()
    session.run(program)
    end = time.perf_counter()
    done.set()
    thread.join()
    assert sum(begin < tick < end for tick in ticks) > 3


def test_sessions_are_kept_for_small_and_for_large_circuits():
    from qsim_hpc import _run

    small, large = Circuit(3).h(0).measure_all(), Circuit(21)
    for i in range(400):
        large.rx(0.1 * i, i % 21)
    assert _run.too_small_for_a_gpu(small) and not _run.too_small_for_a_gpu(large)
    first, second = _run._session({}, small), _run._session({}, large)
    assert first is not second and first.backend == "cpu"
    assert _run._session({}, small) is first and _run._session({}, large) is second
    other = _run._session({"precision": "single"}, small)
    assert other.precision == "single" and _run._session({}, large) is second
    assert _run._session({"backend": "cpu"}, small) is not other
    _run._forget_sessions()
    assert other.closed and qsim.run(small, shots=3).shots == 3


def test_ranks_and_precisions_agree():
    circuit = random_circuit(8, 9).measure_all()
    expected = qsim.run(circuit, shots=500, seed=4, observables=["Z0 X5"])
    for options in ({"ranks": 2}, {"ranks": 4}, {"threads": 1}, {"backend": "cpu"}):
        result = qsim.run(circuit, shots=500, seed=4, observables=["Z0 X5"], **options)
        assert result.counts == expected.counts
        np.testing.assert_allclose(result.expectations, expected.expectations, atol=1e-12)
    single = qsim.run(circuit, observables=["Z0 X5"], precision="single")
    assert single.precision == "single"
    np.testing.assert_allclose(single.expectations, expected.expectations, atol=1e-5)


def test_results_print_copy_and_travel():
    result = qsim.run(bell(), shots=10, seed=1, observables=["Z0"], marginals=True)
    assert "counts (right-most character is bit 0)" in repr(result) and "shots" in repr(result)
    html = result._repr_html_()
    assert html.startswith("<table>") and html.count("<table>") == html.count("</table>") == 1
    for other in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result), qsim.Result.from_dict(result.to_dict())):
        assert other.counts == result.counts and other.seed == result.seed
    with pytest.raises(TypeError):
        pickle.dumps(Session("cpu").run(bell()))
    assert "2 qubits" in repr(Session("cpu").run(bell())) and "cpu" in repr(Session("cpu"))


def test_programs_and_sessions(session):
    program = session.compile(Circuit(2).rx(Parameter("a"), 0))
    assert program.parameters == ("a",) and program.num_qubits == 2 and not program.dynamic
    assert program.work([0.1])["sweeps"] >= 1 and program.circuit == Circuit(2).rx(Parameter("a"), 0)
    assert session.run(program, {"a": np.pi}).marginals() == pytest.approx([1, 0])
    assert qsim.run(program, params=[np.pi], session=session, marginals=True).marginals == pytest.approx([1, 0])
    with pytest.raises(qsim.UsageError, match="options"):
        qsim.run(program, session=session, threads=2)
    assert session.backend == "cpu" and session.ranks == 1 and session.memory_bytes > 0 and session.reason


MPI = """
import qsim_hpc as qsim
session = qsim.Session("cpu", mpi=True)
circuit = qsim.Circuit(12).h(0)
for i in range(11):
    circuit.cx(i, i + 1)
result = qsim.run(circuit.measure_all(), session=session, shots=100, seed=3, observables=["Z0 Z11"])
assert session.ranks == 2 and set(result.counts) == {"0" * 12, "1" * 12} and abs(result.expectations[0] - 1) < 1e-12
if session.rank == 0:
    print(result.counts["0" * 12])
"""


WITH_MPI4PY = """
from mpi4py import MPI
""" + MPI + """
session.close()
assert MPI.Is_initialized() and not MPI.Is_finalized()
assert MPI.COMM_WORLD.allreduce(session.closed) == 2  # it goes on by itself
"""


def launched(program):
    """What two ranks of a program print, where this package was built with MPI."""
    if qsim.info()["MPI"] == "none":
        with pytest.raises(qsim.CommunicatorError, match="without MPI"):
            Session("cpu", mpi=True)
        pytest.skip("built without MPI")
    launch = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", sys.executable, "-c", program]
    without = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "PMIX_"))}
    return subprocess.run(launch, capture_output=True, text=True, timeout=120, env=without)


def test_an_error_on_every_rank_is_an_exception_on_each():
    wrong = """
import qsim_hpc as qsim
session = qsim.Session("cpu", mpi=True)
try:
    qsim.run(qsim.Circuit(4).h(0), session=session, observables=["Z9"])
except ValueError:
    result = qsim.run(qsim.Circuit(4).h(0), session=session, observables=["X0"])
    if session.rank == 0:
        print(round(float(result.expectations[0]), 12))
"""
    done = launched(wrong)
    assert done.returncode == 0 and done.stdout == "1.0\n", done.stderr


@pytest.mark.parametrize("program", [MPI, WITH_MPI4PY], ids=["alone", "mpi4py"])
def test_ranks_that_are_processes(program):
    if program is WITH_MPI4PY:
        pytest.importorskip("mpi4py")
    done = launched(program)
    ghz = Circuit(12).h(0)
    for i in range(11):
        ghz.cx(i, i + 1)
    alone = qsim.run(ghz.measure_all(), shots=100, seed=3).counts["0" * 12]
    assert done.returncode == 0 and done.stdout == f"{alone}\n", done.stderr
