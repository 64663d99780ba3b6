// The matrix of many steps on few wires, against amplitudes pushed through the steps one by one.
#include "plan/dense/dense_product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/bits.h"
#include "support/random_circuit.h"

namespace qsim {
namespace {

constexpr Index kWires = 0b1011010;  // 1, 3, 4 and 6

std::vector<std::vector<std::size_t>> no_parts(const std::vector<Element>&, int) { return {}; }
// Wires 3 and 4 twice, before and after a step on others that commutes with them.
std::vector<std::vector<std::size_t>> two_of_four_wires(const std::vector<Element>&, int wires) {
  return wires == 4 ? std::vector<std::vector<std::size_t>>{{0, 1}, {4, 5}} : std::vector<std::vector<std::size_t>>{};
}

Element matrix_on(std::initializer_list<Bit> targets, Index control_mask = 0, Index control_value = 0) {
  Element element;
  element.control_mask = control_mask;
  element.control_value = control_value;
  const std::size_t order = std::size_t{1} << targets.size();
  for (std::size_t i = 0; i < order * order; ++i) {
    const auto x = static_cast<double>(i + 1);
    element.matrix.emplace_back(std::sin(x), i % 3 == 0 ? 0 : std::cos(2 * x));
  }
  element.matrix[1] = 0;
  element.target_count = static_cast<std::uint8_t>(targets.size());
  std::ranges::copy(targets, element.targets.begin());
  return element;
}

Element flip_on(Bit target, Index control_mask, Index control_value) {
  Element element;
  element.form = Form::kFlip;
  element.act_on(bit_mask(target));
  element.control_mask = control_mask;
  element.control_value = control_value;
  return element;
}

Element diagonal(Index mask, Index value, Index parity, double angle) {
  Element element;
  element.form = Form::kPhases;
  element.diagonal.mask = mask;
  element.diagonal.value = value;
  element.diagonal.parity = parity;
  element.diagonal.angle = angle;
  return element;
}

std::vector<Element> steps() {
  return {matrix_on({4, 3}),
          flip_on(3, 0b10000, 0b10000),
          diagonal(0b1000010, 0b10, 0, 0.7),
          matrix_on({6}, 0b10, 0b10),
          matrix_on({3}, 0b10000, 0),
          diagonal(0, 0, 0b11000, -0.4),
          flip_on(1, 0b1001000, 0b1000),
          matrix_on({1, 6, 3})};
}

// One amplitude of the state after a step, from those before it.
Complex after(const Element& element, const std::vector<Complex>& state, Index index) {
  if (element.form == Form::kPhases) {
    const Diagonal& d = element.diagonal;
    const bool on = (index & d.mask) == d.value && (d.parity == 0 || std::popcount(index & d.parity) % 2 == 1);
    return on ? state[index] * std::exp(Complex(0, d.angle)) : state[index];
  }
  if ((index & element.control_mask) != element.control_value) return state[index];
  if (element.form == Form::kFlip) return state[index ^ element.target_mask()];
  const std::size_t order = std::size_t{1} << element.target_count;
  std::size_t row = 0;
  for (std::size_t j = 0; j < element.target_count; ++j) row |= (index >> element.targets[j] & 1) << j;
  Complex sum = 0;
  for (std::size_t column = 0; column < order; ++column) {
    Index from = index & ~element.target_mask();
    for (std::size_t j = 0; j < element.target_count; ++j) from |= Index{column >> j & 1} << element.targets[j];
    sum += element.matrix[row * order + column] * state[from];
  }
  return sum;
}

void expect_product(const std::vector<Complex>& matrix) {
  const std::size_t order = 16;
  ASSERT_EQ(matrix.size(), order * order);
  for (std::size_t column = 0; column < order; ++column) {
    std::vector<Complex> state(128), next(128);
    state[deposit_bits(column, kWires)] = 1;
    for (const Element& step : steps()) {
      for (Index i = 0; i < 128; ++i) next[i] = after(step, state, i);
      state = next;
    }
    for (std::size_t row = 0; row < order; ++row)
      EXPECT_LT(std::abs(matrix[row * order + column] - state[deposit_bits(row, kWires)]), 1e-12)
          << row << ", " << column;
  }
}

TEST(DenseProduct, IsWhatTheStepsDoOneAfterTheOther) { expect_product(product_of(steps(), kWires, no_parts)); }

TEST(DenseProduct, IsTheSameWhenPartsAreMultipliedFirst) {
  expect_product(product_of(steps(), kWires, two_of_four_wires));
}

// No matrix takes the place of steps that does not pass this.
TEST(DenseProduct, OfOtherStepsIsSeen) {
  std::vector<Element> all = steps();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].form == Form::kMatrix)
      all[i].matrix = test::random_unitary(static_cast<unsigned>(all[i].target_count), i + 1);
  }
  const std::vector<Complex> matrix = product_of(all, kWires, no_parts);
  EXPECT_TRUE(does_what_steps_do(matrix, all, kWires));
  for (std::size_t entry = 0; entry < matrix.size(); ++entry) {
    std::vector<Complex> other = matrix;
    other[entry] += 1e-12;
    EXPECT_FALSE(does_what_steps_do(other, all, kWires)) << entry;
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::vector<Element> fewer = all;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_FALSE(does_what_steps_do(matrix, fewer, kWires)) << "without step " << i;
    std::vector<Element> others = all;
    others[i].diagonal.angle += 1e-12;
    others[i].control_value ^= others[i].control_mask & (~others[i].control_mask + 1);
    if (!others[i].matrix.empty()) others[i].matrix.back() += 1e-12;
    EXPECT_FALSE(does_what_steps_do(matrix, others, kWires)) << "step " << i << " changed";
  }
}

}  // namespace
}  // namespace qsim
