// The kernel's text is wrapped in a few lines that stand for what CUDA has built in, compiled to a shared library and
// loaded; cuda_host_block.h runs it.
#include "cuda_host_kernel.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/bits.h"
#include "cuda/run/bit_sums.h"
#include "cuda/run/encode.h"
#include "cuda_host_block.h"
#include "device/permutation/product.h"
#include "device/permutation/program.h"

namespace qsim::test {
namespace {

constexpr const char* kBuiltIn = R"(
#include <cmath>
#define __device__
#define __global__
#define __forceinline__ inline
#define __grid_constant__
#define __launch_bounds__(threads, blocks)
#define __align__(bytes)
struct alignas(16) double2 { double x, y; };
struct alignas(8) float2 { float x, y; };
struct Three { unsigned x; };
extern "C" { Three threadIdx, blockIdx, blockDim, gridDim; void (*wait_for_block)(); void (*wait_for_warp)(); }
static char tile[1 << 17] __attribute__((aligned(16)));
static void __syncthreads() { wait_for_block(); }
static void __syncwarp() { wait_for_warp(); }
static int __ffs(int x) { return __builtin_ffs(x); }
static int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static int __popc(unsigned x) { return __builtin_popcount(x); }
static void sincospi(double x, double* s, double* c) { *s = std::sin(x * M_PI); *c = std::cos(x * M_PI); }
template <class T> static T __ldg(const T* p) { return *p; }
static unsigned long long atomicAdd(unsigned long long* p, unsigned long long x) { return (*p += x) - x; }
using std::fma;
// Adds to what each lane holds of a product: M times 8 rows, 4 K columns of the left factor, whose fragments of each
// warp's lanes are `a` and `b`.
template <unsigned M, unsigned K>
static void warp_product(double* const (&d)[2 * M], const double (&a)[M * K], const double (&b)[K]) {
  static double rows[8][32][M * K], columns[8][32][K];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = lane / 4 * 4, column = lane % 4 * 8;
  for (unsigned i = 0; i < M * K; ++i) rows[warp][lane][i] = a[i];
  for (unsigned i = 0; i < K; ++i) columns[warp][lane][i] = b[i];
  __syncwarp();
  for (unsigned k = 0; k < 4 * K; ++k) {
    for (unsigned i = 0; i < 2 * M; ++i)
      *d[i] += rows[warp][row + k % 4][k / 4 * M + i / 2] * columns[warp][column + i % 2 * 4 + k % 4][k / 4];
  }
  __syncwarp();
}
template <class Real> static Real of_lane(Real x, unsigned other) {
  static Real values[8][32];
  const unsigned warp = threadIdx.x / 32;
  values[warp][threadIdx.x % 32] = x;
  __syncwarp();
  const Real result = values[warp][other];
  __syncwarp();
  return result;
}
template <class Real> static Real __shfl_xor_sync(unsigned, Real x, unsigned lanes) {
  return of_lane(x, threadIdx.x % 32 ^ lanes);
}
static double __shfl_down_sync(unsigned, double x, unsigned lanes) {
  const unsigned lane = threadIdx.x % 32;
  return of_lane(x, lane + lanes < 32 ? lane + lanes : lane);
}
)";

constexpr const char* kRunGenerated = R"(
extern "C" void run_thread(const void* arguments, unsigned long long base) {
  sweep(*static_cast<const P*>(arguments), base, 0);
}
)";

constexpr const char* kRunPermutation = R"(
extern "C" void run_thread(const void* arguments, unsigned long long) { sweep(*static_cast<const P*>(arguments)); }
)";

constexpr const char* kRunInterpreted = R"(
extern "C" void run_thread(const void* arguments, unsigned long long tile) {
  qsim::cuda::sweep_kernel<REAL, qsim::cuda::register_bits(REAL{})>(
      *static_cast<const qsim::cuda::SweepParams<REAL>*>(arguments), tile);
}
)";

void replace_all(std::string& text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
}

