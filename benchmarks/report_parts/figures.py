"""Targets, and what others take: published or measured elsewhere, so typed here and nowhere else."""

# What was to be reached (ms, one H200, 30 qubits in double), and what the others take. None: no figure.
ENGINE = [  # name, label, Google qsim, QuEST 4.1, HyQuas, physical from random, target from random, target from zero
    ("ghz", "GHZ", 238, 146, 43, 24.5, 27, 5),
    ("qft", "QFT with swaps", 1608, 2199, 539, 24.5, 27, 6),
    ("supremacy", "supremacy, depth 14", 389, 1798, 388, 49, 60, 50),
    ("random", "random, depth 20", 1100, 6800, 1015, 107, 130, 120),
    ("qv", "quantum volume, depth 10", 590, 12000, 806, 107, 240, 230),
    ("ising", "ising (Trotter), depth 5", 545, 3710, None, 41, 70, 55),
]
GPU = "H200"  # what the tables of one GPU are of
# The fastest of cuStateVec Ex 1.15 with its best fusion, CUDA-Q 0.16 and HyQuas, measured in one run on one H200: ms of 30 qubits
# in double and in single. What benchmarks/peers/gpu.py measured on such a GPU counts as well: the fastest of all does.
NEWEST = {"ghz": (43, 42), "qft": (236, 175), "supremacy": (177, 134), "random": (652, 485), "qv": (357, 284), "ising": (242, 203)}
# Published seconds of the challenge entry on 1, 2, 4, 8 A100s, and our targets in seconds by number of GPUs.
CHALLENGE = [
    ("asc:random30", "random 30", (8.24, 10.51, 13.17, 9.80), {1: 0.090}),
    ("asc:ghz_qft30", "GHZ + QFT 30", (1.15, 1.06, 1.64, 1.31), {}),
    ("asc:ghz_qft29", "GHZ + QFT 29", (0.560, 0.546, 0.840, 0.654), {}),
    ("asc:invqft34", "InvQFT 34", (None, None, None, 33.72), {2: 0.600, 4: 0.400, 8: 0.250}),
    ("asc:qftinvqft35", "QFT-InvQFT 35", (None, None, None, None), {8: 1.5}),
    ("asc:shor35", "Shor-like 35", (None, None, None, None), {}),
    ("asc:hamexp22", "HamExp 22", (15.13, 13.01, 18.06, 15.51), {1: 0.060}),
]
# The fastest other simulator on a CPU in single precision (AVX-512, 2 threads of an AMD EPYC), ms by file.
FIELD = {"ghz_n24.qasm": 90, "qft_n24.qasm": 987, "supremacy_n24_d14.qasm": 278, "ising_n24_d5.qasm": 364,
         "random_n24_d10.qasm": 447, "qv_n24_d5.qasm": 216}
# The public suite on one GPU: HyQuas's ms at 30 qubits.
SUITE = [("graphstate", 59), ("qft", 539), ("qpeexact", 582), ("wstate", 173), ("realamprandom", None),
         ("twolocalrandom", None)]


def suite_file(name):
    return f"MQTBench_30q__{name}_indep_qiskit_30.qasm"


# Least speed-up of ours on 4 GPUs; others on 2 and 4 GPUs, ms from any start state.
SCALING = {"qft": (2, {"HyQuas": (284, 139), "QuEST 4.1": (6837, 7480)}), "supremacy": (2, {"HyQuas": (199, None)}),
           "random": (3, {}), "qv": (3, {})}
SUITE_SCALING = {"realamprandom": 3}  # least speed-up of ours on 4 GPUs
SUITE_GAIN = {"random": 5, "zero": 8}  # times faster than HyQuas, geometric mean
INTERPRETER_FACTOR = 2  # of the specialised kernels' time
COLD_SECONDS = 0.5  # of a whole run beyond its simulate time, with an empty cache
SAMPLING_MS = 25  # 10^6 shots of 30 qubits, to sorted pairs in host memory
BATCH_RATE = 1e5  # circuits of 4 qubits a second on one GPU
SINKS_ACCURACY = 0.99
PARSER_SECONDS = 1.0  # 10^6 gates on one core
PLANNER_SECONDS = 10.0  # 10^6 gates
PLANNER_MS = 50  # circuits of 30 qubits
OVERHEAD_SHARE = 0.01  # of a benchmark in what it times
CPU_FIELD_GAIN = 3  # geometric mean over the fastest other simulator on a CPU
