#include "device/permutation/product.h"

#include <algorithm>

#include "base/bits.h"
#include "device/permutation/program.h"
#include "plan/product_lookups.h"

namespace qsim {

std::vector<Complex> birth_products(const Sweep& sweep, Index bits) {
  std::vector<Complex> products{Complex(1)};
  for_each_bit(bits, [&](unsigned bit) {
    Birth birth{static_cast<Bit>(bit), {Complex(1), Complex(1)}};
    for (const Birth& born : sweep.births) {
      if (born.bit == bit) birth = born;
    }
    const std::size_t half = products.size();
    products.resize(2 * half);
    for (std::size_t i = 0; i < half; ++i) {
      products[half + i] = products[i] * birth.factor[1];
      products[i] *= birth.factor[0];
    }
  });
  return products;
}

ProductStart product_start(const Sweep& sweep) {
  ProductStart start;
  start.scale = sweep.start_scale * phase_of_all(sweep);
  for (const Birth& birth : sweep.births) {
    if (varies(birth)) {
      start.varying |= bit_mask(birth.bit);
      continue;
    }
    const bool at_one = birth.factor[0] == Complex();
    start.scale *= birth.factor[at_one ? 1 : 0];
    if (birth.factor[0] == birth.factor[1]) continue;
    start.checked |= bit_mask(birth.bit);
    if (at_one) start.wanted |= bit_mask(birth.bit);
  }
  return start;
}

std::vector<Complex> product_tables(const Sweep& sweep) {
  const ProductLookups lookups = product_lookups(sweep);
  std::vector<Complex> tables;
  Index left = product_start(sweep).varying;
  const auto append_products = [&](std::uint32_t bits) {
    Index taken = 0;
    for (; bits > 0; --bits, left &= left - 1) taken |= left & (~left + 1);
    const std::vector<Complex> products = birth_products(sweep, taken);
    tables.insert(tables.end(), products.begin(), products.end());
  };
  for (std::uint32_t table = 0; table < lookups.tables; ++table) {
    append_products(std::min(lookups.width, lookups.indexed - table * lookups.width));
    tables.resize(std::size_t{table + 1} << lookups.width);
  }
  for (std::uint32_t bit = 0; bit < lookups.left; ++bit) append_products(1);
  return tables;
}

bool has_real_products(const Sweep& sweep) {
  return std::ranges::all_of(sweep.births, [](const Birth& birth) {
    return !varies(birth) || (birth.factor[0].imag() == 0 && birth.factor[1].imag() == 0);
  });
}

}  // namespace qsim
