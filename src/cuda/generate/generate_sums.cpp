// The probability of each index bit, summed where a sweep stores.
#include <fmt/format.h>

#include <algorithm>

#include "base/bits.h"
#include "cuda/generate/generate_text.h"

namespace qsim::cuda {

void KernelText::sum_bits(const IndexColumns& columns, std::uint32_t dead, std::uint32_t dead_set) {
  line("if (p.cells != 0) {");
  const std::string alive = dead == 0 ? "" : fmt::format("(t & {}u) != 0 ? 0.0 : ", dead);
  for (std::uint32_t j = 0; j < registers_; ++j) {
    const std::string square =
        fmt::format("{1}fma((double){0}.x, (double){0}.x, (double){0}.y * (double){0}.y)", a(j), alive);
    line(fmt::format("const double n{} = {};", j, (dead_set >> j & 1) != 0 ? "0" : square));
  }
  Index moved = 0;
  for (const Index column : columns.thread) moved |= column;
  for (const Index column : columns.slot) moved |= column;
  const auto registers_of = [&](unsigned bit) {
    std::uint32_t mask = 0;
    for (std::size_t s = 0; s < columns.slot.size(); ++s) mask |= (columns.slot[s] >> bit & 1 ? 1u : 0u) << s;
    return mask;
  };
  const auto sum_where = [&](std::uint32_t mask, unsigned parity) {
    std::string text;
    for (std::uint32_t j = 0; j < registers_; ++j) {
      if ((count_bits(j & mask) & 1u) == parity) text += fmt::format("{}n{}", text.empty() ? "" : " + ", j);
    }
    return text.empty() ? std::string("0") : text;
  };
  std::vector<std::uint32_t> masks = {0};
  for_each_bit(moved, [&](unsigned bit) {
    out_.summed.push_back(static_cast<Bit>(bit));
    masks.push_back(registers_of(bit));
  });
  std::sort(masks.begin(), masks.end());
  masks.erase(std::unique(masks.begin(), masks.end()), masks.end());
  for (const std::uint32_t mask : masks) {
    line(fmt::format("const double even{0} = {1}, odd{0} = {2};", mask, sum_where(mask, 0), sum_where(mask, 1)));
  }
  const int threads = 1 << program_.thread_bits();
  line("double* const row = (double*)tile + t;\n__syncthreads();");
  for (std::size_t v = 0; v < out_.summed.size(); ++v) {
    line(fmt::format("row[{}] = (to >> (int){} & 1) != 0 ? even{} : odd{};", v * static_cast<std::size_t>(threads),
                     int_arg(out_.summed[v]), registers_of(out_.summed[v]), registers_of(out_.summed[v])));
  }
  line(fmt::format("row[{}] = even0;", out_.summed.size() * static_cast<std::size_t>(threads)));
  line(fmt::format("sum_rows((double*)tile, {}, p.cells, p.totals, number);\n}}", out_.summed.size() + 1));
}

}  // namespace qsim::cuda
