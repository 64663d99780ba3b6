// What this machine's memory and links can do, measured beside the benchmark.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "bench/bench.h"
#include "document/result.h"

namespace qsim::bench {

/// Measures each rate once. Gigabytes a second and rank; a copy counts what it reads and what it writes, a link what
/// travels each way.
class Rates {
 public:
  /// `communicator`: the launcher's ranks, which then measure together; null: ranks are threads of this process.
  explicit Rates(Communicator* communicator) : communicator_(communicator) {}
  std::optional<double> copy_gbps(const RunSummary& run);
  std::optional<double> link_gbps(const RunSummary& run);

 private:
  using Key = std::pair<std::string, int>;
  Communicator* communicator_;
  std::map<Key, std::optional<double>> copy_, link_;
};

}  // namespace qsim::bench
