// Each read-out's functions, in the order of the table at the end of the file.
#include "runtime/answer/read_outs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "device/abilities.h"
#include "qsim/error.h"
#include "runtime/check/answer_check.h"
#include "runtime/check/question_check.h"
#include "runtime/read_out/observables.h"
#include "runtime/read_out/sampling.h"
#include "runtime/read_out/state_file.h"

namespace qsim {
namespace {

void add_scaled(std::vector<double>& sum, const std::vector<double>& values, double factor) {
  sum.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) sum[i] += factor * values[i];
}

/// The value, made of `how` where there is none yet.
template <typename Value, typename... How>
Value& made(std::optional<Value>& value, const How&... how) {
  return value ? *value : value.emplace(how...);
}

template <auto kMember>
bool wants(const ReadOuts& asked) {
  if constexpr (requires { (asked.*kMember).empty(); }) {
    return !(asked.*kMember).empty();
  } else {
    return asked.*kMember != 0;
  }
}

template <auto kMember>
void compare(const Comparison& walks, const Results& first, const Results& second) {
  if (first.*kMember) walks.compare(*(first.*kMember), (second.*kMember).value());
}

template <auto kMember>
constexpr ShownAnswer shown(int json_place, void (*json)(JsonStream&, const Result&), int text_place,
                            void (*text)(const Result&, const ReportScope&, std::vector<Section>&)) {
  return {[](const Results& results) { return (results.*kMember).has_value(); }, json_place, json, text_place, text};
}

// What is held.

constexpr std::uint64_t kNumber = 8, kComplex = 16, kSum = 16;  // a double or an index; a compensated sum
constexpr std::uint64_t kOutcome = 16;                          // value and times, or value and probability

constexpr std::uint64_t power(std::uint64_t exponent) {
  return exponent < 64 ? std::uint64_t{1} << exponent : std::numeric_limits<std::uint64_t>::max();
}
std::uint64_t times(std::uint64_t a, std::uint64_t b) { return saturating_multiply(a, b); }
std::uint64_t plus(std::uint64_t a, std::uint64_t b) { return saturating_add(a, b); }

/// What the allocator takes for `bytes`: 8 of its own, in steps of 16, 32 at least.
std::uint64_t allocated(std::uint64_t bytes) { return std::max<std::uint64_t>(32, (bytes + 8 + 15) / 16 * 16); }
/// What a text takes beside its object.
std::uint64_t text_bytes(std::uint64_t characters) { return characters > 15 ? allocated(characters + 1) : 0; }

/// An outcome in an answer: its words and its value.
std::uint64_t outcome_bytes(const Circuit& circuit) { return 8 * ((shown_bits(circuit.cregs()) + 63) / 64) + kNumber; }

/// The values of variables with it: a node of a map (links, the list's object, the value; the list).
std::uint64_t variables_bytes(const Circuit& circuit) {
  std::uint64_t scalars = 0;
  for (const FlowOutput& variable : result_variables(circuit)) scalars += variable.values.size();
  return scalars == 0 ? 0 : allocated(32 + 24 + 8) + allocated(scalars * sizeof(Scalar));
}

/// What listing `outcomes` takes beside the answer: they are sorted by their bits where those are not in the order of
/// the qubits.
std::uint64_t sorting_bytes(const ReadOutPlace& place, std::uint64_t outcomes) {
  constexpr std::uint64_t kPlace = 16;  // of an outcome, twice on the way into buckets
  const TerminalMeasurements terminal(place.program.terminal_measures, place.circuit.clbits());
  const auto& kept = terminal.kept();  // by rising bit
  const bool rising = std::ranges::is_sorted(kept, {}, &std::pair<Qubit, Clbit>::first);
  return rising ? 0 : times(outcomes, 2 * kPlace + outcome_bytes(place.circuit));
}

Index measured(const ReadOutPlace& place) {
  Index mask = 0;
  for (const auto& [qubit, clbit] : place.program.terminal_measures) mask |= bit_mask(qubit);
  return mask;
}

std::uint32_t local_bits(const ReadOutPlace& place) { return place.qubits - place.rank_bits; }

/// How many of `list` are local bits when the run is over.
std::uint64_t local_of(const ReadOutPlace& place, std::span<const Qubit> list) {
  if (place.program.plans.empty()) return std::min<std::uint64_t>(list.size(), local_bits(place));
  const std::vector<Bit>& bit_of = place.program.plans.back().final_layout.bit_of;
  return static_cast<std::uint64_t>(std::count_if(list.begin(), list.end(), [&](Qubit qubit) {
    return qubit >= bit_of.size() || bit_of[qubit] < local_bits(place);
  }));
}

/// The values of all ranks, those of this one where they are fewer, and the sums behind them.
std::uint64_t histogram(const ReadOutPlace& place, std::uint64_t listed, std::uint64_t local,
                        std::uint64_t sum_bytes = kSum) {
  const std::uint64_t values = times(kNumber, power(listed));
  const std::uint64_t own = local == listed ? 0 : times(kNumber, power(local));
  const std::uint64_t pieces = local <= 10 ? 64 : 1;
  return plus(plus(values, own), place.on_host ? times(pieces * sum_bytes, power(local)) : 0);
}

/// How many different outcomes `shots` draws of `outcomes` equally likely ones have on the average: other states have
/// fewer.
std::uint64_t expected_outcomes(std::uint64_t shots, std::uint64_t outcomes) {
  const double all = static_cast<double>(outcomes), drawn = static_cast<double>(shots);
  const double expected = -all * std::expm1(drawn * std::log1p(-1 / std::max(all, 2.0)));
  return std::min({shots, outcomes, static_cast<std::uint64_t>(std::ceil(std::min(expected, 1.8e19)))});
}

// Variables: of a circuit that measures they come with the outcomes, drawn or exact.

void read_variables(const BranchEnd& end, const ReadOuts&, Answers& answers) {
  if (!end.variables.any()) return;
  VariableResults& results = made(answers.variables);
  results.variables = end.variables.outputs();
  if (!end.measures) results.distribution = {{end.variables.read(end.bits, end.memory), 1}};
}

// Marginals.

void read_marginals(const BranchEnd& end, const ReadOuts&, Answers& answers) {
  add_scaled(made(answers.marginals), marginals(end.state), end.factor());
}

// Joint probabilities.

void require_lists(const ReadOuts& asked, const Circuit& circuit) {
  for (const std::vector<Qubit>& list : asked.probabilities) require_probabilities(list, circuit.qubits());
}

void read_probabilities(const BranchEnd& end, const ReadOuts& asked, Answers& answers) {
  std::vector<QubitProbabilities>& lists = made(answers.probabilities);
  lists.resize(asked.probabilities.size());
  for (std::size_t i = 0; i < lists.size(); ++i) {
    lists[i].qubits = asked.probabilities[i];
    add_scaled(lists[i].values, qubit_probabilities(end.state, lists[i].qubits), end.factor());
  }
}

void hold_probabilities(const ReadOuts& asked, const ReadOutPlace& place, HostAccount& account) {
  for (const std::vector<Qubit>& list : asked.probabilities) {
    const std::uint64_t answer = times(kNumber, power(list.size()));
    account.read("`probabilities` of " + std::to_string(list.size()) + " qubits",
                 std::max(histogram(place, list.size(), local_of(place, list)), times(2, answer)), answer);
  }
}

// Expectation values.

void require_sums(const ReadOuts& asked, const Circuit& circuit) {
  for (const PauliSum& sum : asked.expectation) require_expectation(sum, circuit.qubits());
}

void read_expectation(const BranchEnd& end, const ReadOuts& asked, Answers& answers) {
  std::vector<PauliString> strings;
  for (const PauliSum& sum : asked.expectation) {
    for (const PauliTerm& term : sum.terms) strings.push_back(term.pauli);
  }
  std::vector<ExpectationValue>& values = made(answers.expectation);
  values.resize(asked.expectation.size());
  if (strings.empty()) return;
  const std::vector<double> found = pauli_expectations(end.state, end.exchanges, strings);
  auto next = found.begin();
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i].value = 0;
    values[i].terms.resize(asked.expectation[i].terms.size());
    for (std::size_t j = 0; j < values[i].terms.size(); ++j) {
      PauliTermValue& term = values[i].terms[j];
      term.value += end.factor() * *next++;
      values[i].value += asked.expectation[i].terms[j].coefficient * term.value;
    }
  }
}

