// Rates of exchanges between ranks: transport x chunk size x ring slots x swapped bits x where those bits are. Prints a
// qsim.table/1 document. Ranks are threads of one process, one GPU each (--backend cuda) or cores (cpu); under mpirun
// they are its processes.
//
//   qsim_exchange --ranks 4 --qubits 30 --transports p2p,nccl --chunk-mib 8,32,128 --slots 8,16,32 --bits 1,2
//                 --local high,middle,low
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "base/bits.h"
#include "base/layout.h"
#include "base/ranks/communicator.h"
#include "benchmarks/exchange_reference.h"
#include "benchmarks/table_document.h"
#include "comm/launcher.h"
#include "plan/cost/machine.h"
#include "plan/cost/pool_layout.h"
#include "plan/plan.h"
#include "qsim/error.h"
#include "runtime/exchange/exchange_pipeline.h"
#include "session/choose/registry.h"

namespace {

using namespace qsim;
using Clock = std::chrono::steady_clock;

struct Settings {
  std::string device = "cpu";
  int ranks = 2;
  std::uint32_t qubits = 24;
  std::vector<std::string> transports;  // empty: what the program itself would take
  std::vector<std::uint64_t> chunk_mib{32};
  std::vector<std::uint32_t> slots{16};
  std::vector<std::uint32_t> bits;  // empty: 1 to log2(ranks)
  std::vector<std::string> local{"high"};
  int repeats = 5;
  bool single = false, oversubscribe = false;
  BackendKind backend() const { return choice_of<BackendKind>(device); }
  Precision precision() const { return single ? Precision::kSingle : Precision::kDouble; }
};

Settings read_settings(int argc, char** argv) {
  Settings settings;
  CLI::App app("Rates of exchanges between ranks");
  app.add_option("--backend", settings.device, "cpu or cuda");
  app.add_option("--ranks", settings.ranks, "a power of two; under mpirun the launcher's");
  app.add_option("--qubits", settings.qubits, "of the whole state");
  app.add_option("--transports", settings.transports, "p2p, nccl, mpi, staged")->delimiter(',');
  app.add_option("--chunk-mib", settings.chunk_mib, "bytes of a ring slot")->delimiter(',');
  app.add_option("--slots", settings.slots, "of the ring; at most 16 lanes use them")->delimiter(',');
  app.add_option("--bits", settings.bits, "how many bits are swapped at once")->delimiter(',');
  app.add_option("--local", settings.local, "local bits that are swapped: high, middle (64 KiB runs), low")
      ->delimiter(',');
  app.add_option("--repeats", settings.repeats, "the fastest counts");
  app.add_flag("--single", settings.single, "single precision");
  app.add_flag("--oversubscribe-gpus", settings.oversubscribe, "ranks may share GPUs (tests)");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return settings;
}

ExchangeKind kind_of(const std::string& name) {
  if (name == "auto" || name == "host") return ExchangeKind::kAuto;
  if (name == "p2p") return ExchangeKind::kP2p;
  if (name == "nccl") return ExchangeKind::kNccl;
  if (name == "mpi") return ExchangeKind::kMpi;
  if (name == "staged") return ExchangeKind::kStaged;
  throw UsageError("unknown transport \"" + name + "\": auto, p2p, nccl, mpi or staged");
}

/// Lowest of the local bits that are swapped.
std::uint32_t first_local_bit(const std::string& place, std::uint32_t local_bits, std::uint32_t count) {
  if (place == "low") return 0;
  if (place == "middle") return std::min(12u, local_bits - count);
  if (place == "high") return local_bits - count;
  throw UsageError("unknown place \"" + place + "\": high, middle or low");
}

/// One rank's measurements.
class Rank {
 public:
  Rank(const Settings& settings, Communicator& communicator, table::Document& document)
      : settings_(settings), communicator_(communicator), document_(document) {
    rank_bits_ = log2_exact(static_cast<Index>(communicator.size()));
    local_bits_ = settings.qubits - rank_bits_;
    BackendOptions options;
    options.precision = settings.precision();
    options.threads = 1;
    if (settings.backend() == BackendKind::kCuda) {
      Target target;
      target.oversubscribe_gpus = settings.oversubscribe;
      const int place = communicator.name() == "mpi" ? launch_environment().local_rank : communicator.rank();
      options.device_id = pick_gpu(survey_gpus(communicator.size()), target, place).id;
    }
    backend_ = make_backend(settings.backend(), options);
  }

