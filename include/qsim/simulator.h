// What a user calls: a circuit and options in, a Result out. Everything the command line can do goes through here.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "qsim/backend.h"
#include "qsim/circuit.h"
#include "qsim/communicator.h"
#include "qsim/plan.h"
#include "qsim/result.h"

namespace qsim {

/// A product of Pauli letters: bit q of x / z is set where qubit q has X or Y / Z or Y.
struct PauliString {
  Index x = 0, z = 0;
  friend bool operator==(const PauliString&, const PauliString&) = default;
};
struct PauliTerm {
  double coefficient = 1;
  PauliString pauli;
};
struct PauliSum {
  std::string name;
  std::vector<PauliTerm> terms;
};
/// "Z0 X3", "0.5 Z0 Z1 + -1 X2" or a dense string "IZX" (qubit 0 right-most), checked against `qubits`. UsageError.
PauliSum parse_pauli_sum(const std::string& text, std::uint32_t qubits);
/// One `coefficient  PAULIS` a line (sparse or dense, # comments). FileError, UsageError with the line.
PauliSum read_pauli_file(const std::string& path, std::uint32_t qubits);
/// Sparse text, "Z0 X3"; "I" for the identity.
std::string pauli_text(const PauliString& pauli);

enum class Verify : std::uint8_t { kOff, kNorm, kFull };
enum class ExchangeKind : std::uint8_t { kAuto, kP2p, kNccl, kMpi, kStaged };

/// How far a run is; called on rank 0 at most ten times a second.
struct Progress {
  double fraction = 0;
  double remaining_seconds = 0;
};

struct RunOptions {
  std::string backend = "auto";  // auto | cpu | cuda | null
  Precision precision = Precision::kDouble;
  std::optional<std::uint64_t> shots;  // default: 1024 when the circuit measures, else 0
  std::optional<std::uint64_t> seed;   // default: drawn from the system and reported
  int threads = 0;                     // a rank; 0 = from the affinity mask
  std::vector<int> gpu_ids;
  bool oversubscribe_gpus = false;
  Start start = Start::kZero;
  std::uint64_t start_seed = 1;  // of Start::kRandom
  Strategy strategy = Strategy::kSearch;
  std::optional<std::uint32_t> tile_bits;
  bool known_zeros = true;
  ExchangeKind exchange = ExchangeKind::kAuto;
  std::uint64_t max_memory = 0;  // bytes a rank; 0 = what the machine has
  double pool_share = 0;
  Verify verify = Verify::kNorm;
  std::string jit = "auto";
  bool reproducible = false;
  std::string instruction_set;  // CPU, tests only
  std::string kernel_cache;     // folder of compiled kernels; "off" = none, "" = the user's

  bool marginals = false;
  bool distribution = false;
  std::vector<std::vector<Qubit>> probabilities;
  std::vector<Index> amplitude_indices;
  std::size_t top = 0;                // the K most probable
  bool amplitudes_requested = false;  // amplitude_indices may be empty then
  std::vector<PauliSum> expectation;
  std::string statevector_path;  // .npy; empty = none
  std::string profile_path;

  /// The state is made `warm_ups` times untimed and then up to `repeats` times, with one plan and one allocation; the
  /// last time is what is read out. No repeat is begun once they have taken `repeat_seconds` together.
  std::uint32_t warm_ups = 0, repeats = 1;
  double repeat_seconds = 1e300;

  std::function<void(const Progress&)> progress;
};

/// Runs `circuit` on the ranks of `communicator` (collective: same circuit and options on each). Every rank gets the
/// Result; only rank 0's `results` need be complete. Throws Error subclasses, the same on every rank.
Result simulate(const Circuit& circuit, const RunOptions& options, Communicator& communicator);
/// The same on `ranks` thread ranks of this process (1: no threads).
Result simulate(const Circuit& circuit, const RunOptions& options, int ranks = 1);

/// What `auto` would choose here, with the reason; makes no device call when the circuit is too small to gain.
struct BackendChoice {
  std::string backend, reason;
  int gpus = 0;
};
BackendChoice choose_backend(const Circuit& circuit, const RunOptions& options);

/// The machine that `options` would run on (for `qsim plan` without --device).
Machine this_machine(const RunOptions& options);

EnvironmentSummary environment();

/// What limits this process on its host, for people, as (name, value): memory and processor time, with the control
/// group that says so.
std::vector<std::pair<std::string, std::string>> host_facts();

/// The usable GPUs for people, as (name, value): memory and measured copy rate of each, the run-time compiler, and the
/// versions of the libraries that are loaded on first use. Starts the driver; empty in a build without CUDA.
std::vector<std::pair<std::string, std::string>> gpu_facts();

}  // namespace qsim
