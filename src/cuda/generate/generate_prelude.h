// What every generated kernel begins with: types, loads, complex arithmetic, the forms of rotations, the norm's sum.
// A load asks for the 256 bytes around it (fetch_amplitude in kernels/cuda/sweep_machine.cuh says why).
#pragma once

namespace qsim::cuda {

inline constexpr const char* kTypes = R"(
typedef unsigned long long u64;
typedef unsigned int u32;
struct Angle { u64 mask; double half_turns; };
struct alignas(128) Norm { u64 coarse, fine; };
)";

/// Of a sweep of tiles.
inline constexpr const char* kArguments = R"(struct P {
  C* state; const C* tables; const Angle* angles; const u32* angle_begin; const C* dense; Norm* norm; u64* cells; double* totals;
  u64 u[NU]; R d[ND];
};
)";

inline constexpr const char* kPrelude = R"(#define INLINE __device__ __forceinline__
#ifdef __CUDA_ARCH__
INLINE double2 fetch(const double2* p) { double2 r; asm volatile("ld.global.L2::256B.v2.f64 {%0, %1}, [%2];" : "=d"(r.x), "=d"(r.y) : "l"(p) : "memory"); return r; }
INLINE float2 fetch(const float2* p) { float2 r; asm volatile("ld.global.L2::256B.v2.f32 {%0, %1}, [%2];" : "=f"(r.x), "=f"(r.y) : "l"(p) : "memory"); return r; }
INLINE float2 early(const float2* p) { float2 r; asm volatile("ld.global.nc.v2.f32 {%0, %1}, [%2];" : "=f"(r.x), "=f"(r.y) : "l"(p) : "memory"); return r; }
INLINE void prefetch(const C* p) { asm volatile("prefetch.global.L2 [%0];" : : "l"(p)); }
INLINE u64 policy() { u64 r; asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(r)); return r; }
INLINE void keep(double2* p, double2 v) { asm volatile("st.global.L2::cache_hint.v2.f64 [%0], {%1, %2}, %3;" : : "l"(p), "d"(v.x), "d"(v.y), "l"(policy()) : "memory"); }
INLINE void keep(float2* p, float2 v) { asm volatile("st.global.L2::cache_hint.v2.f32 [%0], {%1, %2}, %3;" : : "l"(p), "f"(v.x), "f"(v.y), "l"(policy()) : "memory"); }
#else
INLINE C fetch(const C* p) { return *p; }
INLINE C early(const C* p) { return *p; }
INLINE void prefetch(const C* p) { volatile R seen = p->x; (void)seen; }
INLINE void keep(C* p, C v) { *p = v; }
#endif
INLINE void put(C* p, C v) { *p = v; }
INLINE C mul(C a, C b) { C r; r.x = a.x * b.x - a.y * b.y; r.y = a.x * b.y + a.y * b.x; return r; }
INLINE C mad(C a, C b, C c) { C r; r.x = fma(a.x, b.x, fma(-a.y, b.y, c.x)); r.y = fma(a.x, b.y, fma(a.y, b.x, c.y)); return r; }
INLINE C mk(R x, R y) { C r; r.x = x; r.y = y; return r; }
INLINE void r1(C& x, C& y, R t) { C u = x, v = y; x.x = fma(-t, v.x, u.x); x.y = fma(-t, v.y, u.y); y.x = fma(t, u.x, v.x); y.y = fma(t, u.y, v.y); }
INLINE void r2(C& x, C& y, R t) { C u = x, v = y; x.x = fma(t, v.x, u.x); x.y = fma(t, v.y, u.y); y.x = fma(t, u.x, -v.x); y.y = fma(t, u.y, -v.y); }
INLINE void r3(C& x, C& y, R t) { C u = x, v = y; x.x = fma(t, v.y, u.x); x.y = fma(-t, v.x, u.y); y.x = fma(t, u.y, v.x); y.y = fma(-t, u.x, v.y); }
INLINE void r4(C& x, C& y, R t) { C u = x, v = y; x.x = fma(t, u.x, -v.x); x.y = fma(t, u.y, -v.y); y.x = fma(t, v.x, u.x); y.y = fma(t, v.y, u.y); }
INLINE void r5(C& x, C& y, R t) { C u = x, v = y; x.x = fma(t, u.x, v.x); x.y = fma(t, u.y, v.y); y.x = fma(-t, v.x, u.x); y.y = fma(-t, v.y, u.y); }
INLINE void r6(C& x, C& y, R t) { C u = x, v = y; x.x = fma(t, u.x, v.y); x.y = fma(t, u.y, -v.x); y.x = fma(t, v.x, u.y); y.y = fma(t, v.y, -u.x); }
INLINE void r7(C& x, C& y) { C u = x, v = y; x.x = u.x + v.x; x.y = u.y + v.y; y.x = u.x - v.x; y.y = u.y - v.y; }
INLINE void swp(C& x, C& y) { C u = x; x = y; y = u; }
INLINE void neg(C& x) { x.x = -x.x; x.y = -x.y; }
INLINE void tmi(C& x) { R u = x.x; x.x = -x.y; x.y = u; }
INLINE void tni(C& x) { R u = x.x; x.x = x.y; x.y = -u; }
INLINE u32 bit(u32 t, int i, u32 c) { return (0u - (t >> i & 1u)) & c; }
INLINE u64 bit64(u32 t, int i, u64 c) { return (0ull - (u64)(t >> i & 1u)) & c; }
INLINE double of_warp(double sum) {
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  return sum;
}
INLINE void add_to(Norm& cell, double sum) {
  const double scaled = sum * 1073741824.0, coarse = floor(scaled);
  atomicAdd(&cell.coarse, (u64)coarse);
  atomicAdd(&cell.fine, (u64)rint((scaled - coarse) * 274877906944.0));
}
INLINE void add_norm(Norm* cells, double sum, double* scratch) {
  sum = of_warp(sum);
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (u32 w = 1; w < blockDim.x / 32; ++w) sum += scratch[w];
  add_to(cells[blockIdx.x % 64], sum);
}
INLINE void add_norm_by_warps(Norm* cells, double sum) {
  sum = of_warp(sum);
  if (threadIdx.x % 32 == 0) add_to(cells[(blockIdx.x * 8 + threadIdx.x / 32) % 64], sum);
}
INLINE void sum_rows(double* rows, u32 values, u64* cells, double* totals, u64 number) {
  const u32 t = threadIdx.x, threads = blockDim.x, part = t & 15u;
  double* const parts = rows + values * threads;
  __syncthreads();
  for (u32 v = t >> 4; v < values; v += threads >> 4) {
    double sum = 0;
    for (u32 u = part; u < threads; u += 16) sum += rows[v * threads + u];
    parts[v * 16 + part] = sum;
  }
  __syncthreads();
  if (t >= values) return;
  double sum = 0;
  for (u32 i = 0; i < 16; ++i) sum += parts[t * 16 + i];
  if (t + 1 == values) { totals[number] = sum; return; }
  const double scaled = sum * 4611686018427387904.0, whole = floor(scaled);
  u64* const cell = cells + ((number % 64) * 16 + t) * 2;
  atomicAdd(cell, (u64)whole);
  atomicAdd(cell + 1, (u64)rint((scaled - whole) * 274877906944.0));
}
)";

