"""A plug-in of pytest for suites.py: where Qiskit's tests make its own primitives and simulator, they get ours."""

import expected
import qiskit.primitives
import qiskit.primitives.statevector_estimator
import qiskit.primitives.statevector_sampler
import qiskit.providers.basic_provider

from qsim_hpc.qiskit import QsimBackend, QsimEstimator, QsimSampler


class Sampler(QsimSampler):
    def __init__(self, **options):
        super().__init__(backend="cpu", **options)


class Estimator(QsimEstimator):
    """Exact, so that a seed has no effect: ours takes none."""

    def __init__(self, seed=None, **options):
        super().__init__(backend="cpu", **options)


class Backend(QsimBackend):
    def __init__(self, **options):
        super().__init__(backend="cpu", **options)


def pytest_configure(config):
    for module in (qiskit.primitives, qiskit.primitives.statevector_sampler):
        module.StatevectorSampler = Sampler
    for module in (qiskit.primitives, qiskit.primitives.statevector_estimator):
        module.StatevectorEstimator = Estimator
    qiskit.providers.basic_provider.BasicSimulator = Backend


def pytest_collection_modifyitems(items):
    expected.mark(items, expected.QISKIT)
