// Events that other ranks' streams can wait for: plain handles between threads, CUDA IPC between processes.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <vector>

#include "base/ranks/communicator.h"

namespace qsim {

/// For each peer and lane one "ready" and one "done" event of every rank. Collective to make; throws CommunicatorError,
/// on every rank, when a rank cannot open another's.
class PeerEvents {
 public:
  PeerEvents(Communicator& communicator, std::size_t lanes);
  ~PeerEvents();
  PeerEvents(const PeerEvents&) = delete;
  PeerEvents& operator=(const PeerEvents&) = delete;

  /// This rank's own, to record: it is ready for a trade with `peer` / its part of that is done.
  cudaEvent_t own_ready(std::size_t peer, std::size_t lane) const { return own_[(2 * peer) * lanes_ + lane]; }
  cudaEvent_t own_done(std::size_t peer, std::size_t lane) const { return own_[(2 * peer + 1) * lanes_ + lane]; }
  /// `peer`'s, to wait for: it is ready for a trade with this rank / its part of that is done.
  cudaEvent_t ready_of(std::size_t peer, std::size_t lane) const { return theirs_[(2 * peer) * lanes_ + lane]; }
  cudaEvent_t done_of(std::size_t peer, std::size_t lane) const { return theirs_[(2 * peer + 1) * lanes_ + lane]; }

 private:
  std::size_t lanes_;
  std::vector<cudaEvent_t> own_;     // by peer: ready by lane, done by lane
  std::vector<cudaEvent_t> theirs_;  // by peer: its own with this rank
  std::vector<cudaEvent_t> opened_;  // those of theirs_ that are this process's to destroy
};

}  // namespace qsim
