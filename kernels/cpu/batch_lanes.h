// Gates on kBatchLanes states at once, one lane an evaluation. Amplitude i of all lanes: kBatchLanes real parts at
// state[2 * i * kBatchLanes], then as many imaginary parts. A file for each instruction set instantiates the body.
#pragma once

#include <cstdint>

namespace qsim::cpu {

constexpr int kBatchLanes = 8;

struct BatchLanes {
  /// 2 x 2 matrices, one a lane: entry e (row-major) has its real parts at m[2 * e * kBatchLanes], then the imaginary.
  void (*one_target)(double* state, std::uint32_t qubits, std::uint32_t target, std::uint32_t controls,
                     const double* m);
  /// diag(1, d) or, with both entries, diag(d0, d1): entries 0 and 3 of a matrix as above.
  void (*diagonal)(double* state, std::uint32_t qubits, std::uint32_t target, std::uint32_t controls, const double* m);
  void (*flip)(double* state, std::uint32_t qubits, std::uint32_t target, std::uint32_t controls);
  /// The same matrix for all lanes (re, im pairs, row-major) on `count` targets, 1..3; bit j of an index is targets[j].
  void (*dense)(double* state, std::uint32_t qubits, const std::uint8_t* targets, int count, std::uint32_t controls,
                const double* matrix);
  /// out[i * kBatchLanes + lane] = |a|^2.
  void (*probabilities)(const double* state, std::uint32_t qubits, double* out);
};

#ifdef QSIM_BATCH_LANES_BODY
namespace {

constexpr std::uint32_t kRow = 2 * kBatchLanes;

/// Calls body(first, second) with the rows of amplitudes that differ in `target`, where the controls are 1.
template <typename Body>
void for_pairs(double* state, std::uint32_t qubits, std::uint32_t target, std::uint32_t controls, Body body) {
  const std::uint32_t half = 1u << (qubits - 1), low = (1u << target) - 1;
  for (std::uint32_t k = 0; k < half; ++k) {
    const std::uint32_t i = (k & low) | (k & ~low) << 1;
    if ((i & controls) != controls) continue;
    body(state + std::size_t{i} * kRow, state + std::size_t{i | (low + 1)} * kRow);
  }
}

void one_target(double* state, std::uint32_t qubits, std::uint32_t target, std::uint32_t controls, const double* m) {
  for_pairs(state, qubits, target, controls, [m](double* a, double* b) {
    double ar[kBatchLanes], ai[kBatchLanes], br[kBatchLanes], bi[kBatchLanes];
    for (int l = 0; l < kBatchLanes; ++l) {
      ar[l] = a[l], ai[l] = a[kBatchLanes + l], br[l] = b[l], bi[l] = b[kBatchLanes + l];
    }
    for (int l = 0; l < kBatchLanes; ++l) {
      const double* const at = m + l;
      const auto entry = [at](int e) { return at[e * kBatchLanes]; };
      a[l] = entry(0) * ar[l] - entry(1) * ai[l] + entry(2) * br[l] - entry(3) * bi[l];
      a[kBatchLanes + l] = entry(0) * ai[l] + entry(1) * ar[l] + entry(2) * bi[l] + entry(3) * br[l];
      b[l] = entry(4) * ar[l] - entry(5) * ai[l] + entry(6) * br[l] - entry(7) * bi[l];
      b[kBatchLanes + l] = entry(4) * ai[l] + entry(5) * ar[l] + entry(6) * bi[l] + entry(7) * br[l];
    }
  });
}

void diagonal(double* state, std::uint32_t qubits, std::uint32_t target, std::uint32_t controls, const double* m) {
  for_pairs(state, qubits, target, controls, [m](double* a, double* b) {
    for (int l = 0; l < kBatchLanes; ++l) {
      const double r = a[l], i = a[kBatchLanes + l];
      a[l] = m[l] * r - m[kBatchLanes + l] * i;
      a[kBatchLanes + l] = m[l] * i + m[kBatchLanes + l] * r;
    }
    const double* const d = m + 6 * kBatchLanes;
    for (int l = 0; l < kBatchLanes; ++l) {
      const double r = b[l], i = b[kBatchLanes + l];
      b[l] = d[l] * r - d[kBatchLanes + l] * i;
      b[kBatchLanes + l] = d[l] * i + d[kBatchLanes + l] * r;
    }
  });
}

void flip(double* state, std::uint32_t qubits, std::uint32_t target, std::uint32_t controls) {
  for_pairs(state, qubits, target, controls, [](double* a, double* b) {
    for (std::uint32_t l = 0; l < kRow; ++l) {
      const double kept = a[l];
      a[l] = b[l];
      b[l] = kept;
    }
  });
}

void dense(double* state, std::uint32_t qubits, const std::uint8_t* targets, int count, std::uint32_t controls,
           const double* matrix) {
  const int size = 1 << count;
  std::uint32_t mask = 0, offset[8] = {};
  for (int j = 0; j < count; ++j) mask |= 1u << targets[j];
  for (int v = 0; v < size; ++v) {
    for (int j = 0; j < count; ++j) offset[v] |= (static_cast<std::uint32_t>(v) >> j & 1u) << targets[j];
  }
  double old[8 * kRow];
  for (std::uint32_t i = 0; i < 1u << qubits; ++i) {
    if ((i & mask) != 0 || (i & controls) != controls) continue;
    for (int v = 0; v < size; ++v) {
      const double* const from = state + std::size_t{i | offset[v]} * kRow;
      for (std::uint32_t l = 0; l < kRow; ++l) old[static_cast<std::uint32_t>(v) * kRow + l] = from[l];
    }
    for (int row = 0; row < size; ++row) {
      double re[kBatchLanes] = {}, im[kBatchLanes] = {};
      for (int v = 0; v < size; ++v) {
        const double mr = matrix[2 * (row * size + v)], mi = matrix[2 * (row * size + v) + 1];
        const double* const from = old + static_cast<std::uint32_t>(v) * kRow;
        for (int l = 0; l < kBatchLanes; ++l) {
          re[l] += mr * from[l] - mi * from[kBatchLanes + l];
          im[l] += mr * from[kBatchLanes + l] + mi * from[l];
        }
      }
      double* const to = state + std::size_t{i | offset[row]} * kRow;
      for (int l = 0; l < kBatchLanes; ++l) to[l] = re[l], to[kBatchLanes + l] = im[l];
    }
  }
}

void probabilities(const double* state, std::uint32_t qubits, double* out) {
  for (std::size_t i = 0; i < std::size_t{1} << qubits; ++i) {
    const double* const from = state + i * kRow;
    for (int l = 0; l < kBatchLanes; ++l) {
      out[i * kBatchLanes + static_cast<std::size_t>(l)] =
          from[l] * from[l] + from[kBatchLanes + l] * from[kBatchLanes + l];
    }
  }
}

constexpr BatchLanes kBatchLanesHere{one_target, diagonal, flip, dense, probabilities};

}  // namespace
#endif

}  // namespace qsim::cpu
