// Products of rows with the avx512 instruction set.

#define QSIM_ROW_PRODUCTS_BODY
#include "kernels/cpu/row_products.h"

namespace qsim::cpu {

void add_row_products_avx512(const double* const* a, const double* const* b, std::size_t length, double* out,
                             std::size_t stride) {
  add_row_products(a, b, length, out, stride);
}

}  // namespace qsim::cpu