void name_expectation(DistributedState&, ExchangePipeline&, const ReadOuts& asked, Results& results) {
  for (std::size_t i = 0; i < asked.expectation.size(); ++i) {
    ExpectationValue& value = results.expectation.value()[i];
    value.name = asked.expectation[i].name;
    for (std::size_t j = 0; j < value.terms.size(); ++j) {
      value.terms[j].pauli = pauli_text(asked.expectation[i].terms[j].pauli);
      value.terms[j].coefficient = asked.expectation[i].terms[j].coefficient;
    }
  }
}

void hold_expectation(const ReadOuts& asked, const ReadOutPlace& place, HostAccount& account) {
  constexpr std::uint64_t kPieces = 64, kTileBits = 14;  // partial sums of the CPU backend
  std::uint64_t strings = 0, texts = 0;
  for (const PauliSum& sum : asked.expectation) {
    strings += sum.terms.size();
    for (const PauliTerm& term : sum.terms) texts += text_bytes(pauli_text(term.pauli).size());
  }
  if (strings == 0) return;
  const std::uint64_t tiles = power(local_bits(place) - std::min<std::uint64_t>(local_bits(place), kTileBits));
  const std::uint64_t sums =
      place.on_host ? plus(times(std::min(tiles, kPieces), kSum), 8 * static_cast<std::uint64_t>(place.threads)) : 0;
  // Order, members, masks, groups, values, call, parts, flat list; the lists of the groups grow by doubling.
  const std::uint64_t lists = 8 + 56 + 32 + 16 + 24 + 16 + 24 + 16 + 8;
  const std::uint64_t answer = plus(times(strings, kNumber + 16 + sizeof(PauliTermValue)), texts);
  account.read("`expectation` of " + std::to_string(strings) + " strings", times(strings, plus(lists, sums)), answer);
}

