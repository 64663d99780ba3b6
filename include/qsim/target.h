// Where circuits run: device, ranks, precision and memory; the names of such choices; and what this machine has.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "qsim/error.h"

namespace QSIM_PUBLIC qsim {

class Communicator;  // a group of ranks

/// What computes. kNull counts and checks, and has no amplitudes.
enum class BackendKind : std::uint8_t { kAuto, kCpu, kCuda, kNull };
/// How ranks trade amplitudes: peer memory, NCCL, MPI on device memory, or through host memory.
enum class ExchangeKind : std::uint8_t { kAuto, kP2p, kNccl, kMpi, kStaged };
/// Kernels compiled at run time: where they gain, never, or for everything.
enum class Jit : std::uint8_t { kAuto, kOff, kOnly };
/// Checks of every result: none but for numbers that are none; the norm of every stage; a second computation.
enum class Verify : std::uint8_t { kOff, kNorm, kFull };

/// What loops on a CPU are compiled for. kAuto: the best that the processor has.
enum class InstructionSet : std::uint8_t { kAuto, kScalar, kAvx2, kAvx512 };
/// How plans are made: one gate a sweep, the reference for every other plan; merged and packed in order; looked for.
enum class Strategy : std::uint8_t { kNaive, kGreedy, kSearch };

/// A choice and its one name: in flags, JSON and messages.
template <typename Choice>
struct Named {
  Choice choice;
  std::string_view name;
};
/// All choices of a kind: BackendKind, ExchangeKind, InstructionSet, Jit, Verify, Precision, DrawingStyle.
template <typename Choice>
std::span<const Named<Choice>> choices();
template <typename Choice>
std::string_view name_of(Choice choice);
/// UsageError, with all names of this choice, where `name` is none.
template <typename Choice>
Choice choice_of(std::string_view name);

/// True when a launcher's environment says that this process is one of an MPI job (no MPI call is made).
bool launched_by_mpi();
/// This process's rank of MPI_COMM_WORLD; initialises MPI unless that has been done, and then finalizes it with the
/// last copy, which is collective as well. A program that calls MPI itself initialises it first, with
/// MPI_THREAD_MULTIPLE. CommunicatorError, also in a library that was built without MPI.
std::shared_ptr<Communicator> mpi_communicator();

/// What is here, as (name, text): version, processor, memory, MPI, CUDA; which GPUs there are, or why none; and the
/// files of the libraries that are opened on first use. Starts the driver where there is one.
std::vector<std::pair<std::string, std::string>> machine_facts();

struct Target {
  BackendKind backend = BackendKind::kAuto;  // kAuto: GPUs where there are any
  int ranks = 1;                             // devices that share a state: a power of two, threads of this process
  std::shared_ptr<Communicator> communicator = {};  // where set, this process is one of its ranks; `ranks` is ignored
  Precision precision = Precision::kDouble;
  int threads = 0;               // CPU threads of a rank; 0: the cores that this process may use, shared by its ranks
  std::uint64_t max_memory = 0;  // bytes a rank; 0: what its device has
  std::vector<int> gpu_ids;      // the GPU of each rank of this host, counted from 0; empty: the first ones
  bool oversubscribe_gpus = false;  // ranks may share GPUs
  ExchangeKind exchange = ExchangeKind::kAuto;
  std::uint32_t states = 2;  // of one size that stay on the device at a time, where they fit; others wait on the host
  Jit jit = Jit::kAuto;      // GPUs
  double pool_share = 0;     // GPUs: share of the free memory that is taken at once; 0: what is needed
  std::string kernel_cache;  // GPUs: folder of compiled kernels; "off": none; "": the user's
  InstructionSet instruction_set = InstructionSet::kAuto;  // CPUs; others than the best one are for tests
};

}  // namespace qsim
