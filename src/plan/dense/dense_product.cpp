// Real and imaginary parts lie apart, so that rows are added in vectors; entries that are zero or real cost less. No
// fused multiply-adds: the sums are the same on every processor, because all ranks must make the same plan.
#include "plan/dense/dense_product.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/bits.h"
#include "base/numbers/complex.h"

namespace qsim {

// A row, or as many as lie one after the other.
struct ProductRow {
  double* re;
  double* im;
};
using AddProductRow = void (*)(ProductRow, ProductRow, Complex, std::size_t, bool);

namespace {

// to += factor from, or to = factor from.
[[gnu::always_inline]] inline void add_row_anywhere(ProductRow to, ProductRow from, Complex factor, std::size_t count,
                                                    bool first) {
  double* __restrict to_re = to.re;
  double* __restrict to_im = to.im;
  const double* __restrict from_re = from.re;
  const double* __restrict from_im = from.im;
  const double re = factor.real(), im = factor.imag();
  if (first) {
    for (std::size_t i = 0; i < count; ++i) {
      to_re[i] = re * from_re[i] - im * from_im[i];
      to_im[i] = re * from_im[i] + im * from_re[i];
    }
  } else if (im == 0) {
    for (std::size_t i = 0; i < count; ++i) {
      to_re[i] += re * from_re[i];
      to_im[i] += re * from_im[i];
    }
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      to_re[i] += re * from_re[i] - im * from_im[i];
      to_im[i] += re * from_im[i] + im * from_re[i];
    }
  }
}

void add_row_plainly(ProductRow to, ProductRow from, Complex factor, std::size_t count, bool first) {
  add_row_anywhere(to, from, factor, count, first);
}

#ifdef __x86_64__
[[gnu::target("avx2")]] void add_row_avx2(ProductRow to, ProductRow from, Complex factor, std::size_t count,
                                          bool first) {
  add_row_anywhere(to, from, factor, count, first);
}

AddProductRow row_adder() { return __builtin_cpu_supports("avx2") ? add_row_avx2 : add_row_plainly; }
#else
AddProductRow row_adder() { return add_row_plainly; }
#endif

// The entry of a step's matrix between two values of its targets.
Complex entry(const Element& element, Index to, Index from) {
  std::size_t row = 0, column = 0;
  for (std::size_t j = 0; j < element.target_count; ++j) {
    row |= static_cast<std::size_t>(to >> element.targets[j] & 1) << j;
    column |= static_cast<std::size_t>(from >> element.targets[j] & 1) << j;
  }
  return element.matrix[(row << element.target_count) + column];
}

// The index that each entry of a vector on `wires` stands for.
std::vector<Index> indices_on(Index wires) {
  std::vector<Index> indices(std::size_t{1} << popcount(wires));
  for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = deposit_bits(i, wires);
  return indices;
}

bool acts_on(const Diagonal& d, Index index) {
  return (index & d.mask) == d.value && (d.parity == 0 || odd_parity(index & d.parity));
}

}  // namespace

// The product of the steps so far.
class RowProduct {
 public:
  explicit RowProduct(Index wires)
      : wires_(wires),
        index_(indices_on(wires)),
        order_(index_.size()),
        re_(order_ * order_),
        im_(order_ * order_),
        add_(row_adder()) {
    for (std::size_t row = 0; row < order_; ++row) re_[row * (order_ + 1)] = 1;
  }

  void multiply(const Element& element) {
    if (element.ends_group) return;
    switch (element.form) {
      case Form::kPhases:
        return multiply_phases(element.diagonal);
      case Form::kFlip:
        return swap_rows(element);
      case Form::kMatrix:
        return multiply_matrix(element);
    }
  }

  void copy_to(std::span<Complex> matrix) const {
    for (std::size_t i = 0; i < re_.size(); ++i) matrix[i] = {re_[i], im_[i]};
  }

  std::vector<Complex> values() const {
    std::vector<Complex> result(re_.size());
    copy_to(result);
    return result;
  }

 private:
  static constexpr std::size_t kFew = 4;  // rows that indirection costs more than sums

  ProductRow row(std::size_t number) { return {re_.data() + number * order_, im_.data() + number * order_}; }

