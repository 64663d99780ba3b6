"""The others on one GPU behind one interface: cuStateVec Ex by its C interface, CUDA-Q by its Python package. Both are found where
they are installed. `gpu_simulators.py NAME` answers cases as worker.py does; with --version it prints the version and ends.

Indices are ours everywhere: qubit 0 is the least significant bit.
"""

from __future__ import annotations

import cmath
import ctypes
import importlib.metadata
import math
import os
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from circuits import Circuit, read_qasm
from worker import amplitude_error, serve, tolerance

WARM_UPS = 2  # the first compiles

Form = tuple[int, str, list[complex]]


def form(name: str, angles: tuple[float, ...]) -> Form:
    """(controls, kind, elements) of a gate. Its first qubits are the controls; elements are those of a dense matrix row by row, of a
    diagonal, or of an antidiagonal from the first row down."""
    if name in ("cx", "cz", "cu1", "ccx"):
        controls, kind, elements = form(name[1:], angles)
        return controls + 1, kind, elements
    root = math.sqrt(0.5)
    half = angles[0] / 2 if angles else 0.0
    c, s = math.cos(half), math.sin(half)
    match name:
        case "x":
            return 0, "antidiagonal", [1, 1]
        case "y":
            return 0, "antidiagonal", [-1j, 1j]
        case "z" | "s" | "sdg" | "t" | "tdg":
            turn = {"z": math.pi, "s": math.pi / 2, "sdg": -math.pi / 2, "t": math.pi / 4, "tdg": -math.pi / 4}[name]
            return 0, "diagonal", [1, cmath.rect(1, turn)]
        case "u1":
            return 0, "diagonal", [1, cmath.rect(1, angles[0])]
        case "rz":
            return 0, "diagonal", [cmath.rect(1, -half), cmath.rect(1, half)]
        case "h":
            return 0, "dense", [root, root, root, -root]
        case "rx":
            return 0, "dense", [c, -1j * s, -1j * s, c]
        case "ry":
            return 0, "dense", [c, -s, s, c]
        case "u3":
            _, phi, turn = angles
            return 0, "dense", [c, -cmath.rect(s, turn), cmath.rect(s, phi), cmath.rect(c, phi + turn)]
        case "swap":
            return 0, "dense", [1, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1]
    raise ValueError(f"the gate {name} is not one that these measurements know")


class GpuSimulator:
    """One circuit at a time: load(), then prepare() and run() as often as is asked, then close(). `variants`: the default one first."""

    variants: tuple[str, ...] = ("default",)

    def __init__(self, precision: str, variant: str) -> None:
        self.precision, self.variant = precision, variant

    @staticmethod
    def environment(variant: str) -> dict[str, str]:
        """What its process needs besides the driver's environment."""
        return {}

    @classmethod
    def version(cls) -> str:
        """An exception where it is not installed."""
        raise NotImplementedError

    def load(self, circuit: Circuit) -> None:
        raise NotImplementedError

    def prepare(self) -> None:
        """The start state, where it can be made outside the time."""

    def run(self) -> None:
        """What is timed; the GPU is idle when it returns."""
        raise NotImplementedError

    def setup_seconds(self, repeats: int) -> float:
        """What a run takes without the circuit, where the start state can't be made outside the time."""
        return 0.0

    def amplitudes(self, indices: Sequence[int] | None) -> np.ndarray:
        """Those at the indices, or all."""
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError


# ---- cuStateVec Ex


class _ConfigItem(ctypes.Structure):
    """A name and a value of 32 bytes that begins at byte 16."""

    _fields_ = [("name", ctypes.c_int32), ("gap", ctypes.c_char * 12), ("value", ctypes.c_int32), ("rest", ctypes.c_char * 28)]


