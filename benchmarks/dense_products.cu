// A dense unitary of t = 1..6 qubits times a state of 2^n amplitudes: one thread an amplitude, shared-memory tiles,
// FP64 tensor cores and cuBLAS, each against the CPU. Prints a qsim.table/1 document.
//
// The state is a matrix of 2^t rows (the qubits acted on are the top ones) and 2^(n-t) columns, in place except for
// cuBLAS. `m` is row-major, 2^t x 2^t.
#include <cmath>
#include <complex>
#include <cstdint>
#include <random>

#include "benchmarks/gpu_table.h"

namespace {

using Complex = std::complex<double>;
constexpr int kThreads = 256;

__device__ double2 multiply_add(double2 a, double2 b, double2 c) {
  return {fma(a.x, b.x, fma(-a.y, b.y, c.x)), fma(a.x, b.y, fma(a.y, b.x, c.y))};
}

__global__ void fill(double2* state, std::uint64_t count, double scale) {
  const std::uint64_t stride = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  for (std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride) {
    const std::uint64_t x = (i * 0x9e3779b97f4a7c15ull) ^ (i >> 7);
    state[i] = {scale * (static_cast<double>(x >> 40 & 4095) - 2048),
                scale * (static_cast<double>(x >> 20 & 4095) - 2048)};
  }
}

/// One thread a column, which it holds in registers; the matrix comes through the cache.
template <int kRows>
__global__ void naive(double2* state, std::uint64_t columns, const double2* __restrict__ m) {
  const std::uint64_t stride = static_cast<std::uint64_t>(gridDim.x) * kThreads;
  for (std::uint64_t c = static_cast<std::uint64_t>(blockIdx.x) * kThreads + threadIdx.x; c < columns; c += stride) {
    double2 in[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) in[r] = state[static_cast<std::uint64_t>(r) * columns + c];
    for (int r = 0; r < kRows; ++r) {
      double2 sum{};
#pragma unroll
      for (int k = 0; k < kRows; ++k) sum = multiply_add(__ldg(m + r * kRows + k), in[k], sum);
      state[static_cast<std::uint64_t>(r) * columns + c] = sum;
    }
  }
}

/// A block brings kColumns columns and the matrix into shared memory; a thread makes outputs of one column.
template <int kRows>
__global__ void shared_tile(double2* state, std::uint64_t columns, const double2* m) {
  constexpr int kColumns = 32, kPerColumn = kThreads / kColumns;
  extern __shared__ double2 memory[];
  double2* const matrix = memory;
  double2* const tile = memory + kRows * kRows;
  for (int i = static_cast<int>(threadIdx.x); i < kRows * kRows; i += kThreads) matrix[i] = m[i];
  const int column = static_cast<int>(threadIdx.x) % kColumns, first = static_cast<int>(threadIdx.x) / kColumns;
  for (std::uint64_t base = static_cast<std::uint64_t>(blockIdx.x) * kColumns; base < columns;
       base += static_cast<std::uint64_t>(gridDim.x) * kColumns) {
    __syncthreads();
    for (int r = first; r < kRows; r += kPerColumn) {
      tile[r * kColumns + column] =
          state[static_cast<std::uint64_t>(r) * columns + base + static_cast<unsigned>(column)];
    }
    __syncthreads();
    for (int r = first; r < kRows; r += kPerColumn) {
      double2 sum{};
#pragma unroll 8
      for (int k = 0; k < kRows; ++k) sum = multiply_add(matrix[r * kRows + k], tile[k * kColumns + column], sum);
      state[static_cast<std::uint64_t>(r) * columns + base + static_cast<unsigned>(column)] = sum;
    }
  }
}

__device__ void mma(double& d0, double& d1, double a, double b) {
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};\n"
               : "+d"(d0), "+d"(d1)
               : "d"(a), "d"(b));
}

