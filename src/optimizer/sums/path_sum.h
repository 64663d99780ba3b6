// A circuit of Hadamard gates, flips and phases as a sum over paths: each qubit holds a boolean polynomial of the
// inputs and of a variable for each Hadamard gate, and a path has a phase, a polynomial of the same variables.
//
// Three identities take variables out, all of them exact (z a variable that no qubit holds any more, Q a polynomial
// without it):
//   sum over z of 1                            = 2
//   sum over z of (-1)^(z (y + Q))             = 2 where y = Q, else 0, so that Q can be put for a path's variable y
//   sum over z of i^z (-1)^(z Q)               = sqrt(2) e^(i pi/4) (-i)^Q, and its conjugate
// When none is left but the inputs, the circuit permutes the basis states and gives each a phase.
//
// Angles are whole numbers of 2^-64 turns: sums, doubles and "is this pi?" are exact. A polynomial over GF(2) as a
// number is b1 xor b2 = b1 + b2 - 2 b1 b2.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/bits.h"
#include "optimizer/sums/boolean.h"
#include "optimizer/sums/named_polynomials.h"
#include "optimizer/sums/phase_table.h"
#include "qsim/types.h"

namespace qsim {

/// An angle in 2^-64 turns. Those that are a simple part of a turn to rounding (a whole number below 2^38 times a power
/// of two) are exactly that.
std::uint64_t turns_of(double angle);
constexpr std::uint64_t kHalfTurn = std::uint64_t{1} << 63;
/// Whether the angle is a simple part of a turn to rounding.
bool is_part_of_turn(double angle);
/// The whole number of 2^-40 turns to which that is nearest, where they are the same but for what a handful of rounded
/// operations on angles leave; else as it is.
std::uint64_t rounded_turns(std::uint64_t turns);
/// Between -pi and pi.
double angle_of_turns(std::uint64_t turns);

/// Phases of products first and Hadamard gates of the qubits `turned`, and then for a basis state x: its phase is the
/// sum of the phases of those products that are 1, and qubit q becomes values[q]. The qubits `zeros` are 0 in x. Then
/// come Hadamard gates once more.
struct PhasedPermutation {
  std::vector<std::pair<Index, std::uint64_t>> phases_before;
  Index turned = 0;
  Index zeros = 0;
  std::vector<Boolean<Index>> values;  // by qubit
  std::vector<std::pair<Index, std::uint64_t>> phases;
  struct Turn {
    Qubit qubit = 0;
    std::uint64_t phase = 0;  // after the Hadamard gate
  };
  std::vector<Turn> turned_after;
};

class PathSum {
 public:
  /// At most 64 qubits, of which some are 0 at the start. `names`: whether long polynomials of inputs get names.
  explicit PathSum(std::uint32_t qubits, Index zeros = 0, bool names = false);

  /// These may be anything at the start. Nothing may have been appended to them.
  void forget_zeros(Index qubits);
  /// Qubits that are 0 now, whatever else there is.
  Index zeros() const { return empty_; }

  // What is appended. False once the sum has become too large to go on.
  bool flip(Qubit target, Index controls);
  /// exp(i angle) where all `ones` are 1, of those with an odd number of ones in `parity` unless that is empty.
  bool phase(Index ones, Index parity, std::uint64_t turns);
  bool turn(Qubit qubit);  // a Hadamard gate

  /// Whether a Hadamard gate there would take variables out.
  bool turn_ends(Qubit qubit) const;

  /// Nothing where variables are left that are no Hadamard gates at the beginning.
  std::optional<PhasedPermutation> permutation() const;
  /// The same where it takes further Hadamard gates for that: then those are behind it once more. What gates with
  /// several controls end with may have met the same gate of what follows.
  std::optional<PhasedPermutation> permutation_before_turns() const;

  /// Whether Hadamard gates were taken out between which there were phases that no Clifford circuit has.
  bool saw_through() const { return saw_through_; }
  /// Whether it has become too large for the polynomials that qubits hold.
  bool is_too_long() const { return too_large_ && phases_.size() <= kMostPhases; }
  /// Hadamard gates that are still in the sum.
  unsigned variables() const { return count(created_); }
  /// Products looked at.
  std::uint64_t work() const { return work_; }

 private:
  static constexpr unsigned kMostVariables = 128;
  static constexpr std::size_t kMostProducts = 64;       // of a polynomial
  static constexpr std::uint64_t kMostPhases = 1 << 13;  // of the sum
  static constexpr double kMostSets = 2048;              // of products that one polynomial makes as a number

  static std::uint64_t low(Wide mask) { return static_cast<std::uint64_t>(mask); }
  static std::uint64_t high(Wide mask) { return static_cast<std::uint64_t>(mask >> 64); }
  static unsigned count(Wide mask) { return count_bits(low(mask)) + count_bits(high(mask)); }
  static Wide bit(unsigned variable) { return Wide{1} << variable; }

  bool multiply(Boolean<Wide>& product, const Boolean<Wide>& by);
  /// With names for what is long, in `room`; the polynomial itself, where there are no names.
  const Boolean<Wide>& shortened(const Boolean<Wide>& polynomial, Boolean<Wide>& room);
  /// A sum without names; nothing where that is too large.
  std::optional<PathSum> written_out() const;
  void forget_names();  // that are of no use any more
  void add(Wide product, std::uint64_t turns);
  /// turns * product * polynomial, as a number.
  void add_lifted(Wide product, std::span<const Wide> polynomial, std::uint64_t turns);
  void add_sets(Wide product, std::span<const Wide> polynomial, std::uint64_t turns);
  void note_value(Qubit qubit);  // that it has changed
  Wide held() const;
  Wide inputs() const { return (Wide{1} << qubits_) - 1; }
  Wide given() const { return inputs() & ~Wide{zeros_}; }  // inputs that may be anything
  /// Takes out what the identities can of these variables and of those that change by it.
  void reduce(Wide variables);
  struct Cofactor {
    Boolean<Wide> half_turns;  // where the phase is pi
    int quarter = 0;           // and +-1 quarter turn everywhere
    bool simple = true;        // nothing else
  };
  void tidy(unsigned variable);
  Cofactor cofactor(unsigned variable) const;
  /// A qubit and the variable that it alone holds.
  struct Holder {
    Qubit qubit = 0;
    Wide variable = 0;
  };
  std::vector<Holder> may_lack_turns() const;
  void make_its_value(const Holder& holder);
  bool lacks_turn(Wide variable, Wide single) const;
  std::optional<unsigned> solvable(const Boolean<Wide>& polynomial) const;
  Wide substitute(unsigned variable, const Boolean<Wide>& by);
  void take_out(unsigned variable);
  void forget(unsigned variable);

  std::uint32_t qubits_;
  Index zeros_;                        // inputs that are 0
  Index empty_ = 0;                    // qubits whose value is 0
  std::vector<Boolean<Wide>> values_;  // by qubit
  std::vector<Wide> holds_;            // by qubit: the variables of its value
  bool names_;                         // whether there may be some
  NamedPolynomials named_;
  PhaseTable phases_;
  std::array<std::vector<Wide>, kMostVariables> products_of_;  // by variable: with it, among them some that are gone
  std::array<std::uint32_t, kMostVariables> born_{};
  Wide created_ = 0;  // the variables that are no inputs
  Wide fine_ = 0;     // of them those with phases that no Clifford circuit has
  std::uint32_t turns_ = 0;
  bool too_large_ = false, saw_through_ = false;
  mutable std::uint64_t work_ = 0;
};

}  // namespace qsim
