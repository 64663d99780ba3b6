// Mapping of other ranks' device memory, agreed among all ranks.
#include "comm/gpu/peer/peer_memory.h"

#include <cuda_runtime_api.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <span>
#include <string>

#include "base/ranks/agreement.h"
#include "comm/gpu/driver.h"
#include "qsim/error.h"

namespace qsim {
namespace {

/// What a rank tells the others about its region.
struct Offer {
  std::int32_t made = 0;  // 0: this rank could not say
  std::array<char, 64> host{};
  std::int64_t process = 0;
  std::int32_t device = 0;
  std::array<char, 16> uuid{};
  std::uint64_t pointer = 0;  // valid inside the same process
  std::uint64_t offset = 0;   // of the region inside its allocation
  std::int32_t has_handle = 0;
  cudaIpcMemHandle_t handle{};
};

Offer own_offer(MemoryRegion own) {
  Offer offer;
  offer.made = 1;
  gethostname(offer.host.data(), offer.host.size() - 1);
  offer.process = getpid();
  int device = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  offer.device = device;
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  std::memcpy(offer.uuid.data(), &properties.uuid, sizeof offer.uuid);
  offer.pointer = reinterpret_cast<std::uint64_t>(own.data);
  const auto [base, bytes] = device_allocation(own.data);
  offer.offset = static_cast<std::uint64_t>(own.data - base);
  offer.has_handle = cudaIpcGetMemHandle(&offer.handle, base) == cudaSuccess ? 1 : 0;
  return offer;
}

/// Maps `offer`'s region; an empty text means success.
std::string map_peer(const Offer& offer, const Offer& mine, std::byte*& region, std::vector<void*>& opened) {
  if (offer.made == 0) return "that rank could not describe it";
  if (std::strcmp(offer.host.data(), mine.host.data()) != 0) return "it is on another host";
  if (offer.process == mine.process) {
    if (offer.device != mine.device) {
      const cudaError_t status = cudaDeviceEnablePeerAccess(offer.device, 0);
      cudaGetLastError();  // "already enabled" is sticky otherwise
      if (status != cudaSuccess && status != cudaErrorPeerAccessAlreadyEnabled) {
        return std::string("cudaDeviceEnablePeerAccess: ") + cudaGetErrorString(status);
      }
    }
    region = reinterpret_cast<std::byte*>(offer.pointer);
    return {};
  }
  if (offer.has_handle == 0) return "its memory has no IPC handle";
  void* base = nullptr;
  const cudaError_t status = cudaIpcOpenMemHandle(&base, offer.handle, cudaIpcMemLazyEnablePeerAccess);
  if (status != cudaSuccess) {
    cudaGetLastError();
    return std::string("cudaIpcOpenMemHandle: ") + cudaGetErrorString(status);
  }
  opened.push_back(base);
  region = static_cast<std::byte*>(base) + offer.offset;
  return {};
}

}  // namespace

PeerMemory::PeerMemory(Communicator& communicator, MemoryRegion own) {
  Offer mine;
  std::string failure;
  try {
    mine = own_offer(own);
  } catch (const Error& error) {
    failure = error.what();  // agreed below: a rank that left here would keep the others waiting
  }
  const auto ranks = static_cast<std::size_t>(communicator.size());
  std::vector<Offer> offers(ranks);
  communicator.all_gather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(offers)));
  regions_.resize(ranks, nullptr);
  for (std::size_t rank = 0; rank < ranks && failure.empty(); ++rank) {
    if (static_cast<int>(rank) == communicator.rank()) {
      regions_[rank] = own.data;
      continue;
    }
    const std::string why = map_peer(offers[rank], mine, regions_[rank], opened_);
    if (!why.empty()) failure = "rank " + std::to_string(rank) + "'s device memory cannot be mapped: " + why;
  }
  try {
    together(communicator, [&] {
      if (!failure.empty()) throw CommunicatorError(failure, communicator.rank());
    });
  } catch (const CommunicatorError&) {
    for (void* base : opened_) cudaIpcCloseMemHandle(base);
    throw;
  }
}

PeerMemory::~PeerMemory() {
  for (void* base : opened_) cudaIpcCloseMemHandle(base);
}

}  // namespace qsim