// The exact distribution.

void require_listable(std::size_t outcomes) {
  if (outcomes <= kMaxOutcomes) return;
  throw UnsupportedError("the exact distribution has more than " + std::to_string(kMaxOutcomes) +
                         " outcomes: draw `shots` instead");
}

void read_distribution(const BranchEnd& end, const ReadOuts&, Answers& answers) {
  ClassicalBits bits = end.bits;
  const OutcomeDistribution found = outcome_distribution(end.state, end.terminal.mask(), kMaxOutcomes);
  answers.outcomes_left_out += end.factor() * found.left_out;
  OutcomeSums<double>& sums = made(answers.weighed, shown_bits(end.circuit.cregs()));
  sums.expect(found.outcomes.size());
  for (const auto& [value, probability] : found.outcomes) {
    end.terminal.write(value, bits);
    sums.add(bits.words(), end.factor() * probability);
    if (end.variables.any() && end.measures) {
      made(answers.variables->distribution)[end.variables.read(bits, end.memory)] += end.factor() * probability;
    }
  }
  require_listable(sums.settle_much());
}

void hold_distribution(const ReadOuts&, const ReadOutPlace& place, HostAccount& account) {
  constexpr std::uint64_t kFirst = 20;
  std::vector<Qubit> list;
  for_each_bit(measured(place), [&](unsigned qubit) { list.push_back(qubit); });
  const std::uint64_t bits = list.size(), outcomes = std::min<std::uint64_t>(power(bits), kMaxOutcomes);
  if (list.size() > kFirst) list.erase(list.begin(), list.end() - kFirst);
  const std::uint64_t values = times(kNumber, power(list.size()));
  const std::uint64_t answer = times(outcomes, outcome_bytes(place.circuit) + variables_bytes(place.circuit));
  // Prefixes of outcomes are replaced by longer ones; both lists grow by doubling.
  const std::uint64_t lists = times(outcomes, bits <= kFirst ? kOutcome : 3 * kOutcome);
  account.read("`distribution`",
               std::max(histogram(place, list.size(), local_of(place, list)),
                        plus(plus(values, plus(lists, sorting_bytes(place, outcomes))), answer)),
               answer);
}

