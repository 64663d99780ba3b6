"""A qubit's state moves to another one by two measured bits and what they decide."""

import numpy as np

import qsim_hpc as qsim

circuit = qsim.Circuit(3).add_creg("m0", 1).add_creg("m1", 1)
circuit.ry(0.8, 0).rz(0.3, 0)  # what is sent
circuit.h(1).cx(1, 2)
circuit.cx(0, 1).h(0).measure(0, 0).measure(1, 1)
with circuit.when("m1", 1):
    circuit.x(2)
with circuit.when("m0", 1):
    circuit.z(2)
print(circuit.draw("ascii", width=100))
received = qsim.run(circuit, observables=["X2", "Y2", "Z2"]).expectations
sent = [np.sin(0.8) * np.cos(0.3), np.sin(0.8) * np.sin(0.3), np.cos(0.8)]
print(received.round(6), np.round(sent, 6))
assert np.allclose(received, sent)
