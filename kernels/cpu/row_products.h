// Products of a few rows of numbers with a few others: what matrices of inner products are made of. A file for each
// instruction set instantiates the body.
#pragma once

#include <cstddef>

#ifdef QSIM_ROW_PRODUCTS_BODY
#include "kernels/cpu/pack_bytes.h"
#endif

namespace qsim::cpu {

constexpr std::size_t kProductRows = 4, kProductColumns = 2;  // as many sums as hide a fused multiply-add's latency

/// out[i * stride + j] += the sum of a[i][k] * b[j][k] over k < length.
using AddRowProducts = void(const double* const* a, const double* const* b, std::size_t length, double* out,
                            std::size_t stride);
AddRowProducts add_row_products_scalar, add_row_products_avx2, add_row_products_avx512;

#ifdef QSIM_ROW_PRODUCTS_BODY
namespace {

constexpr std::size_t kWide = kPackBytes / sizeof(double);
using WideSum __attribute__((vector_size(kWide * sizeof(double)))) = double;
using WideRow __attribute__((vector_size(kWide * sizeof(double)), aligned(alignof(double)), may_alias)) = double;

inline void add_row_products(const double* const* a, const double* const* b, std::size_t length, double* out,
                             std::size_t stride) {
  WideSum sums[kProductRows][kProductColumns] = {};
  std::size_t k = 0;
  for (; k + kWide <= length; k += kWide) {
    WideSum column[kProductColumns];
    for (std::size_t j = 0; j < kProductColumns; ++j) column[j] = *reinterpret_cast<const WideRow*>(b[j] + k);
    for (std::size_t i = 0; i < kProductRows; ++i) {
      const WideSum row = *reinterpret_cast<const WideRow*>(a[i] + k);
      for (std::size_t j = 0; j < kProductColumns; ++j) sums[i][j] += row * column[j];
    }
  }
  for (std::size_t i = 0; i < kProductRows; ++i) {
    for (std::size_t j = 0; j < kProductColumns; ++j) {
      double sum = 0;
      for (std::size_t lane = 0; lane < kWide; ++lane) sum += sums[i][j][lane];
      for (std::size_t rest = k; rest < length; ++rest) sum += a[i][rest] * b[j][rest];
      out[i * stride + j] += sum;
    }
  }
}

}  // namespace
#endif

}  // namespace qsim::cpu
