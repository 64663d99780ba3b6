// Plans that are made while a GPU's driver starts.
#include "session/program_ahead.h"

#include <algorithm>
#include <string>
#include <vector>

#include "device/gpu_parts.h"
#include "plan/cost/gpu_pace.h"
#include "plan/cost/state_bytes.h"
#include "session/choose/choose.h"
#include "session/program_impl.h"

namespace qsim {
namespace {

/// Plans take the place of another state beside their own where there is room for it; with room for so many all do.
constexpr std::uint64_t kStates = 4;

bool has_room(const Machine& machine, std::uint32_t qubits, Precision precision) {
  const bool addressable = qubits <= static_cast<std::uint32_t>(kMaxQubits);  // else nothing can be said of its size
  return addressable && state_bytes(precision, qubits) <= machine.memory_bytes_per_rank / kStates;
}

}  // namespace

std::optional<Machine> listed_machine(const Circuit& circuit, const Target& target) {
  const bool may_be_gpu =
      target.backend == BackendKind::kCuda || (target.backend == BackendKind::kAuto && target.threads == 0);
  const bool one = target.communicator == nullptr && target.ranks == 1 && target.gpu_ids.size() <= 1;
  if (!may_be_gpu || !one || target.max_memory > 0 || too_small_for_a_gpu(circuit)) return std::nullopt;
  const std::vector<std::string> models = listed_gpu_models();
  const auto differs = [&](const std::string& model) { return model != models.front(); };
  if (models.empty() || std::ranges::any_of(models, differs)) return std::nullopt;
  std::optional<Machine> machine = machine_of_model(models.front());
  if (machine && !has_room(*machine, circuit.qubits(), target.precision)) machine.reset();
  return machine;
}

ProgramAhead::ProgramAhead(const Circuit& circuit, const Machine& machine, const PlanOptions& options)
    : program_(std::make_shared<Program::Impl>(borrowed(circuit), machine, options)), thread_([this] {
        try {
          program_->whole({}, Program::Impl::Use::kLook);
        } catch (...) {  // who takes the program plans again, and is told then
        }
      }) {}

std::shared_ptr<Program::Impl> ProgramAhead::program(const Machine& machine, const PlanOptions& options) const {
  if (options != program_->options || !has_room(machine, program_->circuit->qubits(), options.precision)) {
    return nullptr;
  }
  Machine of_same_name = machine;  // by what costs say
  of_same_name.name = program_->machine.name;
  of_same_name.memory_bytes_per_rank = program_->machine.memory_bytes_per_rank;
  return of_same_name == program_->machine ? program_ : nullptr;
}

}  // namespace qsim
