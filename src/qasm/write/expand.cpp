// Decompositions into u, cu and (multi-)controlled x: square roots for controls (Barenco et al., "Elementary gates for
// quantum computation", lemma 7.5), two-level rotations for matrices, basis changes and cx ladders for Pauli rotations.
#include "qasm/write/expand.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <vector>

#include "base/bits.h"
#include "base/numbers/matrix2.h"
#include "circuit/gate_table.h"
#include "qsim/error.h"

namespace qsim {
namespace {

using Arguments = std::vector<Qubit>;  // indices into the definition's arguments

constexpr std::size_t kMaxControls = 12;     // about 3^(controls - 4) statements
constexpr std::size_t kMaxMatrixQubits = 4;  // 4^targets / 2 two-level rotations

// (U + s 1) / sqrt(tr U + 2 s) with s a root of det U squares to U (Cayley-Hamilton); the root that cancels least.
Matrix2 square_root(const Matrix2& m) {
  const Complex trace = m[0] + m[3];
  Complex root = std::sqrt(m[0] * m[3] - m[1] * m[2]);
  if (std::abs(trace - 2.0 * root) > std::abs(trace + 2.0 * root)) root = -root;
  const Complex scale = 1.0 / std::sqrt(trace + 2.0 * root);
  return {(m[0] + root) * scale, m[1] * scale, m[2] * scale, (m[3] + root) * scale};
}

struct Angles {
  double theta, phi, lambda, gamma;
};

// M = e^{i gamma} U(theta, phi, lambda).
Angles angles_of(const Matrix2& m) {
  const RotationParts parts = rotation_parts(m);
  return {2 * std::atan2(parts.sine, parts.cosine), std::arg(parts.left), std::arg(parts.right),
          std::arg(parts.around)};
}

class Body {
 public:
  Body(const Circuit& circuit, QasmVersion version) : circuit_(circuit), version_(version) {}

  std::string expand(const Operation& op) {
    Arguments controls, targets;
    for (Qubit i = 0; i < op.controls; ++i) controls.push_back(i);
    for (Qubit j = 0; j < op.targets; ++j) targets.push_back(op.controls + j);
    if (controls.size() > kMaxControls) {
      throw UnsupportedError(fmt::format("an operation with {} controls is not written as OpenQASM (at most {})",
                                         controls.size(), kMaxControls));
    }
    switch (op.kind) {
      case OpKind::kGate:
        gate(op, controls, targets);
        break;
      case OpKind::kUnitary:
        unitary(circuit_.matrix(op), controls, targets);
        break;
      case OpKind::kPauliRotation: {
        const auto letters = circuit_.letters(op);
        pauli_rotation(circuit_.params(op)[0], {letters.begin(), letters.end()}, controls, targets);
        break;
      }
      case OpKind::kMeasure:
      case OpKind::kReset:
      case OpKind::kBarrier:
        throw CircuitError("a measurement, reset or barrier has no body");
    }
    return std::move(text_);
  }

 private:
  void call(std::string_view name, std::initializer_list<double> angles, const Arguments& arguments) {
    text_ += ' ';
    text_ += name;
    char separator = '(';
    for (const double angle : angles) {
      text_ += separator;
      text_ += qasm_real(angle);
      separator = ',';
    }
    if (angles.size() != 0) text_ += ')';
    separator = ' ';
    for (const Qubit argument : arguments) {
      text_ += fmt::format("{}a{}", separator, argument);
      separator = ',';
    }
    text_ += ';';
  }

  void controlled_x(const Arguments& controls, Qubit target) {
    Arguments arguments = controls;
    arguments.push_back(target);
    if (version_ == QasmVersion::k3 && controls.size() > 2) {
      return call(fmt::format("ctrl({}) @ x", controls.size()), {}, arguments);
    }
    const std::string_view name = gate_name(Gate::kX, static_cast<int>(controls.size()));
    if (name.empty()) return controlled({0, 1, 1, 0}, controls, target);
    call(name, {}, arguments);
  }

