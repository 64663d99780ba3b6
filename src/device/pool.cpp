// Pool and its host memory.
#include "device/pool.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "qsim/error.h"

namespace qsim {
namespace {

constexpr std::uint64_t kHugePage = 2ull << 20;

/// Pages are mapped with room to start at a huge page's boundary.
std::uint64_t mapped_bytes(std::uint64_t bytes) { return (bytes + kHugePage - 1) / kHugePage * kHugePage; }

constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, which older headers lack

}  // namespace

void touch_pages(std::span<std::byte> memory) {
  if (memory.empty()) return;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(memory.data());
  const std::uintptr_t begin = first / page * page, end = ((first + memory.size() - 1) / page + 1) * page;
  // In one call, which takes a fraction of as many faults (Linux 5.14).
  if (madvise(reinterpret_cast<void*>(begin), end - begin, kPopulateWrite) == 0) return;
  for (std::size_t at = 0; at < memory.size(); at += page) {
    volatile std::byte* const byte = &memory[at];
    *byte = *byte;
  }
}

std::byte* HostPoolMemory::allocate(std::uint64_t bytes) {
  const std::uint64_t wanted = mapped_bytes(bytes) + kHugePage;
  void* const raw = mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(raw);
  const std::uint64_t skip = (kHugePage - reinterpret_cast<std::uintptr_t>(begin) % kHugePage) % kHugePage;
  std::byte* const data = begin + skip;
  if (skip != 0) munmap(begin, skip);
  if (const std::uint64_t rest = kHugePage - skip; rest != 0) munmap(data + mapped_bytes(bytes), rest);
  // Only advice: without huge pages everything works, slower.
  if (bytes >= kHugePage) (void)madvise(data, mapped_bytes(bytes), MADV_HUGEPAGE);
  return data;
}

void HostPoolMemory::release(std::byte* data, std::uint64_t bytes) noexcept { munmap(data, mapped_bytes(bytes)); }

void Pool::reserve(std::uint64_t bytes) {
  if (used_ != 0) throw Error("pool reserved again while " + std::to_string(used_) + " bytes of it are in use");
  release();
  if (bytes == 0) return;
  data_ = memory_.allocate(aligned(bytes));
  if (data_ == nullptr) {
    throw CapacityError("the memory pool of " + std::to_string(bytes) + " bytes could not be allocated", bytes, 0);
  }
  capacity_ = aligned(bytes);
  peak_ = 0;
}

void Pool::release() noexcept {
  if (data_ != nullptr) memory_.release(data_, capacity_);
  data_ = nullptr;
  capacity_ = used_ = 0;
}

std::byte* Pool::push(std::uint64_t bytes, const std::string& what) {
  if (bytes > capacity_ - used_) {
    throw CapacityError(what + " needs " + std::to_string(bytes) + " bytes of the memory pool; " +
                            std::to_string(capacity_ - used_) + " of " + std::to_string(capacity_) + " are free",
                        bytes, capacity_ - used_);
  }
  std::byte* const data = data_ + used_;
  used_ += bytes;
  peak_ = std::max(peak_, used_);
  return data;
}

PoolFrame::PoolFrame(Pool& pool, std::uint64_t bytes, const std::string& what)
    : pool_(&pool), data_(pool.push(Pool::aligned(bytes), what)), bytes_(bytes) {}

PoolFrame::~PoolFrame() {
  if (pool_ != nullptr) pool_->pop(Pool::aligned(bytes_));
}

void PoolFrame::swap(PoolFrame& other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
}

}  // namespace qsim