// Shots.

void read_counts(const BranchEnd& end, const ReadOuts& asked, Answers& answers) {
  if (end.shots == 0) return;
  if (asked.shot_marginals) {
    const double share = static_cast<double>(end.shots) / static_cast<double>(asked.shots);
    add_scaled(answers.shot_marginals, marginals(end.state), share / end.norm);
  }
  ClassicalBits bits = end.bits;
  OutcomeSums<std::uint64_t>& counts = made(answers.drawn, shown_bits(end.circuit.cregs()));
  const auto add = [&](std::uint64_t times) {
    counts.add(bits.words(), times);
    if (end.variables.any()) made(answers.variables->counts)[end.variables.read(bits, end.memory)] += times;
  };
  if (end.terminal.mask() == 0) return add(end.shots);
  Sampler sampler(end.state, end.exchanges, end.shots);
  require_drawable(sampler.total(), end.norm, end.drift, end.state.qubits);
  for (const ShotList& list : end.lists) {
    const OutcomeCounts found = sampler.sample(list.size(), list.shots, asked.seed, list.draws, end.terminal.mask());
    counts.expect(found.size());
    for (const auto& [value, times] : found) {
      end.terminal.write(value, bits);
      add(times);
    }
  }
  counts.settle_much();
}

void hold_counts(const ReadOuts& asked, const ReadOutPlace& place, HostAccount& account) {
  const std::uint64_t shots = asked.shots, ranks = power(place.rank_bits);
  if (measured(place) == 0) return;
  const std::uint64_t batch = std::min<std::uint64_t>(shots, kShotBatch);
  const std::uint64_t all = power(count_bits(measured(place)));
  const std::uint64_t outcomes = expected_outcomes(shots, all), own_outcomes = outcomes / ranks + 1;
  // The ends of all blocks; this rank's blocks, which of all ranks' are listed apart, and on the host their sums.
  const std::uint64_t block_qubits = std::min<std::uint64_t>(place.qubits, std::max(kBlockQubits, place.rank_bits));
  const std::uint64_t ends = times(kNumber, power(block_qubits));
  const std::uint64_t summing = histogram(place, block_qubits, block_qubits - place.rank_bits, kNumber);
  // Numbers and places of a batch; draws of those that fall on this rank, which are gone when they are listed, and
  // their indices. A device has most of that.
  const std::uint64_t places = place.on_host ? 2 * kNumber * batch : kDrawerHostBytes;
  const std::uint64_t own_batch = place.on_host ? batch / ranks + 1 : 0;
  const std::uint64_t finding = plus(places, times(kOutcome + kNumber, own_batch));
  const std::uint64_t listing = plus(places, times(kNumber, own_batch));
  // Where few qubits are counted outcome by outcome: a number and a place to begin for each.
  const std::uint64_t tally = place.on_host && place.qubits <= block_qubits
                                  ? times(kNumber + 4, std::min(power(block_qubits), times(kTallyShare, shots)))
                                  : 0;
  // The last batch's outcomes are listed behind those of the batches before, where some of them are already.
  const std::uint64_t last = shots - (shots - 1) / kShotBatch * kShotBatch;
  const std::uint64_t before = expected_outcomes(shots - last, all), touched = before + expected_outcomes(last, all);
  const std::uint64_t listed = times(kOutcome, touched / ranks + 1);
  const std::uint64_t drawing =
      std::max(plus(finding, times(kOutcome, before / ranks + 1)), plus(std::max(listing, tally), listed));
  // What is sent and comes from all; then that and the list which is made of it.
  const std::uint64_t merging =
      ranks == 1 ? 0 : std::max(plus(listed, times(kOutcome, own_outcomes)), 2 * times(kOutcome, outcomes));
  const std::uint64_t answer = times(outcomes, outcome_bytes(place.circuit) + variables_bytes(place.circuit));
  const std::uint64_t result =
      plus(ranks == 1 ? listed : times(kOutcome, outcomes), plus(sorting_bytes(place, outcomes), answer));
  account.read(std::to_string(shots) + " shots", std::max(summing, plus(ends, std::max({drawing, merging, result}))),
               answer);
}