_INT, _HANDLE, _POINTER = ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p
_OUT = ctypes.POINTER(ctypes.c_void_p)
_INTS = ctypes.POINTER(ctypes.c_int32)
_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "custatevecExConfigureStateVectorSingleDevice": (_OUT, _INT, _INT, _INT, _INT, ctypes.c_uint32),
    "custatevecExStateVectorCreateSingleProcess": (_OUT, _HANDLE, _POINTER, _INT, _HANDLE),
    "custatevecExStateVectorDestroy": (_HANDLE,),
    "custatevecExStateVectorSetZeroState": (_HANDLE,),
    "custatevecExStateVectorGetProperty": (_HANDLE, _INT, _POINTER, ctypes.c_size_t),
    "custatevecExStateVectorGetState": (_HANDLE, _POINTER, _INT, ctypes.c_int64, ctypes.c_int64, _INT),
    "custatevecExStateVectorSynchronize": (_HANDLE,),
    "custatevecExConfigureSVUpdater": (_OUT, _INT, ctypes.POINTER(_ConfigItem), _INT),
    "custatevecExSVUpdaterCreate": (_OUT, _HANDLE, _HANDLE),
    "custatevecExSVUpdaterDestroy": (_HANDLE,),
    "custatevecExSVUpdaterClear": (_HANDLE,),
    "custatevecExSVUpdaterEnqueueMatrix": (_HANDLE, _POINTER, _INT, _INT, _INT, _INT, _INTS, _INT, _INTS, _INTS, _INT),
    "custatevecExSVUpdaterApply": (_HANDLE, _HANDLE, _POINTER, _INT),
    "custatevecExDictionaryDestroy": (_HANDLE,),
}


class CuStateVecEx(GpuSimulator):
    """The updater's queue of gates, which the library fuses. denseN: the number of qubits of a fused dense matrix."""

    variants = ("default", "dense4", "dense5", "dense6")
    _PACKAGES = ("custatevec-cu13", "custatevec-cu12")
    _TYPES = {"single": (4, np.complex64), "double": (5, np.complex128)}  # cudaDataType
    _KINDS = {"dense": 1, "diagonal": 2, "antidiagonal": 4}
    _ROW_MAJOR, _DENSE_FUSION, _WIRE_ORDERING = 1, 1, 3

    def __init__(self, precision: str, variant: str) -> None:
        super().__init__(precision, variant)
        self.library = self._library()
        self.data_type, self.number_type = self._TYPES[precision]
        self.circuit = Circuit("", 0, [])
        self.state, self.updater = ctypes.c_void_p(), ctypes.c_void_p()

    @classmethod
    def _library(cls) -> ctypes.CDLL:
        """That of the installed package, or the one that the system finds."""
        path = "libcustatevec.so.1"
        for package in cls._PACKAGES:
            try:
                found = Path(str(importlib.metadata.distribution(package).locate_file("cuquantum/lib/libcustatevec.so.1")))
            except importlib.metadata.PackageNotFoundError:
                continue
            path = str(found) if found.exists() else path
        library = ctypes.CDLL(path)
        for name, types in _FUNCTIONS.items():
            getattr(library, name).argtypes = types
        library.custatevecGetErrorString.restype = ctypes.c_char_p
        library.custatevecGetVersion.restype = ctypes.c_size_t
        return library

    @classmethod
    def version(cls) -> str:
        number = cls._library().custatevecGetVersion()
        return f"{number // 10000}.{number // 100 % 100}.{number % 100}"

    def _call(self, name: str, *arguments: Any) -> None:
        status = getattr(self.library, "custatevec" + name)(*arguments)
        if status != 0:
            raise RuntimeError(f"custatevec{name}: {self.library.custatevecGetErrorString(status).decode()}")

    def load(self, circuit: Circuit) -> None:
        self.circuit = circuit
        config, n = ctypes.c_void_p(), circuit.qubits
        self._call("ExConfigureStateVectorSingleDevice", ctypes.byref(config), self.data_type, n, n, 0, 0)
        self._call("ExStateVectorCreateSingleProcess", ctypes.byref(self.state), config, None, 0, None)
        self._call("ExDictionaryDestroy", config)
        items, count = (_ConfigItem * 1)(), 0
        if self.variant != "default":
            items[0].name, items[0].value, count = self._DENSE_FUSION, int(self.variant.removeprefix("dense")), 1
        self._call("ExConfigureSVUpdater", ctypes.byref(config), self.data_type, items if count else None, count)
        self._call("ExSVUpdaterCreate", ctypes.byref(self.updater), config, None)
        self._call("ExDictionaryDestroy", config)
        self.keeps_queue = self._keeps_queue()

    def _keeps_queue(self) -> bool:
        """Whether gates are still queued after they were applied: then they need not be queued again."""
        self._enqueue("x", (), (0,))
        for _ in range(2):
            self.run()
        kept = abs(self.amplitudes([0])[0]) > 0.5
        self._call("ExSVUpdaterClear", self.updater)
        self._enqueue_all()
        return kept

    def _enqueue(self, name: str, angles: tuple[float, ...], qubits: tuple[int, ...]) -> None:
        count, kind, elements = form(name, angles)
        matrix = np.array(elements, dtype=np.complex128)
        targets, controls = qubits[count:], qubits[:count]
        self._call("ExSVUpdaterEnqueueMatrix", self.updater, matrix.ctypes.data, self._TYPES["double"][0], self._KINDS[kind], self._ROW_MAJOR, 0,
                   (_INT * len(targets))(*targets), len(targets), (_INT * count)(*controls) if count else None, None, count)

    def _enqueue_all(self) -> None:
        for gate in self.circuit.gates:
            self._enqueue(*gate)

    def prepare(self) -> None:
        if not self.keeps_queue:
            self._call("ExSVUpdaterClear", self.updater)
            self._enqueue_all()
        self._call("ExStateVectorSetZeroState", self.state)
        self._call("ExStateVectorSynchronize", self.state)

    def run(self) -> None:
        self._call("ExSVUpdaterApply", self.updater, self.state, None, 0)
        self._call("ExStateVectorSynchronize", self.state)

    def _order(self) -> list[int]:
        """The qubit of each index bit: a library may have moved them."""
        order = (_INT * self.circuit.qubits)()
        self._call("ExStateVectorGetProperty", self.state, self._WIRE_ORDERING, order, ctypes.sizeof(order))
        return list(order)

    def amplitudes(self, indices: Sequence[int] | None) -> np.ndarray:
        order, size = self._order(), 1 << self.circuit.qubits
        asked = np.arange(size) if indices is None else np.array(indices, dtype=np.int64)
        theirs = np.zeros_like(asked)
        for bit, qubit in enumerate(order):
            theirs |= (asked >> qubit & 1) << bit
        found: np.ndarray = np.empty(size if indices is None else len(asked), dtype=self.number_type)
        spans = [(0, 0, size)] if indices is None else [(place, int(first), int(first) + 1) for place, first in enumerate(theirs)]
        for place, first, end in spans:
            self._call("ExStateVectorGetState", self.state, found[place:].ctypes.data, self.data_type, first, end, 1)
        self._call("ExStateVectorSynchronize", self.state)
        return found[theirs] if indices is None else found

    def close(self) -> None:
        self._call("ExSVUpdaterDestroy", self.updater)
        self._call("ExStateVectorDestroy", self.state)


