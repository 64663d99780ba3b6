// Phases about parities that together are the phase of a product: what Toffoli gates and controlled phases become when
// they are written with CX gates. x1 + x2 - (x1 xor x2) = 2 x1 x2, and so on: the alternating sum of the 2^k - 1
// parities of k bits is 2^(k-1) times their product. A parity becomes a product where the parities of fewer of its
// qubits, which take up the difference, become fewer by it.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "base/bits.h"
#include "base/numbers/rounding.h"
#include "optimizer/diagonal_term.h"
#include "optimizer/operations.h"
#include "optimizer/sums/path_sum.h"
#include "optimizer/weights.h"
#include "qsim/circuit.h"

namespace qsim {
namespace {

constexpr unsigned kMostQubits = 5;  // of a product: for each parity of k qubits 2^k others are looked at

/// exp(i angle f), f being the parity or the product of the qubits of `mask` (of one qubit: its bit).
struct Phase {
  Index mask = 0;
  bool parity = true;
  std::array<Index, kMostQubits> gaps{};  // of its first qubits, ascending
  double angle = 0;
  std::uint32_t at = 0;  // the operation that it is, or beside which it stands
  bool beside = false, changed = false;
};

class ProductRecogniser {
 public:
  explicit ProductRecogniser(const Circuit& circuit)
      : circuit_(circuit), number_of_(circuit.operations().size(), kNoPlace) {}

  bool run(Rewritten& result) {
    read();
    if (std::ranges::all_of(parities_, &std::vector<std::uint32_t>::empty)) return false;
    numbers_.reserve(phases_.size());
    for (std::uint32_t number = 0; number < phases_.size(); ++number) {
      numbers_.try_emplace(key_of(phases_[number]), number);
    }
    bool found = false;
    for (unsigned qubits = kMostQubits; qubits >= 2; --qubits) {
      for (std::size_t i = 0; i < parities_[qubits].size(); ++i) found = recognise(parities_[qubits][i]) || found;
    }
    result.refused = refused_;
    if (found) build(result);
    return found;
  }

 private:
  using Numbers = std::array<std::uint32_t, std::size_t{1} << kMostQubits>;
  using Angles = std::array<double, std::size_t{1} << kMostQubits>;

  /// A number of its own for a qubit and how many operations that are not diagonal on it came before: what has the same
  /// is side by side. Never 0; sums of them find sets.
  static Index gap_of(Qubit q, std::uint32_t since) {
    Index h = ((Index{since} << 6 | q) + 1) * 0x9E3779B97F4A7C15ull;
    h = (h ^ (h >> 31)) * 0xBF58476D1CE4E5B9ull;
    return h ^ (h >> 29);
  }

  void read() {
    std::vector<std::uint32_t> since(circuit_.qubits(), 0);  // by qubit: operations that are not diagonal on it
    const auto& operations = circuit_.operations();
    for (std::uint32_t i = 0; i < operations.size(); ++i) {
      if (skipped(operations[i])) continue;
      const Support support = support_of(circuit_, operations[i]);
      for_each_bit(support.all & ~support.diagonal, [&](unsigned q) { ++since[q]; });
      const auto term = support.is_diagonal() ? term_of(circuit_, operations[i]) : std::nullopt;
      if (!term || (term->ones != 0 && term->parity != 0)) continue;
      Phase phase;
      phase.mask = term->ones | term->parity;
      if (count_bits(phase.mask) > kMostQubits) continue;
      phase.parity = term->parity != 0 || count_bits(phase.mask) == 1;
      std::size_t qubits = 0;
      for_each_bit(phase.mask, [&](unsigned q) { phase.gaps[qubits++] = gap_of(q, since[q]); });
      phase.angle = term->angle;
      phase.at = i;
      number_of_[i] = keep(phase);
    }
  }

  /// Its number.
  std::uint32_t keep(const Phase& phase) {
    const auto number = static_cast<std::uint32_t>(phases_.size());
    const unsigned qubits = count_bits(phase.mask);
    phases_.push_back(phase);
    if (phase.parity && qubits >= 2) parities_[qubits].push_back(number);
    return number;
  }

  /// The same of one that is to be found, unless there is an equal one.
  std::uint32_t add(const Phase& phase) {
    const std::uint32_t number = keep(phase);
    numbers_.try_emplace(key_of(phase), number);
    return number;
  }

  static Index key_of(const Phase& phase) {
    const Index sum = std::accumulate(phase.gaps.begin(), phase.gaps.end(), Index{0});
    return phase.parity ? sum : ~sum;
  }

  /// The phase that `part`, which is of the same qubits in the same gaps, would join.
  std::uint32_t find(const Phase& part) const {
    const auto found = numbers_.find(key_of(part));
    if (found == numbers_.end()) return kNoPlace;
    const Phase& phase = phases_[found->second];
    const bool same = phase.mask == part.mask && phase.gaps == part.gaps && phase.parity == part.parity;
    return same ? found->second : kNoPlace;
  }

  /// Sums of angles leave this much where they are nothing.
  static bool vanishes(double angle) { return std::abs(angle) <= kRounding; }
  static double without_rounding(double angle) {
    const std::uint64_t turns = turns_of(angle), rounded = rounded_turns(turns);
    return rounded == turns ? angle : angle_of_turns(rounded);
  }
  static double cost(unsigned qubits, double angle) { return vanishes(angle) ? 0 : weight::diagonal(qubits); }

