#include "optimizer/paths/turn_run.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>
#include <span>
#include <utility>

#include "optimizer/operations.h"

namespace qsim {
namespace {

void rotate_z(TurnRun& run, double angle) {
  const std::uint64_t half = turns_of(0.5 * angle);
  run.common -= half;
  run.phase(2 * half);
}

void rotate_x(TurnRun& run, double angle) {
  run.turn();
  rotate_z(run, angle);
  run.turn();
}

void rotate_y(TurnRun& run, double angle) {  // S RX S'
  run.phase(0 - kQuarterTurn);
  rotate_x(run, angle);
  run.phase(kQuarterTurn);
}

void rotate(TurnRun& run, double theta, double phi, double lambda) {  // as U does
  run.phase(turns_of(lambda));
  rotate_y(run, theta);
  run.phase(turns_of(phi));
}

void flip(TurnRun& run) {
  run.turn();
  run.phase(kHalfTurn);
  run.turn();
}

void root(TurnRun& run, bool inverse) {
  const std::uint64_t quarter = inverse ? kQuarterTurn : 0 - kQuarterTurn;
  run.common += inverse ? 0 - kEighthTurn : kEighthTurn;
  run.phase(quarter);
  run.turn();
  run.phase(quarter);
}

/// The same where all phases between Hadamard gates are quarter turns: e^{i common} P(left) H P(right), without H and
/// `right` where it does not turn, and before that X where it flips; no flip where it turns.
struct Clifford {
  bool turns = false, flips = false;
  std::uint64_t right = 0, left = 0, common = 0;

  void turn() {
    if (!turns) {
      turns = true;
      right = std::exchange(left, 0);
      if (std::exchange(flips, false)) {  // H P(a) X = e^{ia} Z H P(-a)
        common += right;
        right = 0 - right;
        left = kHalfTurn;
      }
    } else if (left % kHalfTurn == 0) {
      turns = false;
      flips = left != 0;
      common += flips ? right : 0;  // X P(a) = e^{ia} P(-a) X
      left = flips ? 0 - right : right;
      right = 0;
    } else {
      common += left == kQuarterTurn ? kEighthTurn : 0 - kEighthTurn;
      right -= left;
      left = 0 - left;
    }
  }
};

/// Appends what runs are to a circuit.
class Names {
 public:
  Names(Circuit& out, Qubit qubit) : out_(out), qubit_(qubit) {}

  /// What is left of the run is the phase of everything that this gives.
  std::uint64_t write(const TurnRun& run) {
    common_ = run.common;
    const std::vector<std::uint64_t>& angles = run.angles;
    Clifford clifford;
    clifford.left = angles[0];
    for (std::size_t t = 1; t < angles.size(); ++t) {
      const bool rotates = t + 1 < angles.size() && angles[t] % kQuarterTurn != 0;
      if (!rotates) {
        clifford.turn();
        clifford.left += angles[t];
        continue;
      }
      // The phase between two pieces belongs to the rotation, or to both of two where that leaves less beside each.
      const std::uint64_t right = std::exchange(clifford.left, 0), after = angles[t + 1];
      write(clifford);
      const bool shared = t + 2 < angles.size() && right % kQuarterTurn == 0;
      const std::uint64_t left = shared ? 0 - right : after;
      write_rotation(right, angles[t], left);
      clifford = {};
      clifford.left = after - left;
      ++t;
    }
    write(clifford);
    return common_;
  }

 private:
  void write(const Clifford& clifford) {
    common_ += clifford.common;
    if (clifford.flips) add(Gate::kX);
    const bool quarter = clifford.left == kQuarterTurn || clifford.left == 0 - kQuarterTurn;
    if (clifford.turns && quarter && clifford.left == clifford.right) {
      const bool inverse = clifford.left == kQuarterTurn;
      add(inverse ? Gate::kSxdg : Gate::kSx);
      common_ += inverse ? kEighthTurn : 0 - kEighthTurn;
      return;
    }
    phase(clifford.right);
    if (clifford.turns) add(Gate::kH);
    phase(clifford.left);
  }

