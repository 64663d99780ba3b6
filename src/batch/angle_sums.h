// The angles of a plan as sums of multiples of parameters.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "device/batch/batch_program.h"
#include "optimizer/open/open_angles.h"
#include "plan/open_numbers.h"
#include "qsim/types.h"

namespace qsim {

/// Equal sums are one. The numbers and angles must outlive this.
class AngleSums {
 public:
  /// e^{i angle}: of the sum with this number, or fixed where there is none (0).
  struct Phase {
    std::uint32_t sum = 0;
    Complex fixed = 1;
  };

  AngleSums(const OpenNumbers& numbers, const OpenAngles& angles) : numbers_(numbers), angles_(angles) {}

  Phase total(std::span<const OpenAngle> angles);
  /// The number that a sum has in the program, which gets those that are asked for. 0 stays 0.
  std::uint32_t used(std::uint32_t sum, BatchProgram& program);
  /// BatchProgram::plain_values.
  static double plain_values(const BatchProgram& program);

 private:
  using Terms = std::vector<std::tuple<std::uint32_t, double, double>>;  // parameter, factor in an angle, share of that
  using Sum = std::pair<double, Terms>;                                  // a constant and the rest
  const OpenNumbers& numbers_;
  const OpenAngles& angles_;
  std::map<Sum, std::uint32_t> known_;
  std::vector<Sum> sums_;
  std::vector<std::uint32_t> used_;  // by sum: its number in the program; 0: none yet
};

}  // namespace qsim
