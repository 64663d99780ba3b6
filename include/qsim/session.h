// Devices that are opened once: programs run there, and states stay there.
#pragma once

#include <functional>
#include <initializer_list>

#include "qsim/state.h"

namespace QSIM_PUBLIC qsim {

/// How far a run is.
struct Progress {
  double fraction = 0, remaining_seconds = 0;
};

/// What is asked of every branch of a program, and answered as an average over them.
struct Questions {
  std::uint64_t shots = 0;
  std::optional<std::uint64_t> seed = {};  // of the shots: draw s depends on (seed, s) alone; without one it is drawn
  bool distribution = false, marginals = false;
  std::vector<std::vector<Qubit>> probabilities = {};  // each as State::probabilities() has it
  std::vector<PauliSum> expectations = {};
  std::uint64_t max_iterations = std::uint64_t{1} << 20;  // of loops that measurements decide, in one branch
};
/// Outcomes of the classical bits of all registers, rising as numbers, each with a value: `for (auto [words, value] :
/// outcomes)`. Bit b of an outcome is bit b % 64 of its word b / 64.
template <typename Value>
struct Outcomes {
  struct Iterator {
    const Outcomes* of;
    std::size_t i;
    std::pair<std::span<const std::uint64_t>, Value> operator*() const { return {(*of)[i], of->values[i]}; }
    Iterator& operator++() { return ++i, *this; }
    bool operator==(const Iterator&) const = default;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size()}; }
  std::size_t size() const { return values.size(); }
  std::span<const std::uint64_t> operator[](std::size_t i) const {
    return std::span(words).subspan(i * ((bits + 63) / 64), (bits + 63) / 64);
  }
  bool operator==(const Outcomes&) const = default;

  std::uint32_t bits = 0;            // of each outcome
  std::vector<std::uint64_t> words;  // (bits + 63) / 64 an outcome
  std::vector<Value> values;
};
struct ProgramAnswers {
  Outcomes<std::uint64_t> counts;  // times drawn
  Outcomes<double> distribution;   // exact probabilities
  std::vector<double> marginals;   // at the end, before terminal measurements
  std::vector<std::vector<double>> probabilities;
  std::vector<double> expectations;
  std::uint64_t seed = 0, branches = 0;
};

/// Whether cores are done with the circuit before a GPU's driver has started (0.3 s): what `auto` takes for a reason.
bool too_small_for_a_gpu(const Circuit& circuit);

struct SessionOptions {
  Verify verify = Verify::kNorm;  // kFull: and every exchange's data, of the states that the session runs
  /// Called on rank 0, by the thread that runs, at most ten times a second. What it throws ends the run.
  std::function<void(const Progress&)> progress;
};

/// A target with its memory, streams, links between ranks and compiled kernels. One thread uses it at a time, others
/// get UsageError. With a communicator every rank makes the same calls with the same arguments: else CommunicatorError.
class Session {
 public:
  /// UsageError for a target that makes no sense, DeviceError, CommunicatorError.
  explicit Session(const Target& target = {}, const SessionOptions& options = {});
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();  // its states cannot be used any more

  /// With the backend that was chosen, and why.
  const Target& target() const;
  const std::string& reason() const;
  /// How many share its states, and which of them this process is (0 where they are its threads).
  int ranks() const, rank() const;
  std::uint64_t memory_bytes() const;  // of its device, that each rank may use

  /// As qsim::compile() for this session's target.
  Program compile(const Circuit& circuit, const CompileOptions& options = {}) const;
  /// |0...0>. A state of fewer qubits than the ranks can share is held by each of them. CapacityError.
  State state(std::uint32_t qubits);
  /// The state that `program` makes of |0...0>. As State::run().
  State run(const Program& program, std::span<const double> values = {});
  State run(const Program& program, std::initializer_list<double> values) {
    return run(program, std::span(values.begin(), values.size()));
  }
  State run(const Circuit& circuit) { return run(compile(circuit)); }
  /// Runs any program from |0...0>, measurements, resets, conditions and loops included. Exact answers follow every
  /// branch: UnsupportedError where those are too many, ask for shots instead.
  ProgramAnswers answer(const Program& program, const Questions& questions, std::span<const double> values = {});

  struct Impl;

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace qsim
