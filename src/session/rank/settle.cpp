// The choices, in the order in which one depends on another; errors are agreed on after each.
#include "session/rank/settle.h"

#include <array>
#include <bit>

#include "base/bits.h"
#include "base/ranks/agreement.h"
#include "base/text.h"
#include "comm/launcher.h"
#include "cpu/cpu_info.h"
#include "plan/cost/gpu_pace.h"
#include "qsim/error.h"
#include "session/choose/registry.h"

namespace qsim {
namespace {

void require_sense(const Target& target) {
  if (target.threads < 0)
    throw UsageError("`threads` " + std::to_string(target.threads) + ": at least 1, or 0 for all");
  if (target.states == 0) throw UsageError("`states` 0: a session holds at least one");
  if (!(target.pool_share >= 0 && target.pool_share <= 1)) {
    throw UsageError("`pool_share` " + format_number(target.pool_share) + " is no share: 0 to 1");
  }
  static_cast<void>(cpu::choose_instruction_set(target.instruction_set));
}

void require_effect(const Target& target, const BackendChoice& choice) {
  const auto no_effect = [&](const std::string& argument) {
    throw UsageError("`" + argument + "` has no effect: the circuit runs on the CPU (" + choice.reason + ")");
  };
  if (choice.backend == BackendKind::kCuda) {
    if (target.threads > 0) throw UsageError("`threads` has no effect: the circuit runs on a GPU");
    return;
  }
  if (target.jit != Jit::kAuto) no_effect("jit");
  if (target.pool_share > 0) no_effect("pool_share");
  if (!target.gpu_ids.empty()) no_effect("gpu_ids");
  if (!target.kernel_cache.empty()) no_effect("kernel_cache");
}

std::uint64_t own_usable_bytes(const Settled& settled) {
  if (settled.target.max_memory > 0) return settled.target.max_memory;
  if (settled.machine.kind == BackendKind::kNull) return ~std::uint64_t{0};
  if (settled.gpu) return settled.gpu->free_bytes;
  return settled.machine.memory_bytes_per_rank / settled.ranks_of_host;
}

/// Ranks whose GPUs differ must make the same plans: those of the slowest.
void use_common_pace(Communicator& communicator, Settled& settled) {
  const GpuPace own = pace_of(settled.gpu->rates);
  std::array<std::int64_t, 4> slowest{own.memory, own.in_single, own.in_double, own.without_lanes};
  communicator.max(slowest);
  const std::uint64_t memory = settled.machine.memory_bytes_per_rank;
  settled.machine = gpu_machine({slowest[0], slowest[1], slowest[2], slowest[3]}, settled.gpu->name);
  settled.machine.memory_bytes_per_rank = memory;
}

}  // namespace

int Settled::threads(std::uint32_t local_bits, const Communicator& communicator) const {
  return rank_threads(target.threads, local_bits, communicator.name() == "threads" ? communicator.size() : 1);
}

BackendOptions Settled::backend_options(int of_threads) const {
  BackendOptions options;
  options.precision = target.precision;
  options.threads = of_threads;
  if (gpu) options.device_id = gpu->id;
  options.instruction_set = target.instruction_set;
  options.jit = target.jit;
  options.pool_share = target.pool_share;
  options.kernel_cache = target.kernel_cache;
  return options;
}

CapacityQuestion Settled::capacity_question(std::uint32_t qubits, std::uint64_t needed_bytes) const {
  CapacityQuestion question;
  question.qubits = qubits;
  question.precision = target.precision;
  question.rank = memory.least_rank;
  question.ranks = 1 << rank_bits;
  question.rank_bits = rank_bits;
  question.device = memory.least_device;
  question.needed_bytes = needed_bytes;
  question.usable_bytes = memory.least_bytes;
  return question;
}

void require_rank_count(int ranks) {
  if (ranks < 1) throw UsageError("the number of ranks must be at least 1, not " + std::to_string(ranks));
  const auto count = static_cast<std::uint64_t>(ranks);
  if (std::has_single_bit(count)) return;
  throw UsageError(std::to_string(ranks) + " ranks: the number of ranks must be a power of two",
                   "use " + std::to_string(std::bit_floor(count)) + " or " + std::to_string(std::bit_ceil(count)));
}

Settled settle(const Target& target, Communicator& communicator, const std::function<BackendChoice()>& choose) {
  Settled settled;
  settled.target = target;
  BackendChoice choice;
  together(communicator, [&] {
    require_sense(target);
    choice = choose();
  });
  const bool wants_cuda = choice.backend == BackendKind::kCuda;
  std::int64_t without_gpu = wants_cuda ? 0 : 1;
  communicator.max({&without_gpu, 1});
  if (without_gpu != 0 && wants_cuda && target.backend == BackendKind::kAuto) {
    choice = {BackendKind::kCpu, "another rank has no GPU", 0};
  }
  const bool by_mpi = communicator.name() == "mpi";
  together(communicator, [&] {
    settled.target.backend = choice.backend;
    settled.reason = choice.reason;
    require_effect(target, choice);
    const int place = by_mpi ? launch_environment().local_rank : communicator.rank();
    if (choice.backend == BackendKind::kCuda) {
      settled.gpu = pick_gpu(survey_gpus(communicator.size()), target, place);
      check_kernel_cache(target.kernel_cache);
    }
    settled.rank_bits = log2_exact(static_cast<Index>(communicator.size()));
    settled.ranks_of_host = static_cast<std::uint64_t>(by_mpi ? launch_environment().local_size : communicator.size());
    settled.machine = this_machine(settled.target);
  });
  if (settled.gpu) use_common_pace(communicator, settled);
  settled.memory = agree_on_memory(communicator, own_usable_bytes(settled), settled.gpu ? settled.gpu->id : -1);
  return settled;
}

Settled settle_for_any(const Target& target, Communicator& communicator) {
  return settle(target, communicator, [&] { return choose_backend(target); });
}

}  // namespace qsim