# ---- CUDA-Q


class CudaQ(GpuSimulator):
    """get_state() of a kernel that its builder made, on the target that QSIM_PEERS_CUDAQ_TARGET names (default nvidia). fusionN: the
    number of qubits of a fused gate. The state is made in the call: a call of as many qubits and no gate is taken off."""

    variants = ("default", "fusion5", "fusion6")
    _GATES = {"u1": "r1", "cu1": "cr1"}

    def __init__(self, precision: str, variant: str) -> None:
        super().__init__(precision, variant)
        import cudaq

        self.cudaq, target = cudaq, os.environ.get("QSIM_PEERS_CUDAQ_TARGET", "nvidia")
        if target == "nvidia":
            cudaq.set_target(target, option="fp32" if precision == "single" else "fp64")
        else:
            cudaq.set_target(target)
        self.synchronize = _device_synchronize() if target == "nvidia" else lambda: None
        self.kernel: Any = None
        self.state: Any = None
        self.qubits = 0

    @staticmethod
    def environment(variant: str) -> dict[str, str]:
        return {} if variant == "default" else {"CUDAQ_FUSION_MAX_QUBITS": variant.removeprefix("fusion")}

    @classmethod
    def version(cls) -> str:
        import cudaq

        return next(word for word in cudaq.__version__.split() if word[0].isdigit())

    def load(self, circuit: Circuit) -> None:
        self.qubits = circuit.qubits
        self.kernel = self.cudaq.make_kernel()
        on = self.kernel.qalloc(circuit.qubits)
        for name, angles, qubits in circuit.gates:
            *controls, last = (on[q] for q in qubits)
            if name == "ccx":
                self.kernel.cx(controls, last)
            else:
                getattr(self.kernel, self._GATES.get(name, name))(*angles, *controls, last)

    def prepare(self) -> None:
        self.state = None  # its memory, for the next

    def run(self) -> None:
        self.state = self.cudaq.get_state(self.kernel)
        self.synchronize()

    def setup_seconds(self, repeats: int) -> float:
        full, self.kernel = self.kernel, self.cudaq.make_kernel()
        self.kernel.qalloc(self.qubits)
        seconds = statistics.median(timed(self, repeats))
        self.kernel = full
        return seconds

    def amplitudes(self, indices: Sequence[int] | None) -> np.ndarray:
        if indices is None:
            return np.array(self.state)
        return np.array(self.state.amplitudes([[index >> q & 1 for q in range(self.qubits)] for index in indices]))

    def close(self) -> None:
        self.kernel = self.state = None


