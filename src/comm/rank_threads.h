// Ranks that are threads of this process, for several runs.
#pragma once

#include <functional>
#include <memory>

#include "base/ranks/communicator.h"

namespace qsim {

class RankThreads {
 public:
  /// At most kMostThreadRanks: UsageError. Rank 0 is the thread that calls run(); the others are started here.
  explicit RankThreads(int ranks);
  RankThreads(const RankThreads&) = delete;
  RankThreads& operator=(const RankThreads&) = delete;
  ~RankThreads();

  int size() const;
  /// Runs body(communicator) on every rank; each rank's communicator is the same one in every run. When all have ended,
  /// the first exception (lowest rank) of a rank that was not only released by another's failure is rethrown; the ranks
  /// can run again after that. Not for two threads at once.
  void run(const std::function<void(Communicator&)>& body);

 private:
  struct Team;
  std::unique_ptr<Team> team_;
};

}  // namespace qsim
