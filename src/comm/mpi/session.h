// MPI_Init and MPI_Finalize, unless the program around the library has done that itself.
#pragma once

#include "comm/mpi/watch.h"

namespace qsim {

class MpiSession {
 public:
  /// CommunicatorError where MPI cannot start, or where the launcher is known not to speak with it.
  explicit MpiSession(Watch& watch);
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  /// True when any thread may call MPI at any time.
  bool threads_may_call() const { return threads_may_call_; }

 private:
  Watch& watch_;
  bool owner_ = false, threads_may_call_ = false;
};

}  // namespace qsim
