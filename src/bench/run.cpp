// The loop over circuits, sizes, precisions, start states and ranks.
#include <algorithm>
#include <bit>
#include <cmath>
#include <ctime>
#include <functional>
#include <optional>

#include "base/bits.h"
#include "base/file/files.h"
#include "base/philox.h"
#include "base/ranks/agreement.h"
#include "bench/checks.h"
#include "bench/names.h"
#include "bench/rates.h"
#include "bench/workload.h"
#include "circuit/generate/families.h"
#include "device/gpu_parts.h"
#include "document/result.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "session/choose/choose.h"
#include "simulator/simulator.h"

namespace qsim {
namespace bench {
namespace {

constexpr std::uint32_t kCpuQubits = 24, kGpuQubits = 28;

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

class Runner {
 public:
  explicit Runner(const BenchRequest& request)
      : request_(request), communicator_(request.run.communicator.get()), rates_(communicator_) {}

  BenchReport run() {
    report_.date = utc_now();
    report_.environment = environment();
    report_.machine = machine_words(report_.environment);
    report_.warm_ups = request_.warm_ups;
    report_.repeats = request_.repeats;
    std::vector<Item> items;
    agreed([&] {
      items = resolve_items(request_);
      check_request(items);
    });
    for (const Item& item : items) run_item(item);
    return std::move(report_);
  }

 private:
  void check_request(const std::vector<Item>& items) const {
    const bool sized = std::any_of(items.begin(), items.end(), [](const Item& item) { return item.sized(); });
    if (!sized && !request_.qubits.empty()) {
      throw UsageError("`qubits` would have no effect: none of these circuits comes in sizes");
    }
    if (!sized && request_.weak) throw UsageError("`weak` would have no effect: none of these circuits comes in sizes");
    if (!request_.pauli_file.empty() && request_.gate_files.empty()) {
      throw UsageError("`pauli` would have no effect without `gates`");
    }
    if (!request_.expected_file.empty() && request_.pauli_file.empty()) {
      throw UsageError("`expected` would have no effect without `pauli`");
    }
    for (const int ranks : rank_counts()) {
      if (ranks < 1 || !std::has_single_bit(static_cast<unsigned>(ranks))) {
        throw UsageError("`ranks` " + std::to_string(ranks) + ": the number of ranks must be a power of two");
      }
    }
    if (!request_.depth) return;
    const bool deep = std::any_of(items.begin(), items.end(), [](const Item& item) {
      return std::ranges::any_of(
          generators(), [&](const GeneratorInfo& info) { return info.name == item.name && info.default_depth != 0; });
    });
    if (!deep) throw UsageError("`depth` would have no effect: none of these circuits has layers");
  }

  /// What reads files may fail on one rank's host alone.
  void agreed(const std::function<void()>& step) const {
    if (communicator_ != nullptr) {
      together(*communicator_, step);
    } else {
      step();
    }
  }

  bool root() const { return communicator_ == nullptr || communicator_->rank() == 0; }

  std::vector<int> rank_counts() const {
    if (communicator_ != nullptr) return {communicator_->size()};
    if (!request_.ranks.empty()) return request_.ranks;
    return {request_.run.gpu_ids.empty() ? 1 : static_cast<int>(request_.run.gpu_ids.size())};
  }

  std::vector<std::uint32_t> sizes(const Item& item) const {
    if (!item.sized()) return {0};
    if (!request_.qubits.empty()) return request_.qubits;
    const BackendChoice choice = choose_backend(generate("qft", {kGpuQubits, 0, 1}), request_.run);
    return {choice.backend == BackendKind::kCuda ? kGpuQubits : kCpuQubits};
  }

  void run_item(const Item& item) {
    for (const std::uint32_t size : sizes(item)) {
      std::optional<Workload> workload;
      for (const Precision precision : request_.precisions) {
        for (const Start start : request_.starts) {
          for (const int ranks : rank_counts()) {
            const std::uint32_t grown =
                item.sized() && request_.weak ? size + log2_exact(static_cast<Index>(ranks)) : size;
            if (!workload || request_.weak) agreed([&] { workload = make(item, grown); });
            run_row(*workload, precision, start, ranks);
          }
        }
      }
    }
  }

  /// A challenge whose files are absent becomes a row that says so.
  Workload make(const Item& item, std::uint32_t qubits) const {
    try {
      return make_workload(item, qubits, request_);
    } catch (const FileError& error) {
      if (item.kind != Item::Kind::kChallenge) throw;
      Workload absent;
      absent.name = "asc:" + item.name;
      absent.unchecked = {error.what()};
      return absent;
    }
  }

