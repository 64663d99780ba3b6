OPENQASM 2.0;
include "qelib1.inc";// x
qreg q[5];c4x q[0],q[1],q[2],q[3],q[4];cu(1,2,3,4) q[0],q[1];rc3x q[0],q[1],q[2],q[3];rxx(1) q[0],q[1];c3sqrtx q[0],q[1],q[2],q[3];