// Rotations, matrices of targets in registers, and which way a dense matrix goes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/bits.h"
#include "base/numbers/rounding.h"
#include "cuda/generate/generate_text.h"
#include "cuda/tile/work.h"

namespace qsim::cuda {

namespace {

// Numbers of a matrix that are held at a time: more leave uniform registers for those that amplitudes need.
constexpr double kMostHeldDoubles = 15, kMostHeldFloats = 32;

}  // namespace

void KernelText::rotate(const TileOp& op) {
  for (std::uint32_t s = 0; s < static_cast<std::uint32_t>(program_.register_bits); ++s) {
    if (op.rotation[s] == Rotation::kNone) continue;
    const bool open = (op.open >> s & 1) != 0;
    const bool hadamard = !open && op.rotation[s] == Rotation::kRealMinus && is_tiny(op.tangent[s] - 1);
    const std::string tangent = hadamard ? "" : "," + real_arg(op.tangent[s]);
    const int form = hadamard ? 7 : static_cast<int>(op.rotation[s]);
    const auto write = [&](int which) {
      for (std::uint32_t j = 0; j < registers_; ++j) {
        if ((j >> s & 1) == 0) line(fmt::format("r{}({},{}{});", which, a(j), a(j | 1u << s), tangent));
      }
    };
    if (!open) {
      write(form);
      continue;
    }
    constexpr int kSwaps = static_cast<int>(Rotation::kRealSwap) - static_cast<int>(Rotation::kReal);
    const bool swaps = form > kSwaps;
    line(fmt::format("if ({}) {{", bit_arg(swaps)));
    write(swaps ? form : form + kSwaps);
    line("} else {");
    write(swaps ? form - kSwaps : form);
    line("}");
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
  std::vector<bool> sheared(order, false);
  for (const Shears& shears : shears_of(matrix, order)) {
    add_shears(text, shears, held);
    for (const std::size_t row : shears.row) sheared[row] = true;
  }
  for (std::size_t r = 0; r < order; ++r) {
    if (!sheared[r]) add_row(text, std::span(matrix).subspan(r * order, order), r, nothing, held);
  }
  for (std::size_t e = 0; e < entries_.size(); ++e) head += fmt::format(", R e{}", e);
  functions_ += head + text + "}\n";
  return name;
}

void KernelText::add_row(std::string& text, std::span<const Complex> row, std::size_t r, double nothing, bool held) {
  const auto unit = std::ranges::find_if(row, has_unit);
  bool empty = unit == row.end();
  const bool real_unit = !empty && std::abs(unit->real()) == 1;
  if (!empty) {
    const double part = real_unit ? unit->real() : -unit->imag();
    text += fmt::format("x{0}.x = {2}y{1}.{4}; x{0}.y = {3}y{1}.{5};", r, unit - row.begin(), part < 0 ? "-" : "",
                        (part < 0) == real_unit ? "-" : "", real_unit ? 'x' : 'y', real_unit ? 'y' : 'x');
  }
  for (auto entry = row.begin(); entry != row.end(); ++entry) {
    Complex rest = *entry;
    if (entry == unit) rest = real_unit ? Complex(0, rest.imag()) : Complex(rest.real(), 0);
    add_entry(text, rest, r, static_cast<std::size_t>(entry - row.begin()), nothing, held, empty);
  }
  if (empty) text += fmt::format("x{} = mk(0, 0);", r);
  text += "\n";
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

// u = (x or i x), v -= t u, u += s v, v -= t u; signs of what comes out go into the last two.
void KernelText::add_shears(std::string& text, const Shears& shears, bool held) {
  double t = shears.half_tangent, s = shears.sine;
  if (!double_) {  // of the number that the kernel has, so that the product is a rotation
    t = static_cast<float>(t);
    s = 2 * t / (1 + t * t);
  }
  const std::size_t e = entries_.size();
  entries_.push_back(real_arg(t, held));
  entries_.push_back(real_arg(s, held));
  const auto [first, second] = shears.column;
  const bool turned = shears.right.imag() != 0;  // i times the second
  const std::string u[2] = {turned ? fmt::format("-y{}.y", second) : fmt::format("y{}.x", second),
                            turned ? fmt::format("y{}.x", second) : fmt::format("y{}.y", second)};
  for (std::size_t part = 0; part < 2; ++part) {
    const char name = part == 0 ? 'x' : 'y';
    // Where a part of a row's product goes, and with which sign: left is a unit.
    const auto sign_of = [&](Complex left) {
      return left.imag() == 0 ? left.real() : part == 0 ? left.imag() : -left.imag();
    };
    const auto place_of = [&](Complex left, std::size_t row) {
      return fmt::format("x{}.{}", row, left.imag() == 0 ? name : part == 0 ? 'y' : 'x');
    };
    const double lower = sign_of(shears.left[1]), upper = sign_of(shears.left[0]);
    const std::string v = fmt::format("v{}{}", shears.row[0], name);
    const std::string out = place_of(shears.left[1], shears.row[1]);
    text += fmt::format("const R {0} = fma(-e{1}, {2}, y{3}.{4});", v, e, u[part], first, name);
    text +=
        fmt::format("{} = fma({}e{}, {}, {}({}));", out, lower < 0 ? "-" : "", e + 1, v, lower < 0 ? "-" : "", u[part]);
    text += fmt::format("{} = fma({}e{}, {}, {}{});", place_of(shears.left[0], shears.row[0]),
                        upper * lower > 0 ? "-" : "", e, out, upper < 0 ? "-" : "", v);
  }
  text += "\n";
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

// Flips of one bit are one flip: of each pair of registers where an odd number of them hold. What always holds has its
// registers renamed.
std::size_t KernelText::swaps(std::span<const TileOp> ops) {
  const std::uint8_t slot = ops.front().slots[0];
  std::vector<std::string> holds;
  std::vector<std::vector<std::size_t>> of(registers_);  // which of them, by the first register of a pair
  std::size_t taken = 0;
  for (; taken < ops.size() && ops[taken].kind == TileOpKind::kSwap && ops[taken].slots[0] == slot; ++taken) {
    const TileOp& op = ops[taken];
    const std::string tile = condition(op.guard);
    const std::string thread =
        op.thread_mask == 0 ? "" : fmt::format("(t & {}u) == {}u", op.thread_mask, op.thread_value);
    for (std::uint32_t j = 0; j < registers_; ++j) {
      if ((op.set >> j & 1) == 0) continue;
      if (tile.empty() && thread.empty())
        std::swap(name_[j], name_[j | 1u << slot]);
      else
        of[j].push_back(holds.size());
    }
    if (!tile.empty() || !thread.empty())
      holds.push_back(tile + (tile.empty() || thread.empty() ? "" : " && ") + thread);
  }
  std::map<std::vector<std::size_t>, std::uint32_t> sets;  // pairs by what decides
  for (std::uint32_t j = 0; j < registers_; ++j) {
    if (!of[j].empty()) sets[of[j]] |= 1u << j;
  }
  for (const auto& [deciding, set] : sets) {
    std::string text;
    for (const std::size_t i : deciding) text += fmt::format("{}({})", text.empty() ? "" : " != ", holds[i]);
    line(fmt::format("if ({}) {{", text));
    for (std::uint32_t j = 0; j < registers_; ++j) {
      if ((set >> j & 1) != 0) line(fmt::format("swp({},{});", a(j), a(j | 1u << slot)));
    }
    line("}");
  }
  return taken;
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
  if (slots.size() == op.targets.size() && slots.size() <= (program_.wide ? 2 : 3)) {
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
  if (double_ && op.targets.size() >= 3) return tensor_matrix(op);
  wide_matrix(op);
}

}  // namespace qsim::cuda