/// A warp owns 8 columns: it reads all their rows before it writes one, so in place is safe. Complex as four real
/// products; kRows >= 8.
template <int kRows>
__global__ void tensor_cores(double2* state, std::uint64_t columns, const double2* m) {
  constexpr int kTiles = kRows / 8;
  extern __shared__ double2 memory[];
  for (int i = static_cast<int>(threadIdx.x); i < kRows * kRows; i += kThreads) {
    // Stored by (k, row), so that the 32 lanes of a fragment read 8 neighbouring rows of 4 k.
    memory[(i % kRows) * (kRows + 1) + i / kRows] = m[i];
  }
  __syncthreads();
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::uint64_t warps = static_cast<std::uint64_t>(gridDim.x) * (kThreads / 32);
  for (std::uint64_t warp = static_cast<std::uint64_t>(blockIdx.x) * (kThreads / 32) + threadIdx.x / 32;
       warp * 8 < columns; warp += warps) {
    const std::uint64_t base = warp * 8;
    double re[kTiles][2] = {}, im[kTiles][2] = {};
#pragma unroll
    for (int k = 0; k < kRows; k += 4) {
      const double2 b =
          state[static_cast<std::uint64_t>(k + lane % 4) * columns + base + static_cast<unsigned>(lane / 4)];
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile) {
        const double2 a = memory[(k + lane % 4) * (kRows + 1) + tile * 8 + lane / 4];
        mma(re[tile][0], re[tile][1], a.x, b.x);
        mma(re[tile][0], re[tile][1], -a.y, b.y);
        mma(im[tile][0], im[tile][1], a.x, b.y);
        mma(im[tile][0], im[tile][1], a.y, b.x);
      }
    }
    __syncwarp();
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
      double2* const to = state + static_cast<std::uint64_t>(tile * 8 + lane / 4) * columns + base + 2 * (lane % 4);
      to[0] = {re[tile][0], im[tile][0]};
      to[1] = {re[tile][1], im[tile][1]};
    }
  }
}

std::vector<Complex> random_unitary(int rows) {
  std::mt19937_64 engine(7);
  std::normal_distribution<double> normal;
  std::vector<Complex> m(static_cast<std::size_t>(rows) * rows);
  for (Complex& entry : m) entry = {normal(engine), normal(engine)};
  for (int r = 0; r < rows; ++r) {  // Gram-Schmidt
    for (int other = 0; other <= r; ++other) {
      Complex dot = 0;
      for (int k = 0; k < rows; ++k) dot += std::conj(m[other * rows + k]) * m[r * rows + k];
      if (other < r) {
        for (int k = 0; k < rows; ++k) m[r * rows + k] -= dot * m[other * rows + k];
      } else {
        for (int k = 0; k < rows; ++k) m[r * rows + k] /= std::sqrt(dot.real());
      }
    }
  }
  return m;
}

class Tables {
 public:
  explicit Tables(int bits) : count_(std::uint64_t{1} << bits), bits_(bits) {
    CHECK(cudaMalloc(&state_, count_ * sizeof(double2)));
    CHECK(cudaMalloc(&other_, count_ * sizeof(double2)));
    CHECK(cudaMalloc(&matrix_, 64 * 64 * sizeof(double2)));
  }
  void run() {
    products<2>();
    products<4>();
    products<8>();
    products<16>();
    products<32>();
    products<64>();
    document_.print();
  }
  int exit_code() const { return document_.exit_code(); }

 private:
  void reset() { fill<<<4096, 256>>>(state_, count_, 1e-4); }

