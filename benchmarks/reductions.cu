// Sums of 2^20..2^32 doubles as reals, as complex numbers and of squares (the norm of 2^19..2^31 amplitudes): own
// kernels over grid sizes, CUB and cuBLAS; and the largest and smallest with index, lowest index on ties. Prints a
// qsim.table/1 document.
//
// Data are small multiples of 2^-20, so that every partial sum is exact: every method must give the bits of a sum of
// integers, which is the host's own up to 2^24 doubles and a kernel's, held against the host's there, beyond.
#include <thrust/iterator/transform_iterator.h>

#include <cmath>
#include <cstdint>
#include <cub/cub.cuh>

#include "benchmarks/gpu_table.h"

namespace {

constexpr int kThreads = 256;

/// In units of 2^-20.
__host__ __device__ std::uint64_t element(std::uint64_t i) {
  std::uint64_t x = i * 0x9e3779b97f4a7c15ull;
  x ^= x >> 29;
  x *= 0xbf58476d1ce4e5b9ull;
  x ^= x >> 32;
  return x & 1023;
}

__global__ void fill(double* data, std::uint64_t count) {
  const std::uint64_t stride = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  for (std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride) {
    data[i] = static_cast<double>(element(i)) * 0x1p-20;
  }
}

/// sums[0]: of the elements, sums[1]: of their squares; in integers.
__global__ void integer_sums(std::uint64_t count, unsigned long long* sums) {
  const std::uint64_t stride = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  unsigned long long plain = 0, squares = 0;
  for (std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride) {
    plain += element(i);
    squares += element(i) * element(i);
  }
  atomicAdd(sums, plain);
  atomicAdd(sums + 1, squares);
}

struct Plus {
  __host__ __device__ double operator()(double a, double b) const { return a + b; }
  __host__ __device__ double2 operator()(double2 a, double2 b) const { return {a.x + b.x, a.y + b.y}; }
};
struct Square {
  __host__ __device__ double operator()(double2 a) const { return a.x * a.x + a.y * a.y; }
};
struct Same {
  template <class T>
  __host__ __device__ T operator()(T a) const {
    return a;
  }
};

__device__ double shuffle_down(double v, int step) { return __shfl_down_sync(~0u, v, step); }
__device__ double2 shuffle_down(double2 v, int step) { return {shuffle_down(v.x, step), shuffle_down(v.y, step)}; }

/// Sum of a block's values, by warp shuffles; valid in thread 0.
template <class T>
__device__ T block_sum(T value) {
  __shared__ T shared[kThreads / 32];
  for (int step = 16; step > 0; step /= 2) value = Plus{}(value, shuffle_down(value, step));
  __syncthreads();
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int warp = 1; warp < kThreads / 32; ++warp) value = Plus{}(value, shared[warp]);
  }
  return value;
}

/// One value a block in `partial`, in a fixed order: the grid's stride, warp shuffles, then the warps.
template <class In, class Out, class Map>
__global__ void partial_sums(const In* data, std::uint64_t count, Out* partial, Map map) {
  const std::uint64_t stride = static_cast<std::uint64_t>(gridDim.x) * kThreads;
  std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * kThreads + threadIdx.x;
  Out sum{};
  for (; i + 3 * stride < count; i += 4 * stride) {
    const Out a = map(data[i]), b = map(data[i + stride]), c = map(data[i + 2 * stride]), d = map(data[i + 3 * stride]);
    sum = Plus{}(sum, Plus{}(Plus{}(a, b), Plus{}(c, d)));
  }
  for (; i < count; i += stride) sum = Plus{}(sum, map(data[i]));
  sum = block_sum(sum);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

__device__ void atomic_add(double* to, double value) { atomicAdd(to, value); }
__device__ void atomic_add(double2* to, double2 value) {
  atomicAdd(&to->x, value.x);
  atomicAdd(&to->y, value.y);
}

/// The published form: grid stride, shuffles, one atomic a block.
template <class In, class Out, class Map>
__global__ void atomic_sums(const In* data, std::uint64_t count, Out* total, Map map) {
  const std::uint64_t stride = static_cast<std::uint64_t>(gridDim.x) * kThreads;
  Out sum{};
  for (std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * kThreads + threadIdx.x; i < count; i += stride) {
    sum = Plus{}(sum, map(data[i]));
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) atomic_add(total, sum);
}

struct Extremum {
  double value;
  std::uint64_t index;
};
/// The larger (kMost) or smaller value; the lower index on ties.
template <bool kMost>
struct Better {
  __host__ __device__ Extremum operator()(const Extremum& a, const Extremum& b) const {
    if (a.value == b.value) return a.index < b.index ? a : b;
    return (kMost ? a.value > b.value : a.value < b.value) ? a : b;
  }
};

template <bool kMost>
__device__ Extremum block_extremum(Extremum best) {
  __shared__ Extremum shared[kThreads];
  __syncthreads();
  shared[threadIdx.x] = best;
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) shared[threadIdx.x] = Better<kMost>{}(shared[threadIdx.x], shared[threadIdx.x + half]);
    __syncthreads();
  }
  return shared[0];
}

