// The message states the arithmetic: what the state takes, what a rank has, what would fit.
#include "session/rank/capacity.h"

#include <algorithm>
#include <span>
#include <vector>

#include "base/text.h"
#include "plan/cost/state_bytes.h"
#include "plan/plan.h"
#include "plan/program/planned_circuit.h"
#include "qsim/error.h"

namespace qsim {
namespace {

/// Of 2^bits amplitudes, as a power of two where 64 bits do not hold it.
std::string shown_state(Precision precision, std::uint32_t bits) {
  const std::uint64_t bytes = state_bytes(precision, bits);
  if (bytes != UINT64_MAX) return format_bytes(bytes);
  return "2^" + std::to_string(bits + (precision == Precision::kDouble ? 4 : 3)) + " bytes";
}

}  // namespace

std::uint32_t add_snapshots(PoolLayout& pool, const PlannedCircuit& program, std::uint64_t usable_bytes) {
  constexpr std::uint64_t kMost = 64;
  const std::uint64_t used = pool.total_bytes();
  const std::uint64_t spare = usable_bytes > used ? (usable_bytes - used) / 2 : 0;
  const std::uint64_t snapshots = std::min({program.collapses(), kMost, spare / pool.state_bytes});
  pool.snapshot_bytes = snapshots * pool.state_bytes;
  return static_cast<std::uint32_t>(snapshots);
}

std::string RanksMemory::warning() const {
  if (most_bytes - least_bytes <= most_bytes / 50) return "";
  const auto named = [](int rank, const std::string& device, std::uint64_t bytes) {
    return "rank " + std::to_string(rank) + (device.empty() ? "" : " (" + device + ")") + " has " + format_bytes(bytes);
  };
  return "the ranks have unequal memory: " + named(least_rank, least_device, least_bytes) + " to use, " +
         named(most_rank, most_device, most_bytes) + "; the least of them limits all";
}

RanksMemory agree_on_memory(Communicator& communicator, std::uint64_t usable_bytes, int gpu) {
  struct OfRank {
    std::uint64_t bytes = 0;
    std::int64_t gpu = -1;
  };
  const OfRank mine{usable_bytes, gpu};
  std::vector<OfRank> all(static_cast<std::size_t>(communicator.size()));
  communicator.all_gather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)));
  const auto fewer = [](const OfRank& a, const OfRank& b) { return a.bytes < b.bytes; };
  const auto least = std::min_element(all.begin(), all.end(), fewer),
             most = std::max_element(all.begin(), all.end(), fewer);
  const auto device = [](const OfRank& rank) { return rank.gpu < 0 ? "" : "GPU " + std::to_string(rank.gpu); };
  return {least->bytes,   most->bytes,  static_cast<int>(least - all.begin()), static_cast<int>(most - all.begin()),
          device(*least), device(*most)};
}

void require_capacity(const CapacityQuestion& question, const Machine& machine) {
  if (question.needed_bytes <= question.usable_bytes) return;
  const std::uint32_t shard_bits = question.qubits - question.rank_bits;
  std::string text =
      std::to_string(question.qubits) + " qubits in " + std::string(name_of(question.precision)) + " need ";
  if (question.ranks > 1) {
    text += shown_state(question.precision, question.qubits) + " = " + shown_state(question.precision, shard_bits) +
            " on each of " + std::to_string(question.ranks) + " ranks";
  } else {
    text += shown_state(question.precision, shard_bits);
  }
  const bool beyond = question.needed_bytes == UINT64_MAX;
  text += " for the state, " + (beyond ? "more than 2^64 bytes" : format_bytes(question.needed_bytes)) +
          (question.ranks > 1 ? " a rank" : "") +
          (question.read_out_bytes == 0 ? " with all tables; "
                                        : " with all tables and " + format_bytes(question.read_out_bytes) +
                                              " for reading out (" + question.read_out + "); ");
  text += question.ranks > 1 ? "rank " + std::to_string(question.rank) : "this machine";
  if (!question.device.empty()) text += " (" + question.device + ")";
  Machine limited = machine;
  limited.memory_bytes_per_rank = question.usable_bytes;
  text += " has " + format_bytes(question.usable_bytes) + " to use; largest that fits here: " +
          std::to_string(largest_qubits(limited, Precision::kDouble, question.rank_bits)) + " (double), " +
          std::to_string(largest_qubits(limited, Precision::kSingle, question.rank_bits)) + " (single)";
  throw CapacityError(text, question.needed_bytes, question.usable_bytes);
}

}  // namespace qsim
