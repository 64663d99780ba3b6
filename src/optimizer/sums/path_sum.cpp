// Appending to a sum over paths, and taking variables out of it.
#include "optimizer/sums/path_sum.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "base/numbers/rounding.h"

namespace qsim {
namespace {

constexpr int kDigits = 38;  // binary ones of a simple part of a turn

/// The angle as fraction * 2^exponent turns, the fraction a whole number where it is a simple part to rounding.
struct Part {
  double fraction = 0;
  int exponent = 0;
  bool simple = true;
};

Part part_of(double angle) {
  Part part;
  part.fraction = std::ldexp(std::frexp(angle * (0.5 * std::numbers::inv_pi), &part.exponent), kDigits);
  part.exponent -= kDigits;
  const double whole = std::nearbyint(part.fraction);
  // Four units in the last place of the angle.
  part.simple = std::abs(whole - part.fraction) <= std::ldexp(1.0, kDigits - 51);
  if (part.simple) part.fraction = whole;
  return part;
}

template <typename Visit>
void for_each_variable(Wide mask, const Visit& visit) {
  for_each_bit(static_cast<Index>(mask), visit);
  for_each_bit(static_cast<Index>(mask >> 64), [&](unsigned v) { visit(v + 64); });
}

}  // namespace

std::uint64_t turns_of(double angle) {
  const Part part = part_of(std::abs(angle));
  const double turns = std::ldexp(part.fraction, part.exponent);
  const double rest = turns - std::floor(turns);  // below 1 by 2^-53 at least
  const auto whole = static_cast<std::uint64_t>(std::nearbyint(std::ldexp(rest, 64)));
  return angle < 0 ? -whole : whole;
}

bool is_part_of_turn(double angle) { return part_of(angle).simple; }

std::uint64_t rounded_turns(std::uint64_t turns) {
  constexpr std::uint64_t kGrid = std::uint64_t{1} << 24;
  constexpr auto kAllowed = static_cast<std::uint64_t>(kRounding * 0.5 * std::numbers::inv_pi * 0x1p64);
  const std::uint64_t nearest = (turns + kGrid / 2) & ~(kGrid - 1);
  return nearest - turns <= kAllowed || turns - nearest <= kAllowed ? nearest : turns;
}

double angle_of_turns(std::uint64_t turns) {
  return std::ldexp(static_cast<double>(static_cast<std::int64_t>(turns)), -63) * std::numbers::pi;
}

PathSum::PathSum(std::uint32_t qubits, Index zeros, bool names)
    : qubits_(qubits), zeros_(zeros), values_(qubits), holds_(qubits), names_(names) {
  for (Qubit q = 0; q < qubits; ++q) {
    if (!test_bit(zeros, q)) values_[q].push_back(bit(q));
    note_value(q);
  }
}

void PathSum::forget_zeros(Index qubits) {
  for_each_bit(qubits & zeros_, [&](unsigned q) {
    values_[q].assign(1, bit(q));
    note_value(q);
  });
  zeros_ &= ~qubits;
}

bool PathSum::flip(Qubit target, Index controls) {
  Boolean<Wide> product{0}, room;
  for_each_bit(controls,
               [&](unsigned c) { too_large_ = too_large_ || !multiply(product, shortened(values_[c], room)); });
  if (too_large_) return false;
  for (const Wide p : shortened(product, room)) toggle(values_[target], p);
  note_value(target);
  return !too_large_;
}

bool PathSum::phase(Index ones, Index parity, std::uint64_t turns) {
  Boolean<Wide> product{0}, room;
  for_each_bit(ones, [&](unsigned q) { too_large_ = too_large_ || !multiply(product, shortened(values_[q], room)); });
  if (parity != 0) {
    Boolean<Wide> sum;
    for_each_bit(parity, [&](unsigned q) {
      for (const Wide p : shortened(values_[q], room)) toggle(sum, p);
    });
    too_large_ = too_large_ || !multiply(product, sum);
  }
  if (too_large_) return false;
  // Clifford circuits, and flips between Hadamard gates, have quarter turns of parities and half turns of products.
  const bool linear = std::ranges::all_of(product, [](Wide p) { return count(p) <= 1; });
  if (turns % (linear ? kHalfTurn >> 1 : kHalfTurn) != 0) {
    for (const Wide p : product) fine_ |= p & created_;
  }
  add_lifted(0, product, turns);
  return !too_large_;
}

bool PathSum::turn(Qubit qubit) {
  if (too_large_) return false;
  if ((created_ | inputs() | named_.names()) == ~Wide{0}) forget_names();
  const Wide free = ~(created_ | inputs() | named_.names());
  if (free == 0) return false;
  const unsigned variable = low(free) != 0 ? static_cast<unsigned>(std::countr_zero(low(free)))
                                           : 64 + static_cast<unsigned>(std::countr_zero(high(free)));
  created_ |= bit(variable);
  fine_ &= ~bit(variable);
  born_[variable] = ++turns_;
  products_of_[variable].clear();
  for (const Wide p : values_[qubit]) add(p | bit(variable), kHalfTurn);
  const Wide left = holds_[qubit];
  values_[qubit].assign(1, bit(variable));
  note_value(qubit);
  reduce(left & ~held());
  return !too_large_;
}

bool PathSum::multiply(Boolean<Wide>& product, const Boolean<Wide>& by) {
  if (product.size() * by.size() > kMostProducts * 4) return false;
  work_ += product.size() * by.size();
  if (by.size() == 1) {
    if (product.size() == 1) {
      product[0] |= by[0];
      return true;
    }
  }
  Boolean<Wide> result;
  for (const Wide a : product) {
    for (const Wide b : by) toggle(result, a | b);
  }
  product = std::move(result);
  return product.size() <= kMostProducts;
}

const Boolean<Wide>& PathSum::shortened(const Boolean<Wide>& polynomial, Boolean<Wide>& room) {
  if (!names_) return polynomial;
  room = named_.shortened(polynomial, created_, created_ | inputs());
  return room;
}

void PathSum::forget_names() {
  Wide used = held();
  phases_.for_each([&](Wide product, std::uint64_t) { used |= product; });
  work_ += phases_.size();
  named_.forget_all_but(used);
}

std::optional<PathSum> PathSum::written_out() const {
  constexpr int kMostNamed = 8;  // phases: what is computed and not taken back yet leaves many
  int named = 0;
  phases_.for_each([&](Wide product, std::uint64_t) { named += (product & named_.names()) != 0 ? 1 : 0; });
  if (named > kMostNamed) return std::nullopt;
  PathSum result(qubits_, zeros_);
  result.created_ = created_;
  for (Qubit q = 0; q < qubits_; ++q) {
    result.values_[q] = values_[q];
    if (!named_.write_out(result.values_[q], kMostProducts, work_)) return std::nullopt;
    result.note_value(q);
  }
  bool all = true;
  phases_.for_each([&](Wide product, std::uint64_t turns) {
    Boolean<Wide> polynomial{product};
    all = all && !result.too_large_ && named_.write_out(polynomial, kMostProducts, work_);
    if (all) result.add_lifted(0, polynomial, turns);
  });
  if (!all || result.too_large_) return std::nullopt;
  return result;
}

void PathSum::add(Wide product, std::uint64_t turns) {
  ++work_;
  if (turns == 0 || !phases_.add(product, turns)) return;
  for_each_variable(product & created_, [&](unsigned v) { products_of_[v].push_back(product); });
  too_large_ = too_large_ || phases_.size() > kMostPhases;
}

void PathSum::add_lifted(Wide product, std::span<const Wide> polynomial, std::uint64_t turns) {
  if (turns == 0 || too_large_) return;
  const auto levels = static_cast<unsigned>(64 - std::countr_zero(turns));  // then it is doubled to nothing
  double sets = 0, of_a_size = 1;
  for (unsigned size = 0; size < levels && size < polynomial.size(); ++size) {
    of_a_size *= static_cast<double>(polynomial.size() - size) / (size + 1);
    sets += of_a_size;
  }
  too_large_ = sets > kMostSets;
  add_sets(product, polynomial, turns);
}

void PathSum::add_sets(Wide product, std::span<const Wide> polynomial, std::uint64_t turns) {
  for (std::size_t i = 0; i < polynomial.size() && !too_large_; ++i) {
    add(product | polynomial[i], turns);
    if (2 * turns != 0) add_sets(product | polynomial[i], polynomial.subspan(i + 1), 0 - 2 * turns);
  }
}

void PathSum::note_value(Qubit qubit) {
  holds_[qubit] = 0;
  empty_ = values_[qubit].empty() ? empty_ | bit_mask(qubit) : empty_ & ~bit_mask(qubit);
  for (const Wide p : values_[qubit]) holds_[qubit] |= p;
  too_large_ = too_large_ || values_[qubit].size() > kMostProducts;
}

Wide PathSum::held() const {
  Wide all = 0;
  for (const Wide mask : holds_) all |= mask;
  return all;
}

void PathSum::reduce(Wide variables) {
  while (!too_large_) {
    variables &= created_ & ~held();
    if (variables == 0) return;
    unsigned latest = kMostVariables;
    for_each_variable(variables, [&](unsigned v) {
      if (latest == kMostVariables || born_[v] > born_[latest]) latest = v;
    });
    variables &= ~bit(latest);
    tidy(latest);
    const Cofactor rest = cofactor(latest);
    if (!rest.simple) continue;
    Wide changed = 0;
    const bool fine = (fine_ & bit(latest)) != 0;
    if (rest.quarter != 0) {
      take_out(latest);
      const std::uint64_t eighth = kHalfTurn >> 2;
      add(0, rest.quarter > 0 ? eighth : -eighth);
      add_lifted(0, rest.half_turns, rest.quarter > 0 ? 0 - 2 * eighth : 2 * eighth);
      for (const Wide p : rest.half_turns) changed |= p;
    } else if (rest.half_turns.empty()) {
      take_out(latest);
    } else {
      const std::optional<unsigned> other = solvable(rest.half_turns);
      if (!other) continue;
      Boolean<Wide> by = rest.half_turns;
      toggle(by, bit(*other));
      take_out(latest);
      changed = substitute(*other, by);
    }
    saw_through_ = saw_through_ || fine;
    variables |= changed;
  }
}

bool PathSum::turn_ends(Qubit qubit) const {
  Wide others = 0;
  for (Qubit q = 0; q < qubits_; ++q) others |= q == qubit ? Wide{0} : holds_[q];
  bool ends = false;
  for_each_variable(holds_[qubit] & created_ & ~others, [&](unsigned v) { ends = ends || cofactor(v).simple; });
  return ends;
}

/// Products that are gone, and those that are listed twice, are taken from the list.
void PathSum::tidy(unsigned variable) {
  std::vector<Wide>& products = products_of_[variable];
  std::erase_if(products, [&](Wide p) { return phases_.at(p) == 0; });
  std::ranges::sort(products);
  products.erase(std::unique(products.begin(), products.end()), products.end());
  work_ += products.size();
}

PathSum::Cofactor PathSum::cofactor(unsigned variable) const {
  Cofactor result;
  for (const Wide p : products_of_[variable]) {
    const std::uint64_t turns = phases_.at(p);
    if (turns == 0) continue;
    const Wide rest = p & ~bit(variable);
    if (turns == kHalfTurn) {
      toggle(result.half_turns, rest);
    } else if (rest == 0 && turns % (kHalfTurn >> 1) == 0) {
      result.quarter = turns == kHalfTurn >> 1 ? 1 : -1;
    } else {
      result.simple = false;
      break;
    }
  }
  return result;
}

/// The variable that was made last of those which stand alone in it; inputs are given and stay.
std::optional<unsigned> PathSum::solvable(const Boolean<Wide>& polynomial) const {
  Wide alone = 0, elsewhere = 0;
  for (const Wide p : polynomial) {
    const bool single = count(p) == 1;
    (single ? alone : elsewhere) |= p;
  }
  std::optional<unsigned> latest;
  for_each_variable(alone & ~elsewhere & created_, [&](unsigned v) {
    if (!latest || born_[v] > born_[*latest]) latest = v;
  });
  return latest;
}

/// The variables beside which it stood.
Wide PathSum::substitute(unsigned variable, const Boolean<Wide>& by) {
  for (Qubit q = 0; q < qubits_; ++q) {
    if ((holds_[q] & bit(variable)) == 0) continue;
    Boolean<Wide> value;
    for (const Wide p : values_[q]) {
      if ((p & bit(variable)) == 0) {
        toggle(value, p);
      } else {
        for (const Wide b : by) toggle(value, (p & ~bit(variable)) | b);
      }
    }
    work_ += value.size();
    values_[q] = std::move(value);
    note_value(q);
  }
  if ((fine_ & bit(variable)) != 0) {
    for (const Wide b : by) fine_ |= b & created_;
  }
  Wide changed = 0;
  const std::vector<Wide> products = std::exchange(products_of_[variable], {});
  for (const Wide p : products) {
    const std::uint64_t turns = phases_.take(p);
    if (turns == 0) continue;
    const Wide rest = p & ~bit(variable);
    changed |= rest;
    add_lifted(rest, by, turns);
  }
  for (const Wide b : by) changed |= b;
  forget(variable);
  return changed & created_;
}

void PathSum::take_out(unsigned variable) {
  for (const Wide p : products_of_[variable]) phases_.take(p);
  forget(variable);
}

void PathSum::forget(unsigned variable) {
  created_ &= ~bit(variable);
  products_of_[variable].clear();
}

/// Qubits of which one variable is held by no other one, and not in a product; none where they are too few for all
/// variables.
std::vector<PathSum::Holder> PathSum::may_lack_turns() const {
  Wide once = 0, twice = 0;
  for (const Wide holds : holds_) {
    twice |= once & holds;
    once |= holds;
  }
  const unsigned begin = count((given() & ~once) | Wide{zeros_});
  constexpr unsigned kMostTurns = 2;
  if (count(created_) > begin + kMostTurns) return {};
  std::vector<Holder> result;
  for (Qubit q = 0; q < qubits_; ++q) {
    const Wide variable = holds_[q] & created_ & ~twice;
    const auto with = [&](Wide product) { return (product & variable) != 0; };
    if (count(variable) != 1 || std::ranges::count_if(values_[q], with) != 1) continue;
    if (std::ranges::find(values_[q], variable) == values_[q].end()) continue;
    // A phase of what the qubit holds is one of the variable and of its products with the rest; more stay.
    constexpr std::size_t kMostFine = 8;
    std::size_t fine = 0;
    for_each_variable(variable, [&](unsigned v) {
      for (const Wide p : products_of_[v]) fine += phases_.at(p) % kHalfTurn != 0 ? 1 : 0;
    });
    const std::size_t rest = values_[q].size() - 1;
    if (fine <= kMostFine + rest * (rest + 1) / 2) result.push_back({q, variable});
  }
  if (count(created_) > begin + result.size()) return {};
  return result;
}

/// The variable becomes what the qubit holds.
void PathSum::make_its_value(const Holder& holder) {
  std::vector<std::pair<Wide, std::uint64_t>> taken;  // all of them before any is added
  for_each_variable(holder.variable, [&](unsigned v) {
    for (const Wide p : std::exchange(products_of_[v], {})) taken.emplace_back(p, phases_.take(p));
  });
  for (const auto& [p, turns] : taken) add_lifted(p & ~holder.variable, values_[holder.qubit], turns);
  values_[holder.qubit].assign(1, holder.variable);
  note_value(holder.qubit);
}

/// Whether a Hadamard gate would take the variable out, but for a phase of the variable alone, and it is none of those
/// that the sum may begin with. `single`: inputs that stand beside variables in one product alone.
bool PathSum::lacks_turn(Wide variable, Wide single) const {
  Wide others = 0;
  bool simple = true;
  for_each_variable(variable, [&](unsigned v) {
    for (const Wide p : products_of_[v]) {
      const std::uint64_t turns = p == variable ? 0 : phases_.at(p);
      simple = simple && (turns == 0 || turns == kHalfTurn);
      if (turns != 0) others |= p & ~variable;
    }
  });
  return simple && others != 0 && ((others & ~single) != 0 || count(others) != 1);
}

std::optional<PhasedPermutation> PathSum::permutation_before_turns() const {
  if (too_large_) return std::nullopt;
  if (named_.names() != 0) {
    const std::optional<PathSum> written = written_out();
    return written ? written->permutation_before_turns() : std::nullopt;
  }
  std::vector<Holder> holders = may_lack_turns();
  if (holders.empty()) return std::nullopt;
  PathSum turned = *this;
  for (const Holder& holder : holders) turned.make_its_value(holder);
  Wide once = 0, several = 0;
  turned.phases_.for_each([&](Wide product, std::uint64_t) {
    if ((product & created_) == 0) return;
    several |= once & product;
    once |= product;
  });
  const Wide single = given() & ~held() & ~several;
  std::erase_if(holders, [&](const Holder& holder) { return !turned.lacks_turn(holder.variable, single); });
  if (holders.empty()) return std::nullopt;
  // All of what stands behind the gates first: each of them may change what other qubits hold.
  std::vector<PhasedPermutation::Turn> after;
  for (const Holder& holder : holders) after.push_back({holder.qubit, turned.phases_.take(holder.variable)});
  for (const Holder& holder : holders) {
    if (!turned.turn(holder.qubit)) return std::nullopt;
  }
  std::optional<PhasedPermutation> result = turned.permutation();
  if (result) result->turned_after = std::move(after);
  return result;
}

std::optional<PhasedPermutation> PathSum::permutation() const {
  // After a Hadamard gate its variable is the qubit's input, and all that is left of the one before is a half turn of
  // both, and phases from before. The powers of sqrt(1/2) are as many as those gates then, since each identity takes
  // its own. A variable without such a half turn is that of a Hadamard gate on a qubit that was 0 and still holds it.
  const Wide hidden = given() & ~named_.holds(held());
  if (too_large_ || count(hidden) > count(created_) || count(created_) > count(hidden | Wide{zeros_})) {
    return std::nullopt;
  }
  if (named_.names() != 0) {
    const std::optional<PathSum> written = written_out();
    return written ? written->permutation() : std::nullopt;
  }
  PhasedPermutation result;
  std::array<Qubit, kMostVariables> qubit_of{};
  Wide named = 0;
  bool tied = true;
  phases_.for_each([&](Wide product, std::uint64_t turns) {
    const Wide input = product & hidden;
    if (input == 0 || !tied) return;
    const Wide variable = product & created_;
    if (variable == 0) {
      result.phases_before.emplace_back(low(product), turns);
      return;
    }
    tied = turns == kHalfTurn && product == (input | variable) && count(input) == 1 && count(variable) == 1 &&
           (low(input) & result.turned) == 0;
    if (!tied) return;
    result.turned |= low(input);
    for_each_variable(variable, [&](unsigned v) { qubit_of[v] = log2_exact(low(input)); });
    tied = (named & variable) == 0;
    named |= variable;
  });
  if (!tied || result.turned != low(hidden)) return std::nullopt;
  for_each_bit(zeros_, [&](unsigned q) {
    if (values_[q].size() != 1 || count(values_[q][0]) != 1 || (values_[q][0] & created_ & ~named) == 0) return;
    for_each_variable(values_[q][0], [&](unsigned v) { qubit_of[v] = q; });
    named |= values_[q][0];
    result.turned |= bit_mask(q);
  });
  if (named != created_) return std::nullopt;
  result.zeros = zeros_ & ~result.turned;

  const auto renamed = [&](Wide product) {
    Index mask = low(product & inputs());
    for_each_variable(product & created_, [&](unsigned v) { mask |= bit_mask(qubit_of[v]); });
    return mask;
  };
  phases_.for_each([&](Wide product, std::uint64_t turns) {
    if ((product & hidden) == 0) result.phases.emplace_back(renamed(product), turns);
  });
  std::ranges::sort(result.phases_before);
  std::ranges::sort(result.phases);
  for (const Boolean<Wide>& value : values_) {
    Boolean<Index>& out = result.values.emplace_back();
    for (const Wide p : value) toggle(out, renamed(p));
  }
  return result;
}

}  // namespace qsim