template <bool kMost>
__global__ void extrema(const double* data, std::uint64_t count, Extremum* partial) {
  const std::uint64_t stride = static_cast<std::uint64_t>(gridDim.x) * kThreads;
  std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * kThreads + threadIdx.x;
  Extremum best{data[0], 0};
  for (; i < count; i += stride) best = Better<kMost>{}(best, Extremum{data[i], i});
  best = block_extremum<kMost>(best);
  if (threadIdx.x == 0) partial[blockIdx.x] = best;
}

template <bool kMost>
__global__ void best_extremum(const Extremum* partial, int count, Extremum* out) {
  Extremum best = partial[0];
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kThreads) best = Better<kMost>{}(best, partial[i]);
  best = block_extremum<kMost>(best);
  if (threadIdx.x == 0) *out = best;
}

class Tables {
 public:
  Tables(int most_bits) : bits_(most_bits) {
    CHECK(cudaMalloc(&data_, sizeof(double) << bits_));
    CHECK(cudaMalloc(&scratch_, kScratch));
    fill<<<4096, 256>>>(data_, std::uint64_t{1} << bits_);
    CHECK(cudaDeviceSynchronize());
  }
  void run() {
    for (int bits = kLeastBits; bits <= bits_; ++bits) sums(bits);
    for (const int bits : {20, 23, 26, 28, 30}) {
      if (bits > bits_) continue;
      extremum<true>(bits, "largest");
      extremum<false>(bits, "smallest");
    }
    document_.print();
  }
  int exit_code() const { return document_.exit_code(); }

  static constexpr int kLeastBits = 20;

 private:
  static constexpr std::size_t kScratch = std::size_t{256} << 20;

  /// Exact sums of the first 2^bits elements and of their squares.
  std::pair<double, double> wanted_sums(int bits) const {
    const std::uint64_t count = std::uint64_t{1} << bits;
    unsigned long long device[2] = {}, host[2] = {};
    auto* const sums = reinterpret_cast<unsigned long long*>(scratch_);
    CHECK(cudaMemset(sums, 0, sizeof(device)));
    integer_sums<<<1056, kThreads>>>(count, sums);
    CHECK(cudaMemcpy(device, sums, sizeof(device), cudaMemcpyDeviceToHost));
    if (bits <= 24) {
      for (std::uint64_t i = 0; i < count; ++i) {
        host[0] += element(i);
        host[1] += element(i) * element(i);
      }
      if (host[0] != device[0] || host[1] != device[1]) {
        std::fprintf(stderr, "the sums of integers of 2^%d elements differ between host and device\n", bits);
        std::exit(8);
      }
    }
    return {static_cast<double>(device[0]) * 0x1p-20, static_cast<double>(device[1]) * 0x1p-40};
  }

  /// `result` is right to within `off`, relative.
  void row(const std::string& what, int bits, const std::string& method, const std::string& grid, double ms,
           double bytes, double result, double expected, double off = 0) {
    const bool equal = std::abs(result - expected) <= off * std::abs(expected);
    document_.row({{"what", table::quoted(what)},
                   {"log2_doubles", std::to_string(bits)},
                   {"method", table::quoted(method)},
                   {"blocks", grid},
                   {"ms", table::number(ms)},
                   {"gbps", table::number(bytes / ms * 1e-6)},
                   {"result", table::number(result)},
                   {"equal", table::truth(equal)}});
  }

  /// Own kernels, CUB and cuBLAS over one array of 2^bits doubles; `T` reads it as doubles or as complex numbers.
  template <class T, class Out, class Map>
  void own(const std::string& what, int bits, Map map, double expected) {
    const auto* data = reinterpret_cast<const T*>(data_);
    const std::uint64_t count = (std::uint64_t{1} << bits) * sizeof(double) / sizeof(T);
    auto* partial = reinterpret_cast<Out*>(scratch_);
    Out* const out = partial + (1 << 20);
    const double bytes = std::ldexp(8.0, bits);
    for (const int blocks : {132, 528, 1056, 2112, 8448, 65536}) {
      if (static_cast<std::uint64_t>(blocks) * kThreads > count) continue;
      const double ms = table::median_ms([&] {
        partial_sums<<<blocks, kThreads>>>(data, count, partial, map);
        partial_sums<<<1, kThreads>>>(partial, static_cast<std::uint64_t>(blocks), out, Same{});
      });
      row(what, bits, "own: grid stride, two passes", std::to_string(blocks), ms, bytes, read(out), expected);
    }
    const std::uint64_t one_each = (count + kThreads - 1) / kThreads;
    for (const std::uint64_t blocks : {std::uint64_t{1056}, one_each}) {
      if (blocks > 0x7fffffff || blocks > one_each) continue;
      const double ms = table::median_ms(
          [&] {
            CHECK(cudaMemsetAsync(out, 0, sizeof(Out)));
            atomic_sums<<<static_cast<unsigned>(blocks), kThreads>>>(data, count, out, map);
          },
          3);
      row(what, bits, blocks == one_each ? "one element a thread, an atomic a block" : "grid stride, an atomic a block",
          std::to_string(blocks), ms, bytes, read(out), expected);
    }
    const auto input = thrust::make_transform_iterator(data, map);
    std::size_t need = 0;
    CHECK(cub::DeviceReduce::Reduce(nullptr, need, input, out, static_cast<std::int64_t>(count), Plus{}, Out{}));
    if (need > kScratch / 2) return;
    void* const temporary = reinterpret_cast<char*>(scratch_) + kScratch / 2;
    const double ms = table::median_ms([&] {
      CHECK(cub::DeviceReduce::Reduce(temporary, need, input, out, static_cast<std::int64_t>(count), Plus{}, Out{}));
    });
    row(what, bits, "CUB DeviceReduce", "null", ms, bytes, read(out), expected);
  }

