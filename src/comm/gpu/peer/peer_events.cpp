// Exchange of event handles among all ranks.
#include "comm/gpu/peer/peer_events.h"

#include <unistd.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "base/ranks/agreement.h"
#include "qsim/error.h"

namespace qsim {
namespace {

struct EventOffer {
  std::int64_t process = 0;
  cudaEvent_t event = nullptr;  // valid inside the same process
  cudaIpcEventHandle_t handle{};
};

/// Interprocess events of one device crash the driver where another device's stream of the same process waits for them.
bool in_one_process(Communicator& communicator) {
  const std::int64_t mine = getpid();
  std::vector<std::int64_t> all(static_cast<std::size_t>(communicator.size()));
  communicator.all_gather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)));
  return std::all_of(all.begin(), all.end(), [&](std::int64_t process) { return process == mine; });
}

}  // namespace

PeerEvents::PeerEvents(Communicator& communicator, std::size_t lanes) : lanes_(lanes) {
  const auto ranks = static_cast<std::size_t>(communicator.size());
  const auto rank = static_cast<std::size_t>(communicator.rank());
  const std::size_t each = 2 * ranks * lanes;
  const bool one_process = in_one_process(communicator);
  const unsigned flags = cudaEventDisableTiming | (one_process ? 0u : cudaEventInterprocess);
  std::vector<EventOffer> mine(each), all(each * ranks);
  std::string failure;
  for (EventOffer& offer : mine) {
    offer.process = getpid();
    const cudaError_t status = cudaEventCreateWithFlags(&offer.event, flags);
    if (status != cudaSuccess) {  // agreed below: a rank that left here would keep the others waiting
      (void)cudaGetLastError();
      failure = std::string("cudaEventCreateWithFlags of a transport's event: ") + cudaGetErrorString(status);
      break;
    }
    own_.push_back(offer.event);
    if (!one_process && cudaIpcGetEventHandle(&offer.handle, offer.event) != cudaSuccess) (void)cudaGetLastError();
  }
  communicator.all_gather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)));
  theirs_.resize(each, nullptr);
  const auto open = [&](const EventOffer& offer, cudaEvent_t& event) {
    if (offer.process == getpid()) {
      event = offer.event;
      return;
    }
    const cudaError_t status = cudaIpcOpenEventHandle(&event, offer.handle);
    if (status == cudaSuccess) {
      opened_.push_back(event);
      return;
    }
    (void)cudaGetLastError();
    failure = std::string("cudaIpcOpenEventHandle: ") + cudaGetErrorString(status);
  };
  for (std::size_t peer = 0; peer < ranks && failure.empty(); ++peer) {
    if (peer == rank) continue;
    const EventOffer* const offers = &all[peer * each + 2 * rank * lanes];
    for (std::size_t i = 0; i < 2 * lanes && failure.empty(); ++i) open(offers[i], theirs_[2 * peer * lanes + i]);
  }
  try {
    together(communicator, [&] {
      if (!failure.empty()) throw CommunicatorError(failure, communicator.rank());
    });
  } catch (const CommunicatorError&) {
    for (const cudaEvent_t event : opened_) cudaEventDestroy(event);
    for (const cudaEvent_t event : own_) cudaEventDestroy(event);
    throw;
  }
}

PeerEvents::~PeerEvents() {
  for (const cudaEvent_t event : opened_) cudaEventDestroy(event);
  for (const cudaEvent_t event : own_) cudaEventDestroy(event);
}

}  // namespace qsim
