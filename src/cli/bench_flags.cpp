#include "cli/bench_flags.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/ranks/communicator.h"
#include "circuit/generate/families.h"
#include "qsim/error.h"
#include "simulator/simulator.h"

namespace qsim::cli {
namespace {

double parse_positive(const std::string& flag, const std::string& text) {
  double value = 0;
  const auto [last, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || last != text.data() + text.size() || !std::isfinite(value) ||
      value <= 0) {
    throw UsageError(flag + ": '" + text + "' is not a number above 0");
  }
  return value;
}

/// "20..24", "20" or "20,22,24".
std::vector<std::uint32_t> parse_sizes(const std::string& text) {
  const std::size_t dots = text.find("..");
  std::vector<std::uint32_t> sizes;
  if (dots == std::string::npos) {
    for (const std::uint64_t size : parse_list("--qubits", text)) sizes.push_back(static_cast<std::uint32_t>(size));
  } else {
    const auto first = static_cast<std::uint32_t>(parse_unsigned("--qubits", text.substr(0, dots), 100));
    const auto last = static_cast<std::uint32_t>(parse_unsigned("--qubits", text.substr(dots + 2), 100));
    if (first > last) throw UsageError("--qubits " + text + ": the range is empty");
    for (std::uint32_t size = first; size <= last; ++size) sizes.push_back(size);
  }
  for (const std::uint32_t size : sizes) {
    if (size == 0 || size > 100) throw UsageError("--qubits: sizes are 1 to 100, not " + std::to_string(size));
  }
  return sizes;
}

RunOptions run_options(const Flags& flags, const BenchFlags& typed) {
  RunOptions options;
  options.backend = choice_of<BackendKind>(typed.backend);
  options.exchange = choice_of<ExchangeKind>(typed.exchange);
  options.jit = choice_of<Jit>(typed.jit);
  options.kernel_cache = typed.kernel_cache;
  if (flags.given("--threads")) options.threads = parse_threads(typed.threads);
  if (flags.given("--gpu-ids")) {
    options.gpu_ids = parse_gpu_ids(typed.gpu_ids);
    options.backend = BackendKind::kCuda;
  }
  if (flags.given("--max-memory")) options.max_memory = parse_bytes("--max-memory", typed.max_memory);
  if (flags.given("--pool")) options.pool_share = parse_share("--pool", typed.pool);
  if (flags.given("--tile")) options.tile_bits = static_cast<std::uint32_t>(parse_unsigned("--tile", typed.tile, 30));
  return options;
}

}  // namespace

std::string bench_footer() {
  std::string text = "Circuits: ";
  for (const GeneratorInfo& info : generators()) text += std::string(info.name) + " ";
  return text +
         "\n          asc:random30 asc:ghz_qft30 asc:ghz_qft29 asc:invqft34 asc:qftinvqft35 asc:shor35 asc:hamexp22\n"
         "          (the ASC20-21 challenge; its lists and reference outputs are read from "
         "$QSIM_SHARED/workloads/asc)\n"
         "          and OpenQASM files. Without any: a suite of six, 24 qubits on a CPU and 28 on a GPU.\n"
         "Examples:\n"
         "  qsim bench\n"
         "  qsim bench ghz qft random --ranks 1,2,4,8 --qubits 28..30 --from both --svg scaling.svg\n"
         "  qsim bench circuit.qasm --json --output today.json --compare yesterday.json --max-ratio 1.1\n"
         "  qsim bench asc:hamexp22\n"
         "  qsim bench --gates ansatz.gates --pauli terms.pauli\n"
         "  mpirun -n 4 qsim bench qft --qubits 30\n";
}

void declare_bench(Flags& flags, BenchFlags& typed) {
  flags.positionals("name", typed.names, "circuit families, asc:NAME or OpenQASM files", Role::kInput);
  flags.group("What");
  flags.list("--gates", typed.gates, "FILE", "a list of gates, 'op qubits... [angles]' a line; repeatable",
             Role::kInput);
  flags.text("--pauli", typed.pauli, "FILE", "Pauli sum to read after --gates (first letter: qubit 0)", Role::kInput);
  flags.text("--expected", typed.expected, "FILE", "its terms' values, one a line", Role::kInput);
  flags.text("-n,--qubits", typed.qubits, "A..B", "sizes of families: a number, a list or a range");
  flags.text("--depth", typed.depth, "D", "layers or steps of families that have them");
  flags.text("--seed", typed.seed, "S", "of random families and --from random (default 1)");
  flags.choice("--precision", typed.precision, {"double", "single", "both"}, "of the state");
  flags.choice("--from", typed.from, {"zero", "random", "both"}, "start state");
  flags.group("Where and how");
  flags.text("--ranks", typed.ranks, "LIST", "numbers of ranks (GPUs, or thread ranks on the CPU), as 1,2,4,8");
  flags.flag("--weak", typed.weak, "a family gains a qubit with every doubling of the ranks");
  flags.text("--repeats", typed.repeats, "N", "timed runs of each (default 5)");
  flags.text("--warm-ups", typed.warm_ups, "N", "untimed runs before them (default 1)");
  flags.text("--budget", typed.budget, "SECONDS", "begin no further repeat after that (default 5)");
  flags.choice("--backend", typed.backend, {"auto", "cpu", "cuda"}, "what computes");
  flags.text("--threads", typed.threads, "N", "CPU threads a rank (default: the affinity mask)");
  flags.text("--gpu-ids", typed.gpu_ids, "LIST", "which GPUs");
  flags.choice("--exchange", typed.exchange, names_of<ExchangeKind>(), "how ranks trade amplitudes");
  flags.text("--max-memory", typed.max_memory, "SIZE", "most memory a rank may use");
  flags.text("--pool", typed.pool, "SHARE%", "share of GPU memory to take");
  flags.choice("--jit", typed.jit, names_of<Jit>(), "kernels compiled for the circuit");
  flags.text("--kernel-cache", typed.kernel_cache, "DIR|off", "where compiled kernels are kept (default: the user's)");
  flags.text("--tile", typed.tile, "K", "active bits of a sweep");
  flags.group("Output");
  flags.text("--compare", typed.compare, "FILE.json", "ratio to an earlier run (qsim.bench/1)", Role::kInput);
  flags.text("--max-ratio", typed.max_ratio, "X", "fail (exit 8) when slower than that with --compare");
  flags.text("--svg", typed.svg, "FILE", "draw times and rates", Role::kOutputStream);
  flags.flag("--json", typed.json, "one JSON document (qsim.bench/1)");
  flags.text("--output", typed.output, "FILE", "write the table or document there instead of to standard output",
             Role::kOutputStream);
}

BenchRequest bench_request(const Flags& flags, const BenchFlags& typed, const Context& context) {
  BenchRequest request;
  if (context.launched()) flags.leave_to_launcher({"--ranks", "--gpu-ids", "--weak"});
  if (flags.given("--max-ratio") && !flags.given("--compare")) {
    throw UsageError("--max-ratio would have no effect without --compare");
  }
  max_ratio_of(flags, typed);
  request.names = typed.names;
  request.gate_files = typed.gates;
  request.pauli_file = typed.pauli;
  request.expected_file = typed.expected;
  if (flags.given("--qubits")) request.qubits = parse_sizes(typed.qubits);
  if (flags.given("--depth")) {
    request.depth = static_cast<std::uint32_t>(parse_unsigned("--depth", typed.depth, 1'000'000));
    if (request.depth == 0) throw UsageError("--depth: at least 1 layer is needed");
  }
  if (flags.given("--seed")) request.seed = parse_unsigned("--seed", typed.seed);
  if (flags.given("--ranks")) {
    for (const std::uint64_t ranks : parse_list("--ranks", typed.ranks)) {
      if (ranks > kMostThreadRanks) {
        throw UsageError("--ranks: " + std::to_string(ranks) + " are too many, at most " +
                         std::to_string(kMostThreadRanks));
      }
      check_rank_count(ranks, "ranks");
      request.ranks.push_back(static_cast<int>(ranks));
    }
  }
  request.weak = typed.weak;
  if (request.weak && request.ranks.size() < 2) {
    throw UsageError("--weak would have no effect: there is one number of ranks", "--ranks 1,2,4");
  }
  if (typed.precision == "single") request.precisions = {Precision::kSingle};
  if (typed.precision == "both") request.precisions = {Precision::kDouble, Precision::kSingle};
  if (typed.from == "random") request.starts = {Start::kRandom};
  if (typed.from == "both") request.starts = {Start::kZero, Start::kRandom};
  if (flags.given("--repeats")) {
    request.repeats = static_cast<std::uint32_t>(parse_unsigned("--repeats", typed.repeats, 1'000'000));
    if (request.repeats == 0) throw UsageError("--repeats: at least one run must be timed");
  }
  if (flags.given("--warm-ups")) {
    request.warm_ups = static_cast<std::uint32_t>(parse_unsigned("--warm-ups", typed.warm_ups, 1'000'000));
  }
  if (flags.given("--budget")) request.budget_seconds = parse_positive("--budget", typed.budget);
  request.run = run_options(flags, typed);
  const bool one_rank = !context.launched() && request.run.gpu_ids.size() < 2 &&
                        std::all_of(request.ranks.begin(), request.ranks.end(), [](int ranks) { return ranks == 1; });
  if (typed.exchange != "auto" && one_rank) {
    throw UsageError("--exchange would have no effect: there is one rank, so nothing is exchanged", "--ranks 2,4");
  }
  return request;
}

std::optional<double> max_ratio_of(const Flags& flags, const BenchFlags& typed) {
  if (!flags.given("--max-ratio")) return std::nullopt;
  return parse_positive("--max-ratio", typed.max_ratio);
}

}  // namespace qsim::cli
