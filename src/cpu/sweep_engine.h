// What executes prepared sweeps over a shard in host memory; one implementation per kind of instruction set.
#pragma once

#include <complex>
#include <memory>
#include <span>
#include <string_view>

#include "base/threads/thread_team.h"
#include "device/backend.h"
#include "plan/plan.h"

namespace qsim::cpu {

template <typename T>
class SweepEngine {
 public:
  virtual ~SweepEngine() = default;
  virtual std::string_view name() const = 0;
  /// Translates sweeps of shards of 2^local_bits; returns the handle of the first.
  virtual std::uint32_t prepare(std::span<const Sweep> sweeps, std::uint32_t local_bits, int threads) = 0;
  /// Prepared sweeps become these, which are the same but for numbers.
  virtual void renew(std::uint32_t handle, std::span<const Sweep> sweeps, std::uint32_t local_bits) = 0;
  virtual void clear() = 0;
  /// Runs a sweep over the tiles of `chunk`; returns the sum of |a|^2 written where `norm`, else 0. The sum does not
  /// depend on the number of threads.
  virtual double run(std::uint32_t handle, std::complex<T>* shard, ChunkView chunk, ThreadTeam& team, bool norm) = 0;
};

/// One operation at a time in portable code.
template <typename T>
std::unique_ptr<SweepEngine<T>> make_plain_engine();
/// By instruction set, as choose_instruction_set() names them.
template <typename T>
std::unique_ptr<SweepEngine<T>> make_engine(InstructionSet instruction_set);
template <>
std::unique_ptr<SweepEngine<float>> make_engine(InstructionSet instruction_set);
template <>
std::unique_ptr<SweepEngine<double>> make_engine(InstructionSet instruction_set);

}  // namespace qsim::cpu
