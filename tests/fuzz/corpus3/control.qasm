OPENQASM 3.1;
include "stdgates.inc";
qubit[2] q;
bit[2] c;
int[8] n = 0;
h q;
c = measure q;
while (c != 0) { reset q; h q; c = measure q; n += 1; if (n == 3) break; }
switch (n) { case 1, 2 { x q[0]; } default { z q[1]; } }
