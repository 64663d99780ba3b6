"""Only where the package was built with GPUs and there is one."""

import numpy as np
import pytest

import qsim_hpc as qsim
from qsim_hpc import Circuit


def session_or_skip(**options):
    try:
        return qsim.Session("cuda", **options)
    except qsim.DeviceError as error:
        pytest.skip(str(error).splitlines()[0])


def circuit():
    made = Circuit(14)
    for i in range(60):
        made.u(0.1 * i, 0.2 * i, 0.3, i % 14).cx(i % 14, (i * 3 + 1) % 14 if (i * 3 + 1) % 14 != i % 14 else (i + 1) % 14)
    return made.swap(0, 13)


@pytest.mark.parametrize("precision, dtype", [("double", np.complex128), ("single", np.complex64)])
def test_states_on_a_gpu(precision, dtype):
    with session_or_skip(precision=precision) as session:
        expected = qsim.run(circuit(), statevector=True, backend="cpu").statevector
        state = session.run(circuit())
        array = state.to_numpy()
        assert array.dtype == dtype
        np.testing.assert_allclose(array, expected, atol=1e-12 if precision == "double" else 1e-5)
        with pytest.raises(qsim.UnsupportedError, match="GPU"):
            state.to_numpy(copy=False)
        assert state.__dlpack_device__()[0] == 2
        facts = state.__cuda_array_interface__
        assert facts["shape"] == (2**14,) and facts["version"] == 3 and facts["data"][1] is True
        assert facts["typestr"] == ("<c16" if precision == "double" else "<c8")
        with pytest.raises(qsim.UsageError, match="share memory"):
            session.run(Circuit(2).h(0))
        del state
        assert session.run(Circuit(2).h(0)).norm() == pytest.approx(1)


def test_cupy_and_torch_read_it_there():
    with session_or_skip() as session:
        expected = qsim.run(circuit(), statevector=True, backend="cpu").statevector
        state = session.run(circuit())
        cupy = pytest.importorskip("cupy")
        np.testing.assert_allclose(cupy.asnumpy(cupy.asarray(state)), expected, atol=1e-12)
        torch = pytest.importorskip("torch")
        tensor = torch.from_dlpack(state)
        assert tensor.is_cuda
        np.testing.assert_allclose(tensor.cpu().numpy(), expected, atol=1e-12)