/// What the host does for the instruction of each shape.
constexpr std::pair<const char*, const char*> kProducts[] = {
    {"m8n8k4", "warp_product<1, 1>({&d0, &d1}, {a}, {b})"},
    {"m16n8k8", "d0 = d1 = d2 = d3 = 0; warp_product<2, 2>({&d0, &d1, &d2, &d3}, {a0, a1, a2, a3}, {b0, b1})"},
    {"m16n8k16",
     "warp_product<2, 4>({&u, &v, &x, &y}, {e.x, e.y, f.x, f.y, -e.y, e.x, -f.y, f.x}, {b.x, c.x, b.y, c.y})"}};

/// A generated kernel's text as the host's compiler takes it.
std::string generated_source(std::string source, HostGpu gpu, const char* run = kRunGenerated) {
  replace_all(source, "extern __shared__ __align__(16) char tile[];", "");
  replace_all(source, "__CUDA_ARCH__ >= 900", gpu == HostGpu::kHopper ? "1" : "0");
  for (const auto& [shape, product] : kProducts) {
    const std::size_t at = source.find("asm(\"mma.sync.aligned." + std::string(shape) + ".");
    if (at != std::string::npos) source.replace(at, source.find(");\n", at) + 1 - at, product);
  }
  return source + run;
}

/// The interpreter's text, headers in line.
std::string interpreter_source(Precision precision) {
  std::string source = precision == Precision::kDouble ? "using REAL = double;\n" : "using REAL = float;\n";
  for (const char* const name : {"sweep.h", "norm.cuh", "complex.cuh", "sweep_machine.cuh", "sweep.cuh"}) {
    std::ifstream file(std::string(QSIM_SOURCE_DIR) + "/kernels/cuda/" + name);
    if (!file) throw std::runtime_error(std::string("kernels/cuda/") + name + " cannot be read");
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with("#include \"kernels") || line.starts_with("#include <cuda_runtime")) continue;
      if (line.starts_with("cudaError_t")) continue;
      source += line + "\n";
    }
  }
  replace_all(source, "extern __shared__ __align__(16) unsigned char shared[];", "char* const shared = tile;");
  return source + kRunInterpreted;
}