  void multiply_phases(const Diagonal& d) {
    const Complex phase = std::polar(1.0, d.angle);
    for (std::size_t r = 0; r < order_; ++r) {
      if (!acts_on(d, index_[r])) continue;
      const ProductRow here = row(r);
      for (std::size_t i = 0; i < order_; ++i) {
        const double re = here.re[i], im = here.im[i];
        here.re[i] = phase.real() * re - phase.imag() * im;
        here.im[i] = phase.real() * im + phase.imag() * re;
      }
    }
  }

  bool is_first_of_group(std::size_t r, Index targets, const Element& element) const {
    return (r & targets) == 0 && (index_[r] & element.control_mask) == element.control_value;
  }

  void swap_rows(const Element& element) {
    const Index target = extract_bits(element.target_mask(), wires_);
    for (std::size_t r = 0; r < order_; ++r) {
      if (!is_first_of_group(r, target, element)) continue;
      const ProductRow zero = row(r), one = row(r | target);
      std::swap_ranges(zero.re, zero.re + order_, one.re);
      std::swap_ranges(zero.im, zero.im + order_, one.im);
    }
  }

  // Of few entries, as multiply_matrix() does it: pair of rows by pair of rows.
  void multiply_turn(const Element& element) {
    const Index target = extract_bits(element.target_mask(), wires_);
    const auto& m = element.matrix;
    std::array<double, 4 * kFew> in;  // NOLINT: written before it is read
    const ProductRow zero{in.data(), in.data() + kFew}, one{in.data() + 2 * kFew, in.data() + 3 * kFew};
    for (std::size_t r = 0; r < order_; ++r) {
      if (!is_first_of_group(r, target, element)) continue;
      const ProductRow low = row(r), high = row(r | target);
      for (std::size_t i = 0; i < order_; ++i) {
        zero.re[i] = low.re[i], zero.im[i] = low.im[i];
        one.re[i] = high.re[i], one.im[i] = high.im[i];
      }
      add_row_anywhere(low, zero, m[0], order_, true);
      if (m[1] != Complex(0)) add_row_anywhere(low, one, m[1], order_, false);
      add_row_anywhere(high, zero, m[2], order_, true);
      if (m[3] != Complex(0)) add_row_anywhere(high, one, m[3], order_, false);
    }
  }

  // Row group by row group: those that differ in the element's targets only.
  void multiply_matrix(const Element& element) {
    if (element.target_count == 1 && order_ <= kFew) return multiply_turn(element);
    const std::size_t count = std::size_t{1} << element.target_count;
    const Index targets = extract_bits(element.target_mask(), wires_);
    offset_.resize(count);
    step_.resize(count * count);
    in_.resize(2 * count * order_);
    for (std::size_t v = 0; v < count; ++v) offset_[v] = deposit_bits(v, targets);
    for (std::size_t to = 0; to < count; ++to)
      for (std::size_t from = 0; from < count; ++from)
        step_[to * count + from] = entry(element, index_[offset_[to]], index_[offset_[from]]);
    for (std::size_t r = 0; r < order_; ++r)
      if (is_first_of_group(r, targets, element)) multiply_group(r, count);
  }

  void multiply_group(std::size_t first, std::size_t count) {
    const auto input = [&](std::size_t v) {
      return ProductRow{in_.data() + 2 * v * order_, in_.data() + (2 * v + 1) * order_};
    };
    for (std::size_t v = 0; v < count; ++v) {
      const ProductRow from = row(first | offset_[v]), to = input(v);
      std::copy_n(from.re, order_, to.re);
      std::copy_n(from.im, order_, to.im);
    }
    for (std::size_t to = 0; to < count; ++to) {
      const ProductRow sum = row(first | offset_[to]);
      add_(sum, input(0), step_[to * count], order_, true);
      for (std::size_t from = 1; from < count; ++from) {
        const Complex factor = step_[to * count + from];
        if (factor != Complex(0)) add_(sum, input(from), factor, order_, false);
      }
    }
  }

  const Index wires_;
  const std::vector<Index> index_;  // of each row
  const std::size_t order_;
  std::vector<double> re_, im_;
  const AddProductRow add_;
  std::vector<std::size_t> offset_;  // scratch of one multiplication
  std::vector<Complex> step_;
  std::vector<double> in_;
};