  void run() {
    const std::vector<std::string> transports =
        settings_.transports.empty() ? std::vector<std::string>{"auto"} : settings_.transports;
    for (const std::uint64_t mib : settings_.chunk_mib) {
      for (const std::uint32_t slots : settings_.slots) {
        reserve(mib << 20, slots);
        for (const std::string& transport : transports) with_transport(transport);
      }
    }
  }

 private:
  void reserve(std::uint64_t chunk_bytes, std::uint32_t slots) {
    Plan plan;
    plan.qubits = settings_.qubits;
    plan.rank_bits = rank_bits_;
    plan.precision = settings_.precision();
    pool_ = pool_layout(plan, find_machine(settings_.backend() == BackendKind::kCuda ? "h200" : "cpu"));
    pool_.table_bytes += std::uint64_t{4} << 20;
    pool_.chunk_bytes = chunk_bytes;
    pool_.chunk_slots = slots;
    backend_->reserve(pool_, local_bits_);
  }

  void with_transport(const std::string& wanted) {
    DistributedState state{*backend_, communicator_, settings_.qubits, rank_bits_, settings_.precision(), {}};
    OpenedTransport opened;
    try {
      opened = open_transport(settings_.backend(), kind_of(wanted), state, pool_);
    } catch (const CommunicatorError& error) {
      if (communicator_.rank() == 0) std::fprintf(stderr, "%s: %s\n", wanted.c_str(), error.what());
      return;
    }
    std::vector<std::uint32_t> counts = settings_.bits;
    if (counts.empty()) {
      counts.resize(rank_bits_);
      std::iota(counts.begin(), counts.end(), 1u);
    }
    for (const std::uint32_t count : counts) {
      for (const std::string& place : settings_.local) measure(state, opened, count, place);
    }
  }

  Exchange make_exchange(std::uint32_t count, const std::string& place) const {
    Exchange exchange;
    const std::uint32_t first = first_local_bit(place, local_bits_, count);
    Index swapped = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      exchange.swaps.push_back({static_cast<Bit>(first + i), static_cast<Bit>(local_bits_ + i)});
      swapped |= bit_mask(first + i);
    }
    std::uint64_t part = (amplitude_bytes(settings_.precision()) << local_bits_) >> count;
    for (std::uint32_t bit = local_bits_; bit-- > 0 && part > pool_.chunk_bytes;) {
      if (test_bit(swapped, bit)) continue;
      exchange.chunk_mask |= bit_mask(bit);
      part >>= 1;
    }
    return exchange;
  }

  /// Whether the state is what a random state becomes by `exchange`, at some thousand places.
  bool exchanged(DistributedState& state, const Exchange& exchange) {
    std::vector<Index> places(4096);
    for (std::size_t i = 0; i < places.size(); ++i) {
      places[i] = (i * 0x9e3779b97f4a7c15ull) & low_mask(local_bits_);
    }
    std::vector<Complex> found(places.size()), wanted(places.size());
    state.backend.reader().read_amplitudes(places, found);
    Layout layout = state.layout;
    for (const auto& [local, global] : exchange.swaps) {
      for (Bit& bit : layout.bit_of) bit = bit == local ? global : bit == global ? local : bit;
    }
    backend_->fill_random(layout, static_cast<std::uint32_t>(state.rank()), 1, 1.0);
    state.backend.reader().read_amplitudes(places, wanted);
    std::int64_t wrong = found != wanted;
    communicator_.max({&wrong, 1});
    return wrong == 0;
  }

