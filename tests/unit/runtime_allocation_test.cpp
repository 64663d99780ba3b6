// Counts every allocation of this program: from the first gate to the last there must be none.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "circuit/generate/families.h"
#include "qsim/circuit.h"
#include "support/run_parts.h"

namespace {
std::atomic<std::uint64_t> allocations = 0;

void* counted(std::size_t bytes, std::size_t alignment) {
  ++allocations;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* const data =
      alignment > alignof(std::max_align_t) ? std::aligned_alloc(alignment, rounded) : std::malloc(bytes);
  if (data == nullptr) throw std::bad_alloc();
  return data;
}
}  // namespace

// Out of line, so that the compiler does not hold free() against a new that it sees.
#define QSIM_OUT_OF_LINE __attribute__((noinline))
QSIM_OUT_OF_LINE void* operator new(std::size_t bytes) { return counted(bytes == 0 ? 1 : bytes, 1); }
QSIM_OUT_OF_LINE void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes == 0 ? 1 : bytes, static_cast<std::size_t>(alignment));
}
QSIM_OUT_OF_LINE void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return counted(bytes == 0 ? 1 : bytes, 1);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
QSIM_OUT_OF_LINE void operator delete(void* data) noexcept { std::free(data); }
QSIM_OUT_OF_LINE void operator delete(void* data, std::size_t) noexcept { std::free(data); }
QSIM_OUT_OF_LINE void operator delete(void* data, std::align_val_t) noexcept { std::free(data); }
QSIM_OUT_OF_LINE void operator delete(void* data, std::size_t, std::align_val_t) noexcept { std::free(data); }
#undef QSIM_OUT_OF_LINE

namespace qsim {
namespace {

TEST(Executor, AllocatesNothingBetweenTheFirstGateAndTheLast) {
  const Circuit circuit = generate("random", {12, 8, 4});
  for (const int ranks : {1, 4}) {
    test::RunSetup setup;
    setup.ranks = ranks;
    setup.plan.tile_bits = 5;
    test::with_run_parts(circuit, setup, [&](test::RunParts& parts) {
      parts.communicator.barrier();
      const std::uint64_t before = allocations;
      parts.communicator.barrier();
      parts.executor->run(0, 1, 1);
      parts.communicator.barrier();
      EXPECT_EQ(allocations, before) << ranks << " ranks";
      parts.communicator.barrier();
      EXPECT_GT(parts.executor->counts().sweeps, 3u);
    });
  }
}

}  // namespace
}  // namespace qsim