  // P(left) H P(middle) H P(right). H P(m) H = e^{im/2} RX(m), RX(m) = Z RX(-m) Z, RX(m) = S' RY(m) S; as few phases as
  // can be beside it.
  void write_rotation(std::uint64_t right, std::uint64_t middle, std::uint64_t left) {
    common_ += static_cast<std::uint64_t>(static_cast<std::int64_t>(middle) / 2);
    struct Way {
      Gate gate;
      bool back;
      std::uint64_t right, left;
      int phases() const { return (right != 0 ? 1 : 0) + (left != 0 ? 1 : 0); }
    };
    const std::array<Way, 4> ways{{{Gate::kRy, false, right + kQuarterTurn, left - kQuarterTurn},
                                   {Gate::kRy, true, right - kQuarterTurn, left + kQuarterTurn},
                                   {Gate::kRx, false, right, left},
                                   {Gate::kRx, true, right + kHalfTurn, left + kHalfTurn}}};
    const Way& way = *std::ranges::min_element(ways, {}, &Way::phases);
    phase(way.right);
    add(way.gate, way.back ? -angle_of_turns(middle) : angle_of_turns(middle));
    phase(way.left);
  }

  void phase(std::uint64_t turns) {
    switch (turns) {
      case 0:
        return;
      case kHalfTurn:
        return add(Gate::kZ);
      case kQuarterTurn:
        return add(Gate::kS);
      case 0 - kQuarterTurn:
        return add(Gate::kSdg);
      case kEighthTurn:
        return add(Gate::kT);
      case 0 - kEighthTurn:
        return add(Gate::kTdg);
      default:
        return add(Gate::kPhase, angle_of_turns(turns));
    }
  }
  void add(Gate gate) { out_.add_gate(gate, {}, {&qubit_, 1}); }
  void add(Gate gate, double angle) { out_.add_gate(gate, {}, {&qubit_, 1}, {&angle, 1}); }

