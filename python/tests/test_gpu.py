"""GPUs, where the package was built with them and there is one; without one, what is said and where CUDA's libraries are found."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

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


FAKE = """
int cublasGetProperty(int part, int* value) { *value = 90 + part; return 0; }
int nvrtcVersion(int* major, int* minor) { *major = 77; *minor = 5; return 0; }
int nvrtcCreateProgram, nvrtcCompileProgram, nvrtcGetProgramLogSize, nvrtcGetProgramLog, nvrtcGetCUBINSize, nvrtcGetCUBIN, nvrtcDestroyProgram;
int ncclGetVersion(int* version) { *version = 88001; return 0; }
int ncclGetUniqueId, ncclCommInitRank, ncclCommDestroy, ncclCommAbort, ncclCommGetAsyncError, ncclGetErrorString;
int ncclGroupStart, ncclGroupEnd, ncclSend, ncclRecv;
"""


@pytest.mark.parametrize(
    "cublas, nvrtc",
    [("nvidia/cu13/lib/libcublas.so.13", "nvidia/cu13/lib/libnvrtc.so.13"),
     ("nvidia/cublas/lib/libcublas.so.12", "nvidia/cuda_nvrtc/lib/libnvrtc.so.12")],
    ids=["cuda13", "cuda12"],
)  # fmt: skip
def test_libraries_of_cuda_are_found_in_wheels_beside_the_package(tmp_path, cublas, nvrtc):
    if qsim.info()["CUDA"] == "none":
        pytest.skip("built without CUDA")
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    site, system = tmp_path / "site", tmp_path / "system"
    shutil.copytree(Path(qsim.__file__).parent, site / "qsim_hpc", ignore=shutil.ignore_patterns("__pycache__"))
    fake = tmp_path / "fake.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-x", "c", "-", "-o", fake], input=FAKE, text=True, check=True)
    nccl = "nvidia/nccl/lib/libnccl.so.2"
    for name in (cublas, nvrtc, nccl):
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(fake, site / name)
        system.mkdir(exist_ok=True)
        shutil.copy(fake, system / Path(name).name)

    def facts():
        """Of a process whose loader has other copies."""
        environment = {**os.environ, "PYTHONPATH": str(site), "LD_LIBRARY_PATH": str(system)}
        program = "import json, qsim_hpc; print(json.dumps(qsim_hpc.info()))"
        done = subprocess.run([sys.executable, "-c", program], env=environment, cwd="/", capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    found = facts()
    assert found["cuBLAS"] == f"90.91.92 ({site / cublas})"
    assert found["NVRTC"] == f"77.5 ({site / nvrtc})"
    assert found["NCCL"] == f"8.80.1 ({site / nccl})"
    if cublas.endswith(".12"):  # the loader may have a newer one of its own
        return
    for name in (cublas, nvrtc, nccl):
        (site / name).unlink()
    found = facts()
    assert found["cuBLAS"] == f"90.91.92 ({system / Path(cublas).name})"
    assert found["NVRTC"] == f"77.5 ({system / Path(nvrtc).name})" and found["NCCL"] == f"8.80.1 ({system / Path(nccl).name})"


def test_without_a_gpu_the_reason_is_said():
    facts = qsim.info()
    if not facts["GPUs"].startswith("none"):
        pytest.skip("there is a GPU")
    reason = facts["GPUs"].removeprefix("none: ")
    with pytest.raises(qsim.DeviceError) as caught:
        qsim.Session("cuda")
    assert len(reason) > 10 and reason.split(":")[0].split(",")[0] in str(caught.value)
    with qsim.Session() as session:  # what is there is used
        assert session.backend == "cpu" and session.run(circuit()).norm() == pytest.approx(1)
