// Virtual ranks.
#include "support/virtual_ranks.h"

#include <complex>
#include <cstdint>
#include <limits>

#include "base/layout.h"
#include "plan/cost/pool_layout.h"

namespace qsim::test {
namespace {

// Physical index of a logical one, from the layout's definition.
Index place(const Layout& layout, Index logical) {
  Index physical = 0;
  for (std::size_t q = 0; q < layout.bit_of.size(); ++q) physical |= (logical >> q & 1) << layout.bit_of[q];
  return physical;
}

}  // namespace

VirtualRanks::VirtualRanks(Precision precision, unsigned qubits, unsigned rank_bits, InstructionSet instruction_set)
    : precision_(precision), local_bits_(qubits - rank_bits) {
  PoolLayout pool;
  pool.state_bytes = amplitude_bytes(precision) << local_bits_;
  pool.table_bytes = 1 << 12;
  pool.scratch_bytes = 1 << 12;
  pool.spare_bytes = pool.state_bytes;
  BackendOptions options;
  options.precision = precision;
  options.threads = 1;
  options.instruction_set = instruction_set;
  for (unsigned rank = 0; rank < 1u << rank_bits; ++rank) {
    backends_.push_back(make_cpu_backend(options));
    backends_.back()->reserve(pool, local_bits_);
  }
}

dense::State VirtualRanks::run(const Plan& plan, const dense::State& start) {
  for (Index i = 0; i < start.size(); ++i) set(place(plan.initial_layout, i), start[i]);
  run_stages(plan);
  return read(plan.final_layout);
}

dense::State VirtualRanks::run_from_zero(const Plan& plan) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (Index i = 0; i < backends_.size() << local_bits_; ++i) set(i, {kNan, kNan});
  run_stages(plan);
  return read(plan.final_layout);
}

void VirtualRanks::run_stages(const Plan& plan) {
  for (const Stage& stage : plan.stages) {
    if (stage.exchange) exchange(*stage.exchange);
    for (std::uint32_t rank = 0; rank < backends_.size(); ++rank) {
      Backend& backend = *backends_[rank];
      backend.clear_sweeps();
      for (const Sweep& sweep : stage.sweeps) {
        const Sweep special = specialize(sweep, plan, rank);
        backend.sweep(backend.prepare({&special, 1}, Summing::kNo), {}, 0, false);
      }
    }
  }
}

Complex VirtualRanks::get(Index physical) {
  std::byte* const data = backends_[physical >> local_bits_]->state().data;
  const Index local = physical & ((Index{1} << local_bits_) - 1);
  if (precision_ == Precision::kDouble) return reinterpret_cast<std::complex<double>*>(data)[local];
  return reinterpret_cast<std::complex<float>*>(data)[local];
}

void VirtualRanks::set(Index physical, Complex value) {
  std::byte* const data = backends_[physical >> local_bits_]->state().data;
  const Index local = physical & ((Index{1} << local_bits_) - 1);
  if (precision_ == Precision::kDouble) {
    reinterpret_cast<std::complex<double>*>(data)[local] = value;
  } else {
    reinterpret_cast<std::complex<float>*>(data)[local] = std::complex<float>(value);
  }
}

dense::State VirtualRanks::read(const Layout& layout) {
  dense::State state(backends_.size() << local_bits_);
  for (Index i = 0; i < state.size(); ++i) state[i] = get(place(layout, i));
  return state;
}

void VirtualRanks::exchange(const Exchange& exchange) {
  dense::State before(backends_.size() << local_bits_);
  for (Index i = 0; i < before.size(); ++i) before[i] = get(i);
  for (Index i = 0; i < before.size(); ++i) {
    Index to = i;
    for (const auto& [local, global] : exchange.swaps) {
      const Index low = i >> local & 1, high = i >> global & 1;
      to &= ~(Index{1} << local | Index{1} << global);
      to |= high << local | low << global;
    }
    set(to, before[i]);
  }
}

}  // namespace qsim::test
