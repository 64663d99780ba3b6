// Tiles and rounds by elimination over GF(2).
#include "cuda/read_out/pauli_trips.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/bits.h"
#include "cuda/tile/addresses.h"
#include "qsim/error.h"

namespace qsim::cuda {
namespace {

/// Independent vectors, each without the highest bits of those before it.
class Rows {
 public:
  /// `vector` without the rows' highest bits, and the rows that were added for that.
  std::pair<Index, Index> reduced(Index vector) const {
    Index sum = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if ((vector & std::bit_floor(rows_[i])) == 0) continue;
      vector ^= rows_[i];
      sum |= bit_mask(static_cast<unsigned>(i));
    }
    return {vector, sum};
  }
  /// Whether it was independent.
  bool add(Index vector) {
    const Index rest = reduced(vector).first;
    if (rest != 0) rows_.push_back(rest);
    return rest != 0;
  }
  const std::vector<Index>& rows() const { return rows_; }

 private:
  std::vector<Index> rows_;
};

/// The tiles of up to kTripStrings strings.
class Tiles {
 public:
  Tiles(std::span<const PauliMember> members, std::uint32_t local_bits, bool double_precision)
      : low_bits_(trip_low_bits(double_precision)) {
    Index taken = low_mask(low_bits_);
    for (const PauliMember& member : members) {
      if (rows_.add(member.x & ~low_mask(low_bits_))) taken |= std::bit_floor(rows_.rows().back());
    }
    // Bits of their own where the strings span less: the lowest, for longer runs of memory.
    for (unsigned bit = low_bits_; pads_.size() + rows_.rows().size() < kTripLineBits; ++bit) {
      if (test_bit(taken, bit)) continue;
      pads_.push_back(bit_mask(bit));
      taken |= bit_mask(bit);
    }
    free_ = low_mask(local_bits) & ~taken;
  }

  void place(PauliTrip& trip) const {
    std::ranges::copy(rows_.rows(), std::ranges::copy(pads_, trip.reach).out);
    const std::vector<BitRun> runs = runs_of(free_);
    if (runs.size() > kTripRuns) throw Error("a tile's bits leave too many runs");
    for (const BitRun& run : runs) {
      trip.run_mask[trip.runs] = run.mask << run.shift;
      trip.run_shift[trip.runs++] = run.shift;
    }
  }
  std::uint32_t bits() const { return low_bits_ + kTripLineBits; }
  /// The place that `x` XORs into one.
  std::uint16_t place_of(Index x) const {
    const auto [rest, sum] = rows_.reduced(x & ~low_mask(low_bits_));
    if (rest != 0) throw Error("a string is not in its span");
    return static_cast<std::uint16_t>((x & low_mask(low_bits_)) | sum << (low_bits_ + pads_.size()));
  }
  /// The bits of places that `z` is odd with.
  std::uint16_t odd_with(Index z) const {
    Index odd = z & low_mask(low_bits_);
    for (std::size_t i = 0; i < kTripLineBits; ++i) {
      const Index reach = i < pads_.size() ? pads_[i] : rows_.rows()[i - pads_.size()];
      if (odd_parity(z & reach)) odd |= bit_mask(low_bits_ + static_cast<unsigned>(i));
    }
    return static_cast<std::uint16_t>(odd);
  }

