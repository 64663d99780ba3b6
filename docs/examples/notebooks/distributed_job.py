"""mpirun -n 4 python distributed_job.py: every rank makes the same calls and gets the answers; one prints."""

import qsim_hpc as qsim

n = 18
circuit = qsim.Circuit(n).h(0)
for qubit in range(n - 1):
    circuit.cx(qubit, qubit + 1)
circuit.measure_all()

session = qsim.Session("cpu", mpi=True)
result = qsim.run(circuit, session=session, shots=1000, seed=3, observables=[f"Z0 Z{n - 1}"])
assert set(result.counts) == {"0" * n, "1" * n} and abs(result.expectations[0] - 1) < 1e-12
if session.rank == 0:
    print(session.ranks, "ranks:", result.counts)
session.close()
