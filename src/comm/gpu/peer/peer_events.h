// Events that other ranks' streams can wait for: plain handles between threads, CUDA IPC between processes.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <vector>

#include "qsim/communicator.h"

namespace qsim {

/// For each lane one "ready" event, and for each peer and lane one "done" event, of every rank. Collective to make;
/// throws CommunicatorError, on every rank, when a rank cannot open another's.
class PeerEvents {
 public:
  PeerEvents(Communicator& communicator, std::size_t lanes);
  ~PeerEvents();
  PeerEvents(const PeerEvents&) = delete;
  PeerEvents& operator=(const PeerEvents&) = delete;

  /// This rank's own, to record: its data for any peer is ready / its part of a trade with `peer` is done.
  cudaEvent_t own_ready(std::size_t lane) const { return own_[lane]; }
  cudaEvent_t own_done(std::size_t peer, std::size_t lane) const { return own_[(1 + peer) * lanes_ + lane]; }
  /// `peer`'s, to wait for: its data is ready / its part of a trade with this rank is done.
  cudaEvent_t ready_of(std::size_t peer, std::size_t lane) const { return theirs_[(2 * peer) * lanes_ + lane]; }
  cudaEvent_t done_of(std::size_t peer, std::size_t lane) const { return theirs_[(2 * peer + 1) * lanes_ + lane]; }

 private:
  std::size_t lanes_;
  std::vector<cudaEvent_t> own_;     // ready by lane, then done by peer and lane
  std::vector<cudaEvent_t> theirs_;  // by peer: ready by lane, done (with this rank) by lane
  std::vector<cudaEvent_t> opened_;  // those of theirs_ that are this process's to destroy
};

}  // namespace qsim
