// Open gates as rotations about Z between fixed gates.
#include "optimizer/open/open_form.h"

#include <numbers>
#include <string>
#include <vector>

#include "circuit/gate_table.h"
#include "optimizer/operations.h"
#include "qsim/error.h"

namespace qsim {
namespace {

using std::numbers::pi;

class Writer {
 public:
  Writer(const Circuit& circuit, const OpenAngles& angles, std::span<const double> point, Rewritten& result)
      : circuit_(circuit), angles_(angles), point_(point), out_(result.circuit), rewriter_(circuit, result) {}

  void run() {
    for (std::size_t i = 0; i < point_.size(); ++i) names_.push_back(std::to_string(i));
    out_ = Circuit(circuit_.qubits());
    out_.name_parameters(names_);
    for (std::uint32_t i = 0; i < circuit_.operations().size(); ++i) {
      const Operation& op = circuit_.operations()[i];
      if (skipped(op)) continue;
      if (!is_open(circuit_, op)) {
        rewriter_.copy(i);
        continue;
      }
      rewriter_.append_for(i);
      read(op);
      if (op.kind == OpKind::kPauliRotation) {
        std::string letters;
        for (const std::uint32_t letter : circuit_.letters(op)) letters += "IXYZ"[letter];
        rotate(angle_[0], letters);
      } else {
        write(op.gate);
      }
      rewriter_.count_on(i, main_);
    }
  }

 private:
  void read(const Operation& op) {
    controls_.assign(circuit_.controls(op).begin(), circuit_.controls(op).end());
    targets_.assign(circuit_.targets(op).begin(), circuit_.targets(op).end());
    angle_.clear();
    const std::span<const double> params = circuit_.params(op);
    for (std::size_t i = 0; i < params.size(); ++i) {
      const std::int64_t number = angles_.number(op.param_begin + i);
      if (number < 0) {
        angle_.emplace_back(params[i]);
        continue;
      }
      Angle open = Parameter{names_[static_cast<std::size_t>(number)]};
      open.constant = point_[static_cast<std::size_t>(number)];
      angle_.push_back(std::move(open));
    }
  }

  void write(Gate gate) {
    switch (gate) {
      case Gate::kRx:
        return rotate(angle_[0], "X");
      case Gate::kRy:
        return rotate(angle_[0], "Y");
      case Gate::kRz:
        return rotate(angle_[0], "Z");
      case Gate::kPhase:
        return phase(angle_[0], controls_);
      case Gate::kU2:
        return turn(pi / 2, angle_[0], angle_[1]);
      case Gate::kU:
        return turn(angle_[0], angle_[1], angle_[2]);
      case Gate::kUPhase: {
        turn(angle_[0], angle_[1], angle_[2]);
        const std::uint32_t main = main_;
        scale(angle_[3]);
        main_ = main;
        return;
      }
      case Gate::kR:  // rz(p) rx(t) rz(-p)
        return between(angle_[1], 0, [&] { rotate(angle_[0], "X"); });
      case Gate::kRxx:
        return rotate(angle_[0], "XX");
      case Gate::kRyy:
        return rotate(angle_[0], "YY");
      case Gate::kRzz:
        return rotate(angle_[0], "ZZ");
      case Gate::kRzx:
        return rotate(angle_[0], "ZX");
      case Gate::kXxMinusYy:
      case Gate::kXxPlusYy:
        return between(angle_[1], 1, [&] {
          rotate(0.5 * angle_[0], "XX");
          rotate((gate == Gate::kXxPlusYy ? 0.5 : -0.5) * angle_[0], "YY");
        });
      default:
        throw Error("gate " + std::to_string(static_cast<int>(gate)) + " has no open form");
    }
  }

  // exp(-i angle/2 P) under the controls.
  void rotate(const Angle& angle, const std::string& letters) {
    const auto turns = [&](bool before) {
      for (std::size_t j = 0; j < letters.size(); ++j) {
        if (letters[j] == 'Y' && before) out_.sdg(targets_[j]);
        if (letters[j] != 'Z') out_.h(targets_[j]);
        if (letters[j] == 'Y' && !before) out_.s(targets_[j]);
      }
    };
    turns(true);
    out_.add_pauli_rotation(angle, std::string(letters.size(), 'Z'), std::span(targets_).first(letters.size()),
                            controls_);
    main_ = rewriter_.last();
    turns(false);
  }

  void turn_about_z(const Angle& angle, Qubit q) { out_.add_pauli_rotation(angle, "Z", {&q, 1}); }

  // e^{i angle} where all of `controls` and the target are 1; without controls a rotation is the simpler thing.
  void phase(const Angle& angle, std::span<const Qubit> controls) {
    if (!controls.empty()) {
      const std::vector<ControlQubit> on_one(controls.begin(), controls.end());
      out_.apply(Gate::kPhase, on_one, targets_, {&angle, 1});
      main_ = rewriter_.last();
      return;
    }
    out_.add_pauli_rotation(-angle, "", {});
    turn_about_z(angle, targets_[0]);
    main_ = rewriter_.last();
  }

  // p(phi) ry(theta) p(lambda)
  void turn(const Angle& theta, const Angle& phi, const Angle& lambda) {
    phase(lambda, controls_);
    if (theta.terms.empty()) {
      const std::vector<ControlQubit> on_one(controls_.begin(), controls_.end());
      out_.apply(Gate::kRy, on_one, targets_, {&theta, 1});
    } else {
      rotate(theta, "Y");
    }
    phase(phi, controls_);
  }

  // e^{i angle} where the controls are 1.
  void scale(const Angle& angle) {
    if (controls_.empty()) {
      out_.add_pauli_rotation(-2 * angle, "", {});
      return;
    }
    const std::vector<Qubit> targets = targets_;
    targets_ = {controls_.back()};
    phase(angle, std::span(controls_).first(controls_.size() - 1));
    targets_ = targets;
  }

  // rz(angle) inner rz(-angle) on a target: what the controls forbid leaves nothing.
  template <typename Inner>
  void between(const Angle& angle, std::size_t target, const Inner& inner) {
    turn_about_z(-angle, targets_[target]);
    inner();
    const std::uint32_t main = main_;
    turn_about_z(angle, targets_[target]);
    main_ = main;
  }

  const Circuit& circuit_;
  const OpenAngles& angles_;
  const std::span<const double> point_;
  Circuit& out_;
  Rewriter rewriter_;
  std::vector<std::string> names_;
  std::vector<Qubit> controls_, targets_;
  std::vector<Angle> angle_;  // of the operation, its open ones with one term each
  std::uint32_t main_ = 0;    // the operation that the gate is counted on
};

}  // namespace

Rewritten open_form(const Circuit& circuit, const OpenAngles& angles, std::span<const double> point) {
  Rewritten result;
  Writer(circuit, angles, point, result).run();
  return result;
}

}  // namespace qsim