  void controlled(const Matrix2& m, const Arguments& controls, Qubit target) {
    if (controls.size() < 2) {
      const Angles a = angles_of(m);
      if (controls.empty()) return call("u", {a.theta, a.phi, a.lambda}, {target});
      return call("cu", {a.theta, a.phi, a.lambda, a.gamma}, {controls[0], target});
    }
    const Matrix2 root = square_root(m);
    const Qubit last = controls.back();
    const Arguments rest(controls.begin(), controls.end() - 1);
    controlled(root, {last}, target);
    controlled_x(rest, last);
    controlled(adjoint(root), {last}, target);
    controlled_x(rest, last);
    controlled(root, rest, target);
  }

  // A phase on the states where all `controls` are 1; without controls it is global and left out.
  void controlled_phase(Complex factor, Arguments controls) {
    if (controls.empty()) return;
    const Qubit target = controls.back();
    controls.pop_back();
    controlled({1, 0, 0, factor}, controls, target);
  }

  void gate(const Operation& op, const Arguments& controls, const Arguments& targets) {
    const auto params = circuit_.params(op);
    switch (op.gate) {
      case Gate::kSwap:
        return controlled_swap(controls, targets);
      case Gate::kRxx:
        return pauli_rotation(params[0], {1, 1}, controls, targets);
      case Gate::kRyy:
        return pauli_rotation(params[0], {2, 2}, controls, targets);
      case Gate::kRzz:
        return pauli_rotation(params[0], {3, 3}, controls, targets);
      case Gate::kRzx:
        return pauli_rotation(params[0], {3, 1}, controls, targets);
      case Gate::kRccx:
      case Gate::kRc3x:
      case Gate::kRc3xdg:
      case Gate::kDcx:
      case Gate::kDcxdg:
      case Gate::kIswap:
      case Gate::kEcr:
      case Gate::kXxMinusYy:
      case Gate::kXxPlusYy:
        return unitary(circuit_.matrix(op), controls, targets);
      case Gate::kId:
      case Gate::kU0:
        return;
      case Gate::kX:
      case Gate::kY:
      case Gate::kZ:
      case Gate::kH:
      case Gate::kS:
      case Gate::kSdg:
      case Gate::kT:
      case Gate::kTdg:
      case Gate::kSx:
      case Gate::kSxdg:
      case Gate::kRx:
      case Gate::kRy:
      case Gate::kRz:
      case Gate::kPhase:
      case Gate::kU2:
      case Gate::kU:
      case Gate::kR:
      case Gate::kUPhase: {
        const Matrix m = circuit_.matrix(op);
        return controlled({m[0], m[1], m[2], m[3]}, controls, targets[0]);
      }
    }
  }

  void controlled_swap(Arguments controls, const Arguments& targets) {
    call("cx", {}, {targets[1], targets[0]});
    controls.push_back(targets[0]);
    controlled_x(controls, targets[1]);
    call("cx", {}, {targets[1], targets[0]});
  }

  // Turns every letter into Z, gathers the parity on the last target, rotates there and undoes the rest.
  void pauli_rotation(double angle, const std::vector<std::uint32_t>& letters, const Arguments& controls,
                      const Arguments& targets) {
    if (targets.empty()) return controlled_phase(std::polar(1.0, -angle / 2), controls);
    for (std::size_t j = 0; j < targets.size(); ++j) {
      if (letters[j] == 2) call("sdg", {}, {targets[j]});
      if (letters[j] != 3) call("h", {}, {targets[j]});
    }
    for (std::size_t j = 0; j + 1 < targets.size(); ++j) call("cx", {}, {targets[j], targets[j + 1]});
    if (controls.empty()) {
      call("rz", {angle}, {targets.back()});
    } else if (controls.size() == 1) {
      call("crz", {angle}, {controls[0], targets.back()});
    } else {
      controlled({std::polar(1.0, -angle / 2), 0, 0, std::polar(1.0, angle / 2)}, controls, targets.back());
    }
    for (std::size_t j = targets.size() - 1; j > 0; --j) call("cx", {}, {targets[j - 1], targets[j]});
    for (std::size_t j = 0; j < targets.size(); ++j) {
      if (letters[j] != 3) call("h", {}, {targets[j]});
      if (letters[j] == 2) call("s", {}, {targets[j]});
    }
  }

