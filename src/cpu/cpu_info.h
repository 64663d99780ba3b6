// What this host's processor and memory are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "qsim/target.h"

namespace qsim::cpu {

struct HostMemory {
  std::uint64_t total_bytes = 0;  // what a process here may use: the least of memory, cgroup and address-space limits
  std::uint64_t available_bytes = 0;  // of that, what the system calls available now
};
HostMemory host_memory();

/// What the control groups of this process, its own and their parents', grant it; 0 = no limit. The files that say so.
struct ControlGroup {
  std::uint64_t memory_bytes = 0;
  double cores = 0;
  std::string memory_file, cores_file;
};
/// `root`: the folder that /proc and /sys are in (tests).
ControlGroup control_group(const std::string& root = "");

/// Value in bytes of a "Name:  123 kB" line of /proc/self/status; 0 when there is none.
std::uint64_t status_bytes(const std::string& name);

std::string processor_name();

/// Instruction sets that this processor runs, worst first.
std::vector<InstructionSet> instruction_sets();
/// `wanted`, or the best one for kAuto. UsageError when this processor lacks it.
InstructionSet choose_instruction_set(InstructionSet wanted);
/// The one of these functions that was compiled for `chosen`, which choose_instruction_set() gave.
template <typename Function>
Function* for_instruction_set(InstructionSet chosen, Function* scalar, Function* avx2, Function* avx512) {
  if (chosen == InstructionSet::kAvx512) return avx512;
  return chosen == InstructionSet::kAvx2 ? avx2 : scalar;
}

}  // namespace qsim::cpu