  void sums(int bits) {
    const auto [plain, squares] = wanted_sums(bits);
    own<double, double>("sum of reals", bits, Same{}, plain);
    own<double2, double2>("sum of complex", bits, Same{}, plain);
    own<double2, double>("sum of |a|^2", bits, Square{}, squares);
    const double bytes = std::ldexp(8.0, bits);
    using Reduce = int (*)(void*, std::int64_t, const void*, std::int64_t, double*);
    struct Call {
      const char *name, *what, *method;
      std::int64_t count;
      double expected;
      bool squared;
    };
    const std::int64_t count = std::int64_t{1} << bits;
    // All values are positive, so the sums of magnitudes are the sums.
    for (const Call& call :
         {Call{"cublasDasum_v2_64", "sum of reals", "cuBLAS dasum", count, plain, false},
          Call{"cublasDzasum_v2_64", "sum of complex", "cuBLAS dzasum (re + im)", count / 2, plain, false},
          Call{"cublasDznrm2_v2_64", "sum of |a|^2", "cuBLAS dznrm2, squared", count / 2, squares, true}}) {
      const auto reduce = blas_.function<Reduce>(call.name);
      if (!blas_.here() || reduce == nullptr) continue;
      double result = 0;
      const double ms = table::median_ms([&] { reduce(blas_.handle(), call.count, data_, 1, &result); });
      // A root, squared, is right to rounding only.
      row(call.what, bits, call.method, "null", ms, bytes, call.squared ? result * result : result, call.expected,
          call.squared ? 1e-12 : 0);
    }
  }

  template <bool kMost>
  void extremum(int bits, const std::string& name) {
    const std::uint64_t count = std::uint64_t{1} << bits;
    auto* partial = reinterpret_cast<Extremum*>(scratch_);
    Extremum* const out = partial + (1 << 20);
    std::vector<double> host(count);
    CHECK(cudaMemcpy(host.data(), data_, count * sizeof(double), cudaMemcpyDeviceToHost));
    Extremum wanted{host[0], 0};
    for (std::uint64_t i = 1; i < count; ++i) {
      if (kMost ? host[i] > wanted.value : host[i] < wanted.value) wanted = {host[i], i};
    }
    const double bytes = std::ldexp(8.0, bits);
    const auto add = [&](const std::string& method, double ms, std::uint64_t index) {
      row(name + " with index", bits, method, "null", ms, bytes, static_cast<double>(index),
          static_cast<double>(wanted.index));
    };
    double ms = table::median_ms([&] {
      extrema<kMost><<<1056, kThreads>>>(data_, count, partial);
      best_extremum<kMost><<<1, kThreads>>>(partial, 1056, out);
    });
    Extremum found{};
    CHECK(cudaMemcpy(&found, out, sizeof(found), cudaMemcpyDeviceToHost));
    add("own: grid stride, lowest index on ties", ms, found.index);
    using Locate = int (*)(void*, std::int64_t, const double*, std::int64_t, std::int64_t*);
    const auto locate = blas_.function<Locate>(kMost ? "cublasIdamax_v2_64" : "cublasIdamin_v2_64");
    if (!blas_.here() || locate == nullptr) return;
    std::int64_t index = 0;
    ms = table::median_ms([&] { locate(blas_.handle(), static_cast<std::int64_t>(count), data_, 1, &index); });
    add(kMost ? "cuBLAS idamax" : "cuBLAS idamin", ms, static_cast<std::uint64_t>(index - 1));
  }

  static double read(const double* value) {
    double host = 0;
    CHECK(cudaMemcpy(&host, value, sizeof(host), cudaMemcpyDeviceToHost));
    return host;
  }
  static double read(const double2* value) {
    double2 host{};
    CHECK(cudaMemcpy(&host, value, sizeof(host), cudaMemcpyDeviceToHost));
    return host.x + host.y;
  }

  int bits_;
  double* data_ = nullptr;
  void* scratch_ = nullptr;
  table::Blas blas_;
  table::Document document_{"reductions"};
};

}  // namespace

int main(int argc, char** argv) {
  const int bits = argc > 1 ? std::atoi(argv[1]) : 32;
  if (bits < Tables::kLeastBits || bits > 33) {
    std::fprintf(stderr, "usage: reductions [LOG2 of the most doubles, 20..33]\n");
    return 2;
  }
  Tables tables(bits);
  tables.run();
  return tables.exit_code();
}
