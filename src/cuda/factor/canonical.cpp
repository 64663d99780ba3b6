// In the magic basis local unitaries are real and N is diagonal: U^T U is diagonalised there by one real rotation.
#include "cuda/factor/canonical.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/numbers/matrix2.h"

namespace qsim::cuda {
namespace {

using Matrix4 = std::array<Complex, 16>;
using Real4 = std::array<double, 16>;

template <class A, class B>
Matrix4 times(const A& a, const B& b) {
  Matrix4 product{};
  for (std::size_t r = 0; r < 4; ++r) {
    for (std::size_t k = 0; k < 4; ++k) {
      for (std::size_t c = 0; c < 4; ++c) product[r * 4 + c] += a[r * 4 + k] * b[k * 4 + c];
    }
  }
  return product;
}

Matrix4 adjoint(const Matrix4& a) {
  Matrix4 result;
  for (std::size_t r = 0; r < 4; ++r) {
    for (std::size_t c = 0; c < 4; ++c) result[r * 4 + c] = std::conj(a[c * 4 + r]);
  }
  return result;
}

Matrix4 transpose(const Matrix4& a) {
  Matrix4 result;
  for (std::size_t r = 0; r < 4; ++r) {
    for (std::size_t c = 0; c < 4; ++c) result[r * 4 + c] = a[c * 4 + r];
  }
  return result;
}

/// Columns: (|00> + |11>)/sqrt2, i(|00> - |11>)/sqrt2, i(|01> + |10>)/sqrt2, (|01> - |10>)/sqrt2.
Matrix4 magic() {
  const double h = std::sqrt(0.5);
  const Complex i(0, h);
  return {h, i, 0, 0, 0, 0, i, h, 0, 0, i, -h, h, -i, 0, 0};
}

double determinant(Real4 a) {
  double result = 1;
  for (std::size_t c = 0; c < 4; ++c) {
    std::size_t best = c;
    for (std::size_t r = c + 1; r < 4; ++r) {
      if (std::abs(a[r * 4 + c]) > std::abs(a[best * 4 + c])) best = r;
    }
    if (best != c) {
      for (std::size_t k = 0; k < 4; ++k) std::swap(a[c * 4 + k], a[best * 4 + k]);
      result = -result;
    }
    result *= a[c * 4 + c];
    for (std::size_t r = c + 1; r < 4; ++r) {
      const double factor = a[r * 4 + c] / a[c * 4 + c];
      for (std::size_t k = c; k < 4; ++k) a[r * 4 + k] -= factor * a[c * 4 + k];
    }
  }
  return result;
}

/// Angle of the plane rotation of p and q that makes both matrices' entries (p, q) smallest together.
double plane_angle(const Real4& a, const Real4& b, std::size_t p, std::size_t q) {
  double on = 0, off = 0;
  for (const Real4* m : {&a, &b}) {
    const double difference = (*m)[p * 5] - (*m)[q * 5], twice = 2 * (*m)[p * 4 + q];
    on += difference * difference - twice * twice;
    off += 2 * difference * twice;
  }
  constexpr double kNoise = 1e-31;  // squares of rounding errors
  return std::hypot(on, off) < kNoise ? 0 : 0.25 * std::atan2(off, on);
}

void rotate_columns(Real4& m, std::size_t p, std::size_t q, double c, double s) {
  for (std::size_t r = 0; r < 4; ++r) {
    const double u = m[r * 4 + p], v = m[r * 4 + q];
    m[r * 4 + p] = c * u + s * v;
    m[r * 4 + q] = c * v - s * u;
  }
}

void rotate_rows(Real4& m, std::size_t p, std::size_t q, double c, double s) {
  for (std::size_t k = 0; k < 4; ++k) {
    const double u = m[p * 4 + k], v = m[q * 4 + k];
    m[p * 4 + k] = c * u + s * v;
    m[q * 4 + k] = c * v - s * u;
  }
}

/// Jacobi's method on two commuting symmetric matrices at once; the columns of the result are their eigenvectors.
Real4 common_eigenvectors(Real4 a, Real4 b) {
  Real4 vectors{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  constexpr int kMostRounds = 40;
  for (int round = 0; round < kMostRounds; ++round) {
    double largest = 0;
    for (std::size_t p = 0; p < 4; ++p) {
      for (std::size_t q = p + 1; q < 4; ++q) {
        const double angle = plane_angle(a, b, p, q);
        largest = std::max(largest, std::abs(angle));
        const double c = std::cos(angle), s = std::sin(angle);
        for (Real4* m : {&a, &b}) {
          rotate_columns(*m, p, q, c, s);
          rotate_rows(*m, p, q, c, s);
        }
        rotate_columns(vectors, p, q, c, s);
      }
    }
    if (largest < 1e-17) break;
  }
  return vectors;
}

/// The two factors of high x low, each of determinant 1 up to a sign that they share.
std::array<Local, 2> factors_of(const Matrix4& product) {
  std::size_t largest = 0;
  for (std::size_t k = 1; k < 16; ++k) {
    if (std::abs(product[k]) > std::abs(product[largest])) largest = k;
  }
  const std::size_t row = largest / 4, column = largest % 4;
  Local low, high;
  for (std::size_t r = 0; r < 2; ++r) {
    for (std::size_t c = 0; c < 2; ++c) {
      low[r * 2 + c] = product[((row & 2) | r) * 4 + ((column & 2) | c)];
      high[r * 2 + c] = product[((row & 1) | r << 1) * 4 + ((column & 1) | c << 1)];
    }
  }
  // low x high counts the largest entry twice; both become of determinant 1, the sign comes from the product.
  for (Local* m : {&low, &high}) {
    const Complex root = std::sqrt((*m)[0] * (*m)[3] - (*m)[1] * (*m)[2]);
    for (Complex& entry : *m) entry /= root;
  }
  const Complex made = low[(row & 1) * 2 + (column & 1)] * high[(row >> 1) * 2 + (column >> 1)];
  if ((product[largest] / made).real() < 0) {
    for (Complex& entry : low) entry = -entry;
  }
  return {low, high};
}

Matrix4 local_product(const std::array<Local, 2>& locals) {
  Matrix4 product;
  for (std::size_t r = 0; r < 4; ++r) {
    for (std::size_t c = 0; c < 4; ++c) {
      product[r * 4 + c] = locals[0][(r & 1) * 2 + (c & 1)] * locals[1][(r >> 1) * 2 + (c >> 1)];
    }
  }
  return product;
}

/// Brings the angles to [-pi/4, pi/4]: exp(i pi/2 PP) is i P x P, which the right factors take.
void reduce(Canonical& parts) {
  double* const angles[3] = {&parts.x, &parts.y, &parts.z};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double turns = std::nearbyint(*angles[axis] / (std::numbers::pi / 2));
    *angles[axis] -= turns * (std::numbers::pi / 2);
    for (int turn = 0; turn < (static_cast<int>(turns) % 4 + 4) % 4; ++turn) {
      parts.scale *= Complex(0, 1);
      for (Local& m : parts.right) m = product(kLetterMatrices[axis], m);
    }
  }
}

}  // namespace

std::array<Complex, 16> product_of(const Canonical& parts) {
  const Complex i(0, 1), even = std::polar(1.0, parts.z), odd = std::conj(even);
  const double minus = parts.x - parts.y, plus = parts.x + parts.y;
  Matrix4 middle{};
  middle[0] = middle[15] = even * std::cos(minus);
  middle[3] = middle[12] = i * even * std::sin(minus);
  middle[5] = middle[10] = odd * std::cos(plus);
  middle[6] = middle[9] = i * odd * std::sin(plus);
  Matrix4 product = times(local_product(parts.left), times(middle, local_product(parts.right)));
  for (Complex& entry : product) entry *= parts.scale;
  return product;
}

std::optional<Canonical> canonical_form(const std::vector<Complex>& matrix) {
  constexpr double kTolerance = 4e-15;
  double norm = 0;
  for (const Complex entry : matrix) norm += std::norm(entry);
  if (matrix.size() != 16 || !(norm > 0)) return std::nullopt;
  const double size = std::sqrt(norm / 4);
  const Matrix4 basis = magic();
  Matrix4 unitary;
  for (std::size_t k = 0; k < 16; ++k) unitary[k] = matrix[k] / size;
  const Matrix4 in_basis = times(adjoint(basis), times(unitary, basis));
  const Matrix4 square = times(transpose(in_basis), in_basis);
  Real4 real, imaginary;
  for (std::size_t k = 0; k < 16; ++k) {
    real[k] = square[k].real();
    imaginary[k] = square[k].imag();
  }
  const Real4 vectors = common_eigenvectors(real, imaginary);  // a product of rotations: its determinant is 1
  // in_basis vectors = rotation diag(exp(i phase)), the rotation real: each column's phase up to a sign.
  const Matrix4 images = times(in_basis, vectors);
  Real4 rotation;
  std::array<double, 4> phase{};
  for (std::size_t c = 0; c < 4; ++c) {
    Complex column_square = 0;
    for (std::size_t r = 0; r < 4; ++r) column_square += images[r * 4 + c] * images[r * 4 + c];
    phase[c] = std::arg(column_square) / 2;
    for (std::size_t r = 0; r < 4; ++r) rotation[r * 4 + c] = (images[r * 4 + c] * std::polar(1.0, -phase[c])).real();
  }
  if (determinant(rotation) < 0) {
    phase[0] += std::numbers::pi;
    for (std::size_t r = 0; r < 4; ++r) rotation[r * 4] = -rotation[r * 4];
  }
  Matrix4 turned{};
  for (std::size_t r = 0; r < 4; ++r) {
    for (std::size_t c = 0; c < 4; ++c) turned[r * 4 + c] = vectors[c * 4 + r];
  }
  Canonical parts;
  parts.left = factors_of(times(basis, times(rotation, adjoint(basis))));
  parts.right = factors_of(times(basis, times(turned, adjoint(basis))));
  // Phases of the columns of magic(): mean + (x - y + z), mean + (-x + y + z), mean + (x + y - z), mean - (x + y + z).
  const double mean = (phase[0] + phase[1] + phase[2] + phase[3]) / 4;
  parts.z = (phase[0] + phase[1]) / 2 - mean;
  parts.x = (phase[0] + phase[2]) / 2 - mean;
  parts.y = (phase[1] + phase[2]) / 2 - mean;
  parts.scale = std::polar(size, mean);
  reduce(parts);
  const Matrix4 made = product_of(parts);
  for (std::size_t k = 0; k < 16; ++k) {
    if (!(std::abs(made[k] - matrix[k]) <= kTolerance * size)) return std::nullopt;
  }
  return parts;
}

}  // namespace qsim::cuda
