// A thread that tells the neighbouring ranks what this one knows of all, over MPI, and listens to them.
#pragma once

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include "comm/liveness.h"
#include "comm/mpi/watch.h"

namespace qsim {

/// Ends the process through its Watch when a rank is lost, or when all ranks wait for each other. Needs
/// MPI_THREAD_MULTIPLE.
class Beats {
 public:
  /// The thread starts, and does nothing before begin(): another rank's may not have started.
  Beats(Watch& watch, MPI_Comm world, std::chrono::seconds limit);
  /// Collective in effect: returns when the neighbours have stopped, too.
  ~Beats();
  Beats(const Beats&) = delete;
  Beats& operator=(const Beats&) = delete;

  void begin() { phase_ = Phase::kBeats; }

 private:
  enum class Phase : int { kIdle, kBeats, kStops };
  struct Neighbour {
    int rank = 0;
    std::vector<Pulse> incoming, outgoing;
    MPI_Request receive = MPI_REQUEST_NULL, send = MPI_REQUEST_NULL;
    bool stopped = false;
  };
  static constexpr std::chrono::milliseconds kPeriod{250};
  static constexpr int kTag = 1;  // exchanges of the state have 0

  void run(const std::stop_token& stop);
  void check(int code, const char* call) const;
  void listen(Neighbour& neighbour);
  void hear(Neighbour& neighbour);
  void tell(Neighbour& neighbour, bool last);
  void judge();
  void part();

  Watch& watch_;
  const MPI_Comm world_;
  const double silent_seconds_;
  int rank_ = 0, ranks_ = 1;
  std::vector<Neighbour> neighbours_;
  std::optional<Liveness> liveness_;
  int last_chance_ = 0;  // ticks that this rank has left to those that speak before it
  std::atomic<Phase> phase_{Phase::kIdle};
  std::jthread thread_;  // last: it uses the others
};

}  // namespace qsim
