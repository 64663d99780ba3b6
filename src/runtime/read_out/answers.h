// What may be asked of a program's run, and what it answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "document/result.h"
#include "qsim/pauli.h"
#include "qsim/types.h"
#include "runtime/read_out/outcome_sums.h"

namespace qsim {

/// What is to be read at the end of every branch; the last three of the one final state.
struct ReadOuts {
  std::uint64_t shots = 0, seed = 0, start_seed = 1;
  bool distribution = false, marginals = false;
  bool shot_marginals = false;
  std::uint64_t max_iterations = std::uint64_t{1} << 20;  // of loops, in one branch
  std::span<const std::vector<Qubit>> probabilities = {};
  std::span<const PauliSum> expectation = {};
  bool amplitudes = false;  // of these indices, then of the most probable
  std::span<const Index> indices = {};
  std::size_t top = 0;
  std::string statevector;  // the file; empty: none
  /// Needs every branch, however unlikely.
  bool exact() const;
};

/// The answers; averages over the branches where there are several.
struct Answers : Results {
  std::optional<OutcomeSums<std::uint64_t>> drawn;  // of the branches so far; `counts` and `distribution` at the end
  std::optional<OutcomeSums<double>> weighed;
  std::vector<double> shot_marginals;  // averages over the shots of P(qubit = 1) before the terminal measurements
  std::size_t branches = 0;
  double weight = 0;             // of all branches that were followed
  double branches_left_out = 0;  // weight of those that were taken for rounding
  double outcomes_left_out = 0;  // of the distribution: outcomes that were taken for rounding
  double read_seconds = 0;
  double exchange_seconds = 0;  // of the branches, without what read-outs exchange
  std::uint64_t exchange_bytes = 0;
};

}  // namespace qsim