// Amplitudes.

void require_indices(const ReadOuts& asked, const Circuit& circuit) {
  for (const Index index : asked.indices) require_amplitude(index, circuit.qubits());
}

/// All of them are read in one go: the answer may be as large as the state, and is never held twice.
void read_amplitudes(DistributedState& state, ExchangePipeline&, const ReadOuts& asked, Results& results) {
  std::vector<Index> indices;
  if (asked.top > 0) indices = top_indices(state, asked.top);
  indices.insert(indices.begin(), asked.indices.begin(), asked.indices.end());
  results.amplitudes = amplitudes(state, indices);
}

void hold_amplitudes(const ReadOuts& asked, const ReadOutPlace& place, HostAccount& account) {
  constexpr std::uint64_t kEntry = sizeof(AmplitudeEntry);
  constexpr std::uint64_t kCandidate = 32, kSentCandidate = 16, kFoundCandidate = 16;
  const std::uint64_t listed = asked.indices.size();
  const std::uint64_t top = std::min<std::uint64_t>(asked.top, power(place.qubits));
  const std::uint64_t entries = plus(listed, top), answer = times(kEntry, entries);
  const std::uint64_t reading = plus(times(kNumber, entries), answer);
  if (top == 0) {
    if (listed > 0) account.read("`amplitudes`", reading, answer);
    return;
  }
  const std::uint64_t own = power(local_bits(place)), threads = static_cast<std::uint64_t>(place.threads);
  const std::uint64_t mine = std::min(top, own), per_worker = std::min(mine, own / threads + 1);
  const std::uint64_t heaps =
      place.on_host ? plus(times(kCandidate, mine), times(times(kCandidate, per_worker), threads - 1)) : 0;
  const std::uint64_t send = times(kSentCandidate, mine);
  const std::uint64_t searching =
      plus(send, std::max(heaps, times(kCandidate + kFoundCandidate, place.on_host ? mine : 0)));
  const std::uint64_t sorting =
      plus(send, plus(times(times(kSentCandidate, mine), power(place.rank_bits)), times(kNumber, top)));
  account.read("`amplitudes` top:" + std::to_string(asked.top), std::max({searching, sorting, reading}), answer);
}

// The state as a file.

void write_statevector(DistributedState& state, ExchangePipeline& exchanges, const ReadOuts& asked, Results& results) {
  made(results.files).push_back(write_state_file(state, exchanges, asked.statevector));
}

void hold_statevector(const ReadOuts&, const ReadOutPlace& place, HostAccount& account) {
  // A block as it is written and, where it is gathered, its indices and values.
  constexpr std::uint64_t kFileBlock = std::uint64_t{1} << 16;
  const std::uint64_t block = std::min(power(local_bits(place)), kFileBlock);
  account.read("`statevector`", times(block, amplitude_bytes(place.precision) + kNumber + kComplex), 0);
}

