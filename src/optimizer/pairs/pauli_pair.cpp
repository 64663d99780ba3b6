#include "optimizer/pairs/pauli_pair.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "optimizer/weights.h"

namespace qsim {
namespace {

unsigned ones(unsigned mask) { return static_cast<unsigned>(std::popcount(mask)); }

constexpr unsigned kLetters[2][2] = {{0, 3}, {1, 2}};  // by x and z

CliffordGate::Image image_of(const PauliPair& pauli) { return {letter_of(pauli, 0), sign_of(pauli)}; }

CliffordGate made_of(std::vector<Gate> gates) {
  CliffordPair pair;
  CliffordGate made;
  for (const Gate gate : gates) {
    switch (gate) {
      case Gate::kH:
        pair.hadamard(0);
        made.weight += weight::kRealTurn;
        break;
      case Gate::kX:
        pair.turn(pauli_pair(1, 0), 2);
        made.weight += weight::kFlip;
        break;
      default:
        pair.turn(pauli_pair(3, 0), gate == Gate::kS ? 1 : gate == Gate::kZ ? 2 : 3);
        made.weight += weight::kPhase;
    }
  }
  for (unsigned letter = 1; letter <= 3; ++letter) {
    made.before[letter - 1] = image_of(pair.before(pauli_pair(letter, 0)));
  }
  made.gates = std::move(gates);
  return made;
}

std::vector<CliffordGate> make_all() {
  const std::array<std::vector<Gate>, 4> phases{{{}, {Gate::kS}, {Gate::kZ}, {Gate::kSdg}}};
  std::vector<CliffordGate> all;
  const auto add = [&](const std::vector<Gate>& before, std::vector<Gate> middle, const std::vector<Gate>& after) {
    std::vector<Gate> gates = before;
    gates.insert(gates.end(), middle.begin(), middle.end());
    gates.insert(gates.end(), after.begin(), after.end());
    all.push_back(made_of(std::move(gates)));
  };
  for (const auto& before : phases) {
    add(before, {}, {});
    add(before, {Gate::kX}, {});
    for (const auto& after : phases) add(before, {Gate::kH}, after);
  }
  return all;
}

}  // namespace

PauliPair operator*(const PauliPair& a, const PauliPair& b) {
  return {a.x ^ b.x, a.z ^ b.z, (a.quarters + b.quarters + 2 * ones(a.z & b.x)) % 4};
}

bool commute(const PauliPair& a, const PauliPair& b) { return ones((a.x & b.z) ^ (a.z & b.x)) % 2 == 0; }

PauliPair pauli_pair(unsigned first, unsigned second) {
  PauliPair pauli;
  for (unsigned q = 0; const unsigned letter : {first, second}) {
    if (letter == 1 || letter == 2) pauli.x |= 1U << q;
    if (letter == 2 || letter == 3) pauli.z |= 1U << q;
    if (letter == 2) ++pauli.quarters;  // Y = i X Z
    ++q;
  }
  return pauli;
}

unsigned letter_of(const PauliPair& pauli, unsigned qubit) {
  return kLetters[pauli.x >> qubit & 1][pauli.z >> qubit & 1];
}

int sign_of(const PauliPair& pauli) { return (pauli.quarters + 4 - ones(pauli.x & pauli.z)) % 4 == 0 ? 1 : -1; }

PauliPair CliffordPair::before(const PauliPair& pauli) const {
  PauliPair made{0, 0, pauli.quarters};
  for (unsigned q = 0; q < 2; ++q) {
    if ((pauli.x >> q & 1) != 0) made = made * made_of_[q];
  }
  for (unsigned q = 0; q < 2; ++q) {
    if ((pauli.z >> q & 1) != 0) made = made * made_of_[2 + q];
  }
  return made;
}

bool CliffordPair::is_local() const {
  for (unsigned i = 0; i < 4; ++i) {
    if (((made_of_[i].x | made_of_[i].z) & (2U >> (i % 2))) != 0) return false;
  }
  return true;
}

void CliffordPair::then(const std::array<PauliPair, 4>& made_of) {
  std::array<PauliPair, 4> made{};
  for (unsigned i = 0; i < 4; ++i) made[i] = before(made_of[i]);
  made_of_ = made;
}

void CliffordPair::turn(const PauliPair& axis, int quarters) {
  std::array<PauliPair, 4> made{{{1, 0, 0}, {2, 0, 0}, {0, 1, 0}, {0, 2, 0}}};
  const unsigned times = static_cast<unsigned>(quarters % 4 + 4) % 4;
  for (PauliPair& pauli : made) {
    // exp(i a/2 A) P exp(-i a/2 A) = P (cos a - i sin a A) where A and P do not commute.
    if (commute(pauli, axis) || times == 0) continue;
    if (times != 2) pauli = pauli * axis;
    pauli.quarters = (pauli.quarters + (times == 1 ? 3 : times == 2 ? 2 : 1)) % 4;
  }
  then(made);
}

void CliffordPair::hadamard(unsigned qubit) {
  std::array<PauliPair, 4> made{{{1, 0, 0}, {2, 0, 0}, {0, 1, 0}, {0, 2, 0}}};
  std::swap(made[qubit], made[2 + qubit]);
  then(made);
}

void CliffordPair::flip(unsigned control, unsigned target) {
  std::array<PauliPair, 4> made{{{1, 0, 0}, {2, 0, 0}, {0, 1, 0}, {0, 2, 0}}};
  made[control].x |= 1U << target;
  made[2 + target].z |= 1U << control;
  then(made);
}

CliffordGate::Image CliffordGate::after(unsigned letter) const {
  for (unsigned i = 0; i < 3; ++i) {
    if (before[i].letter == letter) return {i + 1, before[i].sign};
  }
  return {};
}

const CliffordGate& CliffordGate::identity() { return clifford_gates().front(); }

const CliffordGate& product(const CliffordGate& second, const CliffordGate& first) {
  std::array<CliffordGate::Image, 3> before{};
  for (unsigned i = 0; i < 3; ++i) {
    const CliffordGate::Image& middle = second.before[i];
    const CliffordGate::Image& image = first.before[middle.letter - 1];
    before[i] = {image.letter, image.sign * middle.sign};
  }
  const auto all = clifford_gates();
  return *std::ranges::find_if(all, [&](const CliffordGate& gate) { return gate.before == before; });
}

std::span<const CliffordGate> clifford_gates() {
  static const std::vector<CliffordGate> kAll = make_all();
  return kAll;
}

}  // namespace qsim
