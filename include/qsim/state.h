// A quantum state on its devices: programs run on it, and questions are asked of it.
#pragma once

#include <array>

#include "qsim/pauli.h"
#include "qsim/program.h"

namespace QSIM_PUBLIC qsim {

/// A basis state, its amplitude and |amplitude|^2.
struct AmplitudeEntry {
  Index index = 0;
  Complex value;
  double probability = 0;
};

/// Where a state lies: complex numbers of its precision, by index.
struct StateMemory {
  const void* data = nullptr;
  Index amplitudes = 0;
  Precision precision = Precision::kDouble;
  int gpu = -1;  // whose memory it is; -1: the host's
};

/// A state of a Session. Index and bit order: qubit q is bit q of an index. With several ranks every call is made by
/// all of them, in the same order, and every rank gets the answer. A state that a failed run has left has no value:
/// UsageError until it is set again. UsageError too when it was moved from, when its session has ended, and while
/// another thread uses the session; VerificationError where an answer is not a number.
class State {
 public:
  State(State&&) noexcept;
  State& operator=(State&&) noexcept;
  ~State();

  std::uint32_t qubits() const;
  State copy();  // an equal one

  /// Runs `program` on this state. values[i] is for circuit().parameters()[i]. UsageError for a program of another
  /// target or number of qubits, UnsupportedError for a dynamic one.
  void run(const Program& program, std::span<const double> values = {});
  void set(Index index = 0);  // a basis state
  /// 2^qubits amplitudes by index, whose squares add up to 1 to single precision (they are not scaled).
  void set(std::span<const Complex> amplitudes);
  /// qubits[q] = amplitudes of 0 and 1 of qubit q, each pair normalised.
  void set_product(std::span<const std::array<Complex, 2>> qubits);
  /// Gaussian amplitudes, normalised: Philox keyed by `seed` and index, whatever the target.
  void set_random(std::uint64_t seed);
  /// What save() wrote, of either precision: a .npy file of one dimension. FileError.
  void load(const std::string& path);

  // -- asking: the state stays
  /// Writes complex64 or complex128, one dimension, by index. FileError; what could not be finished is removed.
  void save(const std::string& path);
  double norm();                    // sum of |amplitude|^2
  std::vector<double> marginals();  // [q] = probability that qubit q is 1
  /// [v] = probability that list[j] equals bit j of v; at most 26 qubits.
  std::vector<double> probabilities(std::span<const Qubit> list);
  std::vector<Complex> amplitudes(std::span<const Index> indices);
  /// Amplitudes first .. first + count - 1.
  std::vector<Complex> amplitudes(Index first, Index count);
  /// The `count` most probable, falling; of equal ones the lowest index first.
  std::vector<AmplitudeEntry> top(std::size_t count);
  double expectation(const PauliSum& sum);
  std::vector<double> expectations(std::span<const PauliString> strings);  // one value a string
  Complex inner_product(State& other);                                     // <other|this>
  /// `shots` draws, as (index, times) by rising index. Draw s depends on (seed, s) alone, whatever the target; without
  /// a seed one is drawn.
  std::vector<std::pair<Index, std::uint64_t>> sample(std::uint64_t shots, std::optional<std::uint64_t> seed = {});

  /// Where it lies, to be read there. Holds until anything but a question about this state is asked of the session;
  /// the session's end included. UnsupportedError for a state that ranks share.
  StateMemory memory();

  struct Impl;

 private:
  friend class Session;
  explicit State(std::unique_ptr<Impl> impl);
  Impl& impl() const;
  std::unique_ptr<Impl> impl_;
  std::shared_ptr<void> callers_;  // where its calls are agreed on, also when impl_ was moved from
};

}  // namespace qsim
