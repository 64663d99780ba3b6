"""The quantum Fourier transform of a random state beside numpy's FFT. The argument is the number of qubits (14)."""

import sys
import time

import numpy as np

import qsim_hpc as qsim

n = int(sys.argv[1]) if len(sys.argv) > 1 else 14
circuit = qsim.Circuit(n)
for target in reversed(range(n)):
    circuit.h(target)
    for control in range(target):
        circuit.cp(np.pi / 2 ** (target - control), control, target)
for qubit in range(n // 2):
    circuit.swap(qubit, n - 1 - qubit)

with qsim.Session() as session:
    state = session.state(n)
    state.set_random(1)
    before = state.to_numpy()
    begin = time.perf_counter()
    state.run(circuit)
    middle = time.perf_counter()
    expected = np.fft.ifft(before, norm="ortho")
    end = time.perf_counter()
    error = np.abs(state.to_numpy() - expected).max()
print(f"{n} qubits: here {middle - begin:.3f} s, numpy {end - middle:.3f} s, largest difference {error:.1e}")
assert error < 1e-10
