// Matrices on two wires, whose numbers are paid for one by one.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "qsim/types.h"

namespace qsim {

constexpr double kNoNoise = 1e-6;     // squares of entries that are no zeros and whose phases are known
constexpr double kFewestEntries = 4;  // one in each row

/// What rounding has left of 0 and 1 becomes that: such entries cost nothing.
void tidy_pair(std::span<Complex> matrix);

/// The numbers of a matrix that are paid for: FormCosts::by_parity.
double paid_entries(std::span<const Complex> matrix, bool by_parity);

/// Takes the phase that all entries share out of a matrix, where that leaves fewer numbers to pay for; its angle.
double take_phase(std::vector<Complex>& matrix, bool by_parity);

/// paid_entries() of what take_phase() leaves, near enough to choose by.
double entries_without_phase(std::array<Complex, 16> matrix, bool by_parity);

}  // namespace qsim