  void measure(DistributedState& state, OpenedTransport& opened, std::uint32_t count, const std::string& place) {
    const Exchange exchange = make_exchange(count, place);
    state.layout.bit_of.resize(settings_.qubits);
    std::iota(state.layout.bit_of.begin(), state.layout.bit_of.end(), Bit{0});
    backend_->fill_random(state.layout, static_cast<std::uint32_t>(state.rank()), 1, 1.0);
    ExchangePipeline pipeline(state, opened.transport.get(), pool_);
    pipeline.run(exchange, {}, {});
    const bool equal = exchanged(state, exchange);
    const std::uint64_t bytes = pipeline.bytes_sent();
    double best = 1e9;
    for (int repeat = 0; repeat < settings_.repeats; ++repeat) {
      communicator_.barrier();
      const auto start = Clock::now();
      pipeline.run(exchange, {}, {});
      communicator_.barrier();
      best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
    }
    const double engines = engine_seconds(count);
    if (communicator_.rank() != 0) return;
    const double rate = static_cast<double>(bytes) / best / 1e9;
    document_.row({{"transport", table::quoted(opened.name)},
                   {"communicator", table::quoted(std::string(communicator_.name()))},
                   {"ranks", std::to_string(communicator_.size())},
                   {"qubits", std::to_string(settings_.qubits)},
                   {"precision", table::quoted(settings_.single ? "single" : "double")},
                   {"swapped_bits", std::to_string(count)},
                   {"local_bits", table::quoted(place)},
                   {"chunk_mib", table::number(static_cast<double>(pool_.chunk_bytes) / 0x1p20)},
                   {"slots", std::to_string(pool_.chunk_slots)},
                   {"lanes", std::to_string(std::min<std::uint32_t>(pool_.chunk_slots,
                                                                    static_cast<std::uint32_t>(backend_->lanes())))},
                   {"ms", table::number(best * 1e3)},
                   {"gbps", table::number(rate)},
                   {"engines_gbps", engines > 0 ? table::number(static_cast<double>(bytes) / engines / 1e9) : "null"},
                   {"equal", equal ? "true" : "false"}});
  }

  double engine_seconds(std::uint32_t count) {
    std::vector<int> partners((std::size_t{1} << count) - 1);
    std::iota(partners.begin(), partners.end(), 1);
    try {
      return copy_engine_seconds(*backend_, communicator_, partners,
                                 (amplitude_bytes(settings_.precision()) << local_bits_) >> count, pool_,
                                 settings_.repeats);
    } catch (const CommunicatorError&) {
      return 0;  // no pair can map the other's memory: on every rank alike
    }
  }

  const Settings& settings_;
  Communicator& communicator_;
  table::Document& document_;
  std::unique_ptr<Backend> backend_;
  std::uint32_t rank_bits_ = 0, local_bits_ = 0;
  PoolLayout pool_;
};

void run_all(const Settings& settings, table::Document& document) {
  const auto body = [&](Communicator& communicator) { Rank(settings, communicator, document).run(); };
  if (!launched_by_mpi()) {
    run_thread_ranks(settings.ranks, body);
    document.print();
    return;
  }
  const std::unique_ptr<Communicator> world = make_mpi_communicator();
  try {
    body(*world);
  } catch (const Error& error) {
    world->abort(static_cast<int>(error.code()), error.what());
  }
  if (world->rank() == 0) document.print();
}

}  // namespace

int main(int argc, char** argv) {
  const Settings settings = read_settings(argc, argv);
  table::Document document("exchange");
  try {
    run_all(settings, document);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n%s\n", error.what(), error.hint().c_str());
    return static_cast<int>(error.code());
  }
  return 0;
}
