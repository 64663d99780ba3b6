// The first write as a sweep that permutes: what a place gets is a product of factors, one for each bit of where its
// amplitude comes from.
#pragma once

#include <vector>

#include "plan/plan.h"
#include "qsim/types.h"

namespace qsim {

/// Products of the factors of the bits in `bits`, by their values, packed; 1 where a bit is not born in `sweep`.
std::vector<Complex> birth_products(const Sweep& sweep, Index bits);

/// What is alike for all amplitudes: they are 0 unless the bits `checked` are `wanted`, and have `scale` as a factor
/// beside those of the bits that vary (plan/product_lookups.h).
struct ProductStart {
  Index checked = 0, wanted = 0, varying = 0;
  Complex scale{1, 0};
};
ProductStart product_start(const Sweep& sweep);

/// What ProductLookups looks up: the tables and then pairs.
std::vector<Complex> product_tables(const Sweep& sweep);

/// Whether the products of the bits that vary are real numbers.
bool has_real_products(const Sweep& sweep);

}  // namespace qsim