  // W on the two basis states `low` and `high` (rows and columns in this order), the identity on all others.
  void two_level(Matrix2 w, Index low, Index high, const Arguments& controls, const Arguments& targets) {
    const auto pivot = static_cast<unsigned>(std::countr_zero(low ^ high));
    if (test_bit(low, pivot)) {
      std::swap(low, high);
      w = {w[3], w[2], w[1], w[0]};
    }
    // The state with the pivot at 1 moves next to the other one.
    const Index others = (low ^ high) & ~bit_mask(pivot);
    const Index zeros = ~low & low_mask(static_cast<unsigned>(targets.size())) & ~bit_mask(pivot);
    const auto wrap = [&] {
      for_each_bit(others, [&](unsigned bit) { call("cx", {}, {targets[pivot], targets[bit]}); });
    };
    const auto flip = [&] { for_each_bit(zeros, [&](unsigned bit) { call("x", {}, {targets[bit]}); }); };
    Arguments all_controls = controls;
    for (unsigned bit = 0; bit < targets.size(); ++bit) {
      if (bit != pivot) all_controls.push_back(targets[bit]);
    }
    wrap();
    flip();
    controlled(w, all_controls, targets[pivot]);
    flip();
    wrap();
  }

  // Givens rotations G bring the matrix to a diagonal D, so that it is the adjoints of the G in reverse order after D.
  void unitary(Matrix m, const Arguments& controls, const Arguments& targets) {
    if (targets.size() > kMaxMatrixQubits) {
      throw UnsupportedError(fmt::format("a matrix on {} qubits is not written as OpenQASM (at most {})",
                                         targets.size(), kMaxMatrixQubits));
    }
    if (targets.empty()) return controlled_phase(m[0], controls);
    if (targets.size() == 1) return controlled({m[0], m[1], m[2], m[3]}, controls, targets[0]);
    struct Rotation {
      Matrix2 undo;
      Index low, high;
    };
    const std::size_t order = std::size_t{1} << targets.size();
    std::vector<Rotation> rotations;
    for (std::size_t column = 0; column + 1 < order; ++column) {
      for (std::size_t row = column + 1; row < order; ++row) {
        const Complex keep = m[column * order + column], drop = m[row * order + column];
        const double length = std::hypot(std::abs(keep), std::abs(drop));
        // Nothing to clear, and nothing to turn either unless this is the last chance to make the diagonal entry 1.
        if (drop == Complex(0) && (row + 1 < order || keep == Complex(1))) continue;
        const Matrix2 g = {std::conj(keep) / length, std::conj(drop) / length, -drop / length, keep / length};
        for (std::size_t k = 0; k < order; ++k) {
          const Complex upper = m[column * order + k], lower = m[row * order + k];
          m[column * order + k] = g[0] * upper + g[1] * lower;
          m[row * order + k] = g[2] * upper + g[3] * lower;
        }
        rotations.push_back({adjoint(g), column, row});
      }
    }
    // All diagonal entries but the last are 1 now.
    const Complex last = m[order * order - 1];
    if (std::abs(last - 1.0) > 1e-15) two_level({1, 0, 0, last}, order - 2, order - 1, controls, targets);
    for (auto rotation = rotations.rbegin(); rotation != rotations.rend(); ++rotation) {
      two_level(rotation->undo, rotation->low, rotation->high, controls, targets);
    }
  }

  const Circuit& circuit_;
  const QasmVersion version_;
  std::string text_;
};

}  // namespace

std::string qasm_real(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find('.') == std::string::npos) {
    const std::size_t exponent = text.find('e');
    text.insert(exponent == std::string::npos ? text.size() : exponent, ".0");
  }
  return text;
}

std::string expand_operation(const Circuit& circuit, const Operation& op, QasmVersion version) {
  return Body(circuit, version).expand(op);
}

}  // namespace qsim