  Circuit& out_;
  const Qubit qubit_;
  std::uint64_t common_ = 0;
};

/// What stands between the last two Hadamard gates, or those before them where that has changed, is taken away where it
/// is a quarter turn or several. False where nothing is.
bool shorten(std::vector<std::uint64_t>& angles, std::uint64_t& common) {
  const std::size_t last = angles.size() - 1;
  for (std::size_t t = last - 1; t > 0 && t + 3 > last; --t) {
    const std::uint64_t between = angles[t];
    if (between == 0) {  // H H = 1
      angles[t - 1] += angles[t + 1];
      angles.erase(angles.begin() + static_cast<std::ptrdiff_t>(t),
                   angles.begin() + static_cast<std::ptrdiff_t>(t) + 2);
    } else if (between == kQuarterTurn || between == 0 - kQuarterTurn) {  // H P(b) H = e^(ib/2) P(-b) H P(-b)
      common += between == kQuarterTurn ? kEighthTurn : 0 - kEighthTurn;
      angles[t - 1] -= between;
      angles[t] = angles[t + 1] - between;
      angles.erase(angles.begin() + static_cast<std::ptrdiff_t>(t) + 1);
    } else if (between == kHalfTurn && t > 1) {  // P(c) H Z H P(a) H P(x) = e^(ia) P(c - a) H P(x + pi)
      common += angles[t - 1];
      angles[t - 2] += kHalfTurn;
      angles[t - 1] = angles[t + 1] - angles[t - 1];
      angles.erase(angles.begin() + static_cast<std::ptrdiff_t>(t),
                   angles.begin() + static_cast<std::ptrdiff_t>(t) + 2);
    } else if (between == kHalfTurn && t + 2 <= last) {  // P(c) H P(a) H Z H P(x) = e^(ia) P(c + pi) H P(x - a)
      common += angles[t + 1];
      angles[t - 1] -= angles[t + 1];
      angles[t] = angles[t + 2] + kHalfTurn;
      angles.erase(angles.begin() + static_cast<std::ptrdiff_t>(t) + 1,
                   angles.begin() + static_cast<std::ptrdiff_t>(t) + 3);
    } else {
      continue;
    }
    return true;
  }
  return false;
}

}  // namespace

bool TurnRun::multiply(const Circuit& circuit, const Operation& op) {
  if (op.kind != OpKind::kGate || op.controls != 0 || is_open(circuit, op)) return false;
  const std::span<const double> angle = circuit.params(op);
  switch (op.gate) {
    case Gate::kX:
      flip(*this);
      return true;
    case Gate::kY:  // i X Z
      phase(kHalfTurn);
      flip(*this);
      common += kQuarterTurn;
      return true;
    case Gate::kZ:
      phase(kHalfTurn);
      return true;
    case Gate::kS:
      phase(kQuarterTurn);
      return true;
    case Gate::kSdg:
      phase(0 - kQuarterTurn);
      return true;
    case Gate::kT:
      phase(kEighthTurn);
      return true;
    case Gate::kTdg:
      phase(0 - kEighthTurn);
      return true;
    case Gate::kPhase:
      phase(turns_of(angle[0]));
      return true;
    case Gate::kRz:
      rotate_z(*this, angle[0]);
      return true;
    case Gate::kH:
      turn();
      return true;
    case Gate::kSx:
    case Gate::kSxdg:
      root(*this, op.gate == Gate::kSxdg);
      return true;
    case Gate::kRx:
      rotate_x(*this, angle[0]);
      return true;
    case Gate::kRy:
      rotate_y(*this, angle[0]);
      return true;
    case Gate::kU2:
      rotate(*this, 0.5 * std::numbers::pi, angle[0], angle[1]);
      return true;
    case Gate::kU:
      rotate(*this, angle[0], angle[1], angle[2]);
      return true;
    case Gate::kR:  // by the first angle about the axis at the second
      rotate(*this, angle[0], angle[1] - 0.5 * std::numbers::pi, 0.5 * std::numbers::pi - angle[1]);
      return true;
    default:
      return false;
  }
}

TurnRun TurnRun::settled() const {
  TurnRun result = *this;
  for (std::size_t t = 1; t + 1 < angles.size(); ++t) {
    std::uint64_t &right = result.angles[t - 1], &left = result.angles[t + 1];
    const std::uint64_t off = right - (right + kEighthTurn) / kQuarterTurn * kQuarterTurn;
    if (off == 0 || result.angles[t] % kQuarterTurn == 0) continue;
    const double change = std::abs(angle_of_turns(off)), half = 0.5 * angle_of_turns(result.angles[t]);
    if (change * std::abs(std::sin(half)) <= kRounding) {  // H P(0) H = 1
      left += off;
    } else if (change * std::abs(std::cos(half)) <= kRounding) {  // X P(a) = e^(ia) P(-a) X
      left -= off;
      result.common += off;
    } else {
      continue;
    }
    right -= off;
    left = rounded_turns(left);
  }
  return result;
}

TurnRun TurnRun::shortened() const {
  TurnRun result = settled();
  const std::vector<std::uint64_t> settled_angles = std::move(result.angles);
  std::vector<std::uint64_t>& made = result.angles;
  made = {settled_angles[0]};
  for (std::size_t t = 1; t < settled_angles.size(); ++t) {
    made.push_back(0);
    while (made.size() > 2 && shorten(made, result.common)) {
    }
    made.back() += settled_angles[t];
  }
  for (std::uint64_t& angle : made) angle = rounded_turns(angle);
  return result;
}

std::uint64_t write_turns(Circuit& out, Qubit qubit, const TurnRun& run) {
  return Names(out, qubit).write(run.settled());
}

void append_common(Circuit& out, std::uint64_t turns) {
  if (turns != 0) out.add_pauli_rotation(-2 * angle_of_turns(turns), "", {});
}

bool stand_for(const Circuit& named, std::size_t first, std::uint64_t phase, const Matrix2& wanted,
               std::size_t factors) {
  Matrix2 made = kIdentity2;
  for (std::size_t i = first; i < named.operations().size(); ++i)
    made = unitary_product(*single_qubit_matrix(named, named.operations()[i]), made);
  made = scaled(made, std::polar(1.0, angle_of_turns(phase)));
  return recomposes(made, wanted, std::sqrt(static_cast<double>(factors)));
}

}  // namespace qsim
