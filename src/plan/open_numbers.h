// Numbers of a plan that follow angles of the circuit: sums of multiples of angles, and matrices that are products of
// fixed ones and of phases by such sums. A plan that was made for some angles is the plan for others once its numbers
// are put in again.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "qsim/types.h"

namespace qsim {

struct Plan;

/// An angle, and the number of the sum that it is in an OpenNumbers; 0: it is fixed.
struct OpenAngle {
  OpenAngle(double fixed) : value(fixed) {}  // implicit: most angles are fixed
  OpenAngle(double at, std::uint32_t number) : value(at), sum(number) {}
  double value = 0;
  std::uint32_t sum = 0;
};

/// A factor of a 2x2 matrix: `matrix`, or with a sum e^{i sum} at one of the two entries of an identity.
struct OpenFactor {
  std::uint32_t sum = 0;
  bool on_one = true;
  std::array<Complex, 4> matrix{};
};

class OpenNumbers {
 public:
  struct Term {
    std::uint32_t angle = 0;
    double factor = 0;
    friend bool operator==(const Term&, const Term&) = default;
  };

  bool empty() const { return sums_.empty(); }

  /// `factor` times angle number `angle` of the circuit.
  OpenAngle multiple(double value, std::uint32_t angle, double factor);
  OpenAngle negated(const OpenAngle& angle) { return scaled(angle, -1); }
  /// Not reduced.
  OpenAngle scaled(const OpenAngle& angle, double factor);
  /// The sum, reduced to a turn.
  OpenAngle added(const OpenAngle& a, const OpenAngle& b);
  OpenAngle total(std::span<const OpenAngle> angles);

  /// Number of the product of `factors`, the first one first; from 1 on.
  std::uint32_t product(std::span<const OpenFactor> factors);
  /// The sums with these angles of the circuit, each reduced to a turn.
  std::vector<double> values(std::span<const double> angles) const;
  /// A product with these values of the sums.
  std::array<Complex, 4> matrix(std::uint32_t product, std::span<const double> values) const;

  /// What is multiplied, the first factor first.
  std::span<const OpenFactor> factors(std::uint32_t product) const;
  /// What is added up: multiples of the circuit's angles, none for a fixed angle, and a constant.
  std::span<const Term> terms(std::uint32_t sum) const;
  double constant(const OpenAngle& angle) const { return angle.sum == 0 ? angle.value : sums_[angle.sum - 1].constant; }

  /// Forgets what `plan` does not refer to, and renumbers what it does.
  void keep_used(Plan& plan);

  friend bool operator==(const OpenNumbers&, const OpenNumbers&) = default;

 private:
  /// Terms begin where those of the sum before end.
  struct Sum {
    double constant = 0;
    std::uint32_t end = 0;
    friend bool operator==(const Sum&, const Sum&) = default;
  };
  std::uint32_t close(double constant);

  std::vector<Sum> sums_;
  std::vector<Term> terms_;
  std::vector<std::uint32_t> product_end_;
  std::vector<OpenFactor> factors_;
};

bool operator==(const OpenFactor& a, const OpenFactor& b);

}  // namespace qsim