  template <int kRows>
  void products() {
    const std::vector<Complex> unitary = random_unitary(kRows);
    CHECK(cudaMemcpy(matrix_, unitary.data(), unitary.size() * sizeof(Complex), cudaMemcpyHostToDevice));
    const std::uint64_t columns = count_ / kRows;
    if constexpr (kRows <= 32) {
      measure<kRows>("one thread a column", state_,
                     [&] { naive<kRows><<<8448, kThreads>>>(state_, columns, matrix_); });
    }
    const int tile_bytes = static_cast<int>((kRows * kRows + kRows * 32) * sizeof(double2));
    CHECK(cudaFuncSetAttribute(shared_tile<kRows>, cudaFuncAttributeMaxDynamicSharedMemorySize, tile_bytes));
    measure<kRows>("shared-memory tile", state_,
                   [&] { shared_tile<kRows><<<1056, kThreads, tile_bytes>>>(state_, columns, matrix_); });
    if constexpr (kRows >= 8) {
      const int bytes = static_cast<int>(kRows * (kRows + 1) * sizeof(double2));
      CHECK(cudaFuncSetAttribute(tensor_cores<kRows>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
      measure<kRows>("tensor cores (mma m8n8k4)", state_,
                     [&] { tensor_cores<kRows><<<2112, kThreads, bytes>>>(state_, columns, matrix_); });
    }
    using Gemm = int (*)(void*, int, int, std::int64_t, std::int64_t, std::int64_t, const void*, const void*,
                         std::int64_t, const void*, std::int64_t, const void*, void*, std::int64_t);
    const auto gemm = blas_.function<Gemm>("cublasZgemm_v2_64");
    if (!blas_.here() || gemm == nullptr) return;
    const double2 one{1, 0}, zero{0, 0};
    // Column-major: the state's transpose (columns x rows) times the matrix's transpose.
    measure<kRows>("cuBLAS zgemm, not in place", other_, [&] {
      gemm(blas_.handle(), 0, 0, static_cast<std::int64_t>(columns), kRows, kRows, &one, state_,
           static_cast<std::int64_t>(columns), matrix_, kRows, &zero, other_, static_cast<std::int64_t>(columns));
    });
  }

  /// Checks one application on some columns, then times it.
  template <int kRows>
  void measure(const std::string& method, const double2* result, const std::function<void()>& apply) {
    const std::uint64_t columns = count_ / kRows;
    reset();
    std::vector<std::vector<Complex>> wanted;
    const std::vector<std::uint64_t> sample{0, 1, columns / 3, columns - 1};
    for (const std::uint64_t column : sample) wanted.push_back(column_of(state_, columns, column, kRows));
    const std::vector<Complex> unitary = random_unitary(kRows);
    apply();
    CHECK(cudaDeviceSynchronize());
    double difference = 0;
    for (std::size_t s = 0; s < sample.size(); ++s) {
      const std::vector<Complex> found = column_of(result, columns, sample[s], kRows);
      for (int r = 0; r < kRows; ++r) {
        Complex sum = 0;
        for (int k = 0; k < kRows; ++k) sum += unitary[r * kRows + k] * wanted[s][k];
        const double off = std::abs(sum - found[r]);
        difference = std::isnan(difference) || off <= difference ? difference : off;
      }
    }
    const bool equal = difference < 1e-13;
    const double ms = table::median_ms(apply);
    const double flops = 8.0 * kRows * static_cast<double>(count_), bytes = 32.0 * static_cast<double>(count_);
    document_.row({{"qubits", std::to_string(static_cast<int>(std::log2(kRows)))},
                   {"state_qubits", std::to_string(bits_)},
                   {"method", table::quoted(method)},
                   {"ms", table::number(ms)},
                   {"tflops", table::number(flops / ms * 1e-9)},
                   {"gbps", table::number(bytes / ms * 1e-6)},
                   {"equal", table::truth(equal)}});
  }

  static std::vector<Complex> column_of(const double2* state, std::uint64_t columns, std::uint64_t column, int rows) {
    std::vector<Complex> values(static_cast<std::size_t>(rows));
    CHECK(cudaMemcpy2D(values.data(), sizeof(Complex), state + column, columns * sizeof(double2), sizeof(Complex),
                       static_cast<std::size_t>(rows), cudaMemcpyDeviceToHost));
    return values;
  }

  std::uint64_t count_;
  int bits_;
  double2 *state_ = nullptr, *other_ = nullptr, *matrix_ = nullptr;
  table::Blas blas_;
  table::Document document_{"dense_products"};
};

}  // namespace

int main(int argc, char** argv) {
  const int bits = argc > 1 ? std::atoi(argv[1]) : 29;
  if (bits < 16 || bits > 31) {
    std::fprintf(stderr, "usage: dense_products [LOG2 of the amplitudes, 16..31]\n");
    return 2;
  }
  Tables tables(bits);
  tables.run();
  return tables.exit_code();
}
