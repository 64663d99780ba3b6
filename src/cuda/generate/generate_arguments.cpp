// Numbers of a kernel: its text says where among the arguments they are, so that programs of one structure have one.
#include <fmt/format.h>

#include <cmath>

#include "cuda/generate/generate_text.h"

namespace qsim::cuda {

std::string KernelText::int_arg(std::uint64_t value) {
  out_.ints.push_back(value);
  return fmt::format("p.u[{}]", out_.ints.size() - 1);
}

std::string KernelText::bit_arg(bool value) {
  if (bits_used_ % 64 == 0) {
    (void)int_arg(0);
    bits_place_ = out_.ints.size() - 1;
  }
  const std::size_t bit = bits_used_++ % 64;
  if (value) out_.ints[bits_place_] |= std::uint64_t{1} << bit;
  return fmt::format("p.u[{}] >> {} & 1", bits_place_, bit);
}

std::size_t KernelText::place_of(Complex numbers, std::size_t count) {
  std::vector<double>& reals = out_.reals;
  const std::size_t place = reals.size() + (count == 2 ? reals.size() % 2 : 0);
  // Of numbers that may be put in anew the text must not say which are equal; those that are none equal nothing.
  if (!program_.open && std::isfinite(numbers.real()) && std::isfinite(numbers.imag())) {
    const auto [known, fresh] = places_.try_emplace({count, numbers.real(), numbers.imag()}, place);
    if (!fresh) return known->second;
  }
  reals.resize(place);
  reals.push_back(numbers.real());
  if (count == 2) reals.push_back(numbers.imag());
  return place;
}

std::string KernelText::real_arg(double value, bool held) {
  return fmt::format("p.d[{}{}]", place_of(value, 1), held ? "+z" : "");
}

std::string KernelText::complex_arg(Complex value) {
  const std::size_t place = place_of(value, 2);
  return fmt::format("mk(p.d[{}+z],p.d[{}+z])", place, place + 1);
}

}  // namespace qsim::cuda
