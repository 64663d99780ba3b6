#include "cpu/items/waiting_phases.h"

#include <algorithm>

#include "base/bits.h"
#include "base/numbers/rounding.h"

namespace qsim::cpu {

WaitingPhases::Key WaitingPhases::key_of(const Term& term) {
  const TileCondition& tiles = term.condition;
  return {term.mask, term.parity, tiles.mask, tiles.value, tiles.parity_mask};
}

bool WaitingPhases::wait_on(Index targets) const {
  return std::ranges::any_of(pending_, [&](const auto& entry) { return (entry.second.bits() & targets) != 0; });
}

void WaitingPhases::add(Term term) {
  term.angle = wrap_angle(term.angle);
  if (term.angle == 0) return;
  if (const Index ones = term.mask & term.parity; ones != 0) return add_reduced(term, ones);
  if (term.bits() == 0) {
    whole_.push_back(term);
    return;
  }
  const auto [other, is_new] = pending_.try_emplace(key_of(term), term);
  if (!is_new) other->second.angle = wrap_angle(other->second.angle + term.angle);
}

/// A term with bits that must be 1 and are in its parity as well: there they count as 1, so that no bit is in both.
void WaitingPhases::add_reduced(Term term, Index ones) {
  Term rest = term;
  rest.parity &= ~ones;
  if (odd_parity(ones)) {
    term.parity = 0;
    add(term);
    rest.angle = -rest.angle;
  }
  if (rest.parity != 0) add(rest);
}

/// With c the product of the controls, x becomes x + c - 2 x c, and so does a parity with x among its bits.
bool WaitingPhases::pull_through(const MatrixItem& flip) {
  if (!flip.matrix.empty() || flip.control_mask != flip.control_value) return false;
  const Index target = flip.target_mask();
  std::vector<Term> touched;
  for (const auto& [key, term] : pending_) {
    if ((term.bits() & target) == 0) continue;
    constexpr unsigned kMostTerms = 4, kMostBits = 3;
    const bool turns = (term.parity & target) != 0;  // odd becomes even
    if (count_bits(turns ? term.mask : term.bits()) > kMostBits || touched.size() == kMostTerms) return false;
    touched.push_back(term);
  }
  for (const Term& term : touched) {
    const bool turns = (term.parity & target) != 0;
    TileCondition both = term.condition;
    // Where the term's tiles are not the flip's, the flip does not happen.
    if (((both.value ^ flip.condition.value) & both.mask & flip.condition.mask) != 0) continue;
    both.mask |= flip.condition.mask;
    both.value |= flip.condition.value;
    add({(term.mask & ~target) | flip.control_mask, both, term.angle, turns ? 0 : term.parity});
    add({term.mask | flip.control_mask, both, -2.0 * term.angle, term.parity});
  }
  return true;
}

std::vector<Term> WaitingPhases::take(Index targets, Index later) {
  std::erase_if(pending_, [](const auto& entry) { return entry.second.angle == 0; });
  std::vector<Term> now;
  if (!wait_on(targets)) return now;
  std::erase_if(pending_, [&](const auto& entry) {
    if ((entry.second.bits() & (targets | later)) == 0) return false;
    now.push_back(entry.second);
    return true;
  });
  return now;
}

std::vector<Term> WaitingPhases::take_all() {
  std::vector<Term> all;
  for (const auto& [key, term] : pending_) {
    if (term.angle != 0) all.push_back(term);
  }
  pending_.clear();
  return all;
}

}  // namespace qsim::cpu
