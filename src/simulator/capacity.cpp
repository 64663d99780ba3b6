// The message states the arithmetic: what the state takes, what a rank has, what would fit.
#include "simulator/capacity.h"

#include "base/text.h"
#include "qsim/error.h"

namespace qsim {

void require_capacity(const CapacityQuestion& question, const Machine& machine) {
  if (question.needed_bytes <= question.usable_bytes) return;
  const bool is_double = question.precision == Precision::kDouble;
  const std::uint64_t shard = amplitude_bytes(question.precision) << (question.qubits - question.rank_bits);
  std::string text = std::to_string(question.qubits) + " qubits in " + (is_double ? "double" : "single") + " need ";
  if (question.ranks > 1) {
    text += format_bytes(shard << question.rank_bits) + " = " + format_bytes(shard) + " on each of " +
            std::to_string(question.ranks) + " ranks";
  } else {
    text += format_bytes(shard);
  }
  text += " for the state, " + format_bytes(question.needed_bytes) + (question.ranks > 1 ? " a rank" : "") +
          " with all tables; ";
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
