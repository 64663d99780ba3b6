// Rotations, matrices of targets in registers, and which way a dense matrix goes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/bits.h"
#include "base/numbers/rounding.h"
#include "cuda/generate/generate_text.h"
#include "cuda/tile/work.h"

namespace qsim::cuda {

namespace {

// Numbers of a matrix that are held at a time: more leave uniform registers for those that amplitudes need.
constexpr double kMostHeldDoubles = 20, kMostHeldFloats = 32;

}  // namespace

void KernelText::rotate(const TileOp& op) {
  for (std::uint32_t s = 0; s < static_cast<std::uint32_t>(program_.register_bits); ++s) {
    if (op.rotation[s] == Rotation::kNone) continue;
    const bool hadamard = op.rotation[s] == Rotation::kRealMinus && is_tiny(op.tangent[s] - 1);
    const std::string tangent = hadamard ? "" : "," + real_arg(op.tangent[s]);
    const int form = hadamard ? 7 : static_cast<int>(op.rotation[s]);
    for (std::uint32_t j = 0; j < registers_; ++j) {
      if ((j >> s & 1) == 0) line(fmt::format("r{}({},{}{});", form, a(j), a(j | 1u << s), tangent));
    }
  }
}

std::string KernelText::matrix_function(const std::vector<Complex>& matrix, std::size_t order) {
  std::string name = fmt::format("m{}", function_count_++);
  std::string head = "INLINE void " + name + "(", text = ") {";
  for (std::size_t c = 0; c < order; ++c) {
    head += fmt::format("{}C& x{}", c == 0 ? "" : ", ", c);
    text += fmt::format("C y{0} = x{0};", c);
  }
  text += "\n";
  entries_.clear();
  double largest = 0;
  for (const Complex entry : matrix) largest = std::max(largest, std::abs(entry));
  const double nothing = 1e-17 * largest;  // matrices may carry a scale
  const bool held = matrix_numbers(matrix, order) <= (double_ ? kMostHeldDoubles : kMostHeldFloats);
  for (std::size_t r = 0; r < order; ++r) {
    std::size_t unit = order;  // a column whose entry needs no multiplication
    for (std::size_t c = 0; c < order && unit == order; ++c) {
      if (is_unit(matrix[r * order + c])) unit = c;
    }
    bool empty = unit == order;
    if (!empty) {
      const Complex entry = matrix[r * order + unit];
      const bool turned = entry.real() == 0;  // i or -i
      text +=
          fmt::format("x{0}.x = {2}y{1}.{4}; x{0}.y = {3}y{1}.{5};", r, unit,
                      (turned ? -entry.imag() : entry.real()) < 0 ? "-" : "",
                      (turned ? entry.imag() : entry.real()) < 0 ? "-" : "", turned ? 'y' : 'x', turned ? 'x' : 'y');
    }
    for (std::size_t c = 0; c < order; ++c) {
      if (c != unit) add_entry(text, matrix[r * order + c], r, c, nothing, held, empty);
    }
    if (empty) text += fmt::format("x{} = mk(0, 0);", r);
    text += "\n";
  }
  for (std::size_t e = 0; e < entries_.size(); ++e) head += fmt::format(", R e{}", e);
  functions_ += head + text + "}\n";
  return name;
}

void KernelText::add_entry(std::string& text, Complex entry, std::size_t r, std::size_t c, double nothing, bool held,
                           bool& empty) {
  const auto add = [&](double part, const char* sign, char first, char second) {
    if (std::abs(part) <= nothing) return;
    const std::size_t e = entries_.size();
    entries_.push_back(real_arg(part, held));
    text += empty ? fmt::format("x{0}.x = {1}e{2} * y{3}.{4}; x{0}.y = e{2} * y{3}.{5};", r, sign, e, c, first, second)
                  : fmt::format("x{0}.x = fma({1}e{2}, y{3}.{4}, x{0}.x); x{0}.y = fma(e{2}, y{3}.{5}, x{0}.y);", r,
                                sign, e, c, first, second);
    empty = false;
  };
  add(entry.real(), "", 'x', 'y');
  add(entry.imag(), "-", 'y', 'x');
}

void KernelText::open_threads(const TileOp& op) {
  line(fmt::format("{} {{",
                   op.thread_mask == 0 ? "" : fmt::format("if ((t & {}u) == {}u)", op.thread_mask, op.thread_value)));
}

void KernelText::matrix(const TileOp& op, std::vector<std::uint8_t> slots) {
  const std::size_t order = std::size_t{1} << slots.size();
  if (out_.reals.size() % 2 != 0) out_.reals.push_back(0);
  const std::string function = matrix_function(op.matrix, order);
  open_threads(op);
  for (std::uint32_t j = 0; j < registers_; ++j) {
    if ((op.set >> j & 1) == 0) continue;
    std::string call = function + "(";
    for (std::size_t r = 0; r < order; ++r) {
      std::uint32_t place = j;
      for (std::size_t s = 0; s < slots.size(); ++s) place |= static_cast<std::uint32_t>(r >> s & 1) << slots[s];
      call += (r == 0 ? "" : ",") + a(place);
    }
    for (const std::string& entry : entries_) call += "," + entry;
    line(fmt::format("{});", call));
  }
  line("}");
}

void KernelText::swap(const TileOp& op, bool conditional) {
  const bool rename = !conditional && op.thread_mask == 0;
  if (!rename) open_threads(op);
  for (std::uint32_t j = 0; j < registers_; ++j) {
    if ((op.set >> j & 1) == 0) continue;
    const std::uint32_t other = j | 1u << op.slots[0];
    if (rename)
      std::swap(name_[j], name_[other]);
    else
      line(fmt::format("swp({},{});", a(j), a(other)));
  }
  if (!rename) line("}");
}

void KernelText::dense(const TileOp& op) {
  std::vector<std::uint8_t> slots;
  std::uint32_t target_slots = 0;
  for (const std::uint8_t target : op.targets) {
    const auto found = std::find(epoch_->reg.begin(), epoch_->reg.end(), target);
    if (found == epoch_->reg.end()) break;
    slots.push_back(static_cast<std::uint8_t>(found - epoch_->reg.begin()));
    target_slots |= 1u << slots.back();
  }
  if (slots.size() == op.targets.size() && slots.size() <= 3) {
    TileOp inside = op;
    std::uint32_t control_slots = 0, control_bits = 0;
    for (std::size_t j = 0; j < epoch_->reg.size(); ++j) {
      control_slots |= (op.control_mask >> epoch_->reg[j] & 1u) << j;
      control_bits |= (op.control_value >> epoch_->reg[j] & 1u) << j;
    }
    for (std::size_t i = 0; i < epoch_->thread.size(); ++i) {
      inside.thread_mask |= (op.control_mask >> epoch_->thread[i] & 1u) << i;
      inside.thread_value |= (op.control_value >> epoch_->thread[i] & 1u) << i;
    }
    for (std::uint32_t j = 0; j < registers_; ++j) {
      if ((j & target_slots) == 0 && (j & control_slots) == control_bits) inside.set |= 1u << j;
    }
    dense_used_ += op.matrix.size();  // its entries are arguments here, but the table holds them too
    return matrix(inside, slots);
  }
  if (double_ && op.targets.size() >= 4) return tensor_matrix(op);
  wide_matrix(op);
}

}  // namespace qsim::cuda
