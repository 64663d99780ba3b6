// Read-out by read-out, in the order of a run: what each holds while it works, and what of that stays as its answer.
#include "simulator/memory/read_out_memory.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/bits.h"
#include "base/file/files.h"
#include "base/text.h"
#include "cpu/cpu_info.h"
#include "document/result.h"
#include "qsim/error.h"
#include "qsim/pauli.h"
#include "runtime/branch/program_run.h"
#include "runtime/read_out/sampling.h"

namespace qsim {
namespace {

constexpr std::uint64_t kNumber = 8, kComplex = 16, kSum = 16;  // a double or an index; a compensated sum
constexpr std::uint64_t kOutcome = 16;                          // value and times, or value and probability
constexpr std::uint64_t kEntry = sizeof(AmplitudeEntry);
constexpr std::uint64_t kCandidate = 32, kSentCandidate = 16, kFoundCandidate = 16;  // of the most probable
constexpr std::uint32_t kBlockQubits = 16;                       // whose outcomes the sampler counts first
constexpr std::uint64_t kPauliPieces = 64, kPauliTileBits = 14;  // partial sums of the CPU backend

constexpr std::uint64_t power(std::uint64_t exponent) {
  return exponent < 64 ? std::uint64_t{1} << exponent : std::numeric_limits<std::uint64_t>::max();
}
std::uint64_t times(std::uint64_t a, std::uint64_t b) { return saturating_multiply(a, b); }
std::uint64_t plus(std::uint64_t a, std::uint64_t b) { return saturating_add(a, b); }

/// What the allocator takes for `bytes`: 8 of its own, in steps of 16, 32 at least.
std::uint64_t allocated(std::uint64_t bytes) { return std::max<std::uint64_t>(32, (bytes + 8 + 15) / 16 * 16); }
/// What a text takes beside its object.
std::uint64_t text_bytes(std::uint64_t characters) { return characters > 15 ? allocated(characters + 1) : 0; }
/// A node of a map from bit strings: links, the text's object, the value.
std::uint64_t map_node(std::uint64_t characters) { return allocated(32 + 32 + 8) + text_bytes(characters); }

/// The same of a map from the values of `scalars` variables: links, the list's object, the value; the list.
std::uint64_t variables_node(std::uint64_t scalars) {
  return scalars == 0 ? 0 : allocated(32 + 24 + 8) + allocated(scalars * sizeof(Scalar));
}

/// How many different outcomes `shots` draws of `outcomes` equally likely ones have on the average: other states have
/// fewer.
std::uint64_t expected_outcomes(std::uint64_t shots, std::uint64_t outcomes) {
  const double all = static_cast<double>(outcomes), drawn = static_cast<double>(shots);
  const double expected = -all * std::expm1(drawn * std::log1p(-1 / std::max(all, 2.0)));
  return std::min({shots, outcomes, static_cast<std::uint64_t>(std::ceil(std::min(expected, 1.8e19)))});
}

struct Most {
  std::uint64_t bytes = 0;
  std::string of;
};

class Account {
 public:
  /// A read-out that holds `working` bytes at most besides what is kept, and leaves `answer` of them.
  void read(const std::string& name, std::uint64_t working, std::uint64_t answer) {
    if (const std::uint64_t held = plus(kept_, working); held > most_.bytes) most_ = {held, name};
    kept_ = plus(kept_, answer);
  }
  const Most& most() const { return most_; }

 private:
  std::uint64_t kept_ = 0;
  Most most_;
};

class Estimate {
 public:
  Estimate(const RunOptions& options, const Settings& settings, const Circuit& circuit, const ReadOutPlace& place)
      : options_(options), settings_(settings), circuit_(circuit), place_(place) {
    for (const auto& [qubit, clbit] : place.program.terminal_measures) measured_ |= bit_mask(qubit);
    const std::uint64_t characters = circuit.clbits() + (circuit.cregs().empty() ? 0 : circuit.cregs().size() - 1);
    std::uint64_t scalars = 0;
    for (const FlowOutput& variable : result_variables(circuit)) scalars += variable.values.size();
    outcome_bytes_ = plus(map_node(characters), variables_node(scalars));
  }

  Most total() {
    // In a circuit that branches, the shots of a branch are listed while they are split.
    if (place_.program.dynamic)
      account_.read("shots", times(settings_.shots, 3 * kNumber), times(settings_.shots, kNumber));
    for (const std::vector<Qubit>& list : options_.probabilities) probabilities(list);
    paulis();
    if (options_.distribution) distribution();
    if (settings_.shots > 0) counts();
    amplitudes();
    if (!options_.statevector_path.empty()) {
      // A block as it is written and, where it is gathered, its indices and values.
      constexpr std::uint64_t kFileBlock = std::uint64_t{1} << 16;
      const std::uint64_t block = std::min(power(local_bits()), kFileBlock);
      account_.read("`statevector`", times(block, amplitude_bytes(options_.precision) + kNumber + kComplex), 0);
    }
    return account_.most();
  }

