// Gates on kBatchLanes states at once, one lane an evaluation, in float or double. Amplitude i of all lanes:
// kBatchLanes real parts at state[2 * i * kBatchLanes], then as many imaginary parts. A file for each instruction set
// instantiates the body.
#pragma once

#include <cstdint>

namespace qsim::cpu {

/// A cache line of them.
template <typename Real>
constexpr int kBatchLanes = 64 / int{sizeof(Real)};

template <typename Real>
struct BatchLanes {
  /// 2 x 2 matrices, one a lane: entry e (row-major) has its real parts at m[2 * e * kBatchLanes], then the imaginary.
  void (*one_target)(Real* state, std::uint32_t qubits, std::uint32_t target, std::uint32_t controls, const Real* m);
  /// diag(1, d) or, with both entries, diag(d0, d1): entries 0 and 3 of a matrix as above.
  void (*diagonal)(Real* state, std::uint32_t qubits, std::uint32_t target, std::uint32_t controls, const Real* m);
  void (*flip)(Real* state, std::uint32_t qubits, std::uint32_t target, std::uint32_t controls);
  /// The same matrix for all lanes (re, im pairs, row-major) on `count` targets, 1..3; bit j of an index is targets[j].
  void (*dense)(Real* state, std::uint32_t qubits, const std::uint8_t* targets, int count, std::uint32_t controls,
                const Real* matrix);
  /// out[i * kBatchLanes + lane] = |a|^2, in double.
  void (*probabilities)(const Real* state, std::uint32_t qubits, double* out);
};

/// For float and double.
template <typename Real>
BatchLanes<Real> batch_lanes_scalar();
template <typename Real>
BatchLanes<Real> batch_lanes_avx2();
template <typename Real>
BatchLanes<Real> batch_lanes_avx512();

#ifdef QSIM_BATCH_LANES_BODY
namespace {

template <typename Real>
constexpr std::uint32_t kRow = 2 * kBatchLanes<Real>;

/// Calls body(first, second) with the rows of amplitudes that differ in `target`, where the controls are 1.
template <typename Real, typename Body>
void for_pairs(Real* state, std::uint32_t qubits, std::uint32_t target, std::uint32_t controls, Body body) {
  const std::uint32_t half = 1u << (qubits - 1), low = (1u << target) - 1;
  for (std::uint32_t k = 0; k < half; ++k) {
    const std::uint32_t i = (k & low) | (k & ~low) << 1;
    if ((i & controls) != controls) continue;
    body(state + std::size_t{i} * kRow<Real>, state + std::size_t{i | (low + 1)} * kRow<Real>);
  }
}

template <typename Real>
void one_target(Real* state, std::uint32_t qubits, std::uint32_t target, std::uint32_t controls, const Real* m) {
  for_pairs(state, qubits, target, controls, [m](Real* a, Real* b) {
    Real ar[kBatchLanes<Real>], ai[kBatchLanes<Real>], br[kBatchLanes<Real>], bi[kBatchLanes<Real>];
    for (int l = 0; l < kBatchLanes<Real>; ++l) {
      ar[l] = a[l], ai[l] = a[kBatchLanes<Real> + l], br[l] = b[l], bi[l] = b[kBatchLanes<Real> + l];
    }
    for (int l = 0; l < kBatchLanes<Real>; ++l) {
      const Real* const at = m + l;
      const auto entry = [at](int e) { return at[e * kBatchLanes<Real>]; };
      a[l] = entry(0) * ar[l] - entry(1) * ai[l] + entry(2) * br[l] - entry(3) * bi[l];
      a[kBatchLanes<Real> + l] = entry(0) * ai[l] + entry(1) * ar[l] + entry(2) * bi[l] + entry(3) * br[l];
      b[l] = entry(4) * ar[l] - entry(5) * ai[l] + entry(6) * br[l] - entry(7) * bi[l];
      b[kBatchLanes<Real> + l] = entry(4) * ai[l] + entry(5) * ar[l] + entry(6) * bi[l] + entry(7) * br[l];
    }
  });
}

template <typename Real>
void diagonal(Real* state, std::uint32_t qubits, std::uint32_t target, std::uint32_t controls, const Real* m) {
  for_pairs(state, qubits, target, controls, [m](Real* a, Real* b) {
    for (int l = 0; l < kBatchLanes<Real>; ++l) {
      const Real r = a[l], i = a[kBatchLanes<Real> + l];
      a[l] = m[l] * r - m[kBatchLanes<Real> + l] * i;
      a[kBatchLanes<Real> + l] = m[l] * i + m[kBatchLanes<Real> + l] * r;
    }
    const Real* const d = m + 6 * kBatchLanes<Real>;
    for (int l = 0; l < kBatchLanes<Real>; ++l) {
      const Real r = b[l], i = b[kBatchLanes<Real> + l];
      b[l] = d[l] * r - d[kBatchLanes<Real> + l] * i;
      b[kBatchLanes<Real> + l] = d[l] * i + d[kBatchLanes<Real> + l] * r;
    }
  });
}

template <typename Real>
void flip(Real* state, std::uint32_t qubits, std::uint32_t target, std::uint32_t controls) {
  for_pairs(state, qubits, target, controls, [](Real* a, Real* b) {
    for (std::uint32_t l = 0; l < kRow<Real>; ++l) {
      const Real kept = a[l];
      a[l] = b[l];
      b[l] = kept;
    }
  });
}

template <typename Real>
void dense(Real* state, std::uint32_t qubits, const std::uint8_t* targets, int count, std::uint32_t controls,
           const Real* matrix) {
  const int size = 1 << count;
  std::uint32_t mask = 0, offset[8] = {};
  for (int j = 0; j < count; ++j) mask |= 1u << targets[j];
  for (int v = 0; v < size; ++v) {
    for (int j = 0; j < count; ++j) offset[v] |= (static_cast<std::uint32_t>(v) >> j & 1u) << targets[j];
  }
  Real old[8 * kRow<Real>];
  for (std::uint32_t i = 0; i < 1u << qubits; ++i) {
    if ((i & mask) != 0 || (i & controls) != controls) continue;
    for (int v = 0; v < size; ++v) {
      const Real* const from = state + std::size_t{i | offset[v]} * kRow<Real>;
      for (std::uint32_t l = 0; l < kRow<Real>; ++l) old[static_cast<std::uint32_t>(v) * kRow<Real> + l] = from[l];
    }
    for (int row = 0; row < size; ++row) {
      Real re[kBatchLanes<Real>] = {}, im[kBatchLanes<Real>] = {};
      for (int v = 0; v < size; ++v) {
        const Real mr = matrix[2 * (row * size + v)], mi = matrix[2 * (row * size + v) + 1];
        const Real* const from = old + static_cast<std::uint32_t>(v) * kRow<Real>;
        for (int l = 0; l < kBatchLanes<Real>; ++l) {
          re[l] += mr * from[l] - mi * from[kBatchLanes<Real> + l];
          im[l] += mr * from[kBatchLanes<Real> + l] + mi * from[l];
        }
      }
      Real* const to = state + std::size_t{i | offset[row]} * kRow<Real>;
      for (int l = 0; l < kBatchLanes<Real>; ++l) to[l] = re[l], to[kBatchLanes<Real> + l] = im[l];
    }
  }
}

template <typename Real>
void probabilities(const Real* state, std::uint32_t qubits, double* out) {
  for (std::size_t i = 0; i < std::size_t{1} << qubits; ++i) {
    const Real* const from = state + i * kRow<Real>;
    for (int l = 0; l < kBatchLanes<Real>; ++l) {
      const double re = from[l], im = from[kBatchLanes<Real> + l];
      out[i * kBatchLanes<Real> + static_cast<std::size_t>(l)] = re * re + im * im;
    }
  }
}

template <typename Real>
constexpr BatchLanes<Real> kLanesHere{one_target<Real>, diagonal<Real>, flip<Real>, dense<Real>, probabilities<Real>};

}  // namespace
#endif

}  // namespace qsim::cpu