  void run_row(const Workload& workload, Precision precision, Start start, int ranks) {
    BenchRow row;
    row.name = workload.name;
    row.qubits = workload.circuit.qubits();
    row.operations = workload.circuit.operation_count();
    row.depth = static_cast<std::uint32_t>(workload.circuit.depth());
    row.circuit_hash = circuit_hash(workload.circuit);
    row.start = start;
    row.precision = precision;
    row.ranks = ranks;
    if (workload.circuit.qubits() == 0) {
      row.reason = workload.unchecked.empty() ? "no qubits" : workload.unchecked.front();
    } else {
      measure(workload, row);
    }
    report_.rows.push_back(row);
    if (request_.on_row && root()) request_.on_row(row);
  }

  void measure(const Workload& workload, BenchRow& row) {
    try {
      if (row.qubits < 63 && static_cast<Index>(row.ranks) > Index{1} << row.qubits) {
        throw CapacityError("fewer amplitudes than ranks", 0, 0);
      }
      const RunOptions options = options_of(workload, row);
      if (options.backend != BackendKind::kAuto)
        row.run.backend = name_of(options.backend);  // what a failed row has to say
      const Result result = simulate(workload.circuit, options);
      take(result, workload, row);
      check_again(workload, options, row);
      row.overhead_seconds = overhead_seconds(workload, row);
      const bool passed = std::all_of(row.checks.begin(), row.checks.end(), [](const auto& c) { return c.passed; });
      row.status = passed ? BenchStatus::kOk : BenchStatus::kFailed;
      row.copy_gbps = rates_.copy_gbps(row.run);
      row.link_gbps = rates_.link_gbps(row.run);
    } catch (const VerificationError& error) {
      row.status = BenchStatus::kFailed;
      row.reason = error.what();
    } catch (const CapacityError& error) {
      row.status = BenchStatus::kSkipped;
      row.reason = error.what();
    } catch (const DeviceError& error) {
      const bool too_few =
          communicator_ == nullptr && static_cast<std::size_t>(row.ranks) > survey_gpus(row.ranks).devices.size();
      if (!too_few || row.ranks == 1) throw;
      row.status = BenchStatus::kSkipped;
      row.reason = error.what();
    }
  }

  RunOptions options_of(const Workload& workload, const BenchRow& row) const {
    RunOptions options = request_.run;
    options.ranks = row.ranks;
    options.precision = row.precision;
    options.start = row.start;
    options.start_seed = request_.seed;
    options.seed = request_.seed;
    options.shots = 0;
    options.warm_ups = request_.warm_ups;
    options.repeats = request_.repeats;
    options.repeat_seconds = request_.budget_seconds;
    request_read_outs(workload, row.start, options);
    if (communicator_ == nullptr) {
      options.backend = choose_backend(workload.circuit, request_.run).backend;
      if (options.backend == BackendKind::kCuda) {
        const std::vector<int> all = options.gpu_ids;
        options.gpu_ids.clear();
        for (int i = 0; i < row.ranks; ++i) {
          if (!all.empty() && static_cast<std::size_t>(i) >= all.size()) {
            throw CapacityError(std::to_string(all.size()) + " GPUs were named", 0, 0);
          }
          options.gpu_ids.push_back(all.empty() ? i : all[static_cast<std::size_t>(i)]);
        }
      }
    }
    if (row.ranks == 1) options.exchange = ExchangeKind::kAuto;
    return options;
  }

  void take(const Result& result, const Workload& workload, BenchRow& row) const {
    row.simulate.seconds = result.time.simulate_repeats;
    row.read_out.seconds = result.time.read_out_repeats;
    row.reads_out = workload.observable.has_value() || workload.reference.has_value();
    row.run = result.run;
    row.work = result.work;
    row.time = result.time;
    row.memory = result.memory;
    row.unchecked = workload.unchecked;
    // Rank 0 alone has all the answers, and it alone reports.
    if (root()) row.checks = check_results(workload, row.start, row.precision, result.results);
    const bool counted = result.verification.gates_planned == result.verification.gates_applied;
    if (result.verification.norm) {
      row.checks.push_back({"norm", counted, "off by " + short_number(std::abs(*result.verification.norm - 1))});
    }
  }

  /// Untimed runs: the circuit and its inverse, where no closed form or reference says what comes out; and the circuit
  /// from a basis state.
  void check_again(const Workload& workload, RunOptions options, BenchRow& row) const {
    options.warm_ups = 0;
    options.repeats = 1;
    options.marginals = false;
    options.expectation.clear();
    options.amplitude_indices.clear();
    const bool known = row.start == Start::kZero && (workload.amplitude || workload.reference || workload.observable);
    if (!known && workload.circuit.measurements_are_terminal()) {
      options.verify = Verify::kFull;
      BenchCheck check{"circuit then inverse", true, "the start state again"};
      try {
        simulate(workload.circuit, options);
      } catch (const VerificationError& error) {
        check = {check.name, false, error.what()};
      }
      row.checks.push_back(check);
    }
    if (workload.companion && row.start == Start::kZero) {
      options.verify = Verify::kNorm;
      options.amplitude_indices = sample_indices(row.qubits);
      const Result result = simulate(*workload.companion, options);
      if (!root()) return;
      row.checks.push_back(check_closed_form("basis state", workload.companion_amplitude, *result.results.amplitudes,
                                             row.precision, row.depth));
    }
  }

