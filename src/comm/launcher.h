// What a launcher (mpirun, srun) says about this process in its environment; no MPI call is made.
#pragma once

#include <string>

namespace qsim {

struct LaunchEnvironment {
  std::string launcher;  // "Open MPI", "Slurm", "PMI", or empty: started by hand
  std::string variable;  // what says so: the number of ranks
  int size = 1, rank = 0;
  int local_rank = 0, local_size = 1;  // among the ranks of this host
};
LaunchEnvironment launch_environment();

/// Inside a step of Slurm, and the ways of its process manager to tell MPI of the others.
struct SlurmStep {
  bool inside = false, pmix = false, pmi = false;
};
SlurmStep slurm_step();

/// CUDA_VISIBLE_DEVICES: the GPUs that a launcher or a user shows this process; null: all.
const char* shown_gpus();

/// "Open MPI v4.1.4", or empty when the library was built without MPI.
std::string mpi_library_version();

/// True when the MPI library takes device pointers: it says so itself, or QSIM_CUDA_AWARE_MPI is 1 (0 denies it). Never
/// probed with a device pointer: a plain Open MPI crashes on one.
bool mpi_is_cuda_aware();

}  // namespace qsim
