include "stdgates.inc";
const int k = 2;
def f(qubit[2] a, mutable array[int[8], 2] v, float t) -> bit[2] { v[0] += k; rx(t) a; return measure a; }
qubit[2] q;
array[int[8], 2] v = {1, 2};
bit[2] c;
c = f(q, v, 0.5);
uint[4] u = uint[4](c) << 1;
for uint i in {0, 1} { if (u[1]) x q[i]; }
