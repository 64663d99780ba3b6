// `qsim info`: this machine and this build, and what `auto` would choose on it.
#include <thread>
#include <utility>

#include "base/build_info.h"
#include "base/file/files.h"
#include "circuit/generate/families.h"
#include "cli/io/context.h"
#include "cli/io/flags.h"
#include "cli/io/result/json.h"
#include "cli/io/values.h"
#include "document/result.h"
#include "plan/cost/machine.h"
#include "plan/cost/pool_layout.h"
#include "qsim/target.h"
#include "simulator/simulator.h"

namespace qsim::cli {
namespace {

MachineInfo find_out() {
  MachineInfo info;
  info.environment = qsim::environment();
  const Machine machine = this_machine(RunOptions{});
  ProcessorFacts processor = processor_facts();
  info.processor = std::move(processor.name);
  info.threads = std::thread::hardware_concurrency();
  info.instruction_sets = std::move(processor.instruction_sets);
  info.memory_bytes = system_bytes("/proc/meminfo", "MemTotal");
  info.available_bytes = system_bytes("/proc/meminfo", "MemAvailable");
  info.usable_bytes = machine.memory_bytes_per_rank;
  info.host = host_facts();
  const auto largest = [](const Machine& on) {
    return MachineInfo::Sizes{largest_qubits(on, Precision::kDouble, 0), largest_qubits(on, Precision::kSingle, 0)};
  };
  info.largest_on_cpu = largest(machine);
  info.gpus = gpu_facts();
  if (!info.environment.devices.empty()) {
    Target gpu;
    gpu.backend = BackendKind::kCuda;
    info.largest_on_gpu = largest(this_machine(gpu));
  }
  for (const std::uint32_t qubits : {10u, 20u, 30u}) {
    const BackendChoice choice = choose_backend(generate("qft", {qubits, 0, 1}), RunOptions{});
    info.choices.push_back({qubits, std::string(name_of(choice.backend)), in_flags(choice.reason)});
  }
  return info;
}

std::string or_none(const std::string& text) { return text.empty() ? "none" : text; }

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return or_none(text);
}

std::string info_text(const MachineInfo& info) {
  const EnvironmentSummary& environment = info.environment;
  std::string text =
      "qsim " + environment.version + (environment.commit.empty() ? "" : " (" + environment.commit + ")") + "\n";
  const auto line = [&text](const std::string& name, const std::string& value) {
    text += "  " + name + std::string(name.size() < 18 ? 18 - name.size() : 1, ' ') + value + "\n";
  };
  line("compiler", or_none(environment.compiler));
  line("host", or_none(environment.host));
  line("processor", info.processor);
  line("threads", std::to_string(info.threads));
  line("instruction sets", joined(info.instruction_sets));
  line("memory", bytes_text(info.memory_bytes) + ", " + bytes_text(info.available_bytes) + " available, " +
                     bytes_text(info.usable_bytes) + " usable");
  for (const auto& [name, value] : info.host) line(name, value);
  const auto sizes = [](const MachineInfo::Sizes& of) {
    return std::to_string(of.in_double) + " qubits in double, " + std::to_string(of.in_single) + " in single";
  };
  line("largest circuit", sizes(info.largest_on_cpu) + (info.largest_on_gpu ? " on the processor" : ""));
  if (info.largest_on_gpu) line("", sizes(*info.largest_on_gpu) + " on one GPU");
  line("MPI", or_none(environment.mpi));
  line("CUDA", or_none(environment.cuda) + ", driver " + or_none(environment.driver));
  line("GPUs", joined(environment.devices));
  for (const auto& [name, value] : info.gpus) line(name, value);
  for (const MachineInfo::Choice& choice : info.choices) {
    line("auto, QFT of " + std::to_string(choice.qubits), choice.backend + ": " + choice.reason);
  }
  return text;
}

}  // namespace

Output command_info(std::span<const std::string> arguments, Context& context) {
  Flags flags("qsim info", "This machine and this build, and what would be used.",
              "Examples:\n  qsim info\n  qsim info --json\n");
  bool json = false;
  flags.flag("--json", json, "one JSON document (qsim.info/1)");
  std::string text;
  context.together([&] {
    flags.parse(arguments);
    const MachineInfo info = find_out();
    text = json ? info_document(info) : info_text(info);
  });
  return {text, "", 0, {}, !json};
}

}  // namespace qsim::cli
