// Gram matrices of batches on the CPU, as products of real matrices: with a turned state (im, -re) beside b, the real
// and the imaginary part of <a|b> are sums over the same numbers of a. Blocks of columns are shared among threads.
#include <algorithm>
#include <complex>
#include <vector>

#include "base/clock.h"
#include "base/threads/thread_team.h"
#include "cpu/cpu_info.h"
#include "cpu/line_vector.h"
#include "device/batch/batch_device.h"
#include "kernels/cpu/row_products.h"

namespace qsim {
namespace cpu {
namespace {

constexpr std::size_t kColumns = 8;   // states of a block
constexpr std::size_t kDepth = 1024;  // numbers of each that are worked on together: all of them stay in cache

/// What a thread works with.
class GramBlocks {
 public:
  GramBlocks(std::span<const Complex> states, std::size_t count, AddRowProducts* add)
      : numbers_(reinterpret_cast<const double*>(states.data())),
        count_(count),
        length_(2 * states.size() / count),
        add_(add),
        panel_(2 * kColumns * kDepth) {}

  /// Columns first .. first + kColumns - 1, down to the diagonal, and the rows that they are conjugates of.
  void run(std::size_t first, std::span<Complex> gram) {
    const std::size_t end = std::min(first + kColumns, count_);
    sums_.assign((end + kProductRows - 1) / kProductRows * kProductRows * 2 * kColumns, 0);
    for (std::size_t begin = 0; begin < length_; begin += kDepth) {
      const std::size_t depth = std::min(kDepth, length_ - begin);
      fill(first, begin, depth);
      for (std::size_t i = 0; i < end; i += kProductRows) {
        const double* rows[kProductRows];
        for (std::size_t r = 0; r < kProductRows; ++r) rows[r] = state(i + r) + begin;
        for (std::size_t c = 0; c < 2 * kColumns; c += kProductColumns) {
          const double* columns[kProductColumns];
          for (std::size_t k = 0; k < kProductColumns; ++k) columns[k] = &panel_[(c + k) * kDepth];
          add_(rows, columns, depth, &sums_[i * 2 * kColumns + c], 2 * kColumns);
        }
      }
    }
    for (std::size_t j = first; j < end; ++j) {
      for (std::size_t i = 0; i <= j; ++i) {
        const double* const sum = &sums_[i * 2 * kColumns + j - first];
        gram[i * count_ + j] = {sum[0], sum[kColumns]};
        gram[j * count_ + i] = {sum[0], -sum[kColumns]};
      }
    }
  }

 private:
  /// Beyond the last state there are others that nobody looks at.
  const double* state(std::size_t i) const { return numbers_ + std::min(i, count_ - 1) * length_; }

  /// The columns' numbers from `begin` on, then those of the turned ones.
  void fill(std::size_t first, std::size_t begin, std::size_t depth) {
    for (std::size_t c = 0; c < kColumns; ++c) {
      const double* const from = state(first + c) + begin;
      double* const plain = &panel_[c * kDepth];
      double* const turned = &panel_[(kColumns + c) * kDepth];
      for (std::size_t k = 0; k < depth; k += 2) {
        plain[k] = from[k];
        plain[k + 1] = from[k + 1];
        turned[k] = from[k + 1];
        turned[k + 1] = -from[k];
      }
    }
  }

  const double* const numbers_;
  const std::size_t count_, length_;
  AddRowProducts* const add_;
  LineVector<double> panel_;
  std::vector<double> sums_;  // of each row with each of the panel's
};

}  // namespace
}  // namespace cpu

BatchGramTimes run_gram_on_cpu(const BatchProgram& program, std::span<const double> values, std::size_t evaluations,
                               std::span<Complex> gram, const BackendOptions& options) {
  BatchGramTimes times;
  if (evaluations == 0) return times;
  Clock::time_point start = Clock::now();
  std::vector<Complex> states(evaluations << program.qubits);
  BatchOutputs outputs;
  outputs.states = states;
  run_batch_on_cpu(program, values, evaluations, outputs, options, {});
  times.prepare_seconds = seconds_since(start);
  start = Clock::now();
  const std::uint64_t blocks = (evaluations + cpu::kColumns - 1) / cpu::kColumns;
  const auto wanted = static_cast<std::uint64_t>(threads_or_all(options.threads));
  ThreadTeam team(static_cast<int>(std::min(wanted, blocks)));
  const cpu::GramBlocks first(
      states, evaluations,
      cpu::for_instruction_set(cpu::choose_instruction_set(options.instruction_set), cpu::add_row_products_scalar,
                               cpu::add_row_products_avx2, cpu::add_row_products_avx512));
  std::vector<cpu::GramBlocks> workers(static_cast<std::size_t>(team.size()), first);
  // The last blocks are the longest.
  team.run(blocks, [&](std::uint64_t block, int worker) {
    workers[static_cast<std::size_t>(worker)].run((blocks - 1 - block) * cpu::kColumns, gram);
  });
  times.product_seconds = seconds_since(start);
  return times;
}

}  // namespace qsim