class Library {
 public:
  explicit Library(std::string source) {
    replace_all(source, "__shared__", "static");
    char folder[] = "/tmp/qsim_host_kernel_XXXXXX";
    if (mkdtemp(folder) == nullptr) throw std::runtime_error("no folder for a host kernel");
    folder_ = folder;
    std::ofstream(folder_ + "/sweep.cpp") << kBuiltIn << source;
    const std::string command = "cd " + folder_ + " && c++ -std=c++20 -O0 -w -shared -fPIC sweep.cpp -o sweep.so";
    if (std::system(command.c_str()) != 0) throw std::runtime_error("a kernel does not compile for the host");
    handle_ = dlopen((folder_ + "/sweep.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) throw std::runtime_error(dlerror());
    at<void (*)()>("wait_for_block") = [] { running_block->wait_for_block(); };
    at<void (*)()>("wait_for_warp") = [] { running_block->wait_for_warp(); };
    run_thread_ = reinterpret_cast<RunThread>(dlsym(handle_, "run_thread"));
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (handle_ != nullptr) dlclose(handle_);
    std::filesystem::remove_all(folder_);
  }

  void run_block(const void* arguments, unsigned threads, unsigned long long tile, unsigned number,
                 unsigned blocks = 1) const {
    HostBlock block(threads);
    at<unsigned>("gridDim") = blocks;
    at<unsigned>("blockDim") = threads;
    at<unsigned>("blockIdx") = number;
    running_block = &block;
    block.run(at<unsigned>("threadIdx"), [&] { run_thread_(arguments, tile); });
  }

 private:
  using RunThread = void (*)(const void*, unsigned long long);

  template <class Value>
  Value& at(const char* name) const {
    return *static_cast<Value*>(dlsym(handle_, name));
  }

  inline static thread_local HostBlock* running_block = nullptr;
  std::string folder_;
  void* handle_ = nullptr;
  RunThread run_thread_ = nullptr;
};

struct Sums {
  std::vector<std::uint64_t> cells;
  std::vector<double> totals;
  std::vector<Bit> inside;
};

template <class Real>
double run(const cuda::TileProgram& program, std::vector<Complex>& state, Sums* sums, HostGpu gpu = HostGpu::kHopper) {
  cuda::GeneratedSweep generated = cuda::generate(program);
  const Library library(generated_source(generated.source, gpu));
  std::vector<std::complex<Real>> memory(state.begin(), state.end()), dense;
  const std::vector<Complex> all_tables = cuda::table_memory(program);
  std::vector<std::complex<Real>> tables(all_tables.begin(), all_tables.end());
  for (const cuda::Epoch& epoch : program.epochs) {
    for (const cuda::TileOp& op : epoch.ops) {
      if (op.kind == cuda::TileOpKind::kDense || op.kind == cuda::TileOpKind::kLanes)
        dense.insert(dense.end(), op.matrix.begin(), op.matrix.end());
    }
  }
  const cuda::AngleTable angles = cuda::angle_table(program);
  void *cells = nullptr, *totals = nullptr;
  if (sums != nullptr) {
    *sums = {std::vector<std::uint64_t>(cuda::kCellWords),
             std::vector<double>(std::size_t{1} << count_bits(program.tile_bits)), generated.summed};
    cells = sums->cells.data();
    totals = sums->totals.data();
  }
  std::vector<std::vector<std::complex<Real>>> parts;
  for (Index part = next_under_mask(0, program.arrivals); part != 0; part = next_under_mask(part, program.arrivals)) {
    const auto begin_of = memory.begin() + static_cast<std::ptrdiff_t>(part);
    const auto end_of = begin_of + static_cast<std::ptrdiff_t>(next_under_mask(0, program.arrivals));
    parts.emplace_back(begin_of, end_of);
    std::fill(begin_of, end_of, std::complex<Real>(std::numeric_limits<Real>::quiet_NaN()));
    generated.ints[generated.origins + parts.size()] =
        reinterpret_cast<std::uintptr_t>(parts.back().data()) - reinterpret_cast<std::uintptr_t>(memory.data() + part);
  }
  cuda::NormCell norm[cuda::kNormCells] = {};
  const void* const pointers[cuda::kGeneratedPointers] = {
      memory.data(), tables.data(), angles.angles.data(), angles.begin.data(), dense.data(), norm, cells, totals};
  std::vector<std::byte> arguments(sizeof pointers + generated.ints.size() * 8 + (generated.reals.size() + 1) * 8);
  std::memcpy(arguments.data(), pointers, sizeof pointers);
  std::memcpy(arguments.data() + sizeof pointers, generated.ints.data(), generated.ints.size() * 8);
  const std::vector<Real> reals(generated.reals.begin(), generated.reals.end());
  std::memcpy(arguments.data() + sizeof pointers + generated.ints.size() * 8, reals.data(),
              reals.size() * sizeof(Real));
  for (Index number = 0; number < Index{1} << count_bits(program.tile_bits); ++number) {
    library.run_block(arguments.data(), 1u << program.thread_bits(), deposit_bits(number, program.tile_bits),
                      static_cast<unsigned>(number));
  }
  state.assign(memory.begin(), memory.end());
  return cuda::norm_of(norm);
}

template <class Real>
void run_as_permutation(const Sweep& sweep, std::uint32_t bits, std::vector<Complex>& state) {
  constexpr Precision kPrecision = sizeof(Real) == 8 ? Precision::kDouble : Precision::kSingle;
  const cuda::GeneratedSweep generated = cuda::generate_permutation(sweep, bits, kPrecision);
  const Library library(generated_source(generated.source, HostGpu::kHopper, kRunPermutation));
  std::vector<std::complex<Real>> memory(state.begin(), state.end()), beside(state.size());
  const bool writes = !sweep.reads, real = writes && has_real_products(sweep);
  std::vector<Real> tables;
  for (const Complex entry : writes ? product_tables(sweep) : std::vector<Complex>()) {
    tables.push_back(static_cast<Real>(entry.real()));
    if (!real) tables.push_back(static_cast<Real>(entry.imag()));
  }
  const Complex scale = product_start(sweep).scale;
  const Index fixed = permutation_program(sweep, bits).fixed, size = bit_mask(count_bits(sweep.bundle));
  const bool whole = is_one_bundle(sweep, bits);
  for (Index number = 0; number < bit_mask(count_bits(fixed)); ++number) {
    const Index bundle = deposit_bits(number, fixed);
    const cuda::PermutationPointers pointers{memory.data(),        writes ? memory.data() : beside.data(),
                                             tables.data(),        nullptr,
                                             bundle | sweep.above, {scale.real(), scale.imag()}};
    const unsigned blocks = 2;
    for (unsigned block = 0; block < blocks; ++block)
      library.run_block(&pointers, cuda::kPermutationThreads, 0, block, blocks);
    if (writes || whole) continue;
    for (Index i = 0; i < size; ++i) memory[bundle | deposit_bits(i, sweep.bundle)] = beside[i];
  }
  if (whole && !writes) memory = beside;
  state.assign(memory.begin(), memory.end());
}

}  // namespace

void run_permutation(const Sweep& sweep, std::uint32_t bits, Precision precision, std::vector<Complex>& state) {
  if (precision == Precision::kDouble) return run_as_permutation<double>(sweep, bits, state);
  run_as_permutation<float>(sweep, bits, state);
}

bool host_compiler_exists() { return std::system("c++ --version > /dev/null 2>&1") == 0; }

class HostInterpreter::Kernel : public Library {
  using Library::Library;
};

HostInterpreter::HostInterpreter(Precision precision)
    : precision_(precision), kernel_(std::make_unique<Kernel>(interpreter_source(precision))) {}

HostInterpreter::~HostInterpreter() = default;

bool HostInterpreter::run(const cuda::TileProgram& program, std::vector<Complex>& state) const {
  return precision_ == Precision::kDouble ? run_as<double>(program, state) : run_as<float>(program, state);
}

template <class Real>
bool HostInterpreter::run_as(const cuda::TileProgram& program, std::vector<Complex>& state) const {
  std::optional<cuda::EncodedSweep<Real>> encoded = cuda::encode<Real>(program);
  if (!encoded) return false;
  std::vector<std::complex<Real>> memory(state.begin(), state.end());
  cuda::SweepParams<Real>& params = encoded->params;
  const std::byte* const tables = encoded->tables.bytes.data();
  params.state = reinterpret_cast<cuda::Amplitude<Real>*>(memory.data());
  params.tables = reinterpret_cast<const cuda::Amplitude<Real>*>(tables + encoded->tables.tables);
  params.dense = reinterpret_cast<const cuda::Amplitude<Real>*>(tables + encoded->tables.dense);
  params.addresses = reinterpret_cast<const std::uint32_t*>(tables + encoded->tables.addresses);
  params.angles = reinterpret_cast<const cuda::TileAngle*>(tables + encoded->tables.angles);
  params.angle_begin = reinterpret_cast<const std::uint32_t*>(tables + encoded->tables.angle_begin);
  const std::uint64_t tiles = cuda::set_tiles(params, program.tile_bits, 0, 0);
  for (std::uint64_t tile = 0; tile < tiles; ++tile) kernel_->run_block(&params, 1u << params.thread_bits, tile, 0);
  state.assign(memory.begin(), memory.end());
  return true;
}

double run_generated(const cuda::TileProgram& program, std::vector<Complex>& state, HostGpu gpu) {
  return program.precision == Precision::kDouble ? run<double>(program, state, nullptr, gpu)
                                                 : run<float>(program, state, nullptr, gpu);
}

std::vector<double> run_summing(const cuda::TileProgram& program, std::vector<Complex>& state) {
  Sums sums;
  if (program.precision == Precision::kDouble)
    run<double>(program, state, &sums);
  else
    run<float>(program, state, &sums);
  std::vector<double> tile_sums(static_cast<std::size_t>(count_bits(program.tile_bits)) + 1);
  for (std::size_t tile = 0; tile < sums.totals.size(); ++tile) {
    for_each_bit(tile, [&](unsigned bit) { tile_sums[bit] += sums.totals[tile]; });
    tile_sums.back() += sums.totals[tile];
  }
  std::vector<double> out(log2_exact(state.size()) + 1);
  cuda::place_bit_sums({program.tile_bits, sums.inside}, sums.cells, tile_sums, out);
  return out;
}

}  // namespace qsim::test
