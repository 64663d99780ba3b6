// Reads the environment variables of Open MPI, PMI (MPICH, Intel MPI), MVAPICH and Slurm.
#include "comm/launcher.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/ranks/communicator.h"

namespace qsim {
namespace {

std::optional<int> environment_number(const char* name) {
  const char* text = name == nullptr ? nullptr : std::getenv(name);
  if (text == nullptr) return std::nullopt;
  int value = 0;
  const char* end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, value);
  if (error != std::errc() || rest != end || value < 0) return std::nullopt;
  return value;
}

struct Dialect {
  const char *launcher, *size, *rank, *local_rank, *local_size;
};

// SLURM_STEP_NUM_TASKS exists only inside srun; SLURM_NTASKS is also set in the batch script itself.
constexpr Dialect kDialects[] = {
    {"Open MPI", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"MVAPICH", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE"},
    {"PMI", "PMI_SIZE", "PMI_RANK", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
    {"Slurm", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_LOCALID", nullptr},
};

}  // namespace

LaunchEnvironment launch_environment() {
  for (const Dialect& dialect : kDialects) {
    const std::optional<int> size = environment_number(dialect.size);
    const std::optional<int> rank = environment_number(dialect.rank);
    if (!size || !rank || *size < 1) continue;
    LaunchEnvironment found;
    found.launcher = dialect.launcher;
    found.variable = dialect.size;
    found.size = *size;
    found.rank = *rank;
    found.local_rank = environment_number(dialect.local_rank).value_or(*rank);
    found.local_size = environment_number(dialect.local_size).value_or(*size);
    return found;
  }
  return {};
}

SlurmStep slurm_step() {
  const auto any = [](const char* one, const char* other) {
    return std::getenv(one) != nullptr || std::getenv(other) != nullptr;
  };
  return {any("SLURM_STEP_NUM_TASKS", "SLURM_STEP_ID"), any("PMIX_NAMESPACE", "PMIX_RANK"), any("PMI_RANK", "PMI_FD")};
}

const char* shown_gpus() { return std::getenv("CUDA_VISIBLE_DEVICES"); }

int launched_rank() {
  for (const Dialect& dialect : kDialects) {
    if (const std::optional<int> rank = environment_number(dialect.rank)) return *rank;
  }
  return environment_number("PMIX_RANK").value_or(0);
}

bool launched_by_mpi() {
  const LaunchEnvironment found = launch_environment();
  return !found.launcher.empty() && (found.launcher != "Slurm" || found.size > 1);
}

}  // namespace qsim