def _device_synchronize() -> Any:
    """The driver's call that waits for all work of the first GPU's primary context, which the runtime uses."""
    driver = ctypes.CDLL("libcuda.so.1")
    device, context = ctypes.c_int(), ctypes.c_void_p()

    def checked(status: int) -> None:
        if status != 0:
            raise RuntimeError(f"the CUDA driver's error {status}")

    checked(driver.cuInit(0))
    checked(driver.cuDeviceGet(ctypes.byref(device), 0))
    checked(driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))

    def synchronize() -> None:
        checked(driver.cuCtxSetCurrent(context))
        checked(driver.cuCtxSynchronize())

    return synchronize


SIMULATORS: dict[str, type[GpuSimulator]] = {"custatevec": CuStateVecEx, "cudaq": CudaQ}


# ---- Cases


def timed(simulator: GpuSimulator, repeats: int) -> list[float]:
    """Seconds of each run after the first ones."""
    seconds = []
    for _ in range(WARM_UPS + repeats):
        simulator.prepare()
        begin = time.perf_counter()
        simulator.run()
        seconds.append(time.perf_counter() - begin)
    return seconds[WARM_UPS:]


def read_circuit(path: str) -> Circuit:
    return Circuit("file", *read_qasm(Path(path).read_text(encoding="utf-8")))


def relative_error(found: np.ndarray, reference: np.ndarray) -> float:
    """Of the largest amplitude: those of many qubits are far below one."""
    return amplitude_error(found.reshape(-1), reference) / float(np.abs(reference).max())


def rows_of_case(name: str, case: dict[str, Any]) -> list[dict[str, Any]]:
    """One row: every amplitude of the small circuit and some of the large one compared, then the large one timed."""
    simulator = SIMULATORS[name](case["precision"], case["variant"])
    small, circuit = read_circuit(case["small"]), read_circuit(case["circuit"])
    errors = []
    for which, indices, reference in ((small, None, np.load(case["small_amplitudes"])),
                                      (circuit, case["indices"], np.array([complex(*pair) for pair in case["amplitudes"]]))):
        simulator.load(which)
        try:
            seconds = timed(simulator, case["repeats"] if which is circuit else 1)
            errors.append(relative_error(simulator.amplitudes(indices), reference))
            setup = simulator.setup_seconds(case["repeats"]) if which is circuit else 0.0
        finally:
            simulator.close()
    right = all(error <= tolerance(case["precision"], which.depth()) for error, which in zip(errors, (small, circuit)))
    return [{
        "ms": 1e3 * (statistics.median(seconds) - setup), "fastest_ms": 1e3 * (min(seconds) - setup), "setup_ms": 1e3 * setup,
        "repeats": len(seconds), "small_error": errors[0], "amplitude_error": errors[1], "equal": right,
    }]  # fmt: skip


if __name__ == "__main__":
    if sys.argv[2:] == ["--version"]:
        print(SIMULATORS[sys.argv[1]].version())
    else:
        serve(lambda case: rows_of_case(sys.argv[1], case))
