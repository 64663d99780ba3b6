// Kernels that a run has asked for and was done without: another process compiles them, for the next run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "device/gpu_parts.h"

namespace qsim {

/// The command of the program that finish_kernels() serves.
constexpr const char* kFinishKernels = "finish-kernels";

/// Starts this program again, in a session of its own, with kFinishKernels and what late_kernels() are as its input.
/// True when nothing is left to wait for: the process may end at once, threads and all. One that returns instead comes
/// to end_compilers() first.
bool hand_over_kernels();
/// Compiles what hand_over_kernels() gave as `text`, at low priority and for at most some minutes.
void finish_kernels(std::string_view text);

/// `kernels` as text, and back; UsageError for other text.
std::string kernels_text(const std::vector<LateKernels>& kernels);
std::vector<LateKernels> kernels_of(std::string_view text);

}  // namespace qsim
