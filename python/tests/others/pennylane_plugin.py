"""A plug-in of pytest for suites.py: PennyLane's device tests on our device."""

import expected


def pytest_collection_modifyitems(items):
    expected.mark(items, expected.PENNYLANE)
