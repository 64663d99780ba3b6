// A sum of hashes is the fingerprint: it does not depend on the order of assignments.
#include "classical/variables.h"

#include <algorithm>

namespace qsim {
namespace {

constexpr std::uint64_t mixed(std::uint64_t bits) {
  bits = (bits ^ (bits >> 32)) * 0xd6e8feb86659fd93u;
  bits = (bits ^ (bits >> 32)) * 0xd6e8feb86659fd93u;
  return bits ^ (bits >> 32);
}

std::uint64_t hash(const std::pair<std::uint32_t, Scalar>& held) {
  const std::uint64_t low =
      mixed(static_cast<std::uint64_t>(held.second.word) + 0x9e3779b97f4a7c15u * (held.first + 1));
  return mixed(low ^ static_cast<std::uint64_t>(held.second.word >> 64));
}

}  // namespace

std::vector<Variables::Held>::iterator Variables::find(std::uint32_t variable) {
  if (held_.empty() || held_.back().first < variable) return held_.end();
  return std::ranges::lower_bound(held_, variable, {}, &Held::first);
}

Scalar Variables::operator[](std::uint32_t variable) const {
  const auto found = std::ranges::lower_bound(held_, variable, {}, &Held::first);
  return found != held_.end() && found->first == variable ? found->second : make_zero((*types_)[variable]);
}

void Variables::set(std::uint32_t variable, const Scalar& value) {
  if (value == make_zero((*types_)[variable])) return forget(variable);
  auto at = find(variable);
  if (at == held_.end() || at->first != variable) {
    at = held_.insert(at, {variable, value});
  } else {
    fingerprint_ -= hash(*at);
    at->second = value;
  }
  fingerprint_ += hash(*at);
}

void Variables::forget(std::uint32_t variable) {
  const auto at = find(variable);
  if (at == held_.end() || at->first != variable) return;
  fingerprint_ -= hash(*at);
  held_.erase(at);
}

}  // namespace qsim
