// Many small circuits of one shape, and states compared with states.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "qsim/circuit.h"
#include "qsim/simulator.h"

namespace qsim {

/// An angle that is bound for each evaluation: scale * values[index] + offset.
struct Parameter {
  std::uint32_t index = 0;
  double scale = 1, offset = 0;
};

/// A fixed angle in radians, or a Parameter.
struct Angle {
  Angle(double radians) : offset(radians) {}  // implicit: gates read like those of a Circuit
  Angle(const Parameter& bound) : parameter(bound.index), scale(bound.scale), offset(bound.offset) {}
  std::optional<std::uint32_t> parameter;
  double scale = 0, offset = 0;
  double value(std::span<const double> values) const {
    return parameter ? scale * values[*parameter] + offset : offset;
  }
};

constexpr std::uint32_t kMaxBatchQubits = 20;

/// A circuit of up to kMaxBatchQubits qubits some of whose angles are bound later.
class ParametricCircuit {
 public:
  explicit ParametricCircuit(std::uint32_t qubits);
  /// All angles fixed; measurements at the end are left out. UnsupportedError for anything dynamic.
  explicit ParametricCircuit(const Circuit& circuit);

  /// As Circuit::add_gate; UnsupportedError for a Parameter in a gate other than rx, ry, rz, p, u2, u, rxx, ryy, rzz.
  void add_gate(Gate gate, std::span<const Qubit> controls, std::span<const Qubit> targets,
                std::span<const Angle> angles = {});
  void h(Qubit q);
  void cx(Qubit control, Qubit target);
  void rx(const Angle& angle, Qubit q);
  void ry(const Angle& angle, Qubit q);
  void rz(const Angle& angle, Qubit q);

  std::uint32_t qubits() const { return circuit_.qubits(); }
  /// One more than the largest index of a Parameter.
  std::uint32_t parameters() const { return parameters_; }
  /// The circuit with every parameter's value put in.
  Circuit bind(std::span<const double> values) const;

  /// The circuit with zeros for parameters, and all angles of its gates, in order.
  const Circuit& shape() const { return circuit_; }
  const std::vector<Angle>& angles() const { return angles_; }

 private:
  Circuit circuit_;
  std::vector<Angle> angles_;
  std::uint32_t parameters_ = 0;
};

struct BatchOptions {
  std::string backend = "auto";  // auto | cpu | cuda
  int threads = 0;               // CPU: 0 = the affinity mask's
  bool marginals = true;
  std::uint32_t shots = 0;  // samples of all qubits an evaluation
  std::uint64_t seed = 1;
  bool states = false;
};

/// Evaluation e's values stand together, in the order of the evaluations.
struct BatchResult {
  std::uint32_t qubits = 0;
  std::size_t evaluations = 0;
  std::vector<double> marginals;        // [e * qubits + q] = P(qubit q = 1)
  std::vector<std::uint32_t> outcomes;  // [e * shots + s]: qubit 0 is the least significant bit
  std::vector<Complex> states;          // [e << qubits | index]
  std::string backend;
  double seconds = 0;  // from values to answers, both in host memory
};

/// Evaluates `circuit` from |0...0> in double precision with values.size() / parameters() sets of values (one when it
/// has no parameters; `evaluations` then says how many). Evaluation e's draw s depends on (seed, e, s) alone.
/// UsageError where the values are no whole number of sets.
BatchResult run_batch(const ParametricCircuit& circuit, std::span<const double> values, const BatchOptions& options,
                      std::size_t evaluations = 0);

/// Inner products of states with states.
struct GramResult {
  std::size_t states = 0;
  std::uint32_t qubits = 0;
  std::vector<Complex> gram;  // [i * states + j] = <i|j>
  std::string backend;
  double prepare_seconds = 0, product_seconds = 0;

  Complex at(std::size_t i, std::size_t j) const { return gram[i * states + j]; }
  double fidelity(std::size_t i, std::size_t j) const;   // |<i|j>|^2
  double euclidean(std::size_t i, std::size_t j) const;  // || |i> - |j> ||
  double cosine(std::size_t i, std::size_t j) const;     // 1 - Re <i|j>
  double trace(std::size_t i, std::size_t j) const;      // sqrt(1 - |<i|j>|^2), the trace distance of pure states
};
/// The states that `circuits` (all of one number of qubits) prepare from |0...0>; backend, precision, threads and
/// max_memory of `options` count. All states are held at once: CapacityError says what would fit. UsageError,
/// UnsupportedError for dynamic circuits.
GramResult gram(std::span<const Circuit> circuits, const RunOptions& options);
/// The same for the evaluations of one circuit, prepared as a batch in double precision.
GramResult gram(const ParametricCircuit& circuit, std::span<const double> values, const RunOptions& options);

/// The `qsim.gram/1` document; `names` name the states.
std::string gram_json(const GramResult& result, std::span<const std::string> names);
/// Tables of fidelities and distances.
std::string gram_text(const GramResult& result, std::span<const std::string> names);

}  // namespace qsim
