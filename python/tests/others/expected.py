"""Which tests of others are expected to fail on ours, and why; the rest must pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

Reasons = Mapping[str, str]  # names of tests, [Class.]test, with spaces between them: the reason


def mark(items: Iterable[Any], expected: Reasons) -> None:
    """A test that is listed must fail, with every one of its parameters: one that passes fails the run."""
    reasons = {name: reason for names, reason in expected.items() for name in names.split()}
    for item in items:
        of_class = f"{item.cls.__name__}.{item.name}" if item.cls else item.name
        reason = reasons.get(of_class) or reasons.get(item.name) or reasons.get(getattr(item, "originalname", None))
        if reason is not None:
            item.add_marker(pytest.mark.skip(reason) if of_class in IN_PART else pytest.mark.xfail(reason=reason, strict=True))


# Tests of many parts of which one fails: pytest takes the whole for passed.
IN_PART = {"TestStatevectorSampler.test_run_errors"}

CIRQ: Reasons = {
    "test_run_reset test_simulate_qudits test_simulate_qudit_mixtures test_qudit_invert_mask test_sympy_qudits": "qubits alone",
    "test_run_mixture test_run_mixture_with_gates test_simulate_mixtures test_random_seed_does_not_modify_global_state_mixture "
    "test_random_seed_mixture_deterministic test_deterministic_gate_noise test_nondeterministic_mixture_noise test_noise_model":
        "channels and noise are refused",
    "test_run_measure_at_end_no_repetitions test_run_repetitions_measure_at_end test_run_invert_mask_measure_not_terminal "
    "test_run_partial_invert_mask_measure_not_terminal test_run_measurement_not_terminal_no_repetitions "
    "test_run_repetitions_measurement_not_terminal test_simulation_state test_pure_state_creation":
        "looks at methods inside Cirq's own simulator",
    "test_simulate_moment_steps test_simulate_moment_steps_empty_circuit test_simulate_moment_steps_sample "
    "test_simulate_moment_steps_intermediate_measurement test_state_vector_copy":
        "no states between moments (SimulatesIntermediateState)",
    "test_simulate_expectation_values_terminal_measure":
        "expectation values are exact ones before the measurements, not those of one outcome",
    "test_random_seed test_random_seed_terminal_measurements_deterministic test_random_seed_non_terminal_measurements_deterministic":
        "asks for the draws of Cirq's own generator",
    "test_does_not_modify_initial_state": "its gate writes over what it reads, so that its matrix is not unitary",
    "test_invalid_run_no_unitary": "UnsupportedError, a NotImplementedError, where Cirq has TypeError",
    "test_sympy test_sympy_indexed_condition_circuit": "run() knows conditions on keys; simulate() knows them all",
    "test_inner_repeat_until_simulate test_post_selection[sim0] test_repeat_until[sim0] test_repeat_until_sympy[sim0]":
        "no circuits that repeat until a result comes",
    "test_separable_non_dirac_str test_separated_states_str_does_not_merge":
        "one state vector is printed, where Cirq prints its factors",
}  # fmt: skip

QISKIT: Reasons = {
    "TestStatevectorSampler.test_run_errors": "circuits with control flow run here",
    "test_sampler_run_with_parameterized_circuits": "its targets are one draw of Qiskit's, its tolerance 2 standard deviations",
    "test_precision_seed": "values are exact, whatever precision is asked for",
    "test_basicprovider_num_qubits": "its circuit of 50 qubits needs 16 PiB here, and is refused",
    "test_builtin_simulator_result_fields": "asks for the name of Qiskit's simulator",
    "test_clifford_circuit_bell_state test_clifford_detection_various_gates test_clifford_qubit_limit_exceeded "
    "test_clifford_qubit_limit_pass test_clifford_with_barriers_and_measurements test_error_message_contains_limit "
    "test_large_clifford_circuit_performance test_simulation_path_selection test_statevector_qubit_limit_exceeded "
    "test_statevector_qubit_limit_pass": "ways of Qiskit's simulator through Clifford circuits, and its options for them",
    "test_clifford_simulation_with_initial_statevector": "no option initial_statevector: prepare it in the circuit",
    "test_options": "what the constructor takes is a session's options, not those of run()",
    "test_target": "the target is larger: control flow, mcx, rcccx and c3sx",
}

PENNYLANE: Reasons = {}
