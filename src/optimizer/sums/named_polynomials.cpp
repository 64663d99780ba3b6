// Giving names to polynomials, and reading them.
#include "optimizer/sums/named_polynomials.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <utility>

namespace qsim {
namespace {

constexpr std::size_t kLong = 4;             // products; beyond that there is a name
constexpr std::size_t kMostOnTheWay = 2048;  // of them, of what is written out

/// Of products that may be there several times.
Boolean<Wide> without_pairs(Boolean<Wide> products) {
  std::ranges::sort(products);
  auto end = products.begin();
  for (auto product = products.begin(); product != products.end();) {
    const auto next = std::find_if(product, products.end(), [&](Wide other) { return other != *product; });
    if ((next - product) % 2 != 0) *end++ = *product;
    product = next;
  }
  products.erase(end, products.end());
  return products;
}

}  // namespace

Boolean<Wide> NamedPolynomials::shortened(const Boolean<Wide>& polynomial, Wide open, Wide taken) {
  if (polynomial.size() <= kLong) return polynomial;
  std::map<Wide, Boolean<Wide>> beside;  // by what they have of `open`
  for (const Wide product : polynomial) beside[product & open].push_back(product & ~open);
  Boolean<Wide> result;
  for (auto& [common, rest] : beside) {
    const bool one = rest.front() == 0;
    if (rest.size() > kLong + (one ? 1 : 0)) {
      if (one) rest.erase(rest.begin());
      if (const std::optional<Wide> name = name_of(rest, taken)) rest = {*name};
      if (one) rest.insert(rest.begin(), 0);
    }
    for (const Wide product : rest) toggle(result, common | product);
  }
  return result;
}

std::optional<Wide> NamedPolynomials::name_of(const Boolean<Wide>& polynomial, Wide taken) {
  const auto known = std::ranges::find(list_, polynomial, &Name::polynomial);
  if (known != list_.end()) return known->bit;
  const Wide free = ~(taken | names_);
  if (free == 0) return std::nullopt;
  Name name{free & (0 - free), polynomial, 0};
  for (const Wide product : polynomial) name.holds |= product;
  names_ |= name.bit;
  list_.push_back(std::move(name));
  return list_.back().bit;
}

Wide NamedPolynomials::holds(Wide variables) const {
  for (const Name& name : std::views::reverse(list_)) variables |= (variables & name.bit) != 0 ? name.holds : 0;
  return variables;
}

bool NamedPolynomials::write_out(Boolean<Wide>& polynomial, std::size_t most, std::uint64_t& work) const {
  for (const Name& name : std::views::reverse(list_)) {
    if (std::ranges::none_of(polynomial, [&](Wide product) { return (product & name.bit) != 0; })) continue;
    Boolean<Wide> written;
    for (const Wide product : polynomial) {
      if ((product & name.bit) == 0) {
        written.push_back(product);
      } else {
        for (const Wide p : name.polynomial) written.push_back((product & ~name.bit) | p);
      }
      if (written.size() > kMostOnTheWay) {
        work += written.size() / 2;
        return false;
      }
    }
    work += written.size() / 2;
    polynomial = without_pairs(std::move(written));
  }
  return polynomial.size() <= most;
}

void NamedPolynomials::forget_all_but(Wide used) {
  used = holds(used);
  std::erase_if(list_, [&](const Name& name) { return (name.bit & used) == 0; });
  names_ &= used;
}

}  // namespace qsim
