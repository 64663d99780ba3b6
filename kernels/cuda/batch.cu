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

__device__ double angle_of(const BatchAngle& angle, const double* values) {
  return angle.scale == 0 ? angle.offset : angle.scale * values[angle.parameter] + angle.offset;
}

/// The rotation's 2 x 2 matrix for one evaluation.
__device__ Matrix2<double2> matrix_of(BatchForm form, const BatchAngle* angles, const double* values) {
  const double theta = angle_of(angles[0], values);
  double s, c;
  sincos(theta / 2, &s, &c);
  if (form == BatchForm::kRx) return {{c, 0}, {0, -s}, {0, -s}, {c, 0}};
  if (form == BatchForm::kRy) return {{c, 0}, {-s, 0}, {s, 0}, {c, 0}};
  if (form == BatchForm::kRz) return {{c, -s}, {0, 0}, {0, 0}, {c, s}};
  double2 phi{}, lambda{};
  if (form == BatchForm::kPhase) {
    sincos(theta, &phi.y, &phi.x);
    return {{1, 0}, {0, 0}, {0, 0}, phi};
  }
  sincos(angle_of(angles[1], values), &phi.y, &phi.x);
  sincos(angle_of(angles[2], values), &lambda.y, &lambda.x);
  const double2 both = product(phi, lambda);
  return {{c, 0}, {-s * lambda.x, -s * lambda.y}, {s * phi.x, s * phi.y}, {c * both.x, c * both.y}};
}

template <typename Number>
__device__ void apply_matrix2(Number* state, std::uint32_t bits, std::uint32_t half, const BatchOp& op,
                              const Matrix2<double2>& exact) {
  const Matrix2<Number> m{rounded<Number>(exact.m00), rounded<Number>(exact.m01), rounded<Number>(exact.m10),
                          rounded<Number>(exact.m11)};
  const std::uint32_t low = (1u << op.targets[0]) - 1, circuit = threadIdx.x & ((1u << bits) - 1);
  for (std::uint32_t k = threadIdx.x >> bits; k < half; k += kThreads >> bits) {
    const std::uint32_t i = (k & low) | (k & ~low) << 1;
    if ((i & op.controls) != op.controls) continue;
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
  for (std::uint32_t j = 0; j < op.target_count; ++j) mask |= 1u << op.targets[j];
  const auto place = [&](std::uint32_t i, std::uint32_t v) {
    for (std::uint32_t j = 0; j < op.target_count; ++j) i |= (v >> j & 1u) << op.targets[j];
    return i << bits | circuit;
  };
  for (std::uint32_t i = threadIdx.x >> bits; i < 1u << qubits; i += kThreads >> bits) {
    if ((i & mask) != 0 || (i & op.controls) != op.controls) continue;
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

template <typename Real>
__device__ void apply(Amplitude<Real>* state, std::uint32_t bits, const BatchWork<Real>& work, const BatchOp& op,
                      const double* values) {
  const std::uint32_t half = 1u << (work.qubits - 1);
  if (op.form == BatchForm::kMatrix) {
    const double2* const matrix = work.matrices + op.matrix_begin;
    if (op.target_count == 1) {
      apply_matrix2(state, bits, half, op, {matrix[0], matrix[1], matrix[2], matrix[3]});
    } else {
      apply_dense(state, bits, work.qubits, op, matrix);
    }
  } else if (op.form == BatchForm::kFlip) {
    apply_matrix2(state, bits, half, op, {{0, 0}, {1, 0}, {1, 0}, {0, 0}});
  } else {
    apply_matrix2(state, bits, half, op, matrix_of(op.form, work.angles + op.angle_begin, values));
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
  for (std::uint32_t qubit = 0; qubit < work.qubits; ++qubit) {
    double part = 0;
    for (std::uint32_t i = threadIdx.x >> bits; i < 1u << work.qubits; i += kThreads >> bits) {
      if ((i >> qubit & 1) != 0) part += probability(state[i << bits | circuit]);
    }
    __syncthreads();
    parts[threadIdx.x] = part;
    __syncthreads();
    if (threadIdx.x >> bits == 0 && mine) {
      double total = 0;
      for (std::uint32_t t = circuit; t < kThreads; t += 1u << bits) total += parts[t];
      work.marginals[evaluation * work.qubits + qubit] = total;
    }
  }
}

/// segments[s << bits | circuit] = units of a segment; then every thread draws shots of its circuit.
template <typename Real>
__device__ void draw(const Amplitude<Real>* state, std::uint64_t* segments, std::uint32_t bits,
                     const BatchWork<Real>& work, std::uint64_t evaluation, bool mine) {
  const std::uint32_t circuit = threadIdx.x & ((1u << bits) - 1);
  const std::uint32_t segment_bits = work.qubits < kSegmentBits ? work.qubits : kSegmentBits;
  const std::uint32_t length = 1u << (work.qubits - segment_bits);
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
  extern __shared__ double2 memory[];
  const std::uint32_t segment_bits = work.qubits < kSegmentBits ? work.qubits : kSegmentBits;
  auto* const segments = reinterpret_cast<std::uint64_t*>(memory);
  Number* const state = in_shared ? reinterpret_cast<Number*>(segments + (std::size_t{1} << (segment_bits + bits)))
                                  : work.scratch + (static_cast<std::size_t>(blockIdx.x) << (work.qubits + bits));
  const std::uint32_t circuits = 1u << bits, circuit = threadIdx.x & (circuits - 1);
  const std::uint64_t groups = (work.evaluations + circuits - 1) >> bits;
  for (std::uint64_t group = blockIdx.x; group < groups; group += gridDim.x) {
    const std::uint64_t evaluation = (group << bits) + circuit;
    const bool mine = evaluation < work.evaluations;
    const double* const values = work.values + (mine ? evaluation : work.evaluations - 1) * work.parameters;
    __syncthreads();
    for (std::uint32_t i = threadIdx.x >> bits; i < 1u << work.qubits; i += kThreads >> bits) {
      state[i << bits | circuit] = {i == 0 ? Real{1} : Real{0}, Real{0}};
    }
    for (std::uint32_t g = 0; g < work.op_count; ++g) {
      __syncthreads();
      apply(state, bits, work, work.ops[g], values);
    }
    __syncthreads();
    if (work.marginals != nullptr) write_marginals(state, bits, work, evaluation, mine);
    if (work.outcomes != nullptr) draw(state, segments, bits, work, evaluation, mine);
    if (work.states == nullptr || !mine) continue;
    for (std::uint32_t i = threadIdx.x >> bits; i < 1u << work.qubits; i += kThreads >> bits) {
      work.states[(evaluation << work.qubits) + i] = state[i << bits | circuit];
    }
  }
}

}  // namespace

std::size_t batch_scratch_amplitudes(std::uint32_t qubits) {
  return qubits <= kSharedQubits ? 0 : std::size_t{kGlobalBlocks} << qubits;
}

template <typename Real>
cudaError_t launch_batch(const BatchWork<Real>& work, cudaStream_t stream) {
  const std::uint32_t bits = circuit_bits(work.qubits);
  const bool in_shared = work.qubits <= kSharedQubits;
  const std::uint32_t segment_bits = work.qubits < kSegmentBits ? work.qubits : kSegmentBits;
  std::size_t bytes = sizeof(std::uint64_t) << (segment_bits + bits);
  if (in_shared) bytes += sizeof(Amplitude<Real>) << (work.qubits + bits);
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
