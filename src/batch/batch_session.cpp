#include "batch/batch_session.h"

#include "qsim/error.h"
#include "session/choose/choose.h"
#include "session/rank/settle.h"

namespace qsim {
namespace {

/// Amplitude updates below which the CPU is done before a GPU's driver has started.
constexpr double kGpuWorthwhile = 1e9;

const Target& required(const Target& target) {
  if (target.backend == BackendKind::kNull) throw UsageError("a batch runs on a CPU or a GPU");
  if (target.ranks != 1 || target.communicator != nullptr || target.gpu_ids.size() > 1) {
    throw UsageError("a batch runs on one device: each of several ranks can take a part of its values");
  }
  return target;
}

Session::Impl::Settling settling(const BatchProgram& program, std::size_t evaluations) {
  const double updates = static_cast<double>(program.ops.size() + 1) * static_cast<double>(evaluations) *
                         static_cast<double>(std::size_t{1} << program.qubits);
  return [updates](const Target& target, Communicator& communicator) {
    return settle(target, communicator, [&]() -> BackendChoice {
      if (target.backend != BackendKind::kAuto || updates > kGpuWorthwhile) return choose_backend(target);
      return {BackendKind::kCpu, "the batch is too small for a GPU to gain its start-up time", 0};
    });
  };
}

}  // namespace

BatchSession::BatchSession(const BatchProgram& program, std::size_t evaluations, const Target& target,
                           const std::function<void(const Progress&)>& progress)
    : session_(required(target), {Verify::kOff, progress}, settling(program, evaluations)) {}

void BatchSession::run(const std::function<void(const BackendOptions&, const std::function<void(double)>&)>& work) {
  session_.each(false, "batch", [&](RankSession& rank, std::size_t) {
    const Settled& settled = rank.settled();
    work(settled.backend_options(settled.target.threads), rank.on_progress);
  });
}

}  // namespace qsim
