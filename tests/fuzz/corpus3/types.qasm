angle[4] a = 3 * pi / 8; bit[4] b = bit[4](a); complex z = 1.0 + 2 im; float[32] f = real(z); uint[6] r = rotl(37, 3); let s = b[1:2] ++ b[{0}]; duration d = 10ns * 2; stretch g; box[d] { delay[g]; }
