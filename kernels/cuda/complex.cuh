// Products of complex numbers, float2 or double2.
#pragma once

namespace qsim::cuda {

template <class C>
__device__ __forceinline__ C times(C a, C b) {
  return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}
template <class C>
__device__ __forceinline__ C times_add(C a, C b, C c) {
  return {fma(a.x, b.x, fma(-a.y, b.y, c.x)), fma(a.x, b.y, fma(a.y, b.x, c.y))};
}

}  // namespace qsim::cuda
