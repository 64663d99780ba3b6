#include "batch/angle_sums.h"

#include <algorithm>
#include <cmath>
#include <complex>

#include "base/numbers/rounding.h"

namespace qsim {

AngleSums::Phase AngleSums::total(std::span<const OpenAngle> angles) {
  double constant = 0;
  std::map<std::pair<std::uint32_t, double>, double> shares;  // of a parameter with a positive factor
  for (const OpenAngle& angle : angles) {
    constant += reduced_angle(numbers_.constant(angle));
    for (const OpenNumbers::Term& term : numbers_.terms(angle.sum)) {
      const OpenAngles::Open& open = angles_[term.angle];
      constant += reduced_angle(term.factor * open.constant);
      for (const Circuit::OpenTerm& own : open.terms) {
        shares[{own.parameter, std::abs(own.factor)}] += own.factor < 0 ? -term.factor : term.factor;
      }
    }
  }
  Sum sum(constant, {});
  for (const auto& [term, share] : shares) {
    if (share != 0) sum.second.emplace_back(term.first, term.second, share);
  }
  if (sum.second.empty()) return {0, std::polar(1.0, constant)};
  const auto [found, is_new] = known_.try_emplace(sum, static_cast<std::uint32_t>(sums_.size() + 1));
  if (is_new) sums_.push_back(std::move(sum));
  return {found->second, 1};
}

std::uint32_t AngleSums::used(std::uint32_t sum, BatchProgram& program) {
  if (sum == 0) return 0;
  used_.resize(sums_.size());
  std::uint32_t& number = used_[sum - 1];
  if (number != 0) return number;
  for (const auto& [parameter, factor, share] : sums_[sum - 1].second) {
    program.terms.push_back({parameter, share * factor, share, factor});
  }
  program.sums.push_back({sums_[sum - 1].first, static_cast<std::uint32_t>(program.terms.size())});
  return number = static_cast<std::uint32_t>(program.sums.size());
}

double AngleSums::plain_values(const BatchProgram& program) {
  double least = kPlainAngle;
  std::size_t at = 0;
  for (const BatchSum& sum : program.sums) {
    double factors = 0;
    for (; at < sum.end; ++at) factors += std::abs(program.terms[at].factor);
    least = std::min(least, (kPlainAngle - std::abs(sum.constant)) / factors);
  }
  return least;
}

}  // namespace qsim
