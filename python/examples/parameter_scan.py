"""The ground state of an Ising chain of four spins: energies over an angle, then a descent by parameter shifts."""

import numpy as np

import qsim_hpc as qsim

SPINS = 4
terms = {f"Z{i} Z{i + 1}": -1.0 for i in range(SPINS - 1)} | {f"X{i}": -0.5 for i in range(SPINS)}
energy = qsim.PauliSum(terms, SPINS)

ansatz = qsim.Circuit(SPINS)
for layer in range(2):
    for i in range(SPINS):
        ansatz.ry(qsim.Parameter(f"y{layer}{i}"), i)
    for i in range(SPINS - 1):
        ansatz.cx(i, i + 1)
count = len(ansatz.parameters)

scan = qsim.run(ansatz, params=np.linspace(0, 1, 5)[:, None] * np.ones(count), observables=[energy])
print("scan", scan.expectations[:, 0].round(4))

values = np.full(count, 0.3)
shifts = np.concatenate([np.eye(count), -np.eye(count)]) * np.pi / 2
for _ in range(60):
    around = qsim.run(ansatz, params=values + shifts, observables=[energy]).expectations[:, 0]
    values -= 0.1 * (around[:count] - around[count:])
found = qsim.run(ansatz, params=values, observables=[energy]).expectations[0]

pauli = {"I": np.eye(2), "X": np.array([[0, 1], [1, 0]]), "Z": np.diag([1, -1])}
exact = np.zeros((2**SPINS, 2**SPINS))
for text, factor in terms.items():
    letters = {int(one[1:]): one[0] for one in text.split()}
    matrix = np.eye(1)
    for i in range(SPINS):
        matrix = np.kron(pauli[letters.get(i, "I")], matrix)
    exact += factor * matrix
print(f"descent {found:.4f}, exact {np.linalg.eigvalsh(exact)[0]:.4f}")
assert abs(found - np.linalg.eigvalsh(exact)[0]) < 0.2
