// `qsim info`: this machine and this build, and what `auto` would choose on it.
#include <array>
#include <sstream>
#include <thread>

#include "base/build_info.h"
#include "base/file/files.h"
#include "circuit/generate/families.h"
#include "cli/io/context.h"
#include "cli/io/flags.h"
#include "cli/io/json.h"
#include "cli/io/values.h"
#include "document/result.h"
#include "plan/cost/machine.h"
#include "plan/cost/pool_layout.h"
#include "qsim/target.h"
#include "simulator/simulator.h"

namespace qsim::cli {
namespace {

/// The value behind `key` in a file of "key : value" lines; "" when there is none.
std::string value_in(const char* path, const std::string& key) {
  std::istringstream file(read_system_file(path));
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, key.size(), key) != 0) continue;
    const std::size_t begin = line.find_first_not_of(" \t", line.find(':') + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

std::string processor_name() {
  const std::string name = value_in("/proc/cpuinfo", "model name");
  return name.empty() ? "unknown" : name;
}

std::vector<std::string> instruction_sets() {
  std::vector<std::string> sets{"scalar"};
  const std::string flags = value_in("/proc/cpuinfo", "flags") + " ";
  const auto has = [&flags](const char* flag) { return flags.find(std::string(flag) + " ") != std::string::npos; };
  if (has("avx2") && has("fma") && has("bmi2")) sets.emplace_back("avx2");
  if (has("avx512f") && has("avx512dq") && has("avx512vl") && has("avx512bw")) sets.emplace_back("avx512");
  return sets;
}

std::uint64_t kibibytes(const char* key) {
  const std::string text = value_in("/proc/meminfo", key);
  return text.empty() ? 0 : std::strtoull(text.c_str(), nullptr, 10) * 1024;
}

/// What `auto` would do with circuits of a few sizes.
std::vector<std::pair<std::uint32_t, BackendChoice>> choices() {
  std::vector<std::pair<std::uint32_t, BackendChoice>> list;
  for (const std::uint32_t qubits : {10u, 20u, 30u}) {
    list.emplace_back(qubits, choose_backend(generate("qft", {qubits, 0, 1}), RunOptions{}));
  }
  return list;
}

std::string or_none(const std::string& text) { return text.empty() ? "none" : text; }

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return or_none(text);
}

}  // namespace

Output command_info(std::span<const std::string> arguments, Context& context) {
  Flags flags("qsim info", "This machine and this build, and what would be used.", "Example:\n  qsim info\n");
  std::string text;
  context.together([&] {
    flags.parse(arguments);
    const EnvironmentSummary environment = qsim::environment();
    const Machine machine = this_machine(RunOptions{});
    const auto line = [&text](const std::string& name, const std::string& value) {
      text += "  " + name + std::string(name.size() < 18 ? 18 - name.size() : 1, ' ') + value + "\n";
    };
    text = "qsim " + environment.version + (environment.commit.empty() ? "" : " (" + environment.commit + ")") + "\n";
    line("compiler", or_none(environment.compiler));
    line("host", or_none(environment.host));
    line("processor", processor_name());
    line("threads", std::to_string(std::thread::hardware_concurrency()));
    line("instruction sets", joined(instruction_sets()));
    line("memory", bytes_text(kibibytes("MemTotal:")) + ", " + bytes_text(kibibytes("MemAvailable:")) + " available, " +
                       bytes_text(machine.memory_bytes_per_rank) + " usable");
    for (const auto& [name, value] : host_facts()) line(name, value);
    line("largest circuit", std::to_string(largest_qubits(machine, Precision::kDouble, 0)) + " qubits in double, " +
                                std::to_string(largest_qubits(machine, Precision::kSingle, 0)) + " in single");
    line("MPI", or_none(environment.mpi));
    line("CUDA", or_none(environment.cuda) + ", driver " + or_none(environment.driver));
    line("GPUs", joined(environment.devices));
    for (const auto& [name, value] : gpu_facts()) line(name, value);
    for (const auto& [qubits, choice] : choices()) {
      line("auto, QFT of " + std::to_string(qubits), std::string(name_of(choice.backend)) + ": " + choice.reason);
    }
  });
  return {text, ""};
}

}  // namespace qsim::cli
