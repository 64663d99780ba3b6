// In the magic basis gates on either qubit are real orthogonal matrices and turns about XX, YY and ZZ are diagonal:
// what M^T M is diagonal in gives the gates before, its eigenvalues the turns.
#include "optimizer/axes/pair_interaction.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "base/numbers/rounding.h"
#include "optimizer/operations.h"
#include "optimizer/pairs/letters.h"

namespace qsim {
namespace {

using Matrix4 = std::array<Complex, 16>;
using Real4 = std::array<double, 16>;

constexpr double kRoot = 0.5 * std::numbers::sqrt2;

/// Columns are the four Bell states, with phases that make gates on either qubit real.
constexpr Complex kTurned{0, kRoot};
constexpr Matrix4 kMagic{kRoot, 0, 0, kTurned, 0, kTurned, kRoot, 0, 0, kTurned, -kRoot, 0, kRoot, 0, 0, -kTurned};

Matrix4 product4(const Matrix4& a, const Matrix4& b) {
  Matrix4 made{};
  for (unsigned i = 0; i < 4; ++i) {
    for (unsigned j = 0; j < 4; ++j) {
      Complex sum = 0;
      for (unsigned k = 0; k < 4; ++k) sum += a[4 * i + k] * b[4 * k + j];
      made[4 * i + j] = sum;
    }
  }
  return made;
}

Matrix4 adjoint4(const Matrix4& a) {
  Matrix4 made{};
  for (unsigned i = 0; i < 4; ++i) {
    for (unsigned j = 0; j < 4; ++j) made[4 * j + i] = std::conj(a[4 * i + j]);
  }
  return made;
}

Complex determinant(Matrix4 a) {
  Complex made = 1;
  for (unsigned k = 0; k < 4; ++k) {
    unsigned pivot = k;
    for (unsigned i = k + 1; i < 4; ++i) {
      if (std::norm(a[4 * i + k]) > std::norm(a[4 * pivot + k])) pivot = i;
    }
    if (a[4 * pivot + k] == 0.0) return 0;
    if (pivot != k) {
      made = -made;
      for (unsigned j = 0; j < 4; ++j) std::swap(a[4 * k + j], a[4 * pivot + j]);
    }
    made *= a[4 * k + k];
    for (unsigned i = k + 1; i < 4; ++i) {
      const Complex factor = a[4 * i + k] / a[4 * k + k];
      for (unsigned j = k; j < 4; ++j) a[4 * i + j] -= factor * a[4 * k + j];
    }
  }
  return made;
}

/// A plane rotation of rows and columns p and q.
void rotate(Real4& a, unsigned p, unsigned q, double c, double s) {
  for (unsigned k = 0; k < 4; ++k) {
    const double x = a[4 * k + p], y = a[4 * k + q];
    a[4 * k + p] = c * x + s * y;
    a[4 * k + q] = c * y - s * x;
  }
  for (unsigned k = 0; k < 4; ++k) {
    const double x = a[4 * p + k], y = a[4 * q + k];
    a[4 * p + k] = c * x + s * y;
    a[4 * q + k] = c * y - s * x;
  }
}

/// Orthonormal columns in which both symmetric matrices, which commute, are diagonal, with determinant 1.
/// J.-F. Cardoso and A. Souloumiac, SIAM J. Matrix Anal. Appl. 17, 161 (1996).
Real4 common_eigenvectors(Real4 a, Real4 b) {
  Real4 vectors{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  constexpr int kMostRounds = 40;
  constexpr double kSame = 1e-15;
  bool turned = true;
  for (int round = 0; turned && round < kMostRounds; ++round) {
    turned = false;
    for (unsigned p = 0; p < 3; ++p) {
      for (unsigned q = p + 1; q < 4; ++q) {
        double on = 0, off = 0;
        for (const Real4* m : {&a, &b}) {
          const double apart = (*m)[4 * p + p] - (*m)[4 * q + q], twice = 2 * (*m)[4 * p + q];
          on += apart * apart - twice * twice;
          off += 2 * apart * twice;
        }
        const double angle = 0.25 * std::atan2(off, on);
        // Where eigenvalues are the same to rounding any vectors will do.
        if (std::abs(angle) < 1e-16 || std::hypot(on, off) < kSame * kSame) continue;
        turned = true;
        const double c = std::cos(angle), s = std::sin(angle);
        rotate(a, p, q, c, s);
        rotate(b, p, q, c, s);
        for (unsigned k = 0; k < 4; ++k) {
          const double x = vectors[4 * k + p], y = vectors[4 * k + q];
          vectors[4 * k + p] = c * x + s * y;
          vectors[4 * k + q] = c * y - s * x;
        }
      }
    }
  }
  return vectors;  // plane rotations alone: determinant 1
}

/// second x first, where `matrix` is that: the phase goes to the first.
std::array<Matrix2, 2> factors_of(const Matrix4& matrix) {
  unsigned largest = 0;
  for (unsigned i = 1; i < 16; ++i) {
    if (std::norm(matrix[i]) > std::norm(matrix[largest])) largest = i;
  }
  const unsigned row = largest / 4, column = largest % 4;
  std::array<Matrix2, 2> made{};
  for (unsigned i = 0; i < 2; ++i) {
    for (unsigned j = 0; j < 2; ++j) {
      made[0][2 * i + j] = matrix[4 * ((row & 2) | i) + ((column & 2) | j)];
      made[1][2 * i + j] = matrix[4 * ((row & 1) | 2 * i) + ((column & 1) | 2 * j)];
    }
  }
  // Each is the gate times an entry of the other; their product has that entry twice.
  for (Matrix2& gate : made) {
    const Complex root = std::sqrt(gate[0] * gate[3] - gate[1] * gate[2]);
    gate = scaled(gate, 1.0 / root);
  }
  const Complex phase =
      matrix[largest] / (made[1][2 * (row >> 1) + (column >> 1)] * made[0][2 * (row & 1) + (column & 1)]);
  made[0] = scaled(made[0], phase / std::abs(phase));
  return made;
}

Matrix4 tensor(const Matrix2& second, const Matrix2& first) {
  Matrix4 made{};
  for (unsigned i = 0; i < 4; ++i) {
    for (unsigned j = 0; j < 4; ++j) made[4 * i + j] = second[2 * (i >> 1) + (j >> 1)] * first[2 * (i & 1) + (j & 1)];
  }
  return made;
}

/// exp(i (x XX + y YY + z ZZ)).
Matrix4 turned_by(const std::array<double, 3>& t) {
  const auto phase = [](double angle) { return Complex(std::cos(angle), std::sin(angle)); };
  // On 00 and 11, and on 01 and 10: a phase of ZZ, and a turn by XX and YY.
  const Complex outer = phase(t[2]), inner = phase(-t[2]);
  const double apart = t[0] - t[1], along = t[0] + t[1];
  return {outer * std::cos(apart),
          0,
          0,
          kImaginary * outer * std::sin(apart),
          0,
          inner * std::cos(along),
          kImaginary * inner * std::sin(along),
          0,
          0,
          kImaginary * inner * std::sin(along),
          inner * std::cos(along),
          0,
          kImaginary * outer * std::sin(apart),
          0,
          0,
          outer * std::cos(apart)};
}

bool makes(const PairInteraction& made, std::span<const Complex> unitary) {
  const Matrix4 again = product4(tensor(made.after[1], made.after[0]),
                                 product4(turned_by(made.angles), tensor(made.before[1], made.before[0])));
  return recomposes(again, unitary, 4);
}

/// exp(i pi/2 PP) = i PP, which is a gate on either qubit.
void take_half_turns(PairInteraction& made, unsigned letter) {
  double& angle = made.angles[letter - 1];
  const long halves = std::lround(angle / (2 * kQuarterPi));
  angle -= static_cast<double>(halves) * 2 * kQuarterPi;
  const unsigned turns = static_cast<unsigned>(halves % 4 + 4) % 4;
  for (unsigned i = 0; i < turns; ++i) {
    for (Matrix2& gate : made.after) gate = product(gate, kLetterMatrices[letter - 1]);
    made.after[0] = scaled(made.after[0], kImaginary);
  }
}

/// exp(i (phase + alone[0] P + alone[1] Q + turn PQ)), of a letter of each qubit.
struct NamedPair {
  double phase = 0, turn = 0;
  std::array<double, 2> alone{};
  std::array<unsigned, 2> letters{kLetterZ, kLetterZ};
};

std::optional<NamedPair> named_pair(const Circuit& circuit, const Operation& op) {
  if (op.kind != OpKind::kGate || op.controls + op.targets != 2 || op.targets == 0) return {};
  const std::span<const double> angles = circuit.params(op);
  NamedPair pair;
  const auto letter_of = [&](Gate x, Gate y) { return op.gate == x ? kLetterX : op.gate == y ? kLetterY : kLetterZ; };
  if (op.controls == 0) {
    if (op.gate != Gate::kRxx && op.gate != Gate::kRyy && op.gate != Gate::kRzz) return {};
    pair.letters.fill(letter_of(Gate::kRxx, Gate::kRyy));
    pair.turn = -0.5 * angles[0];
    return pair;
  }
  const Qubit target = circuit.targets(op)[0];
  switch (op.gate) {
    case Gate::kX:
    case Gate::kY:
    case Gate::kZ:
    case Gate::kPhase: {  // (1 - P) (1 - Q) / 4 of the angle
      const double quarter = op.gate == Gate::kPhase ? 0.25 * angles[0] : kQuarterPi;
      pair = {quarter, quarter, {-quarter, -quarter}, pair.letters};
      pair.letters[target] = letter_of(Gate::kX, Gate::kY);
      return pair;
    }
    case Gate::kRx:
    case Gate::kRy:
    case Gate::kRz:
      pair.turn = 0.25 * angles[0];
      pair.alone[target] = -0.25 * angles[0];
      pair.letters[target] = letter_of(Gate::kRx, Gate::kRy);
      return pair;
    default:
      return {};
  }
}

/// What takes the letter to Z.
Matrix2 to_z(unsigned letter) {
  if (letter == kLetterZ) return kIdentity2;
  return letter == kLetterX ? kHadamard2 : product(kHadamard2, {1, 0, 0, -kImaginary});
}

}  // namespace

std::optional<PairInteraction> named_interaction(const Circuit& circuit, const Matrix& unitary) {
  const auto& operations = circuit.operations();
  const auto is_pair = [](const Operation& op) { return op.controls + op.targets == 2; };
  if (operations.empty() || std::any_of(operations.begin() + 1, operations.end(), is_pair)) return {};
  const std::optional<NamedPair> pair = named_pair(circuit, operations.front());
  if (!pair) return {};
  PairInteraction made;
  made.angles[kLetterZ - 1] = pair->turn;
  for (unsigned k = 0; k < 2; ++k) {
    made.before[k] = to_z(pair->letters[k]);
    made.after[k] = letter_rotation(kLetterZ, -2 * pair->alone[k]);
  }
  take_half_turns(made, kLetterZ);
  for (unsigned k = 0; k < 2; ++k) made.after[k] = product(adjoint(made.before[k]), made.after[k]);
  made.after[0] = scaled(made.after[0], Complex(std::cos(pair->phase), std::sin(pair->phase)));
  for (std::size_t i = 1; i < operations.size(); ++i) {
    if (operations[i].controls + operations[i].targets != 1) return {};
    Matrix2& after = made.after[circuit.targets(operations[i])[0]];
    after = product(*single_qubit_matrix(circuit, operations[i]), after);
  }
  if (!makes(made, unitary)) return {};
  return made;
}

std::optional<PairInteraction> pair_interaction(const Matrix& unitary) {
  Matrix4 special{};
  std::ranges::copy(unitary, special.begin());
  const double phase = std::arg(determinant(special)) / 4;
  const Complex around(std::cos(phase), std::sin(phase));
  for (Complex& entry : special) entry *= std::conj(around);
  const Matrix4 magic = product4(adjoint4(kMagic), product4(special, kMagic));
  Real4 real{}, imaginary{};
  for (unsigned i = 0; i < 4; ++i) {
    for (unsigned j = 0; j < 4; ++j) {
      Complex sum = 0;
      for (unsigned k = 0; k < 4; ++k) sum += magic[4 * k + i] * magic[4 * k + j];
      real[4 * i + j] = sum.real();
      imaginary[4 * i + j] = sum.imag();
    }
  }
  const Real4 vectors = common_eigenvectors(real, imaginary);
  std::array<double, 4> angles{};
  double all = 0;
  for (unsigned k = 0; k < 4; ++k) {
    Complex value = 0;
    for (unsigned i = 0; i < 4; ++i) {
      for (unsigned j = 0; j < 4; ++j) {
        value += vectors[4 * i + k] * vectors[4 * j + k] * Complex(real[4 * i + j], imaginary[4 * i + j]);
      }
    }
    angles[k] = std::arg(value) / 2;
    all += angles[k];
  }
  // Roots of the eigenvalues whose product is 1, as the determinant of the real factors is.
  if (std::lround(all / (4 * kQuarterPi)) % 2 != 0) {
    angles[0] += 4 * kQuarterPi;
    all += 4 * kQuarterPi;
  }
  Matrix4 before{}, after{};
  for (unsigned i = 0; i < 4; ++i) {
    for (unsigned k = 0; k < 4; ++k) {
      before[4 * k + i] = vectors[4 * i + k];
      Complex sum = 0;
      for (unsigned j = 0; j < 4; ++j) sum += magic[4 * i + j] * vectors[4 * j + k];
      after[4 * i + k] = sum * Complex(std::cos(angles[k]), -std::sin(angles[k]));
    }
  }
  PairInteraction made;
  made.before = factors_of(product4(kMagic, product4(before, adjoint4(kMagic))));
  made.after = factors_of(product4(kMagic, product4(after, adjoint4(kMagic))));
  // By column of the magic basis: XX is 1, 1, -1, -1; YY is -1, 1, -1, 1; ZZ is 1, -1, -1, 1.
  made.angles = {(angles[0] + angles[1] - angles[2] - angles[3]) / 4,
                 (angles[1] + angles[3] - angles[0] - angles[2]) / 4,
                 (angles[0] + angles[3] - angles[1] - angles[2]) / 4};
  const double rest = all / 4;  // what is no turn: a phase
  made.after[0] = scaled(made.after[0], around * Complex(std::cos(rest), std::sin(rest)));
  for (unsigned letter = 1; letter <= 3; ++letter) take_half_turns(made, letter);
  if (!makes(made, unitary)) return std::nullopt;
  return made;
}

}  // namespace qsim
