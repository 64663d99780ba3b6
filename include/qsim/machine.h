// What is here: this build, this machine, its devices and the libraries that are opened on first use.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "qsim/visibility.h"

namespace QSIM_PUBLIC qsim {

/// As (name, text): version, processor, memory, MPI, CUDA; which GPUs there are, or why none; and the files of the
/// libraries that are opened on first use. Starts the driver where there is one.
std::vector<std::pair<std::string, std::string>> machine_facts();

}  // namespace qsim
