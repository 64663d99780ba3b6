"""A plug-in of pytest for suites.py: where Cirq's tests make a cirq.Simulator, they get ours."""

import cirq
import expected
import numpy as np

from qsim_hpc.cirq import QsimSimulator

_PRECISIONS = {np.complex64: "single", np.complex128: "double"}


def simulator(*, dtype=np.complex64, noise=None, seed=None, split_untangled_states=True):
    """With the arguments of Cirq's own: its states are split or not, which changes no result, and single by default."""
    if dtype not in _PRECISIONS:
        raise ValueError(f"dtype must be a complex type, but was {dtype}")
    if noise is not None:
        raise NotImplementedError("noise")
    made = QsimSimulator(seed=seed, backend="cpu", precision=_PRECISIONS[dtype])
    made._prng = cirq.value.parse_random_state(seed)  # tests take Cirq's own from there
    return made


def pytest_configure(config):
    cirq.Simulator = simulator


def pytest_collection_modifyitems(items):
    expected.mark(items, expected.CIRQ)