using enum Answered;
// Name, argument, answered, shown (its place and JSON, its place and text), wanted, read, finish, hold, require,
// compare.
constexpr ReadOut kTable[] = {
    {"variables", "shots", kByShots, shown<&Results::variables>(2, as_json::variables, 4, as_text::variables),
     [](const ReadOuts&) { return true; }, read_variables, nullptr, nullptr, nullptr, compare<&Results::variables>},
    {"marginals", "marginals", kExactly, shown<&Results::marginals>(4, as_json::marginals, 1, as_text::marginals),
     wants<&ReadOuts::marginals>, read_marginals, nullptr, nullptr, nullptr, compare<&Results::marginals>},
    {"probabilities", "probabilities", kExactly,
     shown<&Results::probabilities>(3, as_json::probabilities, 2, as_text::probabilities),
     wants<&ReadOuts::probabilities>, read_probabilities, nullptr, hold_probabilities, require_lists,
     compare<&Results::probabilities>},
    {"expectation", "expectation", kExactly,
     shown<&Results::expectation>(6, as_json::expectation, 0, as_text::expectation), wants<&ReadOuts::expectation>,
     read_expectation, name_expectation, hold_expectation, require_sums, compare<&Results::expectation>},
    {"distribution", "distribution", kExactly,
     shown<&Results::distribution>(1, as_json::distribution, 3, as_text::distribution), wants<&ReadOuts::distribution>,
     read_distribution, nullptr, hold_distribution, nullptr, compare<&Results::distribution>},
    {"counts", "shots", kByShots, shown<&Results::counts>(0, as_json::counts, 6, as_text::counts),
     wants<&ReadOuts::shots>, read_counts, nullptr, hold_counts},
    {"amplitudes", "amplitudes", kAtTheEnd, shown<&Results::amplitudes>(5, as_json::amplitudes, 5, as_text::amplitudes),
     wants<&ReadOuts::amplitudes>, nullptr, read_amplitudes, hold_amplitudes, require_indices},
    {"files", "statevector", kByAFile, shown<&Results::files>(7, as_json::files, 7, as_text::files),
     wants<&ReadOuts::statevector>, nullptr, write_statevector, hold_statevector},
};

}  // namespace

std::span<const ReadOut> read_out_table() { return kTable; }

bool ReadOuts::exact() const {
  return std::ranges::any_of(kTable,
                             [this](const ReadOut& row) { return row.answered == kExactly && row.wanted(*this); });
}

void require_read_outs(const ReadOuts& asked, const Circuit& circuit) {
  for (const ReadOut& row : kTable) {
    if (row.require != nullptr) row.require(asked, circuit);
  }
  if (circuit.measurements_are_terminal()) return;
  for (const ReadOut& row : kTable) {
    if (row.read != nullptr || !row.wanted(asked)) continue;
    throw UnsupportedError(
        "the circuit measures, resets or branches before its end, so it has no single final state: `" +
        std::string(row.argument) + "` is not defined");
  }
}

void end_sums(Answers& answers) {
  if (answers.drawn) answers.counts = answers.drawn->take();
  if (answers.weighed) {
    answers.distribution = answers.weighed->take();
    require_listable(answers.distribution->size());
  }
}

void finish_read_outs(DistributedState& state, ExchangePipeline& exchanges, const ReadOuts& asked, bool files,
                      Results& results) {
  for (const ReadOut& row : kTable) {
    if (row.finish != nullptr && (row.answered == kByAFile) == files && row.wanted(asked)) {
      row.finish(state, exchanges, asked, results);
    }
  }
}

HostAccount read_out_account(const ReadOuts& asked, const ReadOutPlace& place) {
  HostAccount account;
  // In a circuit that branches, the shots of a branch are listed while they are split.
  if (place.program.dynamic) account.read("shots", times(asked.shots, 3 * kNumber), times(asked.shots, kNumber));
  for (const ReadOut& row : kTable) {
    if (row.hold != nullptr && row.wanted(asked)) row.hold(asked, place, account);
  }
  return account;
}

}  // namespace qsim
