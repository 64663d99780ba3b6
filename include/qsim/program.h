// A circuit that is planned for a target, ready to be run any number of times.
#pragma once

#include <optional>

#include "qsim/circuit.h"
#include "qsim/target.h"

namespace QSIM_PUBLIC qsim {

struct CompileOptions {
  Strategy strategy = Strategy::kSearch;
  std::optional<std::uint32_t> tile_bits;  // qubits that a sweep works on at a time; by default the planner's choice
  bool known_zeros = true;                 // amplitudes that are still zero are neither read nor written
};

/// What running a program from |0...0> does, a rank. Bytes; seconds as they are predicted.
struct ProgramWork {
  std::uint64_t sweeps = 0, exchanges = 0;  // trips over memory, and over the links between ranks
  std::uint64_t bytes_swept = 0, bytes_exchanged = 0, memory_bytes = 0;
  double seconds = 0;
};

/// Cheap to copy: copies share their plans. Safe to use from several threads. UsageError when it was moved from.
class Program {
 public:
  const Circuit& circuit() const;
  std::uint32_t qubits() const { return circuit().qubits(); }
  /// Measures, resets or branches before its end: it has no single final state, and Session::answer() runs it.
  bool dynamic() const;
  /// UsageError for open circuits without `values`, UnsupportedError for dynamic ones.
  ProgramWork work(std::span<const double> values = {}) const;
  /// What it does from |0...0>, and when, as predicted: SVG with a row for each rank, `width` pixels wide. UsageError
  /// as work(); of a dynamic program each of its plans once.
  std::string timetable(std::span<const double> values = {}, std::size_t width = 1000) const;

  struct Impl;

 private:
  friend Program compile(const Circuit& circuit, const Target& target, const CompileOptions& options);
  friend class Session;
  friend class State;
  explicit Program(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  Impl& impl() const;
  std::shared_ptr<Impl> impl_;
};

/// Checks that `circuit` can run on `target`; plans are made when they are first needed, and kept: one for each layout
/// that it is run from, into which new values are put. UsageError, UnsupportedError, CapacityError for more qubits than
/// can be addressed.
Program compile(const Circuit& circuit, const Target& target = {}, const CompileOptions& options = {});

}  // namespace qsim
