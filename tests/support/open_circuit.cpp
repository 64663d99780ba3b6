// Open circuits by random choice.
#include "support/open_circuit.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "base/philox.h"
#include "circuit/gate_table.h"
#include "support/random_circuit.h"

namespace qsim::test {
namespace {

class Generator {
 public:
  explicit Generator(const OpenCircuitOptions& options)
      : options_(options), random_(options.seed), circuit_(options.qubits) {}

  Circuit run() {
    if (options_.kinds > 0) return run_of_kinds();
    while (circuit_.operations().size() < options_.gates) add();
    return std::move(circuit_);
  }

 private:
  /// A fixed circuit of few kinds of operation, with four angles in the places of its own.
  Circuit run_of_kinds() {
    RandomCircuitOptions fixed;
    fixed.qubits = options_.qubits;
    fixed.operations = static_cast<unsigned>(options_.gates);
    fixed.seed = options_.seed;
    fixed.kinds = options_.kinds;
    const Circuit pattern = random_circuit(fixed);
    std::vector<Angle> few;
    while (few.size() < 4) few.push_back(angle());
    const auto one = [&] { return few[random_.below(few.size())]; };
    for (const Operation& op : pattern.operations()) {
      if (op.kind == OpKind::kPauliRotation) {
        std::string letters;
        for (const std::uint32_t letter : pattern.letters(op)) letters += "IXYZ"[letter];
        circuit_.add_pauli_rotation(one(), letters, pattern.targets(op), pattern.controls(op));
      } else {
        const std::vector<Angle> angles(pattern.params(op).size(), one());
        const std::vector<ControlQubit> on(pattern.controls(op).begin(), pattern.controls(op).end());
        circuit_.apply(op.gate, on, pattern.targets(op), angles);
      }
    }
    return std::move(circuit_);
  }

  void add() {
    const std::size_t kind = random_.below(8);
    if (kind == 0) return add_rotation();
    const bool plain = kind < 4;  // what variational circuits consist of
    constexpr Gate kPlain[] = {Gate::kRx, Gate::kRy, Gate::kRz, Gate::kRzz, Gate::kX, Gate::kH, Gate::kX};
    const Gate gate = plain ? kPlain[random_.below(std::size(kPlain))] : static_cast<Gate>(random_.below(kGateCount));
    const GateInfo& info = gate_info(gate);
    const auto targets = static_cast<std::uint32_t>(info.targets);
    if (targets > std::min(options_.most_targets, options_.qubits)) return;
    const std::vector<Qubit> qubits = pick(targets + controls(options_.qubits - targets));
    std::vector<Angle> angles;
    for (int i = 0; i < info.params; ++i) angles.push_back(gate == Gate::kU0 ? Angle(1) : angle());
    const std::vector<ControlQubit> on(qubits.begin() + targets, qubits.end());
    circuit_.apply(gate, on, std::span(qubits).first(targets), angles);
  }

  void add_rotation() {
    const std::uint32_t most = std::min<std::uint32_t>(options_.most_targets, options_.qubits);
    const auto targets = static_cast<std::uint32_t>(random_.below(most + 1));
    const std::vector<Qubit> qubits = pick(targets + controls(options_.qubits - targets));
    std::string letters;
    for (std::uint32_t j = 0; j < targets; ++j) letters += "XYZ"[random_.below(3)];
    circuit_.add_pauli_rotation(angle(), letters, std::span(qubits).first(targets), std::span(qubits).subspan(targets));
  }

  std::uint32_t controls(std::uint32_t room) {
    const std::size_t chance = random_.below(8);
    return std::min<std::uint32_t>(room, chance < 4 ? 0 : chance < 7 ? 1 : 2);
  }

  std::vector<Qubit> pick(std::uint32_t count) {
    std::vector<Qubit> all;
    for (Qubit q = 0; q < options_.qubits; ++q) all.push_back(q);
    for (std::size_t i = 0; i < count; ++i) std::swap(all[i], all[i + random_.below(all.size() - i)]);
    all.resize(count);
    return all;
  }

  Angle angle() {
    constexpr double kFactors[] = {1, 1, 1, -1, 0.5, -2, 3.75, -250};
    constexpr double kConstants[] = {0, 0, 0, 0.3, std::numbers::pi, -17};
    if (random_.below(3) == 0) return std::numbers::pi / 4 * static_cast<double>(random_.below(9));
    Angle angle = kConstants[random_.below(std::size(kConstants))];
    const std::size_t terms = random_.below(4) == 0 ? 2 : 1;
    for (std::size_t i = 0; i < terms; ++i) {
      const Parameter parameter{"p" + std::to_string(random_.below(options_.parameters))};
      angle = angle + kFactors[random_.below(std::size(kFactors))] * Angle(parameter);
    }
    return angle;
  }

  const OpenCircuitOptions options_;
  PhiloxSequence random_;
  Circuit circuit_;
};

}  // namespace

Circuit open_circuit(const OpenCircuitOptions& options) { return Generator(options).run(); }

std::vector<double> surprising_values(std::size_t count, std::uint64_t number) {
  using std::numbers::pi;
  PhiloxSequence random(number);
  constexpr double kPlaces[] = {0, pi / 2, pi, 2 * pi, 4 * pi, -pi / 2, pi / 4};
  constexpr double kBeside[] = {0, 1e-16, -1e-15, 1e-12, 1e-9, -1e-6};
  constexpr double kHuge[] = {1e6, -1e15, 123456.789};
  const std::size_t kind = number % 6;
  const double one = kPlaces[random.below(std::size(kPlaces))];
  std::vector<double> values(count);
  for (double& value : values) {
    const double place = kPlaces[random.below(std::size(kPlaces))];
    const double ordinary = (static_cast<double>(random.below(1u << 20)) * 0x1p-19 - 1) * 2 * pi;
    switch (kind) {
      case 0:
      case 5:
        value = ordinary;
        break;
      case 1:
        value = place;
        break;
      case 2:
        value = place + kBeside[random.below(std::size(kBeside))];
        break;
      case 3:
        value = one;
        break;
      default:
        value = random.below(2) == 0 ? kHuge[random.below(std::size(kHuge))] : ordinary;
    }
  }
  return values;
}

}  // namespace qsim::test
