// Whether the MPI library takes device pointers.
#include <mpi.h>

#include <cstdlib>
#include <string_view>

#include "comm/launcher.h"

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace qsim {
namespace {

#ifdef MPIX_CUDA_AWARE_SUPPORT
bool library_says_so() { return MPIX_Query_cuda_support() == 1; }
#else
bool library_says_so() { return false; }
#endif

}  // namespace

bool mpi_is_cuda_aware() {
  const char* forced = std::getenv("QSIM_CUDA_AWARE_MPI");
  if (forced != nullptr) return std::string_view(forced) == "1";
  return library_says_so();
}

}  // namespace qsim
