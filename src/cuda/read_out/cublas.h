// cuBLAS, loaded when it is first wanted: programs that never multiply matrices start without it.
#pragma once

#include <cuda_runtime.h>

#include <complex>
#include <cstdint>
#include <string>

#include "cuda/device.h"

namespace qsim::cuda {

class Cublas {
 public:
  /// DeviceError when the library is not there.
  Cublas();
  ~Cublas();
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  /// products[i + j * columns] = <column i|column j> for i <= j, of `columns` columns of `rows` values each.
  void products_of_columns(const double2* values, std::int64_t rows, std::int64_t columns, double2* products,
                           const Stream& stream) const;

  /// Sum of |x|^2 of `count` complex numbers (double2 or float2) on the device: nrm2, squared.
  template <typename Pair>
  double norm(const Pair* values, std::int64_t count, cudaStream_t stream) const;
  /// Sum of conj(left) right: dotc.
  template <typename Pair>
  std::complex<double> inner_product(const Pair* left, const Pair* right, std::int64_t count,
                                     cudaStream_t stream) const;

 private:
  template <typename Function>
  Function function(const char* name) const;
  void use(cudaStream_t stream) const;

  void* library_ = nullptr;
  void* handle_ = nullptr;
};

/// "13.0.2", of the library that Cublas would load, without starting the driver; empty where it is not there.
std::string cublas_version();

}  // namespace qsim::cuda
