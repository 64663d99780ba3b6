// Branches that wait with their states on the host, and those of them that are alike made one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "qsim/types.h"
#include "runtime/branch/branch.h"

namespace qsim {

struct WaitingBranch {
  Branch branch;
  std::optional<Choice> next;         // what it takes at its step, where that is decided
  std::vector<std::byte> amplitudes;  // empty: the program has not begun
  double likeness = 0;                // of the amplitudes

  std::size_t bytes() const;
};

/// How far states may be apart that are taken for one, and how far that may move the answers.
class MergeBudget {
 public:
  explicit MergeBudget(Precision precision);
  /// Whether a branch of this weight may have its state replaced by one at this distance; then it counts.
  bool allows(double distance, double weight);
  double alike() const { return alike_; }

 private:
  double alike_, left_;
};

/// The branches that wait at one place, in the order in which they came.
class Meeting {
 public:
  /// Adds a branch, or makes one with it that has equal classical values and the same state up to its scale and global
  /// phase. Returns the bytes that wait more.
  std::size_t add(WaitingBranch&& other, Precision precision, MergeBudget& budget);
  std::vector<WaitingBranch>& branches() { return branches_; }
  const std::vector<WaitingBranch>& branches() const { return branches_; }
  std::size_t merged() const { return merged_; }

 private:
  std::vector<WaitingBranch> branches_;
  std::unordered_multimap<std::uint64_t, std::size_t> found_by_;
  std::size_t merged_ = 0;
};

}  // namespace qsim
