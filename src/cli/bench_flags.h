// The flags of `qsim bench`, as typed and as a request.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/bench.h"
#include "cli/io/context.h"
#include "cli/io/flags.h"
#include "cli/io/values.h"

namespace qsim::cli {

struct BenchFlags {
  std::vector<std::string> names, gates;
  std::string pauli, expected, qubits, depth, seed, ranks, precision = "double", from = "zero", repeats, warm_ups,
                                                           budget;
  bool weak = false;
  std::string backend = "auto", threads, gpu_ids, exchange = "auto", max_memory, pool, jit = "auto", kernel_cache, tile;
  std::string compare, max_ratio, svg, output;
  bool json = false;
};

std::string bench_footer();
void declare_bench(Flags& flags, BenchFlags& typed);
/// UsageError for numbers that mean nothing and flags without effect.
BenchRequest bench_request(const Flags& flags, const BenchFlags& typed, const Context& context);
std::optional<double> max_ratio_of(const Flags& flags, const BenchFlags& typed);

}  // namespace qsim::cli
