// Many small circuits of one shape as data: what the CPU's and the GPU's batch loops walk.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "qsim/target.h"
#include "qsim/types.h"

namespace qsim {

enum class BatchForm : std::uint8_t {
  kRx,      // of one angle
  kRy,      //
  kRz,      //
  kPhase,   //
  kU,       // of three angles: theta, phi, lambda
  kFlip,    // X
  kMatrix,  // dense, the same for all evaluations, on 1..3 targets
};

constexpr int kMaxBatchTargets = 3;

/// scale * values[parameter] + offset.
struct BatchAngle {
  std::uint32_t parameter = 0;
  double scale = 0, offset = 0;
};

/// Acts where all bits of `controls` are 1. Bit j of a matrix index is targets[j].
struct BatchOp {
  BatchForm form = BatchForm::kFlip;
  std::uint8_t target_count = 1;
  std::uint8_t targets[kMaxBatchTargets] = {};
  std::uint32_t controls = 0;
  std::uint32_t angle_begin = 0;   // in BatchProgram::angles
  std::uint32_t matrix_begin = 0;  // in BatchProgram::matrices: 4^t entries, row-major
};

struct BatchProgram {
  std::uint32_t qubits = 0, parameters = 0;
  std::vector<BatchOp> ops;
  std::vector<BatchAngle> angles;
  std::vector<Complex> matrices;
};

/// What is wanted of every evaluation; an empty span is not wanted. The sizes are BatchResult's.
struct BatchOutputs {
  std::span<double> marginals;
  std::span<std::uint32_t> outcomes;
  std::span<Complex> states;
  std::uint32_t shots = 0;
  std::uint64_t seed = 0;
};

/// Told on the way, by the calling thread, what share is done. What it throws ends the batch. May be empty.
using BatchWatch = std::function<void(double)>;

/// values[e * parameters + p]. The target's precision, threads and instruction set. Defined in src/cpu.
void run_batch_on_cpu(const BatchProgram& program, std::span<const double> values, std::size_t evaluations,
                      const BatchOutputs& outputs, const Target& target, const BatchWatch& watch);

/// Where a batch lands: the first index whose running total of units passes the draw's place.
std::uint64_t batch_draw(std::uint64_t seed, std::uint64_t evaluation, std::uint64_t shot, std::uint64_t total);

}  // namespace qsim
