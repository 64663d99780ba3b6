// What a user calls: a circuit and options in, a Result out. Everything the command line can do goes through here.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ranks/communicator.h"
#include "device/backend.h"
#include "document/result.h"
#include "qsim/circuit.h"
#include "qsim/pauli.h"
#include "qsim/session.h"
#include "qsim/target.h"
#include "qsim/types.h"
#include "session/choose/choose.h"
#include "session/program_ahead.h"

namespace qsim {

/// Where a run is made, and what it does there.
struct RunOptions : Target {
  std::optional<std::uint64_t> shots;  // default: 1024 when the circuit measures, else 0
  std::optional<std::uint64_t> seed;   // default: drawn from the system and reported
  Start start = Start::kZero;
  std::uint64_t start_seed = 1;  // of Start::kRandom
  Strategy strategy = Strategy::kSearch;
  std::optional<std::uint32_t> tile_bits;
  bool known_zeros = true;
  Verify verify = Verify::kNorm;
  bool reproducible = false;

  bool marginals = false;
  bool distribution = false;
  std::vector<std::vector<Qubit>> probabilities;
  std::vector<Index> amplitude_indices;
  std::size_t top = 0;                // the K most probable
  bool amplitudes_requested = false;  // amplitude_indices may be empty then
  std::vector<PauliSum> expectation;
  std::string statevector_path;  // .npy; empty = none
  /// Of loops that measurements decide, all together in one branch; more is UnsupportedError.
  std::uint64_t max_iterations = std::uint64_t{1} << 20;
  std::string profile_path;
  bool pictures = false;  // Result::pictures; the run is timed for them as for a profile

  /// The state is made `warm_ups` times untimed and then up to `repeats` times, with one plan and one allocation; the
  /// last time is what is read out. No repeat is begun once they have taken `repeat_seconds` together.
  std::uint32_t warm_ups = 0, repeats = 1;
  double repeat_seconds = 1e300;

  /// Called before the first sweep with a fraction of 0 and the predicted seconds (0: unknown), then after sweeps.
  std::function<void(const Progress&)> progress;
};

/// Runs `circuit` on the target's ranks, which are opened for it: a Session with one program and one state. With a
/// communicator it is collective (same circuit and options on each rank): every rank gets the Result, and only rank 0's
/// `results` need be complete. Throws Error subclasses, the same on every rank. `ahead`: what plan_ahead() gave.
Result simulate(const Circuit& circuit, const RunOptions& options, const ProgramAhead* ahead = nullptr);

/// The plans of such a run, which may be begun as soon as the circuit is known; null where simulate() makes them. Both
/// outlive it.
std::unique_ptr<const ProgramAhead> plan_ahead(const Circuit& circuit, const RunOptions& options);

/// What `auto` would choose here, with the reason; makes no device call when the circuit is too small to gain.
BackendChoice choose_backend(const Circuit& circuit, const RunOptions& options);

EnvironmentSummary environment();

/// The processor's name, and those of the instruction sets that it runs, worst first.
struct ProcessorFacts {
  std::string name;
  std::vector<std::string> instruction_sets;
};
ProcessorFacts processor_facts();

/// What limits this process on its host, for people, as (name, value): memory and processor time, with the control
/// group that says so.
std::vector<std::pair<std::string, std::string>> host_facts();

/// The usable GPUs for people, as (name, value): memory and measured copy rate of each, the run-time compiler, and the
/// versions of the libraries that are loaded on first use. Starts the driver; empty in a build without CUDA.
std::vector<std::pair<std::string, std::string>> gpu_facts();

/// Whether measurements decide how often anything in `circuit` runs.
bool has_loops(const Circuit& circuit);
/// Whether its results hold variables by value, beside bit strings.
bool has_variables(const Circuit& circuit);

}  // namespace qsim
