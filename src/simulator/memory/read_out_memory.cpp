// What is predicted is the table of read-outs' own; what is measured is the process's.
#include "simulator/memory/read_out_memory.h"

#include <algorithm>

#include "base/bits.h"
#include "base/file/files.h"
#include "base/text.h"
#include "cpu/cpu_info.h"
#include "qsim/error.h"

namespace qsim {

std::uint64_t ReadOutMemory::with(std::uint64_t pool_bytes) const {
  return on_host_ ? saturating_add(pool_bytes, bytes()) : pool_bytes;
}

void ReadOutMemory::require_host(std::uint64_t ranks, std::uint64_t usable_bytes) const {
  const std::uint64_t wanted = saturating_multiply(bytes(), ranks);
  if (wanted <= usable_bytes) return;
  throw CapacityError("reading out (" + account_.of() + ") needs " + format_bytes(bytes()) +
                          " of host memory a rank, " + format_bytes(wanted) + " on this host, which has " +
                          format_bytes(usable_bytes) + " to use",
                      wanted, usable_bytes);
}

void ReadOutMemory::explain(CapacityQuestion& question) const {
  constexpr std::uint64_t kWorthSaying = 1u << 20;
  if (!on_host_ || bytes() < kWorthSaying) return;
  question.read_out_bytes = bytes();
  question.read_out = account_.of();
}

void ReadOutMemory::start() {
  write_system_file("/proc/self/clear_refs", "5");  // the peak is counted anew
  resident_before_ = cpu::status_bytes("VmRSS");
}

std::uint64_t ReadOutMemory::peak_beside(std::uint64_t pool_bytes, std::uint64_t ranks) const {
  constexpr std::uint64_t kWorthMeasuring = 4u << 20;  // of the process
  if (!on_host_ || saturating_multiply(bytes(), ranks) < kWorthMeasuring) return 0;
  const std::uint64_t peak = cpu::status_bytes("VmHWM");
  const std::uint64_t grown = (peak - std::min(resident_before_, peak)) / ranks;
  return grown - std::min(grown, pool_bytes);
}

}  // namespace qsim