/// Of kernels with wide matrices: adds to 8 x 8 complex numbers, of which a lane holds u + xi and v + yi, the product
/// of 8 rows (`e`, `f` of columns lane % 4 and 4 more) with 8 columns (`b`, `c` of those rows). As real numbers, 16 x
/// 16 times 16 x 8: one instruction where tensor cores have one of that shape.
inline constexpr const char* kWidePrelude = R"(
#if __CUDA_ARCH__ >= 900
INLINE void mma(double& u, double& v, double& x, double& y, C e, C f, C b, C c) {
  asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %4, %9, %6}, {%10, %11, %12, %13}, {%0, %1, %2, %3};"
      : "+d"(u), "+d"(v), "+d"(x), "+d"(y)
      : "d"(e.x), "d"(e.y), "d"(f.x), "d"(f.y), "d"(-e.y), "d"(-f.y), "d"(b.x), "d"(c.x), "d"(b.y), "d"(c.y));
}
#else
INLINE void mma(double& d0, double& d1, double a, double b) {
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};" : "+d"(d0), "+d"(d1) : "d"(a), "d"(b));
}
INLINE void mma(double& u, double& v, double& x, double& y, C e, C f, C b, C c) {
  mma(u, v, e.x, b.x); mma(u, v, -e.y, b.y); mma(x, y, e.x, b.y); mma(x, y, e.y, b.x);
  mma(u, v, f.x, c.x); mma(u, v, -f.y, c.y); mma(x, y, f.x, c.y); mma(x, y, f.y, c.x);
}
#endif
)";

/// Of kernels with blocks on lanes: two registers' products with a 4x4 complex matrix, whose 8 columns lane by lane are
/// `b` and `c`; real and imaginary parts together in registers, or lanes apart; a trade of registers between lanes.
inline constexpr const char* kLanePrelude = R"(
INLINE void mma(double& d0, double& d1, double& d2, double& d3, double a0, double a1, double a2, double a3, double b0, double b1) {
  const double o = 0;
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, %10, %10};"
      : "=d"(d0), "=d"(d1), "=d"(d2), "=d"(d3) : "d"(a0), "d"(a1), "d"(a2), "d"(a3), "d"(b0), "d"(b1), "d"(o));
}
INLINE void whole(C& u, C& v, R b, R c) { mma(u.x, u.y, v.x, v.y, u.x, v.x, u.y, v.y, b, c); }
INLINE void split(C& u, C& v, R b, R c) { mma(u.x, u.y, v.x, v.y, u.x, u.y, v.x, v.y, b, c); }
INLINE void trade(R& u, R& v, bool upper, u32 lanes) {
  const R r = __shfl_xor_sync(0xffffffffu, upper ? u : v, lanes);
  u = upper ? r : u;
  v = upper ? v : r;
}
INLINE void trade(C& u, C& v, bool upper, u32 lanes) { trade(u.x, v.x, upper, lanes); trade(u.y, v.y, upper, lanes); }
)";

}  // namespace qsim::cuda
