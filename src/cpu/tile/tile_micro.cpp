// MicroWriter: conditions, coefficients and kinds of micro-operations.
#include "cpu/tile/tile_micro.h"

#include <array>
#include <span>

#include "base/numbers/rounding.h"

namespace qsim::cpu {
namespace {

template <typename T>
T real_part(Complex c) {
  return static_cast<T>(c.real());
}
template <typename T>
T imaginary_part(Complex c) {
  return static_cast<T>(c.imag());
}
/// How far rounding the entries of a unitary times a factor moves norms: its mean square, 1 without rounding.
template <typename T>
double mean_square(std::span<const Complex> entries) {
  double rounded = 0, exact = 0;
  for (const Complex c : entries) {
    rounded += rounded_square<T>(c);
    exact += std::norm(c);
  }
  return rounded / exact;
}
template <typename T>
std::vector<T> interleaved(std::span<const Complex> values) {
  std::vector<T> out;
  out.reserve(2 * values.size());
  for (const Complex& c : values) {
    out.push_back(real_part<T>(c));
    out.push_back(imaginary_part<T>(c));
  }
  return out;
}

constexpr std::size_t kMostLanes = 16;

/// A complex vector of coefficients.
template <typename T>
struct ByLane {
  std::array<T, kMostLanes> re{}, im{};
};
/// Where lane bit `bit` is 0, where it is 1, and in lanes in which the operation does nothing.
template <typename T>
ByLane<T> by_lane(const MicroOp& op, int bit, Complex at_zero, Complex at_one, Complex off) {
  ByLane<T> values;
  for (std::size_t lane = 0; lane < kMostLanes; ++lane) {
    const Complex value = (op.lanes >> lane & 1) == 0 ? off : (lane >> bit & 1) == 0 ? at_zero : at_one;
    values.re[lane] = real_part<T>(value);
    values.im[lane] = imaginary_part<T>(value);
  }
  return values;
}

/// A 4x4 with the two bits of its index exchanged.
std::vector<Complex> other_order(std::span<const Complex> matrix) {
  std::vector<Complex> out(16);
  const auto swapped = [](std::size_t v) { return (v & 1) << 1 | v >> 1; };
  for (std::size_t row = 0; row < 4; ++row) {
    for (std::size_t column = 0; column < 4; ++column) {
      out[row * 4 + column] = matrix[swapped(row) * 4 + swapped(column)];
    }
  }
  return out;
}

}  // namespace

template <typename T>
void MicroWriter<T>::add_two_by_two(const MatrixItem& item, const Factored& form) {
  if (form.coefficients.size() == 4) program_.keep_norm(mean_square<T>(form.coefficients), item.share());
  if (placement_.is_lane(item.targets[0])) {
    add_on_lane(item, form);
  } else {
    add_on_register(item, form);
  }
}

template <typename T>
void MicroWriter<T>::add_dense(const MatrixItem& item) {
  // All controls are conditions on groups or lanes: no register holds anything here.
  MicroOp op = conditioned(item, 0, 0);
  op.data = write(interleaved<T>(item.matrix));
  program_.keep_norm(mean_square<T>(item.matrix), item.share());
  program_.ops.push_back(op);
}

/// Where the item's controls let it act: vectors with bit 0 of `targets` (register bits) in a group, lanes, groups.
template <typename T>
MicroOp MicroWriter<T>::conditioned(const MatrixItem& item, unsigned target_registers, int register_bits) const {
  MicroOp op;
  op.vectors = 0;
  op.lanes = 0;
  op.tile_mask = item.condition.mask;
  op.tile_value = item.condition.value;
  unsigned register_mask = 0, register_value = 0, lane_mask = 0, lane_value = 0;
  for_each_bit(item.control_mask, [&](unsigned bit) {
    const auto tile_bit = static_cast<Bit>(bit);
    const unsigned value = item.control_value >> bit & 1;
    const int position = placement_.position[bit], b = register_bits == 0 ? -1 : placement_.register_of(tile_bit);
    if (position < program_.lane_bits) {
      lane_mask |= 1u << position;
      lane_value |= value << position;
    } else if (b >= 0) {
      register_mask |= 1u << b;
      register_value |= value << b;
    } else {
      op.group_mask |= 1u << (position - program_.lane_bits);
      op.group_value |= value << (position - program_.lane_bits);
    }
  });
  for (unsigned i = 0; i < 1u << register_bits; ++i) {
    const bool on = (i & target_registers) == 0 && (i & register_mask) == register_value;
    op.vectors = static_cast<std::uint8_t>(op.vectors | (on ? 1u << i : 0u));
  }
  for (unsigned lane = 0; lane < 1u << program_.lane_bits; ++lane) {
    op.lanes = static_cast<std::uint16_t>(op.lanes | ((lane & lane_mask) == lane_value ? 1u << lane : 0u));
  }
  return op;
}

/// Appends scalars, and starts them at a boundary that vectors could have too.
template <typename T>
std::uint64_t MicroWriter<T>::write(std::span<const T> values) {
  LineVector<T>& all = program_.coefficients;
  const std::size_t lanes = std::size_t{1} << program_.lane_bits;
  all.resize((all.size() + lanes - 1) / lanes * lanes);
  const std::uint64_t begin = all.size();
  all.insert(all.end(), values.begin(), values.end());
  all.resize((all.size() + lanes - 1) / lanes * lanes);
  return begin;
}

template <typename T>
void MicroWriter<T>::add_on_register(const MatrixItem& item, const Factored& form) {
  const int bit = placement_.register_of(item.targets[0]);
  MicroOp op = conditioned(item, 1u << bit, program_.register_bits);
  op.bit = static_cast<std::uint8_t>(bit);
  const FewNumbers& c = form.coefficients;
  using Form = Factored::Form;
  if (!all_lanes(op) && form.form != Form::kFlip) {
    op.kind = Micro::kGeneralMasked;
    op.data = write(interleaved<T>(item.matrix));
    program_.ops.push_back(op);
    return;
  }
  std::array<T, 8> values{};
  std::size_t count = 0;
  const auto add = [&](Complex one, bool both) {
    values[count++] = real_part<T>(one);
    if (both) values[count++] = imaginary_part<T>(one);
  };
  switch (form.form) {
    case Form::kShearA:
      op.kind = Micro::kShearA;
      break;
    case Form::kShearB:
      op.kind = Micro::kShearB;
      break;
    case Form::kShearC:
      op.kind = Micro::kShearC;
      break;
    case Form::kCrossA:
      op.kind = Micro::kCrossA;
      break;
    case Form::kCrossB:
      op.kind = Micro::kCrossB;
      break;
    case Form::kReal:
      op.kind = Micro::kReal;
      break;
    case Form::kCross:
      op.kind = Micro::kCross;
      values = {real_part<T>(c[0]), imaginary_part<T>(c[1]), imaginary_part<T>(c[2]), real_part<T>(c[3])};
      count = 4;
      break;
    case Form::kGeneral:
      op.kind = Micro::kGeneral;
      for (const Complex& one : c) add(one, true);
      break;
    case Form::kFlip:
      op.kind = all_lanes(op) ? Micro::kFlip : Micro::kFlipMasked;
      break;
  }
  if (count == 0) {
    for (const Complex& one : c) add(one, false);
  }
  op.data = write(std::span<const T>(values).first(count));
  program_.ops.push_back(op);
}

/// Lane coefficients: own[v] multiplies an amplitude whose lane bit is v, other[v] its partner.
template <typename T>
void MicroWriter<T>::add_on_lane(const MatrixItem& item, const Factored& form) {
  MicroOp op = conditioned(item, 0, program_.register_bits);
  const int lane_bit = placement_.position[item.targets[0]];
  op.bit = static_cast<std::uint8_t>(lane_bit);
  const FewNumbers& c = form.coefficients;
  using Form = Factored::Form;
  const Complex i(0, 1);
  Complex own[2], other[2];
  switch (form.form) {
    case Form::kShearA:
      op.kind = Micro::kLaneShearA;
      other[0] = c[0], other[1] = c[1];
      break;
    case Form::kShearB:
      op.kind = Micro::kLaneShearB;
      own[0] = c[0], own[1] = c[1];
      break;
    case Form::kShearC:
      op.kind = Micro::kLaneReal;
      own[0] = c[0], own[1] = c[1];
      other[0] = -1, other[1] = 1;
      break;
    case Form::kCrossA:
      op.kind = Micro::kLaneCrossA;
      other[0] = c[0], other[1] = c[1];
      break;
    case Form::kCrossB:
      op.kind = Micro::kLaneCrossB;
      own[0] = c[0], own[1] = c[1];
      break;
    case Form::kReal:
    case Form::kGeneral:
      op.kind = form.form == Form::kReal ? Micro::kLaneReal : Micro::kLaneGeneral;
      own[0] = c[0], own[1] = c[3];
      other[0] = c[1], other[1] = c[2];
      break;
    case Form::kCross:
      op.kind = Micro::kLaneCross;
      own[0] = c[0], own[1] = c[3];
      other[0] = c[1] / i, other[1] = c[2] / i;
      break;
    case Form::kFlip:
      op.kind = Micro::kLaneFlip;
      program_.ops.push_back(op);
      return;
  }
  write_lanes(op, own, other);
  program_.ops.push_back(op);
}

template <typename T>
void MicroWriter<T>::write_lanes(MicroOp& op, const Complex* own, const Complex* other) {
  const auto write_all = [&](const std::array<T, kMostLanes>& values) {
    return write({values.data(), std::size_t{1} << program_.lane_bits});
  };
  const ByLane<T> mine = by_lane<T>(op, op.bit, own[0], own[1], 1), its = by_lane<T>(op, op.bit, other[0], other[1], 0);
  const bool other_alone = op.kind == Micro::kLaneShearA || op.kind == Micro::kLaneCrossA;
  const bool complex = op.kind == Micro::kLaneGeneral;
  op.data = write_all(other_alone ? its.re : mine.re);
  if (complex) write_all(mine.im);
  if (!other_alone) write_all(its.re);
  if (complex) write_all(its.im);
}

template <typename T>
void MicroWriter<T>::exchange(int lane, int register_bit) {
  MicroOp op;
  op.kind = Micro::kExchange;
  op.bit = static_cast<std::uint8_t>(register_bit);
  op.other = static_cast<std::uint8_t>(lane);
  program_.ops.push_back(op);
  const int vector_position = program_.lane_bits + placement_.registers[register_bit];
  for (int& position : placement_.position) {
    if (position == lane) {
      position = vector_position;
    } else if (position == vector_position) {
      position = lane;
    }
  }
}

template <typename T>
void MicroWriter<T>::add_four_by_four(const MatrixItem& item, const PassOrder& order) {
  ParityKind kind = parity_kind(item.matrix);
  // Matrices with one target among the lanes are done there, but those that cost less than bringing it out.
  const bool may_stay = kind == ParityKind::kNone || kind == ParityKind::kGeneral;
  int lanes = 0;
  for (const Bit target : item.targets) lanes += placement_.is_lane(target);
  for (const Bit target : item.targets) {
    if (!placement_.is_lane(target) || (lanes == 1 && may_stay)) continue;
    exchange(placement_.position[target], order.spare_register(placement_, item.target_mask()));
    --lanes;
  }
  program_.keep_norm(mean_square<T>(item.matrix), item.share());
  if (lanes == 1) return add_beside_lane(item, kind);
  // The lower register bit is the matrix's low one.
  const int first = placement_.register_of(item.targets[0]), second = placement_.register_of(item.targets[1]);
  const std::vector<Complex> matrix = first < second ? item.matrix : other_order(item.matrix);
  const int low = std::min(first, second), high = std::max(first, second);
  MicroOp op = conditioned(item, 1u << low | 1u << high, program_.register_bits);
  op.bit = static_cast<std::uint8_t>(low);
  op.other = static_cast<std::uint8_t>(high);
  if (!all_lanes(op)) kind = ParityKind::kNone;
  if (kind == ParityKind::kNone) {
    op.kind = all_lanes(op) ? Micro::kMatrix4 : Micro::kMatrix4Masked;
    op.data = write(interleaved<T>(matrix));
  } else {
    write_parity({matrix[0], matrix[3], matrix[12], matrix[15], matrix[5], matrix[6], matrix[9], matrix[10]}, kind, op);
  }
  program_.ops.push_back(op);
}

/// One target is in a register, the other is a lane bit.
template <typename T>
void MicroWriter<T>::add_beside_lane(const MatrixItem& item, ParityKind kind) {
  const bool lane_is_low = placement_.is_lane(item.targets[0]);
  const Bit lane_target = item.targets[lane_is_low ? 0 : 1], register_target = item.targets[lane_is_low ? 1 : 0];
  // Index: bit 0 the register's, bit 1 the lane's.
  const std::vector<Complex> matrix = lane_is_low ? other_order(item.matrix) : item.matrix;
  const int bit = placement_.register_of(register_target), lane_bit = placement_.position[lane_target];
  MicroOp op = conditioned(item, 1u << bit, program_.register_bits);
  op.kind = kind == ParityKind::kNone ? Micro::kLaneMatrix4 : Micro::kLaneParity4;
  op.bit = static_cast<std::uint8_t>(bit);
  op.other = static_cast<std::uint8_t>(lane_bit);
  const auto lanes = std::ptrdiff_t{1} << program_.lane_bits;
  std::vector<T> values;
  values.reserve(static_cast<std::size_t>(16 * lanes));
  for (std::size_t from = 0; from < 2; ++from) {
    for (std::size_t swapped = 0; swapped < 2; ++swapped) {
      for (std::size_t to = 0; to < 2; ++to) {
        if (kind != ParityKind::kNone && (from ^ to) != swapped) continue;  // mixes nothing
        const auto entry = [&](std::size_t own) { return matrix[4 * (to | own << 1) + (from | (own ^ swapped) << 1)]; };
        const ByLane<T> part = by_lane<T>(op, lane_bit, entry(0), entry(1), from == to && swapped == 0 ? 1 : 0);
        values.insert(values.end(), part.re.begin(), part.re.begin() + lanes);
        values.insert(values.end(), part.im.begin(), part.im.begin() + lanes);
      }
    }
  }
  op.data = write(std::span<const T>(values));
  program_.ops.push_back(op);
}

/// Two 2x2, one after the other.
template <typename T>
void MicroWriter<T>::write_parity(const std::vector<Complex>& both, ParityKind kind, MicroOp& op) {
  if (kind == ParityKind::kGeneral) {
    op.kind = Micro::kParity4;
    op.data = write(interleaved<T>(both));
    return;
  }
  op.kind = kind == ParityKind::kReal ? Micro::kParityReal : Micro::kParityCross;
  std::vector<T> values;
  for (std::size_t i = 0; i < both.size(); ++i) {
    const bool diagonal = i % 4 == 0 || i % 4 == 3;
    values.push_back(kind == ParityKind::kReal || diagonal ? real_part<T>(both[i]) : imaginary_part<T>(both[i]));
  }
  op.data = write(values);
}

template class MicroWriter<float>;
template class MicroWriter<double>;

}  // namespace qsim::cpu
