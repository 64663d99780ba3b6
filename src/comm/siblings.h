// The other ranks of this host, seen by their processes: one that is killed is noticed at once, whatever the launcher
// sees.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ranks/launcher_process.h"

namespace qsim {

/// What a rank tells the others of its process. Travels as bytes between ranks of one program.
struct RankProcess {
  std::array<std::uint64_t, 2>
      host{};  // of the kernel, its name and the numbering of processes: equal on one host alone
  std::uint64_t start_time = 0;
  std::int64_t pid = 0;
};
RankProcess this_rank_process();

class Siblings {
 public:
  Siblings() = default;
  /// `processes` of all ranks; those of other hosts are left out.
  Siblings(std::span<const RankProcess> processes, int rank);
  ~Siblings();
  Siblings(const Siblings&) = delete;
  Siblings& operator=(const Siblings&) = delete;

  /// The lowest rank whose process has ended; -1: none.
  int ended() const;
  /// True for the lowest rank of this host that has not ended.
  bool speaks() const;

 private:
  struct Sibling {
    int rank = 0, descriptor = -1;  // of the process, readable once it has ended; below 0 where the system has none
    HostProcess process;
    bool ended() const;
  };
  int rank_ = 0;
  std::vector<Sibling> others_;
};

}  // namespace qsim
