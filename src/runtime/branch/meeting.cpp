// Candidates are found by their classical values and by the state's projection on a fixed vector; what decides is the
// comparison of all values and all amplitudes.
#include "runtime/branch/meeting.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "device/numbers/likeness.h"
#include "runtime/accuracy.h"

namespace qsim {
namespace {

constexpr double kBucket = 0x1p-30;  // of likenesses; wide beside what states that are alike differ by

std::uint64_t key_of(const Branch& branch, double bucket) {
  constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15u;
  std::uint64_t key = branch.memory.fingerprint() ^ static_cast<std::uint64_t>(static_cast<std::int64_t>(bucket));
  for (const std::uint64_t word : branch.bits.words()) key = std::rotl(key * kSpread, 29) ^ word;
  return key * kSpread;
}

void join(ShotLists& lists, ShotLists&& others) {
  for (ShotList& other : others) {
    const auto same = std::ranges::find(lists, other.draws, &ShotList::draws);
    if (same == lists.end()) {
      lists.push_back(std::move(other));
      continue;
    }
    const auto middle = static_cast<std::ptrdiff_t>(same->shots.size());
    same->shots.insert(same->shots.end(), other.shots.begin(), other.shots.end());
    std::inplace_merge(same->shots.begin(), same->shots.begin() + middle, same->shots.end());
  }
}

/// `from` becomes a part of `into`, whose state is taken for both.
void absorb(Branch& into, Branch&& from) {
  into.weight += from.weight;
  // Whatever refuses one of them for its length refuses both.
  into.taken = std::max(into.taken, from.taken);
  into.iterations = std::max(into.iterations, from.iterations);
  into.gates = std::max(into.gates, from.gates);
  into.defect = std::max(into.defect, from.defect);
  into.known &= from.known & ~(into.known_one ^ from.known_one);
  into.known_one &= into.known;
  join(into.shots, std::move(from.shots));
}

}  // namespace

std::size_t WaitingBranch::bytes() const {
  std::size_t bytes = sizeof(*this) + amplitudes.size() + branch.memory.bytes() + branch.bits.words().size_bytes();
  for (const ShotList& list : branch.shots) bytes += sizeof(list) + list.shots.size() * sizeof(list.shots.front());
  return bytes;
}

MergeBudget::MergeBudget(Precision precision)
    : alike_(32 * (precision == Precision::kDouble ? std::numeric_limits<double>::epsilon()
                                                   : static_cast<double>(std::numeric_limits<float>::epsilon()))),
      left_(amplitude_tolerance(precision, 1)) {}

bool MergeBudget::allows(double distance, double weight) {
  if (!(distance <= alike_) || distance * weight > left_) return false;
  left_ -= distance * weight;
  return true;
}

std::size_t Meeting::add(WaitingBranch&& other, Precision precision, MergeBudget& budget) {
  const double lowest = std::floor((other.likeness - 2 * budget.alike()) / kBucket);
  const double highest = std::floor((other.likeness + 2 * budget.alike()) / kBucket);
  for (double bucket = lowest; bucket <= highest; ++bucket) {
    const auto [begin, end] = found_by_.equal_range(key_of(other.branch, bucket));
    for (auto candidate = begin; candidate != end; ++candidate) {
      WaitingBranch& known = branches_[candidate->second];
      if (known.branch.bits != other.branch.bits || !(known.branch.memory == other.branch.memory)) continue;
      const double apart = distance(known.amplitudes, other.amplitudes, precision);
      if (!budget.allows(apart, std::min(known.branch.weight, other.branch.weight))) continue;
      // The state of the likelier branch stays: less is moved.
      const std::size_t before = known.bytes();
      if (other.branch.weight > known.branch.weight) {
        std::swap(known.amplitudes, other.amplitudes);
        std::swap(known.branch.norm, other.branch.norm);
      }
      absorb(known.branch, std::move(other.branch));
      ++merged_;
      return known.bytes() - before;
    }
  }
  found_by_.emplace(key_of(other.branch, std::floor(other.likeness / kBucket)), branches_.size());
  branches_.push_back(std::move(other));
  return branches_.back().bytes();
}

}  // namespace qsim
