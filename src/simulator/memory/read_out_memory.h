// What answers and the reading of them take of a rank's host memory, said before anything is allocated.
#pragma once

#include <cstdint>
#include <string>

#include "plan/program/planned_circuit.h"
#include "qsim/circuit.h"
#include "session/rank/capacity.h"
#include "simulator/settings.h"
#include "simulator/simulator.h"

namespace qsim {

struct ReadOutPlace {
  const PlannedCircuit& program;
  std::uint32_t qubits = 0, rank_bits = 0;
  int threads = 1;      // of a rank
  bool on_host = true;  // sums and candidates are the CPU backend's, in host memory
};

class ReadOutMemory {
 public:
  /// Of outcomes that cannot be known before the run, as many are counted as a uniform state would give. Saturates.
  void predict(const RunOptions& options, const Settings& settings, const Circuit& circuit, const ReadOutPlace& place);
  /// The most that a rank holds at a time beside its pool.
  std::uint64_t bytes() const { return bytes_; }
  /// A rank's pool and, where both are in host memory, this.
  std::uint64_t with(std::uint64_t pool_bytes) const;
  /// CapacityError where the ranks of a host, whose pools are on GPUs, need more than `usable_bytes` of its memory.
  void require_host(std::uint64_t ranks, std::uint64_t usable_bytes) const;
  /// Names what takes the memory, where it is worth naming.
  void explain(CapacityQuestion& question) const;

  /// Measures from here on what the process holds.
  void start();
  /// What a rank of `ranks` in this process took at most beyond its pool: its part of what the process grew by since
  /// start(). 0 where little was predicted: that drowns in what else a process does.
  std::uint64_t peak_beside(std::uint64_t pool_bytes, std::uint64_t ranks) const;

 private:
  std::uint64_t bytes_ = 0;
  std::string of_;  // the read-out during which that is
  bool on_host_ = true;
  std::uint64_t resident_before_ = 0;
};

}  // namespace qsim
