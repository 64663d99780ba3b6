// The inner loops of many Pauli sums: one block of amplitudes against its partners, then signed sums of the products.
// A file for each instruction set instantiates them (pauli_block_*.cpp).
#pragma once

#include <complex>
#include <cstdint>
#include <cstring>

#include "qsim/types.h"

namespace qsim::cpu {

constexpr int kPauliBlockBits = 10;
constexpr Index kPauliBlock = Index{1} << kPauliBlockBits;
constexpr Index kPauliLanes = 8;  // amplitudes whose signs are applied after the sum
constexpr Index kPauliRows = kPauliBlock / kPauliLanes;

/// out[j] = Re (`imaginary`: Im) of conj(partner[j ^ flip]) a[j], for kPauliBlock amplitudes; flip < kPauliBlock.
template <typename T>
using PauliProducts = void (*)(const std::complex<T>* a, const std::complex<T>* partner, Index flip, bool imaginary,
                               double* out);
/// sums[m] = sum over j of products[j] (-1)^popcount(j & masks[m]); signs[r * kPauliRows + i] is (-1)^popcount(r & i).
using PauliSigned = void (*)(const double* products, const Index* masks, std::size_t count, const double* signs,
                             double* sums);

template <typename T>
struct PauliKernels {
  PauliProducts<T> products;
  PauliSigned signed_sums;
};

#ifdef QSIM_PAULI_BLOCK_BODY
namespace {

template <typename T, Index kFlip, bool kImaginary>
void product_rows(const std::complex<T>* a, const std::complex<T>* partner, Index row_flip, double* out) {
  for (Index row = 0; row < kPauliRows; ++row) {
    const std::complex<T>* const left = a + row * kPauliLanes;
    const std::complex<T>* const right = partner + (row ^ row_flip) * kPauliLanes;
    double* const to = out + row * kPauliLanes;
    // Lines of rows to come, of the next blocks at last: see ask_ahead().
    constexpr Index kLine = 64 / sizeof(std::complex<T>), kRowsAhead = 2048 / (kPauliLanes * sizeof(std::complex<T>));
    for (Index lane = 0; lane < kPauliLanes; lane += kLine) {
      __builtin_prefetch(a + (row + kRowsAhead) * kPauliLanes + lane, 0, 3);
      __builtin_prefetch(partner + ((row + kRowsAhead) ^ row_flip) * kPauliLanes + lane, 0, 3);
    }
    for (Index lane = 0; lane < kPauliLanes; ++lane) {
      const double ar = left[lane].real(), ai = left[lane].imag();
      const double pr = right[lane ^ kFlip].real(), pi = right[lane ^ kFlip].imag();
      to[lane] = kImaginary ? ai * pr - ar * pi : ar * pr + ai * pi;
    }
  }
}

template <typename T, bool kImaginary>
void product_of(const std::complex<T>* a, const std::complex<T>* partner, Index flip, double* out) {
  using Rows = void (*)(const std::complex<T>*, const std::complex<T>*, Index, double*);
  constexpr Rows kRows[kPauliLanes] = {product_rows<T, 0, kImaginary>, product_rows<T, 1, kImaginary>,
                                       product_rows<T, 2, kImaginary>, product_rows<T, 3, kImaginary>,
                                       product_rows<T, 4, kImaginary>, product_rows<T, 5, kImaginary>,
                                       product_rows<T, 6, kImaginary>, product_rows<T, 7, kImaginary>};
  kRows[flip % kPauliLanes](a, partner, flip / kPauliLanes, out);
}

template <typename T>
void products_of(const std::complex<T>* a, const std::complex<T>* partner, Index flip, bool imaginary, double* out) {
  imaginary ? product_of<T, true>(a, partner, flip, out) : product_of<T, false>(a, partner, flip, out);
}

/// The lanes of a row as one value: arrays of arrays would live in memory between rows.
using Row = double __attribute__((vector_size(kPauliLanes * sizeof(double))));

/// `kCount` masks at once: the products are read once for all of them.
template <int kCount>
void signed_rows(const double* products, const Index* masks, const double* signs, double* sums) {
  const double* rows[kCount];
  for (int m = 0; m < kCount; ++m) rows[m] = signs + (masks[m] / kPauliLanes % kPauliRows) * kPauliRows;
  Row lanes[kCount] = {};
  for (Index row = 0; row < kPauliRows; ++row) {
    Row from;
    std::memcpy(&from, products + row * kPauliLanes, sizeof(from));
#pragma GCC unroll 4
    for (int m = 0; m < kCount; ++m) lanes[m] += rows[m][row] * from;
  }
  for (int m = 0; m < kCount; ++m) {
    // The first rows of the table are the signs of small numbers too.
    const double* const low = signs + (masks[m] % kPauliLanes) * kPauliRows;
    double sum = 0;
    for (Index lane = 0; lane < kPauliLanes; ++lane) sum += low[lane] * lanes[m][lane];
    sums[m] = sum;
  }
}

void signed_of(const double* products, const Index* masks, std::size_t count, const double* signs, double* sums) {
  std::size_t m = 0;
  for (; m + 4 <= count; m += 4) signed_rows<4>(products, masks + m, signs, sums + m);
  for (; m + 2 <= count; m += 2) signed_rows<2>(products, masks + m, signs, sums + m);
  if (m < count) signed_rows<1>(products, masks + m, signs, sums + m);
}

}  // namespace
#endif

}  // namespace qsim::cpu