 private:
  std::uint32_t local_bits() const { return place_.qubits - place_.rank_bits; }
  std::uint64_t ranks() const { return power(place_.rank_bits); }

  /// How many of `list` are local bits when the run is over.
  std::uint64_t local_of(std::span<const Qubit> list) const {
    if (place_.program.plans.empty()) return std::min<std::uint64_t>(list.size(), local_bits());
    const std::vector<Bit>& bit_of = place_.program.plans.back().final_layout.bit_of;
    return static_cast<std::uint64_t>(std::count_if(
        list.begin(), list.end(), [&](Qubit qubit) { return qubit >= bit_of.size() || bit_of[qubit] < local_bits(); }));
  }

  /// The values of all ranks, those of this one where they are fewer, and the sums behind them.
  std::uint64_t histogram(std::uint64_t listed, std::uint64_t local, std::uint64_t sum_bytes = kSum) const {
    const std::uint64_t values = times(kNumber, power(listed));
    const std::uint64_t own = local == listed ? 0 : times(kNumber, power(local));
    const std::uint64_t pieces = local <= 10 ? 64 : 1;
    return plus(plus(values, own), place_.on_host ? times(pieces * sum_bytes, power(local)) : 0);
  }

  void probabilities(const std::vector<Qubit>& list) {
    const std::uint64_t answer = times(kNumber, power(list.size()));
    account_.read("`probabilities` of " + std::to_string(list.size()) + " qubits",
                  std::max(histogram(list.size(), local_of(list)), times(2, answer)), answer);
  }

  void paulis() {
    std::uint64_t strings = 0, texts = 0;
    for (const PauliSum& sum : options_.expectation) {
      strings += sum.terms.size();
      for (const PauliTerm& term : sum.terms) texts += text_bytes(pauli_text(term.pauli).size());
    }
    if (strings == 0) return;
    const std::uint64_t tiles = power(local_bits() - std::min<std::uint64_t>(local_bits(), kPauliTileBits));
    const std::uint64_t sums = place_.on_host ? plus(times(std::min(tiles, kPauliPieces), kSum),
                                                     8 * static_cast<std::uint64_t>(place_.threads))
                                              : 0;
    // Order, members, masks, groups, values, call, parts, flat list; the lists of the groups grow by doubling.
    const std::uint64_t lists = 8 + 56 + 32 + 16 + 24 + 16 + 24 + 16 + 8;
    const std::uint64_t answer = plus(times(strings, kNumber + 16 + sizeof(PauliTermValue)), texts);
    account_.read("`expectation` of " + std::to_string(strings) + " strings", times(strings, plus(lists, sums)),
                  answer);
  }

  void distribution() {
    const std::uint64_t bits = count_bits(measured_);
    constexpr std::uint64_t kFirst = 20;
    const std::uint64_t outcomes = std::min<std::uint64_t>(power(bits), kMaxOutcomes);
    std::vector<Qubit> list;
    for_each_bit(measured_, [&](unsigned qubit) { list.push_back(qubit); });
    if (list.size() > kFirst) list.erase(list.begin(), list.end() - kFirst);
    const std::uint64_t values = times(kNumber, power(list.size()));
    const std::uint64_t answer = times(outcomes, outcome_bytes_);
    // Prefixes of outcomes are replaced by longer ones; both lists grow by doubling.
    const std::uint64_t lists = times(outcomes, bits <= kFirst ? kOutcome : 3 * kOutcome);
    account_.read("`distribution`", std::max(histogram(list.size(), local_of(list)), plus(plus(values, lists), answer)),
                  answer);
  }

