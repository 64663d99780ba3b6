#include "cuda/read_out/cublas.h"

#include <dlfcn.h>

#include <string>
#include <type_traits>

#include "base/file/shared_library.h"
#include "device/library_error.h"
#include "qsim/error.h"

namespace qsim::cuda {
namespace {

void check_blas(int status, const char* call) {
  if (status != 0) throw library_error("cuBLAS", status, call, "see cublasStatus_t");
}

// Values of cuBLAS's enumerations.
constexpr int kUpper = 1, kConjugateTranspose = 2;

/// Null where the library is not found.
void* load_cublas() { return open_library(cuda_library("cublas", "cublas")); }

}  // namespace

template <typename Function>
Function Cublas::function(const char* name) const {
  void* const symbol = dlsym(library_, name);
  if (symbol == nullptr) throw DeviceError(std::string("cuBLAS has no ") + name);
  return reinterpret_cast<Function>(symbol);
}

Cublas::Cublas() : library_(load_cublas()) {
  if (library_ == nullptr)
    throw DeviceError(
        "cuBLAS (libcublas.so.13 or .12) is not found: install it, or the extra [cuda13] of the Python package");
  check_blas(function<int (*)(void**)>("cublasCreate_v2")(&handle_), "cublasCreate");
}

Cublas::~Cublas() {
  if (handle_ == nullptr) return;
  using Destroy = int (*)(void*);
  if (void* const destroy = dlsym(library_, "cublasDestroy_v2")) (void)reinterpret_cast<Destroy>(destroy)(handle_);
}

void Cublas::use(cudaStream_t stream) const {
  check_blas(function<int (*)(void*, cudaStream_t)>("cublasSetStream_v2")(handle_, stream), "cublasSetStream");
}

template <typename Pair>
double Cublas::norm(const Pair* values, std::int64_t count, cudaStream_t stream) const {
  constexpr bool kDouble = sizeof(Pair) == sizeof(double2);
  using Real = std::conditional_t<kDouble, double, float>;
  use(stream);
  using Nrm2 = int (*)(void*, std::int64_t, const Pair*, std::int64_t, Real*);
  Real root = 0;
  const char* const name = kDouble ? "cublasDznrm2_v2_64" : "cublasScnrm2_v2_64";
  check_blas(function<Nrm2>(name)(handle_, count, values, 1, &root), name);
  return static_cast<double>(root) * static_cast<double>(root);
}
template double Cublas::norm(const double2*, std::int64_t, cudaStream_t) const;
template double Cublas::norm(const float2*, std::int64_t, cudaStream_t) const;

template <typename Pair>
std::complex<double> Cublas::inner_product(const Pair* left, const Pair* right, std::int64_t count,
                                           cudaStream_t stream) const {
  constexpr bool kDouble = sizeof(Pair) == sizeof(double2);
  use(stream);
  using Dotc = int (*)(void*, std::int64_t, const Pair*, std::int64_t, const Pair*, std::int64_t, Pair*);
  Pair sum{};
  const char* const name = kDouble ? "cublasZdotc_v2_64" : "cublasCdotc_v2_64";
  check_blas(function<Dotc>(name)(handle_, count, left, 1, right, 1, &sum), name);
  return {static_cast<double>(sum.x), static_cast<double>(sum.y)};
}
template std::complex<double> Cublas::inner_product(const double2*, const double2*, std::int64_t, cudaStream_t) const;
template std::complex<double> Cublas::inner_product(const float2*, const float2*, std::int64_t, cudaStream_t) const;

void Cublas::products_of_columns(const double2* values, std::int64_t rows, std::int64_t columns, double2* products,
                                 const Stream& stream) const {
  use(stream.get());
  using Zherk = int (*)(void*, int, int, std::int64_t, std::int64_t, const double*, const double2*, std::int64_t,
                        const double*, double2*, std::int64_t);
  const double one = 1, zero = 0;
  check_blas(function<Zherk>("cublasZherk_v2_64")(handle_, kUpper, kConjugateTranspose, columns, rows, &one, values,
                                                  rows, &zero, products, columns),
             "cublasZherk");
}

std::string cublas_version() {
  void* const library = load_cublas();
  if (library == nullptr) return {};
  using GetProperty = int (*)(int, int*);
  const auto get_property = reinterpret_cast<GetProperty>(dlsym(library, "cublasGetProperty"));
  std::string version;
  for (int part = 0; part < 3 && get_property != nullptr; ++part) {  // major, minor, patch
    int number = 0;
    check_blas(get_property(part, &number), "cublasGetProperty");
    version += (part == 0 ? "" : ".") + std::to_string(number);
  }
  return version + " (" + file_of(reinterpret_cast<const void*>(get_property)) + ")";
}

}  // namespace qsim::cuda
