#include "device/permutation/affine.h"

#include <algorithm>

#include "base/bits.h"
#include "plan/permuted_places.h"

namespace qsim {
namespace {

/// Vectors over bits, of which none is the XOR of others.
class Basis {
 public:
  /// Nothing is done where `vector` depends on those that are there.
  void add(Index vector) {
    Index rest = vector;
    for (const Index reduced : reduced_) rest = std::min(rest, rest ^ reduced);
    if (rest == 0) return;
    reduced_.push_back(rest);
    vectors_.push_back(vector);
  }
  const std::vector<Index>& vectors() const { return vectors_; }

 private:
  std::vector<Index> vectors_, reduced_;  // the latter: none has the highest bit of one before it
};

}  // namespace

Index combined(Index number, const std::vector<Index>& columns) {
  Index value = 0;
  for_each_bit(number, [&](unsigned bit) { value ^= columns[bit]; });
  return value;
}

Index AffineGather::source(Index bundle) const { return first_source ^ combined(bundle, fixed_from); }

AffineGather affine_gather(const Sweep& sweep, std::uint32_t local_bits, Index fixed, std::uint32_t lane_bits,
                           std::uint32_t line_bits) {
  const std::uint32_t bits = count_bits(sweep.bundle);
  Basis basis;
  for (std::uint32_t bit = 0; bit < std::min(lane_bits, bits); ++bit) basis.add(bit_mask(bit));
  for_each_bit(sweep.bundle & low_mask(line_bits), [&](unsigned bit) {
    basis.add(extract_bits(target_of(sweep, bit_mask(bit)) ^ target_of(sweep, 0), sweep.bundle));
  });
  for (std::uint32_t bit = 0; bit < bits; ++bit) basis.add(bit_mask(bit));
  AffineGather gather;
  gather.first_source = source_of(sweep, 0);
  const auto source_change = [&](Index place) { return source_of(sweep, place) ^ gather.first_source; };
  const bool whole = is_one_bundle(sweep, local_bits);
  for (const Index packed : basis.vectors()) {
    const Index place = deposit_bits(packed, sweep.bundle);
    gather.to.push_back(whole ? place : packed);
    gather.from.push_back(source_change(place));
  }
  for_each_bit(fixed, [&](unsigned bit) { gather.fixed_from.push_back(source_change(bit_mask(bit))); });
  return gather;
}

}  // namespace qsim