 private:
  const std::uint32_t low_bits_;
  Rows rows_;
  std::vector<Index> pads_;
  Index free_ = 0;
};

/// A basis of places whose first vectors span the X parts, and what each of those is of them.
void place_round(const Tiles& tiles, std::span<const PauliMember> members, TripRound& round, TripString* strings) {
  Rows rows;  // to see what is independent
  std::vector<std::uint16_t> basis;
  for (std::size_t j = 0; j < members.size(); ++j) {
    const std::uint16_t x = tiles.place_of(members[j].x);
    if (rows.add(x)) basis.push_back(x);
    for (std::uint8_t flip = 1; flip < 1 << basis.size(); ++flip) {
      Index sum = 0;
      for_each_bit(flip, [&](unsigned bit) { sum ^= basis[bit]; });
      if (sum == x) strings[j].flip = flip;
    }
  }
  // Neighbouring threads take neighbouring places, and registers what is left.
  std::vector<std::uint16_t> others;
  for (std::uint32_t bit = 0; bit < tiles.bits(); ++bit) {
    if (rows.add(bit_mask(bit))) others.push_back(static_cast<std::uint16_t>(bit_mask(bit)));
  }
  std::copy_n(others.begin(), kTripThreadBits, round.thread);
  basis.insert(basis.end(), others.begin() + kTripThreadBits, others.end());
  std::ranges::copy(basis, round.part);
  for (std::size_t j = 0; j < members.size(); ++j) {
    TripString& string = strings[j];
    const std::uint16_t odd = tiles.odd_with(members[j].z);
    string.z_base = members[j].z;
    string.imaginary = odd_parity(members[j].x & members[j].z) ? 1 : 0;
    for (std::size_t s = 0; s < std::size(string.sign); ++s)
      string.sign[s] = odd_parity(odd & Index{round.part[s]}) ? -1 : 1;
    for (unsigned b = 0; b < kTripThreadBits; ++b)
      string.z_thread |= static_cast<std::uint16_t>(odd_parity(odd & Index{round.thread[b]}) ? 1u << b : 0u);
  }
  if (strings[0].flip == 1 && strings[1].flip == 2 && strings[2].flip == 4) {
    round.kind = 0;
    for (unsigned j = 0; j < kRoundStrings; ++j)
      round.kind = static_cast<std::uint16_t>(round.kind | strings[j].imaginary << j);
  }
}

/// Rounds whose X parts are independent come first: those are summed faster.
std::vector<PauliMember> in_rounds(std::span<const PauliMember> members) {
  std::vector<PauliMember> left(members.begin(), members.end()), result;
  while (!left.empty()) {
    Rows rows;
    for (std::size_t j = 0; j < kRoundStrings && !left.empty(); ++j) {
      auto next = std::ranges::find_if(left, [&](const PauliMember& member) { return rows.add(member.x); });
      if (next == left.end()) next = left.begin();
      result.push_back(*next);
      left.erase(next);
    }
  }
  return result;
}

}  // namespace

PauliStrings split_pauli_sums(std::span<const PauliGroup> groups, std::span<const Index> z_masks) {
  PauliStrings strings;
  std::vector<PauliGroup> left;
  for (const PauliGroup& group : groups)
    (group.x_mask == 0 || group.count == 0 ? strings.apart : left).push_back(group);
  // The first of every group, then the second ones, ...: neighbours have X parts of their own where they can.
  for (std::uint32_t j = 0; !left.empty(); ++j) {
    for (const PauliGroup& group : left)
      strings.spanned.push_back({group.x_mask, z_masks[group.begin + j], group.begin + j});
    std::erase_if(left, [&](const PauliGroup& group) { return group.count == j + 1; });
  }
  if (strings.spanned.size() % kTripStrings == 1) {
    strings.apart.push_back({strings.spanned.back().x, strings.spanned.back().place, 1});
    strings.spanned.pop_back();
  }
  return strings;
}

PackedTrip pack_trip(std::span<const PauliMember> members, std::uint32_t local_bits, bool double_precision) {
  PackedTrip result;
  const Tiles tiles(members, local_bits, double_precision);
  tiles.place(result.trip);
  const std::vector<PauliMember> ordered = in_rounds(members);
  for (std::size_t first = 0; first < ordered.size(); first += kRoundStrings) {
    place_round(tiles, std::span(ordered).subspan(first, std::min<std::size_t>(kRoundStrings, ordered.size() - first)),
                result.trip.round[result.trip.rounds++], result.trip.string + first);
  }
  for (const PauliMember& member : ordered) result.places.push_back(member.place);
  return result;
}

}  // namespace qsim::cuda
