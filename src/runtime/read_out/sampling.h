// Shots from one state. Probabilities are added as integers (units of 2^-62) in logical order, so the same seed gives
// the same outcomes for any number of ranks, threads and any layout.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "runtime/distributed_state.h"
#include "runtime/exchange/exchange_pipeline.h"

namespace qsim {

/// Words of draws with these numbers are all different words.
constexpr std::uint64_t kMaxDraws = std::uint64_t{1} << 24;
/// The random word of draw number `draw` of shot `shot`.
std::uint64_t shot_word(std::uint64_t seed, std::uint64_t shot, std::uint64_t draw);
/// A place in [0, total), proportional to the word: floor(word * total / 2^64).
std::uint64_t scale_word(std::uint64_t word, std::uint64_t total);

constexpr std::uint32_t kBlockQubits = 16;  // the highest ones, whose values are counted first
constexpr std::uint64_t kTallyShare = 8;    // a tally of all outcomes is at most that many times as long as the shots
constexpr std::size_t kShotBatch = std::size_t{1} << 21;  // shots that are drawn at a time

/// Shots that have been through as many draws (decision 0014).
struct ShotList {
  std::uint32_t draws = 0;           // number of the next one
  std::vector<std::uint64_t> shots;  // numbers, rising
  std::uint64_t unlisted = 0;        // instead, where nothing splits them: how many, numbered 0, 1, ...
  std::uint64_t size() const { return unlisted + shots.size(); }
};
using ShotLists = std::vector<ShotList>;  // of different draws

/// Outcomes (value, times) by rising value.
using OutcomeCounts = std::vector<std::pair<Index, std::uint64_t>>;

class Sampler {
 public:
  /// Builds the integer distribution over the high qubits. Where a rank's number holds low qubits, those are first
  /// exchanged with high ones: `state`'s layout changes. `shots`: as many are going to be drawn, for which a host that
  /// waits makes memory ready.
  Sampler(DistributedState& state, ExchangePipeline& exchanges, std::uint64_t shots = 0);

  /// Draws `count` shots (draw number `draw` of each), those numbered `listed` or, where that is empty, 0, 1, ..., and
  /// counts logical indices under `mask`. Every rank gets all outcomes.
  OutcomeCounts sample(std::uint64_t count, std::span<const std::uint64_t> listed, std::uint64_t seed,
                       std::uint64_t draw, Index mask);

  /// The probability of all that is drawn from. An amplitude that is not a number makes it no state's.
  double total() const { return std::ldexp(static_cast<double>(ends_.back()), -62); }

 private:
  /// The same where every block is one amplitude: read off `ends_`, on each rank alone.
  OutcomeCounts tally(std::uint64_t count, std::span<const std::uint64_t> listed, std::uint64_t seed,
                      std::uint64_t draw, Index mask) const;
  /// The units of this rank's blocks.
  std::vector<std::uint64_t> own_blocks(std::uint64_t shots);
  /// Local indices of the rising places that fall on this rank.
  std::vector<Index> locate(const DrawBlocks& blocks, std::span<const std::uint64_t> places);

  DistributedState& state_;
  std::uint32_t block_qubits_ = 0;   // the highest qubits, whose values name blocks
  std::vector<Qubit> block_list_;    // ascending
  std::vector<Qubit> inner_list_;    // the others, ascending
  std::vector<std::uint64_t> ends_;  // running totals of the blocks
  OutcomeCounts ready_;              // empty, with memory that has been touched
};

/// Moves the qubits below the `top` highest off the ranks' numbers, by one exchange that is noted in `state`.
void raise_global_qubits(DistributedState& state, ExchangePipeline& exchanges, std::uint32_t top);

/// Takes back what read-outs have moved.
void undo_moves(DistributedState& state, ExchangePipeline& exchanges);

/// The same outcomes on every rank: equal values added up, rising.
OutcomeCounts merge_outcomes(Communicator& communicator, OutcomeCounts mine);

/// An outcome of at most this probability, of a state whose total is near 1, is taken for what rounding leaves where
/// the exact probability is 0.
double noise_probability(Precision precision);

constexpr std::size_t kMaxOutcomes = std::size_t{1} << 20;  // of an exact answer

/// (value, probability) by rising value.
struct OutcomeDistribution {
  std::vector<std::pair<Index, double>> outcomes;
  double left_out = 0;  // probability of all outcomes that were taken for rounding
};
/// Exact distribution of the logical index under `mask`. Up to 20 qubits each probability is exact to rounding of
/// itself; beyond that each amplitude adds at most 2^-63 of error. UnsupportedError where more than `limit` outcomes
/// are possible.
OutcomeDistribution outcome_distribution(DistributedState& state, Index mask, std::size_t limit);

}  // namespace qsim