  /// What simulate's clock counts around the work of one rank: as many sweeps on a backend that computes nothing and so
  /// has no random states; without known zeros a start from |0...0> has the same sweeps. Planning it again must not
  /// take longer than the answer is worth.
  std::optional<double> overhead_seconds(const Workload& workload, const BenchRow& row) const {
    constexpr double kMostPlanning = 0.5;
    if (row.ranks > 1 || row.time.plan > kMostPlanning || !workload.circuit.measurements_are_terminal())
      return std::nullopt;
    RunOptions options;
    options.backend = BackendKind::kNull;
    options.precision = row.precision;
    options.shots = 0;
    options.known_zeros = false;
    options.verify = Verify::kOff;
    options.warm_ups = 1;
    options.repeats = 5;
    return BenchTimes{simulate(workload.circuit, options).time.simulate_repeats}.median();
  }

  const BenchRequest& request_;
  Communicator* communicator_;
  Rates rates_;
  BenchReport report_;
};

}  // namespace
}  // namespace bench

BenchReport run_bench(const BenchRequest& request) { return bench::Runner(request).run(); }

std::string machine_words(const EnvironmentSummary& environment) {
  const std::string processor = system_value("/proc/cpuinfo", "model name");
  std::string text = environment.host + ", " + (processor.empty() ? "unknown processor" : processor);
  if (!environment.devices.empty()) {
    text += ", " + std::to_string(environment.devices.size()) + " x " + environment.devices.front();
  }
  return text;
}

double BenchTimes::median() const {
  if (seconds.empty()) return 0;
  std::vector<double> sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : 0.5 * (sorted[half - 1] + sorted[half]);
}
double BenchTimes::minimum() const { return seconds.empty() ? 0 : *std::min_element(seconds.begin(), seconds.end()); }
double BenchTimes::maximum() const { return seconds.empty() ? 0 : *std::max_element(seconds.begin(), seconds.end()); }
double BenchTimes::spread() const { return median() > 0 ? (maximum() - minimum()) / median() : 0; }

double BenchRow::memory_gbps() const {
  const double seconds = simulate.median();
  return seconds > 0 ? 1e-9 * static_cast<double>(work.bytes_swept_per_rank) / seconds : 0;
}
double BenchRow::link_rate_gbps() const {
  return time.exchange > 0 ? 1e-9 * static_cast<double>(work.bytes_exchanged_per_rank) / time.exchange : 0;
}
std::optional<double> BenchRow::memory_fraction() const {
  if (!copy_gbps || *copy_gbps <= 0) return std::nullopt;
  return memory_gbps() / *copy_gbps;
}
std::optional<double> BenchRow::link_fraction() const {
  if (!link_gbps || *link_gbps <= 0 || time.exchange <= 0) return std::nullopt;
  return link_rate_gbps() / *link_gbps;
}

ExitCode BenchReport::exit_code() const {
  if (error) return error->code;
  std::size_t skipped = 0;
  for (const BenchRow& row : rows) {
    if (row.status == BenchStatus::kFailed) return ExitCode::kVerification;
    if (row.status == BenchStatus::kSkipped) ++skipped;
  }
  if (skipped == rows.size()) return ExitCode::kCapacity;
  if (comparison) {
    for (const BenchComparison::Pair& pair : comparison->pairs) {
      if (pair.too_slow) return ExitCode::kVerification;
    }
  }
  return ExitCode::kOk;
}

std::string BenchReport::verdict() const {
  std::size_t ran = 0, failed = 0, skipped = 0, slow = 0, checks = 0;
  for (const BenchRow& row : rows) {
    if (row.status == BenchStatus::kSkipped) ++skipped;
    if (row.status == BenchStatus::kFailed) ++failed;
    if (row.status == BenchStatus::kOk) ++ran;
    checks += static_cast<std::size_t>(std::ranges::count_if(row.checks, &BenchCheck::passed));
  }
  if (comparison)
    slow = static_cast<std::size_t>(std::ranges::count_if(comparison->pairs, &BenchComparison::Pair::too_slow));
  std::string text = failed > 0 ? "FAILED: " : slow > 0 ? "TOO SLOW: " : ran == 0 ? "NOTHING RAN: " : "OK: ";
  text +=
      std::to_string(ran) + (ran == 1 ? " benchmark" : " benchmarks") + " passed " + std::to_string(checks) + " checks";
  if (failed > 0) text += ", " + std::to_string(failed) + " failed";
  if (slow > 0) text += ", " + std::to_string(slow) + " slower than allowed";
  if (skipped > 0) text += ", " + std::to_string(skipped) + " skipped";
  return text;
}

}  // namespace qsim