  /// The parity as 2^(k-1) times the product, less what the other parities of its qubits add to that.
  bool recognise(std::uint32_t number) {
    const Phase phase = phases_[number];
    if (vanishes(phase.angle)) return false;
    const unsigned qubits = count_bits(phase.mask);
    const std::uint32_t whole = (1u << qubits) - 1;
    Numbers numbers{};  // by subset; of the whole the product, and number 0 the parity itself
    Angles before{}, after{};
    numbers[0] = number;
    before[0] = phase.angle;
    double gain = cost(qubits, phase.angle);
    for (std::uint32_t subset = 1; subset <= whole; ++subset) {
      const unsigned size = count_bits(subset);
      numbers[subset] = find(part_of(phase, subset, subset != whole));
      before[subset] = numbers[subset] == kNoPlace ? 0 : phases_[numbers[subset]].angle;
      const double sign = (qubits + size) % 2 == 0 ? -1 : 1;
      const double change =
          subset != whole ? sign * phase.angle
                          : std::ldexp(qubits % 2 == 0 ? -phase.angle : phase.angle, static_cast<int>(qubits) - 1);
      after[subset] = without_rounding(wrap_angle(before[subset] + change));
      if (vanishes(after[subset])) after[subset] = 0;
      gain += cost(size, before[subset]) - cost(size, after[subset]);
    }
    if (gain <= 1e-9) return false;
    if (!same(before, after, whole)) {
      ++refused_;
      return false;
    }
    set(number, 0);
    for (std::uint32_t subset = 1; subset <= whole; ++subset) {
      if (numbers[subset] != kNoPlace)
        set(numbers[subset], after[subset]);
      else if (after[subset] != 0)
        set(add(part_of(phase, subset, subset != whole)), after[subset]);
    }
    return true;
  }

  /// Both give every value of the qubits the same phase.
  static bool same(const Angles& before, const Angles& after, std::uint32_t whole) {
    for (std::uint32_t x = 0; x <= whole; ++x) {
      long double old = odd_parity(x) ? before[0] : 0, made = odd_parity(x) ? after[0] : 0;
      for (std::uint32_t subset = 1; subset <= whole; ++subset) {
        if (subset == whole ? x != whole : !odd_parity(x & subset)) continue;
        old += before[subset];
        made += after[subset];
      }
      const Complex is = std::polar(1.0, static_cast<double>(made)), was = std::polar(1.0, static_cast<double>(old));
      if (!recomposes({&is, 1}, {&was, 1}, std::sqrt(static_cast<double>(whole)))) return false;
    }
    return true;
  }

  /// Nothing yet, beside the operation at which `phase` is.
  static Phase part_of(const Phase& phase, std::uint32_t subset, bool parity) {
    Phase part;
    std::uint32_t place = 0;
    std::size_t qubits = 0;
    for_each_bit(phase.mask, [&](unsigned q) {
      if ((subset >> place & 1) != 0) {
        part.mask |= bit_mask(q);
        part.gaps[qubits++] = phase.gaps[place];
      }
      ++place;
    });
    part.parity = parity;
    part.at = phase.at;
    part.beside = true;
    return part;
  }

  void set(std::uint32_t number, double angle) {
    phases_[number].angle = angle;
    phases_[number].changed = true;
  }

  /// Phases are written as P gates and rotations, whose phase where the parity is even goes to one phase of all.
  void build(Rewritten& result) const {
    const auto& operations = circuit_.operations();
    std::vector<std::vector<std::uint32_t>> beside(operations.size());
    for (std::uint32_t n = 0; n < phases_.size(); ++n) {
      if (phases_[n].beside && phases_[n].angle != 0) beside[phases_[n].at].push_back(n);
    }
    Rewriter rewriter(circuit_, result);
    std::uint64_t everywhere = 0;  // exactly: many angles' rounding would add up
    const auto write = [&](const Phase& phase, std::uint32_t i) {
      DiagonalTerm term;
      const bool rotation = phase.parity && count_bits(phase.mask) > 1;
      (rotation ? term.parity : term.ones) = phase.mask;
      term.angle = phase.angle;
      if (rotation) everywhere += turns_of(0.5 * phase.angle);
      append(rewriter.append_for(i), term);
    };
    for (std::uint32_t i = 0; i < operations.size(); ++i) {
      if (skipped(operations[i])) continue;
      const std::uint32_t number = number_of_[i];
      if (number == kNoPlace || !phases_[number].changed) {
        rewriter.copy(i);
      } else {
        const auto term = term_of(circuit_, operations[i]);
        if (term->parity != 0) everywhere -= turns_of(0.5 * term->angle);
        if (phases_[number].angle != 0) {
          write(phases_[number], i);
          rewriter.count_here(i);
        }
      }
      for (const std::uint32_t n : beside[i]) {
        write(phases_[n], i);
        if (result.place[i] == kNoPlace) rewriter.count_here(i);
      }
      if (result.place[i] == kNoPlace) rewriter.remove(i, "recognised as products");
    }
    const double phase = wrap_angle(angle_of_turns(everywhere));
    if (phase != 0) result.circuit.add_pauli_rotation(-2 * phase, "", {});
  }

  const Circuit& circuit_;
  std::vector<std::uint32_t> number_of_;  // by operation: the phase that it is
  std::vector<Phase> phases_;
  std::unordered_map<Index, std::uint32_t> numbers_;
  std::array<std::vector<std::uint32_t>, kMostQubits + 1> parities_;  // by how many qubits they have
  std::uint64_t refused_ = 0;
};

}  // namespace

bool recognise_products(const Circuit& circuit, Rewritten& result) { return ProductRecogniser(circuit).run(result); }

}  // namespace qsim
