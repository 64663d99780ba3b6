// Teleportation with classical feed-forward: qubit 0's state ry(1.2)|0> ends on qubit 2; out is 1 with probability 0.319.
OPENQASM 2.0;
include "qelib1.inc";
qreg q[3];
creg mz[1];
creg mx[1];
creg out[1];
ry(1.2) q[0];
h q[1];
cx q[1],q[2];
cx q[0],q[1];
h q[0];
measure q[0] -> mz[0];
measure q[1] -> mx[0];
if(mx==1) x q[2];
if(mz==1) z q[2];
measure q[2] -> out[0];
