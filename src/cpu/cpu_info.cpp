// Host facts from /proc, the cgroup and CPUID.
#include "cpu/cpu_info.h"

#include <sys/resource.h>
#include <sys/sysinfo.h>

#include <algorithm>

#include "base/file/files.h"
#include "qsim/error.h"

namespace qsim::cpu {
namespace {

/// From /proc/meminfo, which a container may have of its own; where that cannot be read, what the kernel says of the
/// machine.
HostMemory machine_memory() {
  HostMemory memory;
  memory.total_bytes = system_bytes("/proc/meminfo", "MemTotal");
  memory.available_bytes = system_bytes("/proc/meminfo", "MemAvailable");
  struct sysinfo machine {};
  if ((memory.total_bytes != 0 && memory.available_bytes != 0) || ::sysinfo(&machine) != 0) return memory;
  if (memory.total_bytes == 0) memory.total_bytes = std::uint64_t{machine.totalram} * machine.mem_unit;
  if (memory.available_bytes == 0) memory.available_bytes = std::uint64_t{machine.freeram} * machine.mem_unit;
  return memory;
}

}  // namespace

HostMemory host_memory() {
  HostMemory memory = machine_memory();
  if (const std::uint64_t granted = control_group().memory_bytes; granted != 0) {
    memory.total_bytes = std::min(memory.total_bytes, granted);
  }
  rlimit address_space{};
  if (getrlimit(RLIMIT_AS, &address_space) == 0 && address_space.rlim_cur != RLIM_INFINITY) {
    memory.total_bytes = std::min<std::uint64_t>(memory.total_bytes, address_space.rlim_cur);
  }
  memory.available_bytes = std::min(memory.total_bytes, memory.available_bytes);
  return memory;
}

std::uint64_t status_bytes(const std::string& name) { return system_bytes("/proc/self/status", name); }

std::string processor_name() {
  const std::string name = system_value("/proc/cpuinfo", "model name");
  return name.empty() ? "CPU" : name;
}

std::vector<InstructionSet> instruction_sets() {
  std::vector<InstructionSet> sets{InstructionSet::kScalar};
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
  if (avx2) sets.push_back(InstructionSet::kAvx2);
  if (avx512) sets.push_back(InstructionSet::kAvx512);
  return sets;
}

InstructionSet choose_instruction_set(InstructionSet wanted) {
  const std::vector<InstructionSet> known = instruction_sets();
  if (wanted == InstructionSet::kAuto) return known.back();
  if (std::find(known.begin(), known.end(), wanted) != known.end()) return wanted;
  std::string list;
  for (const InstructionSet set : known) list += (list.empty() ? "" : ", ") + std::string(name_of(set));
  throw UsageError("`instruction_set` is not one of this processor's: " + list);
}

}  // namespace qsim::cpu
