#include "device/permutation/affine.h"

#include <algorithm>
#include <ranges>

#include "base/bits.h"

namespace qsim {
namespace {

Index moved(const PlanOp& op, Index place) {
  return (place & op.control_mask) == op.control_value ? place ^ bit_mask(op.targets[0]) : place;
}

/// Vectors over bits, of which none is the XOR of others.
class Basis {
 public:
  /// False, and nothing is done, where `vector` depends on those that are there.
  bool add(Index vector) {
    Index rest = vector;
    for (const Index reduced : reduced_) rest = std::min(rest, rest ^ reduced);
    if (rest == 0) return false;
    reduced_.push_back(rest);
    vectors_.push_back(vector);
    return true;
  }
  const std::vector<Index>& vectors() const { return vectors_; }

 private:
  std::vector<Index> vectors_, reduced_;  // the latter: none has the highest bit of one before it
};

}  // namespace

Index target_of(const Sweep& sweep, Index place) {
  for (const PlanOp& op : sweep.ops) place = moved(op, place);
  return place;
}

Index source_of(const Sweep& sweep, Index place) {
  for (const PlanOp& op : std::views::reverse(sweep.ops)) place = moved(op, place);
  return place;
}

AffineGather affine_gather(const Sweep& sweep, std::uint32_t lanes, std::uint32_t line_bits) {
  const std::uint32_t bits = count_bits(sweep.bundle);
  Basis basis;
  for (std::uint32_t bit = 0; bit < std::min(lanes, bits); ++bit) basis.add(bit_mask(bit));
  for_each_bit(sweep.bundle & low_mask(line_bits), [&](unsigned bit) {
    basis.add(extract_bits(target_of(sweep, bit_mask(bit)) ^ target_of(sweep, 0), sweep.bundle));
  });
  for (std::uint32_t bit = 0; bit < bits; ++bit) basis.add(bit_mask(bit));
  AffineGather gather{basis.vectors(), {}};
  for (const Index to : gather.to)
    gather.from.push_back(source_of(sweep, deposit_bits(to, sweep.bundle)) ^ source_of(sweep, 0));
  return gather;
}

}  // namespace qsim
