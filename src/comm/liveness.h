// What ranks know of each other: a table that each of them hands on to its neighbours a few times a second.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace qsim {

/// What one rank says of itself. Travels as bytes between ranks of one program.
struct Pulse {
  std::uint64_t beats = 0;      // grows while the process runs
  std::uint64_t moves = 0;      // calls that it has returned from
  std::int32_t waits = 0;       // 1: inside a call that needs other ranks
  std::int32_t peer = -1;       // whom it waits for; -1: all
  std::array<char, 24> call{};  // that call's name
};

/// One rank's view of all. Counts its own ticks, not seconds: a process that was stopped as a whole, its host with it,
/// has not missed anything. A tick that came late, since others have the processor, counts for a few.
class Liveness {
 public:
  /// A rank is lost when it shows no new beat for `limit` ticks.
  Liveness(int rank, int ranks, int limit);

  /// The own pulse, once a tick; `beats` is counted here. `late`: how many ticks' time has passed, of which some count.
  void tick(Pulse own, int late = 1);
  /// What a neighbour knows: of each rank the newer pulse stays.
  void merge(std::span<const Pulse> table);
  std::span<const Pulse> table() const { return table_; }

  /// The neighbours of `rank`, which it tells its table: those whose number differs in one bit. Any two ranks are
  /// joined by at most log2(ranks) steps.
  static std::vector<int> neighbours(int rank, int ranks);

  /// Ranks not heard from for too long; empty while all is well.
  std::vector<int> lost() const;
  /// True when every rank waits in a call and none has come out of one for `limit` ticks: ranks that do different
  /// things wait for each other for ever.
  bool stuck() const { return quiet_ > limit_; }
  /// True for the lowest rank that is not lost: it speaks for those that it can reach.
  bool speaks() const;
  /// What is wrong, for people; `seconds` is what the limit stands for.
  std::string words(double seconds) const;

 private:
  std::string place(int rank) const;

  const int rank_, limit_;
  int quiet_ = 0;
  std::vector<Pulse> table_;
  std::vector<int> age_;  // ticks since a rank's last new beat
};

}  // namespace qsim