namespace {

// Entries of a vector on `wires`, which stand for `index`, changed as the step changes amplitudes.
void apply_step(const Element& step, Index wires, std::span<const Index> index, std::vector<Complex>& vector) {
  if (step.form == Form::kPhases) {
    const Complex phase = std::polar(1.0, step.diagonal.angle);
    for (std::size_t i = 0; i < vector.size(); ++i)
      if (acts_on(step.diagonal, index[i])) vector[i] = times(vector[i], phase);
    return;
  }
  const Index targets = extract_bits(step.target_mask(), wires);
  const std::size_t count = std::size_t{1} << step.target_count;
  std::vector<std::size_t> apart(count);
  for (std::size_t v = 0; v < count; ++v) apart[v] = deposit_bits(v, targets);
  std::vector<Complex> in(count), matrix;
  if (step.form != Form::kFlip) {
    for (const std::size_t to : apart)
      for (const std::size_t from : apart) matrix.push_back(entry(step, index[to], index[from]));
  }
  for (std::size_t i = 0; i < vector.size(); ++i) {
    if ((i & targets) != 0 || (index[i] & step.control_mask) != step.control_value) continue;
    if (step.form == Form::kFlip) {
      std::swap(vector[i], vector[i | targets]);
      continue;
    }
    for (std::size_t v = 0; v < count; ++v) in[v] = vector[i | apart[v]];
    for (std::size_t to = 0; to < count; ++to) {
      Complex sum = 0;
      for (std::size_t from = 0; from < count; ++from) sum += times(matrix[to * count + from], in[from]);
      vector[i | apart[to]] = sum;
    }
  }
}

// Of the vector that is followed: of modulus 1 and of no pattern.
Complex test_entry(std::size_t i) {
  const auto turned = [](std::size_t k) { return std::polar(1.0, 2.399963229728653 * static_cast<double>(k * k)); };
  static const std::vector<Complex> first = [&] {
    std::vector<Complex> entries;
    for (std::size_t k = 0; k < 64; ++k) entries.push_back(turned(k));
    return entries;
  }();
  return i < first.size() ? first[i] : turned(i);
}

}  // namespace

GrowingProduct::GrowingProduct(Index wires) : rows_(std::make_unique<RowProduct>(wires)) {}
GrowingProduct::~GrowingProduct() = default;
void GrowingProduct::multiply(const Element& step) { rows_->multiply(step); }
void GrowingProduct::copy_to(std::span<Complex> matrix) const { rows_->copy_to(matrix); }

bool does_what_steps_do(std::span<const Complex> matrix, std::span<const Element> steps, Index wires) {
  const std::vector<Index> index = indices_on(wires);
  const std::size_t order = index.size();
  std::vector<Complex> vector(order), made(order);
  for (std::size_t i = 0; i < order; ++i) vector[i] = test_entry(i);
  for (std::size_t row = 0; row < order; ++row)
    for (std::size_t column = 0; column < order; ++column)
      made[row] += times(matrix[row * order + column], vector[column]);
  for (const Element& step : steps) apply_step(step, wires, index, vector);
  return recomposes(made, vector, static_cast<double>(order) + std::sqrt(static_cast<double>(steps.size())));
}

std::vector<Complex> product_of(std::vector<Element> steps, Index wires, PartsOfProduct parts_of) {
  for (const auto& part : parts_of(steps, popcount(wires))) {
    std::vector<Element> members;
    Index reach = 0;
    for (const std::size_t member : part) {
      reach |= steps[member].wires();
      members.push_back(std::move(steps[member]));
      steps[member].gone = true;
    }
    Element dense;
    dense.act_on(reach);
    dense.matrix = product_of(std::move(members), reach, parts_of);
    steps[part.back()] = std::move(dense);
  }
  RowProduct product(wires);
  for (const Element& step : steps)
    if (!step.gone) product.multiply(step);
  return product.values();
}

std::vector<Complex> product_of(std::span<const Element> elements, std::span<const std::size_t> members, Index wires) {
  RowProduct product(wires);
  for (const std::size_t member : members) product.multiply(elements[member]);
  return product.values();
}

}  // namespace qsim
