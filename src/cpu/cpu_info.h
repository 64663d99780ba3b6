// What this host's processor and memory are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace qsim::cpu {

struct HostMemory {
  std::uint64_t total_bytes = 0;  // what a process here may use: the least of memory, cgroup and address-space limits
  std::uint64_t available_bytes = 0;  // of that, what the system calls available now
};
HostMemory host_memory();

std::string processor_name();

/// Instruction sets that this processor runs, worst first: "scalar", "avx2", "avx512".
std::vector<std::string> instruction_sets();
/// `wanted`, or the best one where it is empty. UsageError when this processor lacks it.
std::string choose_instruction_set(const std::string& wanted);

}  // namespace qsim::cpu
