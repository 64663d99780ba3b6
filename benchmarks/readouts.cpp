// Read-outs of a random state over sizes, and shots up to sorted (outcome, times) pairs in host memory, each row
// checked.
//   qsim_readouts [--backend cpu|cuda] [--precision double|single] [--qubits A,B,...] [--sample-qubits N] [--shots N]
//                 [--repeats N]
// Prints a qsim.table/1 document; exit 8 where a check failed.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "base/bits.h"
#include "base/layout.h"
#include "base/philox.h"
#include "base/ranks/communicator.h"
#include "benchmarks/table_document.h"
#include "device/numbers/probability.h"
#include "plan/cost/machine.h"
#include "plan/cost/pool_layout.h"
#include "plan/plan.h"
#include "qsim/error.h"
#include "qsim/target.h"
#include "runtime/read_out/sampling.h"
#include "session/choose/registry.h"

namespace {

using namespace qsim;
using Clock = std::chrono::steady_clock;

struct Settings {
  std::string backend = "cuda", precision = "double";
  std::vector<std::uint32_t> qubits = {20, 22, 24, 26, 28, 29, 30, 31};
  std::uint32_t sample_qubits = 30;
  std::uint64_t shots = 1'000'000;
  int repeats = 5;
};

Settings read_settings(int argc, char** argv) {
  Settings settings;
  CLI::App app("Times read-outs and shots, and checks them.");
  app.add_option("--backend", settings.backend)->check(CLI::IsMember({"cpu", "cuda"}));
  app.add_option("--precision", settings.precision)->check(CLI::IsMember({"double", "single"}));
  app.add_option("--qubits", settings.qubits, "sizes of the read-outs")->delimiter(',')->check(CLI::Range(14, 33));
  app.add_option("--sample-qubits", settings.sample_qubits, "size of the sampled state")->check(CLI::Range(14, 33));
  app.add_option("--shots", settings.shots)->check(CLI::Range(1000, 100'000'000));
  app.add_option("--repeats", settings.repeats)->check(CLI::Range(1, 1000));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return settings;
}

struct Timing {
  double median_ms = 0, minimum_ms = 0;
};

/// After one warm-up.
Timing timed(int repeats, const std::function<void()>& work) {
  std::vector<double> ms;
  for (int repeat = 0; repeat <= repeats; ++repeat) {
    const auto start = Clock::now();
    work();
    if (repeat > 0) ms.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  std::sort(ms.begin(), ms.end());
  return {ms[ms.size() / 2], ms.front()};
}

bool close(double found, double wanted, double allowed) { return std::abs(found - wanted) <= allowed; }

/// A normalised random state of `qubits` on one device, with room for a copy of it where `copy` is set.
class RandomState {
 public:
  RandomState(const Settings& settings, std::uint32_t qubits, bool copy) : communicator_(make_self_communicator()) {
    const bool cuda = settings.backend == "cuda";
    const Precision precision = settings.precision == "single" ? Precision::kSingle : Precision::kDouble;
    BackendOptions options;
    options.precision = precision;
    backend_ = make_backend(cuda ? BackendKind::kCuda : BackendKind::kCpu, options);
    Plan plan;
    plan.precision = precision;
    plan.qubits = qubits;
    pool_ = pool_layout(plan, find_machine(cuda ? "h200" : "cpu"));
    pool_.table_bytes += std::uint64_t{4} << 20;
    if (copy) pool_.snapshot_bytes = pool_.state_bytes;
    backend_->reserve(pool_, qubits);
    state_ = std::make_unique<DistributedState>(
        DistributedState{*backend_, *communicator_, qubits, 0, precision, Layout::identity(static_cast<int>(qubits))});
    const double scale = std::pow(2.0, -0.5 * (qubits + 1));
    backend_->fill_random(state_->layout, 0, kSeed, scale);
    backend_->fill_random(state_->layout, 0, kSeed, scale / std::sqrt(backend_->reader().norm()));
  }
  Backend& backend() { return *backend_; }
  DistributedState& state() { return *state_; }
  const PoolLayout& pool() const { return pool_; }

 private:
  static constexpr std::uint64_t kSeed = 5;
  std::unique_ptr<Communicator> communicator_;
  std::unique_ptr<Backend> backend_;
  PoolLayout pool_;
  std::unique_ptr<DistributedState> state_;
};

/// All read-outs of one size. A random state is normalised, its probabilities follow Porter-Thomas, and the read-outs
/// must agree with each other.
class ReadOutRows {
 public:
  ReadOutRows(const Settings& settings, std::uint32_t qubits, table::Document& document)
      : settings_(settings), qubits_(qubits), document_(document), random_(settings, qubits, true) {}

  void run() {
    norm();
    marginals();
    histograms();
    top();
    inner_product();
    pauli();
    random_pauli();
    checksum();
  }

 private:
  void row(const std::string& what, const Timing& timing, double states_read, bool equal) {
    const double bytes = states_read * std::ldexp(single() ? 8.0 : 16.0, static_cast<int>(qubits_));
    document_.row({{"what", table::quoted(what)},
                   {"device", table::quoted(settings_.backend)},
                   {"qubits", std::to_string(qubits_)},
                   {"ms", table::number(timing.median_ms)},
                   {"fastest_ms", table::number(timing.minimum_ms)},
                   {"gbps", table::number(bytes / timing.median_ms * 1e-6)},
                   {"equal", table::truth(equal)}});
  }
  template <class Work>
  Timing time(Work work) const {
    return timed(settings_.repeats, work);
  }
  Backend& backend() { return random_.backend(); }
  bool single() const { return settings_.precision == "single"; }

  void norm() {
    double value = 0;
    const Timing timing = time([&] { value = backend().reader().norm(); });
    row("norm", timing, 1, close(value, 1, single() ? 1e-7 : 1e-13));
  }

  void marginals() {
    marginals_.resize(qubits_ + 1);
    const Timing timing = time([&] { backend().reader().bit_probabilities(marginals_); });
    // Halves of a random state differ by about 2^(-n/2).
    const double spread = 8 * std::exp2(-0.5 * qubits_);
    bool equal = close(marginals_.back(), 1, single() ? 1e-7 : 1e-12);
    for (std::uint32_t bit = 0; bit < qubits_; ++bit) equal = equal && close(marginals_[bit], 0.5, spread);
    row("all marginals", timing, 1, equal);
  }

  /// Sums of the histogram must be the marginals of its bits.
  void histograms() {
    for (const auto& [name, first] : {std::pair<const char*, std::uint32_t>{"probabilities of the 10 lowest qubits", 0},
                                      {"probabilities of the 10 highest qubits", qubits_ - 10}}) {
      std::vector<Bit> bits(10);
      std::iota(bits.begin(), bits.end(), static_cast<Bit>(first));
      std::vector<double> values(1024);
      const Timing timing = time([&] { backend().reader().histogram(bits, values); });
      row(name, timing, 1, adds_up(values, bits, 1));
    }
    std::vector<Bit> bits(13);
    std::iota(bits.begin(), bits.end(), static_cast<Bit>(qubits_ - 13));
    std::vector<std::uint64_t> units(std::size_t{1} << bits.size());
    const Timing timing = time([&] { backend().reader().unit_histogram({}, bits, units); });
    row("integer distribution of the 13 highest qubits", timing, 1,
        adds_up(std::vector<double>(units.begin(), units.end()), bits, 0x1p-62));
  }

  bool adds_up(const std::vector<double>& values, const std::vector<Bit>& bits, double unit) const {
    bool equal = true;
    for (std::size_t j = 0; j < bits.size(); ++j) {
      double one = 0;
      for (std::size_t value = 0; value < values.size(); ++value) {
        if (value >> j & 1) one += unit * values[value];
      }
      equal = equal && close(one, marginals_[bits[j]], 1e-9);
    }
    return equal && close(unit * std::accumulate(values.begin(), values.end(), 0.0), 1, single() ? 1e-7 : 1e-9);
  }

  /// Falling, equal to the amplitudes at their places, and as large as the largest of so many exponential draws.
  void top() {
    std::vector<IndexProbability> found;
    const Timing timing = time([&] { found = backend().reader().top(16, random_.state().layout, 0); });
    std::vector<Index> indices;
    for (const IndexProbability& entry : found) indices.push_back(entry.index);
    std::vector<Complex> values(indices.size());
    backend().reader().read_amplitudes(indices, values);
    bool equal = found.size() == 16;
    for (std::size_t i = 0; i < found.size(); ++i) {
      equal = equal && close(std::norm(values[i]), found[i].probability, 1e-15 * found[i].probability + 1e-300);
      equal = equal && (i == 0 || probability_key(found[i - 1].probability) >= probability_key(found[i].probability));
    }
    const double largest = found.empty() ? 0 : found[0].probability * std::exp2(qubits_) - qubits_ * std::log(2.0);
    row("16 most probable", timing, 1, equal && largest > -5 && largest < 16);
  }

  void inner_product() {
    backend().save_state(0);
    Complex value;
    const Timing timing = time([&] { value = backend().reader().inner_product(0); });
    row("inner product with a saved state", timing, 2, close(std::abs(value - 1.0), 0, single() ? 1e-7 : 1e-12));
  }

  /// X on the top bit and Z on bit 0: real, and about 2^(-n/2); Z alone is the difference of the marginals.
  void pauli() {
    const std::vector<Index> z_masks{1, 2, 3};
    const std::vector<PauliGroup> flips{{Index{1} << (qubits_ - 1), 0, 3}}, stays{{0, 0, 3}};
    std::vector<Complex> values(3);
    const Timing flipped = time([&] { backend().reader().pauli_sums(flips, z_masks, values); });
    bool equal = true;
    for (const Complex& value : values) {
      equal = equal && close(value.imag(), 0, 1e-12) && close(value.real(), 0, 12 * std::exp2(-0.5 * qubits_));
    }
    row("3 Pauli strings, X on the highest qubit", flipped, 1, equal);
    const Timing plain = time([&] { backend().reader().pauli_sums(stays, z_masks, values); });
    row("3 Pauli strings of Z", plain, 1,
        close(values[0].real(), marginals_.back() - 2 * marginals_[0], 1e-9) &&
            close(values[1].real(), marginals_.back() - 2 * marginals_[1], 1e-9));
  }

  /// Strings of X parts of their own; each alone, which other kernels sum, must be what it is beside the others.
  void random_pauli() {
    constexpr std::uint32_t kStrings = 200;
    PhiloxSequence random(6);
    std::vector<PauliGroup> groups;
    std::vector<Index> z_masks;
    for (std::uint32_t j = 0; j < kStrings; ++j) {
      groups.push_back({random.bits() & low_mask(qubits_), j, 1});
      z_masks.push_back(random.bits() & low_mask(qubits_));
    }
    std::vector<Complex> values(kStrings);
    const Timing timing = time([&] { backend().reader().pauli_sums(groups, z_masks, values); });
    bool equal = true;
    for (std::uint32_t j = 0; j < kStrings; j += 7) {
      const PauliGroup one{groups[j].x_mask, 0, 1};
      Complex alone;
      backend().reader().pauli_sums({&one, 1}, {&z_masks[j], 1}, {&alone, 1});
      equal = equal && close(std::abs(alone - values[j]), 0, 1e-13);
    }
    row("200 random Pauli strings", timing, std::ceil(kStrings / 9.0), equal);
  }

  void checksum() {
    std::uint64_t value = 0, again = 0;
    const Timing timing = time([&] { value = backend().reader().checksum({}); });
    backend().restore_state(0);
    again = backend().reader().checksum({});
    row("checksum", timing, 1, value != 0 && value == again);
  }

  const Settings& settings_;
  const std::uint32_t qubits_;
  table::Document& document_;
  RandomState random_;
  std::vector<double> marginals_;
};

/// What M shots of a random state of N amplitudes must look like: M^2 / N pairs of equal outcomes, and outcomes twice
/// as probable as uniform ones.
bool follows_porter_thomas(const OutcomeCounts& outcomes, std::uint64_t shots, RandomState& random) {
  const double amplitudes = std::exp2(random.state().qubits);
  const double draws = static_cast<double>(shots);
  std::uint64_t total = 0;
  double pairs = 0, weight = 0;
  bool rising = true;
  std::vector<Index> indices;
  for (const auto& [value, times] : outcomes) {
    rising = rising && (indices.empty() || indices.back() < value);
    indices.push_back(value);
    total += times;
    pairs += 0.5 * static_cast<double>(times) * static_cast<double>(times - 1);
  }
  std::vector<Complex> values(indices.size());
  random.backend().reader().read_amplitudes(indices, values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    weight += static_cast<double>(outcomes[i].second) * std::norm(values[i]) * amplitudes;
  }
  const double expected = draws * draws / amplitudes;
  // Six standard deviations of the draws, and of the state itself.
  const double pairs_off =
      6 * std::sqrt(expected + 1) + expected * (8 * std::sqrt(10 / amplitudes) + 20 / draws + 6 * std::sqrt(8 / draws));
  const double weight_off = 6 * std::sqrt(2 / draws) + 8 * std::sqrt(20 / amplitudes);
  return rising && total == shots && close(pairs, expected, pairs_off) && close(weight / draws, 2, weight_off);
}

void sampling(const Settings& settings, table::Document& document) {
  RandomState random(settings, settings.sample_qubits, false);
  ExchangePipeline exchanges(random.state(), nullptr, random.pool());
  OutcomeCounts outcomes;
  const Timing distribution = timed(settings.repeats, [&] { Sampler(random.state(), exchanges); });
  const auto draw = [&] {
    Sampler sampler(random.state(), exchanges, settings.shots);
    outcomes = sampler.sample(settings.shots, {}, 7, 0, ~Index{0});
  };
  const Timing all = timed(settings.repeats, draw);
  const OutcomeCounts before = std::move(outcomes);
  draw();
  const bool same = before == outcomes;
  document.row({{"what", table::quoted("shots, to sorted pairs in host memory")},
                {"device", table::quoted(settings.backend)},
                {"qubits", std::to_string(settings.sample_qubits)},
                {"shots", std::to_string(settings.shots)},
                {"outcomes", std::to_string(outcomes.size())},
                {"ms", table::number(all.median_ms)},
                {"fastest_ms", table::number(all.minimum_ms)},
                {"distribution_ms", table::number(distribution.median_ms)},
                {"equal", table::truth(same && follows_porter_thomas(outcomes, settings.shots, random))}});
}

}  // namespace

int main(int argc, char** argv) {
  const Settings settings = read_settings(argc, argv);
  table::Document document("readouts");
  try {
    sampling(settings, document);
    for (const std::uint32_t qubits : settings.qubits) {
      try {
        ReadOutRows(settings, qubits, document).run();
      } catch (const CapacityError& error) {
        std::fprintf(stderr, "%u qubits left out: %s\n", qubits, error.what());
      }
    }
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n%s\n", error.what(), error.hint().c_str());
    return static_cast<int>(error.code());
  }
  document.print();
  return document.exit_code();
}
