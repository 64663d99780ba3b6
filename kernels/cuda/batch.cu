// A block works on 2^c circuits at once; a thread's circuit is its number modulo 2^c, so that it computes each gate's
// matrix once. Number i of circuit k of the block is at state[i << c | k]: neighbouring threads touch neighbouring
// places. Up to kSharedQubits the states never leave shared memory; the values are read and the answers written once.
#include "kernels/cuda/batch.h"
#include "kernels/cuda/philox.cuh"

namespace qsim::cuda {
namespace {

constexpr unsigned kThreads = 128;
constexpr std::uint32_t kSharedQubits = 12;
constexpr unsigned kSharedBlocks = 4096, kGlobalBlocks = 264;
constexpr std::uint32_t kSegmentBits = 6;  // a draw looks for its segment, then for its place in it

std::uint32_t circuit_bits(std::uint32_t qubits) { return qubits >= 11 ? 0 : qubits <= 5 ? 6 : 11 - qubits; }

template <typename Number>
struct Matrix2 {
  Number m00, m01, m10, m11;
};

template <typename Number>
__device__ Number product(Number a, Number b) {
  return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}
template <typename Number>
__device__ Number sum(Number a, Number b) {
  return {a.x + b.x, a.y + b.y};
}
/// Rounded to a Number's parts.
template <typename Number>
__device__ Number rounded(double2 a) {
  using Real = decltype(Number::x);
  return {static_cast<Real>(a.x), static_cast<Real>(a.y)};
}

/// An angle's remainder by 4 pi; see reduced_angle().
__device__ __noinline__ double remainder_of(double angle) {
  double s, c;
  sincos(angle / 2, &s, &c);
  return 2 * atan2(s, c);
}

/// e^{i angle} of a sum for one evaluation.
__device__ double2 phase_of(const BatchArrays& program, std::uint32_t sum, const double* values) {
  std::uint32_t at = sum == 1 ? 0 : program.sums[sum - 2].end;
  const std::uint32_t end = program.sums[sum - 1].end;
  double angle = program.sums[sum - 1].constant;
  for (; at < end; ++at) {
    const BatchTerm& term = program.terms[at];
    const double value = values[term.parameter], part = term.factor * value;
    angle += fabs(part) < kPlainAngle ? part : term.share * remainder_of(term.in_angle * value);
  }
  double2 phase;
  sincos(angle, &phase.y, &phase.x);
  return phase;
}

/// Complex numbers of the host's, which are aligned as their parts are and not as a double2.
struct Numbers {
  const double* parts;
  __device__ double2 operator[](std::uint32_t i) const { return {parts[2 * i], parts[2 * i + 1]}; }
};
// Device code does not call what std::array and std::complex have.
template <typename Array>
__device__ Numbers numbers_of(const Array& array) {
  return {reinterpret_cast<const double*>(&array)};
}
__device__ std::uint32_t target_of(const BatchOp& op, std::uint32_t j) {
  return reinterpret_cast<const std::uint8_t*>(&op.targets)[j];
}

__device__ Matrix2<double2> product(const Matrix2<double2>& a, const Matrix2<double2>& b) {
  return {sum(product(a.m00, b.m00), product(a.m01, b.m10)), sum(product(a.m00, b.m01), product(a.m01, b.m11)),
          sum(product(a.m10, b.m00), product(a.m11, b.m10)), sum(product(a.m10, b.m01), product(a.m11, b.m11))};
}

/// The product of an operation's factors for one evaluation.
__device__ Matrix2<double2> product_of(const BatchArrays& program, const BatchOp& op, const double* values) {
  Matrix2<double2> m{{1, 0}, {0, 0}, {0, 0}, {1, 0}};
  for (std::uint32_t at = op.begin; at < op.end; ++at) {
    const BatchFactor& factor = program.factors[at];
    const double2 phase = factor.sum == 0 ? double2{0, 0} : phase_of(program, factor.sum, values);
    if (factor.step == BatchStep::kRow || factor.step == BatchStep::kColumn) {
      const bool one = factor.line == 1, row = factor.step == BatchStep::kRow;
      double2& first = one ? (row ? m.m10 : m.m01) : m.m00;
      double2& second = one ? m.m11 : (row ? m.m01 : m.m10);
      first = product(phase, first);
      second = product(phase, second);
      continue;
    }
    const Numbers fixed = numbers_of(factor.fixed), turned = numbers_of(factor.turned);
    const Matrix2<double2> f{sum(fixed[0], product(phase, turned[0])), sum(fixed[1], product(phase, turned[1])),
                             sum(fixed[2], product(phase, turned[2])), sum(fixed[3], product(phase, turned[3]))};
    m = at == op.begin ? f : product(f, m);
  }
  return m;
}

/// Amplitudes below the target's bit become twice as many.
template <typename Number>
__device__ void bear(Number* state, std::uint32_t bits, const BatchOp& op, const Matrix2<double2>& m) {
  const Number at_zero = rounded<Number>(m.m00), at_one = rounded<Number>(m.m10);
  const std::uint32_t half = 1u << target_of(op, 0), circuit = threadIdx.x & ((1u << bits) - 1);
  for (std::uint32_t i = threadIdx.x >> bits; i < half; i += kThreads >> bits) {
    Number& a = state[i << bits | circuit];
    state[(i | half) << bits | circuit] = product(at_one, a);
    a = product(at_zero, a);
  }
}

template <typename Number>
__device__ void apply_matrix2(Number* state, std::uint32_t bits, std::uint32_t qubits, const BatchOp& op,
                              const Matrix2<double2>& exact) {
  const Matrix2<Number> m{rounded<Number>(exact.m00), rounded<Number>(exact.m01), rounded<Number>(exact.m10),
                          rounded<Number>(exact.m11)};
  const std::uint32_t low = (1u << target_of(op, 0)) - 1, circuit = threadIdx.x & ((1u << bits) - 1);
  for (std::uint32_t k = threadIdx.x >> bits; k < 1u << (qubits - 1); k += kThreads >> bits) {
    const std::uint32_t i = (k & low) | (k & ~low) << 1;
    if ((i & op.mask) != op.value) continue;
    Number& a = state[i << bits | circuit];
    Number& b = state[(i | (low + 1)) << bits | circuit];
    const Number old_a = a, old_b = b;
    a = sum(product(m.m00, old_a), product(m.m01, old_b));
    b = sum(product(m.m10, old_a), product(m.m11, old_b));
  }
}

/// A fixed matrix on 2 or 3 targets.
template <typename Number>
__device__ void apply_dense(Number* state, std::uint32_t bits, std::uint32_t qubits, const BatchOp& op,
                            const double2* matrix) {
  const std::uint32_t circuit = threadIdx.x & ((1u << bits) - 1), size = 1u << op.target_count;
  std::uint32_t mask = 0;
  for (std::uint32_t j = 0; j < op.target_count; ++j) mask |= 1u << target_of(op, j);
  const auto place = [&](std::uint32_t i, std::uint32_t v) {
    for (std::uint32_t j = 0; j < op.target_count; ++j) i |= (v >> j & 1u) << target_of(op, j);
    return i << bits | circuit;
  };
  for (std::uint32_t i = threadIdx.x >> bits; i < 1u << qubits; i += kThreads >> bits) {
    if ((i & mask) != 0 || (i & op.mask) != op.value) continue;
    Number old[1 << kMaxBatchTargets];
    for (std::uint32_t v = 0; v < size; ++v) old[v] = state[place(i, v)];
    for (std::uint32_t row = 0; row < size; ++row) {
      Number total{};
      for (std::uint32_t v = 0; v < size; ++v)
        total = sum(total, product(rounded<Number>(matrix[row * size + v]), old[v]));
      state[place(i, row)] = total;
    }
  }
}

template <typename Number>
__device__ void apply_phase(Number* state, std::uint32_t bits, std::uint32_t qubits, const BatchOp& op, double2 exact) {
  const auto factor = rounded<Number>(exact);
  const std::uint32_t circuit = threadIdx.x & ((1u << bits) - 1);
  for (std::uint32_t i = threadIdx.x >> bits; i < 1u << qubits; i += kThreads >> bits) {
    if ((i & op.mask) != op.value || (op.parity != 0 && __popc(i & op.parity) % 2 == 0)) continue;
    Number& a = state[i << bits | circuit];
    a = product(factor, a);
  }
}

template <typename Number>
__device__ void apply(Number* state, std::uint32_t bits, const BatchArrays& program, const BatchOp& op,
                      const double* values) {
  const std::uint32_t qubits = program.qubits;
  switch (op.form) {
    case BatchForm::kBirth:
      return bear(state, bits, op, product_of(program, op, values));
    case BatchForm::kTurn:
      return apply_matrix2(state, bits, qubits, op, product_of(program, op, values));
    case BatchForm::kMatrix: {
      const double2* const matrix = program.matrices + op.begin;
      if (op.target_count > 1) return apply_dense(state, bits, qubits, op, matrix);
      return apply_matrix2(state, bits, qubits, op, {matrix[0], matrix[1], matrix[2], matrix[3]});
    }
    case BatchForm::kFlip:
      return apply_matrix2(state, bits, qubits, op, {{0, 0}, {1, 0}, {1, 0}, {0, 0}});
    case BatchForm::kPhase:
      return apply_phase(state, bits, qubits, op,
                         op.sum == 0 ? numbers_of(op.phase)[0] : phase_of(program, op.sum, values));
  }
}

template <typename Number>
__device__ double probability(Number a) {
  const double re = a.x, im = a.y;
  return re * re + im * im;
}
template <typename Number>
__device__ std::uint64_t units(Number a) {
  return static_cast<std::uint64_t>(__double2ll_rn(probability(a) * 0x1p62));
}

/// Sums over the threads of one circuit are added in the order of the threads.
template <typename Real>
__device__ void write_marginals(const Amplitude<Real>* state, std::uint32_t bits, const BatchWork<Real>& work,
                                std::uint64_t evaluation, bool mine) {
  __shared__ double parts[kThreads];
  const std::uint32_t circuit = threadIdx.x & ((1u << bits) - 1);
  for (std::uint32_t qubit = 0; qubit < work.program.qubits; ++qubit) {
    double part = 0;
    for (std::uint32_t i = threadIdx.x >> bits; i < 1u << work.program.qubits; i += kThreads >> bits) {
      if ((i >> qubit & 1) != 0) part += probability(state[i << bits | circuit]);
    }
    __syncthreads();
    parts[threadIdx.x] = part;
    __syncthreads();
    if (threadIdx.x >> bits == 0 && mine) {
      double total = 0;
      for (std::uint32_t t = circuit; t < kThreads; t += 1u << bits) total += parts[t];
      work.marginals[evaluation * work.program.qubits + qubit] = total;
    }
  }
}

/// segments[s << bits | circuit] = units of a segment; then every thread draws shots of its circuit.
template <typename Real>
__device__ void draw(const Amplitude<Real>* state, std::uint64_t* segments, std::uint32_t bits,
                     const BatchWork<Real>& work, std::uint64_t evaluation, bool mine) {
  const std::uint32_t circuit = threadIdx.x & ((1u << bits) - 1);
  const std::uint32_t segment_bits = work.program.qubits < kSegmentBits ? work.program.qubits : kSegmentBits;
  const std::uint32_t length = 1u << (work.program.qubits - segment_bits);
  for (std::uint32_t s = threadIdx.x >> bits; s < 1u << segment_bits; s += kThreads >> bits) {
    std::uint64_t total = 0;
    for (std::uint32_t i = s * length; i < (s + 1) * length; ++i) total += units(state[i << bits | circuit]);
    segments[s << bits | circuit] = total;
  }
  __syncthreads();
  if (!mine) return;
  std::uint64_t total = 0;
  for (std::uint32_t s = 0; s < 1u << segment_bits; ++s) total += segments[s << bits | circuit];
  for (std::uint32_t shot = threadIdx.x >> bits; shot < work.shots; shot += kThreads >> bits) {
    std::uint64_t place = __umul64hi(philox(shot, work.seed, work.first + evaluation).x[0], total);
    std::uint32_t s = 0;
    while (place >= segments[s << bits | circuit]) place -= segments[s++ << bits | circuit];
    std::uint32_t i = s * length;
    for (std::uint64_t own = units(state[i << bits | circuit]); place >= own;) {
      place -= own;
      own = units(state[++i << bits | circuit]);
    }
    work.outcomes[evaluation * work.shots + shot] = i;
  }
}

template <typename Real>
__global__ void __launch_bounds__(kThreads)
    batch_kernel(const BatchWork<Real> work, std::uint32_t bits, bool in_shared) {
  using Number = Amplitude<Real>;
  const BatchArrays& program = work.program;
  extern __shared__ double2 memory[];
  const std::uint32_t segment_bits = work.program.qubits < kSegmentBits ? work.program.qubits : kSegmentBits;
  auto* const segments = reinterpret_cast<std::uint64_t*>(memory);
  Number* const state = in_shared
                            ? reinterpret_cast<Number*>(segments + (std::size_t{1} << (segment_bits + bits)))
                            : work.scratch + (static_cast<std::size_t>(blockIdx.x) << (work.program.qubits + bits));
  const std::uint32_t circuits = 1u << bits, circuit = threadIdx.x & (circuits - 1);
  const std::uint64_t groups = (work.evaluations + circuits - 1) >> bits;
  for (std::uint64_t group = blockIdx.x; group < groups; group += gridDim.x) {
    const std::uint64_t evaluation = (group << bits) + circuit;
    const bool mine = evaluation < work.evaluations;
    const double* const values = work.values + (mine ? evaluation : work.evaluations - 1) * work.program.parameters;
    __syncthreads();
    if (threadIdx.x < circuits) {
      state[circuit] =
          rounded<Number>(program.start_sum == 0 ? program.start : phase_of(program, program.start_sum, values));
    }
    for (std::uint32_t g = 0; g < program.op_count; ++g) {
      __syncthreads();
      apply(state, bits, program, program.ops[g], values);
    }
    __syncthreads();
    if (work.marginals != nullptr) write_marginals(state, bits, work, evaluation, mine);
    if (work.outcomes != nullptr) draw(state, segments, bits, work, evaluation, mine);
    if (work.states == nullptr || !mine) continue;
    for (std::uint32_t i = threadIdx.x >> bits; i < 1u << work.program.qubits; i += kThreads >> bits) {
      const Number a = state[i << bits | circuit];
      work.states[(evaluation << work.program.qubits) + i] = {a.x, a.y};
    }
  }
}

}  // namespace

std::size_t batch_scratch_amplitudes(std::uint32_t qubits) {
  return qubits <= kSharedQubits ? 0 : std::size_t{kGlobalBlocks} << qubits;
}

template <typename Real>
cudaError_t launch_batch(const BatchWork<Real>& work, cudaStream_t stream) {
  const std::uint32_t bits = circuit_bits(work.program.qubits);
  const bool in_shared = work.program.qubits <= kSharedQubits;
  const std::uint32_t segment_bits = work.program.qubits < kSegmentBits ? work.program.qubits : kSegmentBits;
  std::size_t bytes = sizeof(std::uint64_t) << (segment_bits + bits);
  if (in_shared) bytes += sizeof(Amplitude<Real>) << (work.program.qubits + bits);
  const cudaError_t status =
      cudaFuncSetAttribute(batch_kernel<Real>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
  if (status != cudaSuccess) return status;
  const std::uint64_t groups = (work.evaluations + (1u << bits) - 1) >> bits;
  const std::uint64_t most = in_shared ? kSharedBlocks : kGlobalBlocks;
  const auto blocks = static_cast<unsigned>(groups < most ? groups : most);
  batch_kernel<Real><<<blocks, kThreads, bytes, stream>>>(work, bits, in_shared);
  return cudaGetLastError();
}
template cudaError_t launch_batch(const BatchWork<float>&, cudaStream_t);
template cudaError_t launch_batch(const BatchWork<double>&, cudaStream_t);

}  // namespace qsim::cuda
