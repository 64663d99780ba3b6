OPENQASM 3.0;
include "stdgates.inc";
qubit[3] q;
bit[3] c;
ctrl @ inv @ pow(0.5) @ x q[0], q[1];
gate g(t) a, b { rz(t) a; cx a, b; }
pow(2) @ g(pi/4) q[0], q[2];
c = measure q;
