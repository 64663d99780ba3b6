// Operations on kBatchLanes states at once, one lane an evaluation, in float or double. Amplitude i of all lanes:
// kBatchLanes real parts at state[2 * i * kBatchLanes], then as many imaginary parts; a number of each lane lies like
// an amplitude. All of it begins at cache lines. A file for each instruction set instantiates the body.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "device/batch/batch_program.h"
#ifdef QSIM_BATCH_LANES_BODY
#include "kernels/cpu/pack_bytes.h"
#endif

namespace qsim::cpu {

/// A cache line of them.
template <typename Real>
constexpr int kBatchLanes = 64 / int{sizeof(Real)};

/// Where an operation acts: on the amplitudes i of 2^qubits with (i & mask) == value.
struct BatchControls {
  std::uint32_t qubits = 0;
  std::uint32_t mask = 0, value = 0;
};

/// A BatchFactor with its numbers rounded: re, im pairs, row-major.
template <typename Real>
struct BatchLaneFactor {
  BatchStep step = BatchStep::kFixed;
  int line = 0;
  const Real* phase = nullptr;  // of its sum, each lane's
  Real fixed[8] = {}, turned[8] = {};
};

template <typename Real>
struct BatchLanes {
  /// e^{i angle} of `count` sums, each right in its last places where it is at most kPlainAngle. `terms`: of all sums;
  /// `values`: kBatchLanes of each parameter.
  void (*circle)(const BatchSum* sums, std::size_t count, const BatchTerm* terms, const double* values, Real* to);
  /// Entry e of a 2x2 matrix, row-major, at to[2 * e * kBatchLanes].
  void (*product)(const BatchLaneFactor<Real>* factors, const BatchLaneFactor<Real>* end, Real* to);
  /// Amplitudes 0 .. 2^target - 1 become twice as many: times entry 0 of m and, with the target's bit, times entry 2.
  void (*birth)(Real* state, std::uint32_t target, const Real* m);
  void (*turn)(Real* state, const BatchControls& where, std::uint32_t target, const Real* m);
  void (*flip)(Real* state, const BatchControls& where, std::uint32_t target);
  /// The same matrix for all lanes (re, im pairs, row-major) on `count` targets, 1..3; bit j of an index is targets[j].
  void (*dense)(Real* state, const BatchControls& where, const std::uint8_t* targets, int count, const Real* matrix);
  /// `parity`: only where an odd number of these bits is 1; 0: without this.
  void (*phase)(Real* state, const BatchControls& where, std::uint32_t parity, const Real* factor);
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

/// Neighbouring lanes that an instruction takes at once.
template <typename Real, int kBytes = kPackBytes>
struct PackOf {
  using Type __attribute__((vector_size(kBytes), may_alias)) = Real;
};
template <typename Real>
using Pack = typename PackOf<Real>::Type;

constexpr int kPacks = 64 / kPackBytes;  // of a line

template <typename Real>
constexpr std::uint32_t kRow = 2 * kBatchLanes<Real>;

template <typename Real>
Pack<Real>* packs(Real* at) {
  return reinterpret_cast<Pack<Real>*>(at);
}
template <typename Real>
const Pack<Real>* packs(const Real* at) {
  return reinterpret_cast<const Pack<Real>*>(at);
}

/// 1/first!, 1/(first + 2)!, ...
template <int kCount>
struct Inverses {
  double of[kCount] = {};
  explicit constexpr Inverses(int first) {
    for (int i = 0; i < kCount; ++i) {
      of[i] = 1;
      for (int k = 2; k <= first + 2 * i; ++k) of[i] /= k;
    }
  }
};

/// Series for what is left beside a whole number of quarter turns; they end where Real's digits do.
template <typename Real>
void circle_of(const Pack<double>& angle, Pack<double>& cosine, Pack<double>& sine) {
  constexpr double kToWhole = 0x1.8p52;  // added and taken away again it leaves the nearest whole number
  // pi/2 in parts: their products with small whole numbers are exact, but for the last one's.
  constexpr double kQuarter[] = {0x1.921fb544p0, 0x1.0b4611a6p-34, 0x1.3198a2e037073p-69};
  constexpr int kTerms = sizeof(Real) == sizeof(double) ? 8 : 5;
  constexpr Inverses<kTerms> kEven(2), kOdd(3);
  const Pack<double> quarters = (angle * (2 / 3.14159265358979323846) + kToWhole) - kToWhole;
  const Pack<double> x = ((angle - quarters * kQuarter[0]) - quarters * kQuarter[1]) - quarters * kQuarter[2];
  const Pack<double> turn = quarters - 4 * ((quarters * 0.25 + kToWhole) - kToWhole);  // -2 .. 2
  const Pack<double> square = x * x;
  Pack<double> c = square * 0 + kEven.of[kTerms - 1], s = square * 0 + kOdd.of[kTerms - 1];
  for (int k = kTerms - 1; k-- > 0;) {
    c = kEven.of[k] - square * c;
    s = kOdd.of[k] - square * s;
  }
  c = 1 - square * c;
  s = x - x * square * s;
  const Pack<double> of_turn = turn * turn;
  cosine = of_turn == 1 ? -turn * s : c;
  sine = of_turn == 1 ? turn * c : s;
  cosine = of_turn == 4 ? -cosine : cosine;
  sine = of_turn == 4 ? -sine : sine;
}

template <typename Real>
void circle(const BatchSum* sums, std::size_t count, const BatchTerm* terms, const double* values, Real* to) {
  constexpr int kWide = kBatchLanes<Real> * int{sizeof(double)} / kPackBytes, kEach = kPackBytes / int{sizeof(double)};
  using Narrow = typename PackOf<Real, kEach* int{sizeof(Real)}>::Type;
  std::uint32_t begin = 0;
  for (std::size_t i = 0; i < count; ++i, to += kRow<Real>) {
    const std::uint32_t end = sums[i].end;
    for (int v = 0; v < kWide; ++v) {
      Pack<double> angle{}, cosine, sine;
      angle += sums[i].constant;
      for (std::uint32_t t = begin; t < end; ++t) {
        angle += terms[t].factor * packs(values + std::size_t{kBatchLanes<Real>} * terms[t].parameter)[v];
      }
      circle_of<Real>(angle, cosine, sine);
      *reinterpret_cast<Narrow*>(to + v * kEach) = __builtin_convertvector(cosine, Narrow);
      *reinterpret_cast<Narrow*>(to + kBatchLanes<Real> + v * kEach) = __builtin_convertvector(sine, Narrow);
    }
    begin = end;
  }
}

template <typename Real>
void product(const BatchLaneFactor<Real>* factors, const BatchLaneFactor<Real>* end, Real* to) {
  for (int v = 0; v < kPacks; ++v) {
    Pack<Real> m[8] = {};  // re, im pairs
    m[0] += 1;
    m[6] += 1;
    const auto multiply = [&m](const Pack<Real>& re, const Pack<Real>& im, int entry) {
      const Pack<Real> old = m[2 * entry];
      m[2 * entry] = re * old - im * m[2 * entry + 1];
      m[2 * entry + 1] = re * m[2 * entry + 1] + im * old;
    };
    for (const BatchLaneFactor<Real>* factor = factors; factor != end; ++factor) {
      Pack<Real> re{}, im{};
      if (factor->phase != nullptr) re = packs(factor->phase)[v], im = packs(factor->phase)[kPacks + v];
      if (factor->step == BatchStep::kRow || factor->step == BatchStep::kColumn) {
        const bool row = factor->step == BatchStep::kRow;
        multiply(re, im, row ? 2 * factor->line : factor->line);
        multiply(re, im, row ? 2 * factor->line + 1 : factor->line + 2);
        continue;
      }
      Pack<Real> f[8];
      for (int e = 0; e < 8; e += 2) {
        f[e] = re * factor->turned[e] - im * factor->turned[e + 1] + factor->fixed[e];
        f[e + 1] = re * factor->turned[e + 1] + im * factor->turned[e] + factor->fixed[e + 1];
      }
      if (factor == factors) {
        for (int e = 0; e < 8; ++e) m[e] = f[e];
        continue;
      }
      for (int e = 0; e < 4; e += 2) {
        const Pack<Real> ar = m[e], ai = m[e + 1], br = m[e + 4], bi = m[e + 5];
        m[e] = f[0] * ar - f[1] * ai + f[2] * br - f[3] * bi;
        m[e + 1] = f[0] * ai + f[1] * ar + f[2] * bi + f[3] * br;
        m[e + 4] = f[4] * ar - f[5] * ai + f[6] * br - f[7] * bi;
        m[e + 5] = f[4] * ai + f[5] * ar + f[6] * bi + f[7] * br;
      }
    }
    for (int part = 0; part < 8; ++part) packs(to)[part * kPacks + v] = m[part];
  }
}

/// to = factor * from, lane by lane; the last two may be the same.
template <typename Real>
void multiply(const Real* factor, const Real* from, Real* to) {
  for (int v = 0; v < kPacks; ++v) {
    const Pack<Real> fr = packs(factor)[v], fi = packs(factor)[kPacks + v];
    const Pack<Real> re = packs(from)[v], im = packs(from)[kPacks + v];
    packs(to)[v] = fr * re - fi * im;
    packs(to)[kPacks + v] = fr * im + fi * re;
  }
}

template <typename Real>
void birth(Real* state, std::uint32_t target, const Real* m) {
  const std::size_t half = std::size_t{kRow<Real>} << target;
  for (Real *a = state, *const end = state + half; a != end; a += kRow<Real>) {
    multiply(m + 2 * kRow<Real>, a, a + half);
    multiply(m, a, a);
  }
}

/// Calls body(i), ascending, for all i whose bits under `mask` are `value`.
template <typename Body>
void for_indices(std::uint32_t qubits, std::uint32_t mask, std::uint32_t value, Body body) {
  const std::uint32_t free = ((1u << qubits) - 1) & ~mask;
  std::uint32_t i = 0;
  do {
    body(i | value);
    i = (i - free) & free;
  } while (i != 0);
}

/// Calls body(first, second) with the amplitudes that differ in `target`, where the controls allow it.
template <typename Real, typename Body>
void for_pairs(Real* state, const BatchControls& where, std::uint32_t target, Body body) {
  const std::size_t apart = std::size_t{kRow<Real>} << target;
  for_indices(where.qubits, where.mask | 1u << target, where.value, [=](std::uint32_t i) {
    Real* const first = state + std::size_t{i} * kRow<Real>;
    body(packs(first), packs(first + apart));
  });
}

template <typename Real>
void turn(Real* state, const BatchControls& where, std::uint32_t target, const Real* m) {
  for_pairs(state, where, target, [m](Pack<Real>* a, Pack<Real>* b) {
    for (int v = 0; v < kPacks; ++v) {
      const Pack<Real>* const e = packs(m) + v;
      const Pack<Real> ar = a[v], ai = a[kPacks + v], br = b[v], bi = b[kPacks + v];
      a[v] = e[0] * ar - e[kPacks] * ai + e[2 * kPacks] * br - e[3 * kPacks] * bi;
      a[kPacks + v] = e[0] * ai + e[kPacks] * ar + e[2 * kPacks] * bi + e[3 * kPacks] * br;
      b[v] = e[4 * kPacks] * ar - e[5 * kPacks] * ai + e[6 * kPacks] * br - e[7 * kPacks] * bi;
      b[kPacks + v] = e[4 * kPacks] * ai + e[5 * kPacks] * ar + e[6 * kPacks] * bi + e[7 * kPacks] * br;
    }
  });
}

template <typename Real>
void flip(Real* state, const BatchControls& where, std::uint32_t target) {
  for_pairs(state, where, target, [](Pack<Real>* a, Pack<Real>* b) {
    for (int v = 0; v < 2 * kPacks; ++v) {
      const Pack<Real> kept = a[v];
      a[v] = b[v];
      b[v] = kept;
    }
  });
}

template <int kTargets, bool kIsReal, typename Real>
void dense_on(Real* state, const BatchControls& where, const std::uint8_t* targets, const Real* matrix) {
  constexpr int kSize = 1 << kTargets;
  std::uint32_t mask = where.mask, offset[kSize] = {};
  for (int j = 0; j < kTargets; ++j) mask |= 1u << targets[j];
  for (int v = 0; v < kSize; ++v) {
    for (int j = 0; j < kTargets; ++j) offset[v] |= (static_cast<std::uint32_t>(v) >> j & 1u) << targets[j];
  }
  for_indices(where.qubits, mask, where.value, [&](std::uint32_t i) {
    Pack<Real>* row[kSize];
    for (int r = 0; r < kSize; ++r) row[r] = packs(state + std::size_t{i | offset[r]} * kRow<Real>);
    for (int v = 0; v < kPacks; ++v) {
      Pack<Real> re[kSize], im[kSize];
      for (int r = 0; r < kSize; ++r) re[r] = row[r][v], im[r] = row[r][kPacks + v];
      const Real* m = matrix;
      for (int r = 0; r < kSize; ++r) {
        Pack<Real> to_re{}, to_im{};
        for (int c = 0; c < kSize; ++c, m += 2) {
          to_re += m[0] * re[c], to_im += m[0] * im[c];
          if constexpr (!kIsReal) to_re -= m[1] * im[c], to_im += m[1] * re[c];
        }
        row[r][v] = to_re, row[r][kPacks + v] = to_im;
      }
    }
  });
}

template <typename Real>
void dense(Real* state, const BatchControls& where, const std::uint8_t* targets, int count, const Real* matrix) {
  bool is_real = true;
  for (int e = 0; e < 1 << 2 * count; ++e) is_real = is_real && matrix[2 * e + 1] == 0;
  const auto on = [&](auto real) {
    constexpr bool kReal = decltype(real)::value;
    if (count == 1) return dense_on<1, kReal>(state, where, targets, matrix);
    if (count == 2) return dense_on<2, kReal>(state, where, targets, matrix);
    return dense_on<3, kReal>(state, where, targets, matrix);
  };
  is_real ? on(std::true_type()) : on(std::false_type());
}

template <typename Real>
void phase(Real* state, const BatchControls& where, std::uint32_t parity, const Real* factor) {
  const std::uint32_t others = parity & ~where.mask;
  const std::uint32_t last = others & (~others + 1);  // is what the rest of the parity leaves it to be
  if (parity != 0 && last == 0 && __builtin_parity(where.value & parity) == 0) return;
  for_indices(where.qubits, where.mask | last, where.value, [=](std::uint32_t i) {
    if (last != 0 && __builtin_parity(i & parity) == 0) i |= last;
    Real* const row = state + std::size_t{i} * kRow<Real>;
    multiply(factor, row, row);
  });
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
constexpr BatchLanes<Real> kLanesHere{circle<Real>, product<Real>, birth<Real>, turn<Real>,
                                      flip<Real>,   dense<Real>,   phase<Real>, probabilities<Real>};

}  // namespace
#endif

}  // namespace qsim::cpu
