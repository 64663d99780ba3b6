OPENQASM 2.0;
include "qelib1.inc";
gate g(a,b) x,y{rz(a/2-b^2) x;cx x,y;barrier x,y;}
gate k(t) x,y{g(t,-t) y,x;g(sin(t),pi) x,y;}
qreg q[2];
k(0.5) q[0],q[1];
