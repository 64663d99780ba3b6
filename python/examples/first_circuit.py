"""A Bell pair: its drawing, counts and amplitudes."""

import qsim_hpc as qsim

bell = qsim.Circuit(2, 2).h(0).cx(0, 1).measure([0, 1], [0, 1])
print(bell)
print(qsim.run(bell, shots=1000, seed=7))
print(qsim.run(bell, statevector=True).statevector)