  void counts() {
    const std::uint64_t shots = settings_.shots;
    if (measured_ == 0) return;
    const std::uint64_t batch = std::min<std::uint64_t>(shots, kShotBatch);
    const std::uint64_t all = power(count_bits(measured_));
    const std::uint64_t outcomes = expected_outcomes(shots, all), own_outcomes = outcomes / ranks() + 1;
    // The ends of all blocks; this rank's blocks, which of all ranks' are listed apart, and on the host their sums.
    const std::uint64_t block_qubits = std::min<std::uint64_t>(place_.qubits, std::max(kBlockQubits, place_.rank_bits));
    const std::uint64_t ends = times(kNumber, power(block_qubits));
    const std::uint64_t summing = histogram(block_qubits, block_qubits - place_.rank_bits, kNumber);
    // Numbers, places, draws and indices of a batch, all of which may fall on one rank.
    const std::uint64_t drawing = (place_.on_host ? 2 * kNumber + kOutcome + kNumber : 2 * kNumber) * batch;
    // The last batch's outcomes are listed behind those of the batches before, where some of them are already.
    const std::uint64_t last = shots - (shots - 1) / kShotBatch * kShotBatch;
    const std::uint64_t touched = expected_outcomes(shots - last, all) + expected_outcomes(last, all);
    const std::uint64_t listed = times(kOutcome, touched / ranks() + 1);
    // What is sent and comes from all; then that and the list which is made of it.
    const std::uint64_t merging =
        ranks() == 1 ? 0 : std::max(plus(listed, times(kOutcome, own_outcomes)), 2 * times(kOutcome, outcomes));
    const std::uint64_t answer = times(outcomes, outcome_bytes_);
    const std::uint64_t result = ranks() == 1 ? listed : times(kOutcome, outcomes);
    account_.read(std::to_string(shots) + " shots",
                  std::max(summing, plus(ends, std::max({plus(drawing, listed), merging, plus(result, answer)}))),
                  answer);
  }

  void amplitudes() {
    const std::uint64_t listed = options_.amplitude_indices.size();
    const std::uint64_t top = std::min<std::uint64_t>(options_.top, power(place_.qubits));
    const std::uint64_t entries = plus(listed, top), answer = times(kEntry, entries);
    const std::uint64_t reading = plus(times(kNumber, entries), answer);
    if (top == 0) {
      if (listed > 0) account_.read("`amplitudes`", reading, answer);
      return;
    }
    const std::uint64_t mine = std::min(top, power(local_bits()));
    const std::uint64_t per_worker =
        std::min(mine, power(local_bits()) / static_cast<std::uint64_t>(place_.threads) + 1);
    const std::uint64_t heaps =
        place_.on_host ? plus(times(kCandidate, mine),
                              times(times(kCandidate, per_worker), static_cast<std::uint64_t>(place_.threads - 1)))
                       : 0;
    const std::uint64_t send = times(kSentCandidate, mine);
    const std::uint64_t searching =
        plus(send, std::max(heaps, times(kCandidate + kFoundCandidate, place_.on_host ? mine : 0)));
    const std::uint64_t sorting = plus(send, plus(times(times(kSentCandidate, mine), ranks()), times(kNumber, top)));
    account_.read("`amplitudes` top:" + std::to_string(options_.top), std::max({searching, sorting, reading}), answer);
  }

  const RunOptions& options_;
  const Settings& settings_;
  const Circuit& circuit_;
  const ReadOutPlace& place_;
  Index measured_ = 0;
  std::uint64_t outcome_bytes_ = 0;  // of an outcome in an answer
  Account account_;
};

}  // namespace

void ReadOutMemory::predict(const RunOptions& options, const Settings& settings, const Circuit& circuit,
                            const ReadOutPlace& place) {
  const Most most = Estimate(options, settings, circuit, place).total();
  bytes_ = most.bytes;
  of_ = most.of;
  on_host_ = place.on_host;
}

std::uint64_t ReadOutMemory::with(std::uint64_t pool_bytes) const {
  return on_host_ ? saturating_add(pool_bytes, bytes_) : pool_bytes;
}

void ReadOutMemory::require_host(std::uint64_t ranks, std::uint64_t usable_bytes) const {
  const std::uint64_t wanted = saturating_multiply(bytes_, ranks);
  if (wanted <= usable_bytes) return;
  throw CapacityError("reading out (" + of_ + ") needs " + format_bytes(bytes_) + " of host memory a rank, " +
                          format_bytes(wanted) + " on this host, which has " + format_bytes(usable_bytes) + " to use",
                      wanted, usable_bytes);
}

void ReadOutMemory::explain(CapacityQuestion& question) const {
  constexpr std::uint64_t kWorthSaying = 1u << 20;
  if (!on_host_ || bytes_ < kWorthSaying) return;
  question.read_out_bytes = bytes_;
  question.read_out = of_;
}

void ReadOutMemory::start() {
  write_system_file("/proc/self/clear_refs", "5");  // the peak is counted anew
  resident_before_ = cpu::status_bytes("VmRSS");
}

std::uint64_t ReadOutMemory::peak_beside(std::uint64_t pool_bytes, std::uint64_t ranks) const {
  constexpr std::uint64_t kWorthMeasuring = 4u << 20;  // of the process
  if (!on_host_ || saturating_multiply(bytes_, ranks) < kWorthMeasuring) return 0;
  const std::uint64_t peak = cpu::status_bytes("VmHWM");
  const std::uint64_t grown = (peak - std::min(resident_before_, peak)) / ranks;
  return grown - std::min(grown, pool_bytes);
}

}  // namespace qsim
