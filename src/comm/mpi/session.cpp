// What can be known to fail is said before MPI_Init, which ends the process in words of its own.
#include "comm/mpi/session.h"

#include <dlfcn.h>
#include <mpi.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include "comm/launcher.h"
#include "qsim/error.h"

namespace qsim {
namespace {

/// Where ranks fill a host's cores, one that waits must not spin while the one it waits for wants the core. Open MPI
/// decides that from --oversubscribe alone; a setting of the user's stays.
void yield_on_full_hosts() {
  const LaunchEnvironment launched = launch_environment();
  if (launched.launcher != "Open MPI" || launched.local_size < 2) return;
  if (static_cast<unsigned>(launched.local_size) < std::thread::hardware_concurrency()) return;
  ::setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
}

/// Whether this Open MPI has the component that speaks PMI-1 or PMI-2 with Slurm; true where its components are not
/// found.
bool speaks_slurm_pmi() {
  namespace fs = std::filesystem;
  Dl_info library{};
  if (::dladdr(reinterpret_cast<const void*>(&MPI_Init), &library) == 0 || library.dli_fname == nullptr) return true;
  std::error_code error;
  const fs::path folder = fs::canonical(library.dli_fname, error).parent_path();
  if (error) return true;
  for (const char* components : {"openmpi", "openmpi3", "../openmpi/lib/openmpi3", "openmpi/lib/openmpi3"}) {
    const fs::path place = folder / components;
    if (!fs::exists(place / "mca_ess_pmi.so", error)) continue;
    return fs::exists(place / "mca_pmix_s1.so", error) || fs::exists(place / "mca_pmix_s2.so", error);
  }
  return true;
}

/// srun starts processes without MPI's help unless it is asked for PMIx, and Open MPI then ends them.
void require_known_launcher() {
  const bool open_mpi = mpi_library_version().find("Open MPI") != std::string::npos;
  const SlurmStep step = slurm_step();
  if (!open_mpi || !step.inside || step.pmix || launch_environment().launcher == "Open MPI") return;
  if (step.pmi && speaks_slurm_pmi()) return;
  const std::string tasks = std::to_string(launch_environment().size);
  throw CommunicatorError("srun started " + tasks + " tasks " + (step.pmi ? "with PMI-2" : "without PMIx") +
                              ", which " + mpi_library_version() + " does not speak",
                          -1, "srun --mpi=pmix -n " + tasks + " qsim ..., or mpirun qsim ... inside salloc or sbatch");
}

}  // namespace

MpiSession::MpiSession(Watch& watch) : watch_(watch) {
  int finalized = 0, initialized = 0, provided = MPI_THREAD_SINGLE;
  MPI_Finalized(&finalized);
  if (finalized) throw CommunicatorError("MPI has already been finalized in this process");
  MPI_Initialized(&initialized);
  if (initialized) {
    MPI_Query_thread(&provided);
  } else {
    require_known_launcher();
    yield_on_full_hosts();
    int code = MPI_SUCCESS;
    watch_.limited("MPI_Init", kStartLimit,
                   [&] { code = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided); });
    if (code != MPI_SUCCESS) {
      throw CommunicatorError("MPI_Init_thread failed", -1, "start qsim with the mpirun of " + mpi_library_version());
    }
    owner_ = true;
  }
  threads_may_call_ = provided >= MPI_THREAD_MULTIPLE;
}

MpiSession::~MpiSession() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (owner_ && !finalized) watch_.limited("MPI_Finalize", watch_.silence(), [] { MPI_Finalize(); });
}

}  // namespace qsim
