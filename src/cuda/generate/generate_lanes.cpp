// Blocks of two targets on the lowest two bits of the lane, as products on tensor cores in place: a 4x4 complex matrix
// is an 8x8 real one. Four lanes share a row of amplitudes; lane l of them brings column l (real part) and l + 4
// (imaginary part) and gets columns 2 l and 2 l + 1 of the product, which the matrix's own order of columns makes what
// we want.
#include <fmt/format.h>

#include "cuda/generate/generate_text.h"

namespace qsim::cuda {
namespace {

/// Bits of a thread's number: which amplitude and part it brings, and in which column of the product it holds what it
/// has of the matrix.
constexpr unsigned kLow = 0, kHigh = 1, kColumn = 2;

std::string bit_of(unsigned bit) { return fmt::format("(t >> {} & 1u)", bit); }

}  // namespace

bool KernelText::parts_split(std::size_t e) const {
  if (e + 1 >= program_.epochs.size() || !program_.epochs[e + 1].exchanged) return false;
  const std::vector<TileOp>&before = program_.epochs[e].ops, &after = program_.epochs[e + 1].ops;
  const auto whole_block = [](const TileOp& op) { return op.kind == TileOpKind::kLanes && op.guard.always(); };
  return !before.empty() && !after.empty() && whole_block(before.back()) && whole_block(after.front()) &&
         !regroup_columns(program_, e).exchanges.empty();
}

unsigned KernelText::kept_target(const Regroup& columns) {
  return columns.exchanges.size() == 1 && columns.exchanges.front().first == 0 ? 1 : 0;
}

void KernelText::lanes(const TileOp& op) {
  const bool from_split = number_ > 0 && &op == &epoch_->ops.front() && parts_split(number_ - 1);
  const bool to_split = &op == &epoch_->ops.back() && parts_split(number_);
  // Column n = 2 l + r of the product goes to component r of lane l.
  std::string row = "(t >> 3 & 3u)", imaginary = bit_of(kColumn);
  std::uint32_t slot = 1;  // of the two registers that a product takes
  if (to_split) {
    const Regroup columns = regroup_columns(program_, number_);
    const unsigned kept = kept_target(columns);
    row = fmt::format("({} << {} | {} << {})", bit_of(kColumn + 1), kept, bit_of(kColumn), 1 - kept);
    imaginary = bit_of(kColumn + 2);
    slot = 1u << columns.exchanges.back().second;
  }
  const std::string matrix = fmt::format("p.dense + {} + {} * 4u", dense_used_, row);
  dense_used_ += op.matrix.size();
  if (!from_split) {
    line(fmt::format("{{ const C e = __ldg({} + (t & 3u)); const bool im = {} != 0;", matrix, imaginary));
    line("const R b = im ? e.y : e.x, c = im ? e.x : -e.y;");
  } else {
    const Regroup columns = regroup_columns(program_, number_ - 1);
    const unsigned kept = kept_target(columns);
    slot = 1u << columns.exchanges.back().second;
    line(fmt::format("{{ const C* const m = {} + ({} << {}); const C e = __ldg(m), f = __ldg(m + {});", matrix,
                     bit_of(kLow), kept, 2u >> kept));
    line(fmt::format("const bool im = {0} != 0, same = {0} == {1};", imaginary, bit_of(kHigh)));
    line("const R b = same ? e.x : im ? e.y : -e.y, c = same ? f.x : im ? f.y : -f.y;");
  }
  for (std::uint32_t j = 0; j < registers_; ++j) {
    if ((j & slot) == 0) line(fmt::format("{}({}, {}, b, c);", from_split ? "split" : "whole", a(j), a(j | slot)));
  }
  line("}");
}

void KernelText::exchange(const Regroup& columns) {
  if (!parts_split(number_)) {
    for (const auto& [bit, slot] : columns.exchanges) exchange(bit, slot);
  } else if (columns.exchanges.size() == 2) {
    exchange(columns.exchanges.front().first, columns.exchanges.front().second);
  }
}

void KernelText::exchange(std::uint8_t bit, std::uint8_t slot) {
  line(fmt::format("{{ const bool upper = {} != 0;", bit_of(bit)));
  for (std::uint32_t j = 0; j < registers_; ++j) {
    if ((j >> slot & 1) == 0) line(fmt::format("trade({}, {}, upper, {}u);", a(j), a(j | 1u << slot), 1u << bit));
  }
  line("}");
}

}  // namespace qsim::cuda
