// Sums over the amplitudes of small states on the host.
#include "device/numbers/likeness.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>

namespace qsim {
namespace {

template <typename Real>
Complex amplitude(std::span<const std::byte> state, std::size_t i) {
  Real parts[2];
  std::memcpy(parts, state.data() + i * sizeof(parts), sizeof(parts));
  return {static_cast<double>(parts[0]), static_cast<double>(parts[1])};
}

template <typename Real>
double likeness_of(std::span<const std::byte> state, std::span<const Complex> probe) {
  double real = 0, imaginary = 0, total = 0;
  for (std::size_t i = 0; i < probe.size(); ++i) {
    const Complex a = amplitude<Real>(state, i), v = probe[i];
    real += v.real() * a.real() + v.imag() * a.imag();
    imaginary += v.real() * a.imag() - v.imag() * a.real();
    total += a.real() * a.real() + a.imag() * a.imag();
  }
  return (real * real + imaginary * imaginary) / total;
}

template <typename Real>
double distance_of(std::span<const std::byte> a, std::span<const std::byte> b) {
  const std::size_t count = a.size() / (2 * sizeof(Real));
  double norm_a = 0, norm_b = 0;
  Complex inner = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Complex x = amplitude<Real>(a, i), y = amplitude<Real>(b, i);
    norm_a += std::norm(x);
    norm_b += std::norm(y);
    inner += Complex(x.real() * y.real() + x.imag() * y.imag(), x.real() * y.imag() - x.imag() * y.real());
  }
  const double overlap = std::abs(inner);
  if (!(overlap > 0)) return std::sqrt(2.0);
  const double scale = 1 / std::sqrt(norm_a);
  const Complex turn = std::conj(inner) / (overlap * std::sqrt(norm_b));
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Complex x = amplitude<Real>(a, i), y = amplitude<Real>(b, i);
    const double real = x.real() * scale - (y.real() * turn.real() - y.imag() * turn.imag());
    const double imaginary = x.imag() * scale - (y.real() * turn.imag() + y.imag() * turn.real());
    sum += real * real + imaginary * imaginary;
  }
  return std::sqrt(sum);
}

}  // namespace

std::vector<Complex> probe(std::size_t amplitudes) {
  std::vector<Complex> probe(amplitudes);
  std::uint64_t word = 0x9e3779b97f4a7c15u;
  const auto next = [&word] {  // in [-1, 1)
    word = word * 6364136223846793005u + 1442695040888963407u;
    return std::ldexp(static_cast<double>(word >> 11), -52) - 1;
  };
  double total = 0;
  for (Complex& entry : probe) {
    const double real = next();
    entry = {real, next()};
    total += std::norm(entry);
  }
  for (Complex& entry : probe) entry /= std::sqrt(total);
  return probe;
}

double likeness(std::span<const std::byte> state, std::span<const Complex> probe, Precision precision) {
  return precision == Precision::kDouble ? likeness_of<double>(state, probe) : likeness_of<float>(state, probe);
}

double distance(std::span<const std::byte> a, std::span<const std::byte> b, Precision precision) {
  if (a.size() == b.size() && std::ranges::equal(a, b)) return 0;
  return precision == Precision::kDouble ? distance_of<double>(a, b) : distance_of<float>(a, b);
}

}  // namespace qsim
