// What answers and the reading of them take of a rank's host memory, said before anything is allocated.
#pragma once

#include <cstdint>

#include "runtime/answer/read_outs.h"
#include "session/rank/capacity.h"

namespace qsim {

class ReadOutMemory {
 public:
  void predict(const ReadOuts& asked, const ReadOutPlace& place) {
    account_ = read_out_account(asked, place);
    on_host_ = place.on_host;
  }
  /// The most that a rank holds at a time beside its pool.
  std::uint64_t bytes() const { return account_.bytes(); }
  /// A rank's pool and, where both are in host memory, this.
  std::uint64_t with(std::uint64_t pool_bytes) const;
  /// CapacityError where the ranks of a host, whose pools are on GPUs, need more than `usable_bytes` of its memory.
  void require_host(std::uint64_t ranks, std::uint64_t usable_bytes) const;
  /// Names what takes the memory, where it is worth naming.
  void explain(CapacityQuestion& question) const;

  /// Measures from here on what the process holds.
  void start();
  /// What a rank of `ranks` in this process took at most beyond its pool: its part of what the process grew by since
  /// start(). 0 where little was predicted: that drowns in what else a process does.
  std::uint64_t peak_beside(std::uint64_t pool_bytes, std::uint64_t ranks) const;

 private:
  HostAccount account_;
  bool on_host_ = true;
  std::uint64_t resident_before_ = 0;
};

}  // namespace qsim
