// Versions and devices for the record; nothing here starts a driver.
#include <sys/utsname.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "base/build_info.h"
#include "base/file/files.h"
#include "base/text.h"
#include "base/threads/thread_team.h"
#include "comm/launcher.h"
#include "cpu/cpu_info.h"
#include "device/gpu_parts.h"
#include "document/result.h"
#include "qsim/target.h"
#include "simulator/simulator.h"

namespace qsim {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> nvidia_devices() {
  std::vector<std::string> names;
  const std::string folder = "/proc/driver/nvidia/gpus/";
  for (const std::string& device : system_folder(folder).value_or(std::vector<std::string>())) {
    names.push_back(system_value(folder + device + "/information", "Model"));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string nvidia_driver() {
  // "NVIDIA UNIX ... Module for x86_64  580.159.04  ...": the first word of digits and dots.
  std::istringstream words(system_value("/proc/driver/nvidia/version", "NVRM version"));
  for (std::string word; words >> word;) {
    if (word.find('.') != std::string::npos && word.find_first_not_of("0123456789.") == std::string::npos) return word;
  }
  return {};
}

}  // namespace

EnvironmentSummary environment() {
  const BuildInfo build = build_info();
  EnvironmentSummary summary;
  summary.version = build.version;
  summary.commit = build.commit;
  summary.compiler = build.compiler;
  summary.cuda = cuda_build_version();
  summary.driver = nvidia_driver();
  summary.mpi = mpi_library_version();
  utsname system{};
  if (::uname(&system) == 0) summary.host = system.nodename;
  summary.devices = nvidia_devices();
  return summary;
}

ProcessorFacts processor_facts() {
  ProcessorFacts facts{cpu::processor_name(), {}};
  for (const InstructionSet set : cpu::instruction_sets()) facts.instruction_sets.emplace_back(name_of(set));
  return facts;
}

std::vector<std::pair<std::string, std::string>> machine_facts() {
  const auto or_none = [](const std::string& text) { return text.empty() ? std::string("none") : text; };
  const EnvironmentSummary here = environment();
  const ProcessorFacts processor = processor_facts();
  std::vector<std::pair<std::string, std::string>> facts{
      {"version", here.version + (here.commit.empty() ? "" : " (" + here.commit + ")")},
      {"compiler", here.compiler},
      {"processor", processor.name},
      {"instruction set", processor.instruction_sets.back()},
      {"threads", std::to_string(affinity_threads())},
      {"memory", format_bytes(cpu::host_memory().total_bytes)}};
  for (auto& fact : host_facts()) facts.push_back(std::move(fact));
  facts.emplace_back("MPI", or_none(here.mpi));
  facts.emplace_back("CUDA", here.cuda.empty() ? "none" : here.cuda + ", driver " + or_none(here.driver));
  const GpuSurvey survey = survey_gpus(1);
  facts.emplace_back("GPUs", survey.devices.empty() ? "none: " + survey.reason : std::to_string(survey.devices.size()));
  for (auto& fact : gpu_facts()) facts.push_back(std::move(fact));
  return facts;
}

std::vector<std::pair<std::string, std::string>> host_facts() {
  const cpu::ControlGroup limits = cpu::control_group();
  std::vector<std::pair<std::string, std::string>> facts;
  if (limits.memory_bytes != 0) {
    facts.emplace_back("memory limit", format_bytes(limits.memory_bytes) + " (" + limits.memory_file + ")");
  }
  if (limits.cores > 0) {
    std::ostringstream cores;
    cores << limits.cores << " cores (" << limits.cores_file << ")";
    facts.emplace_back("processor limit", cores.str());
  }
  if (facts.empty()) facts.emplace_back("control group", "no limit of memory or processor time");
  if (cuda_build_version().empty()) return facts;
  const std::string folder = kernel_cache_folder("");
  std::error_code absent;
  if (folder.empty() || !fs::exists(folder, absent)) {
    facts.emplace_back("kernel cache", folder.empty() ? "none: no folder of the user is known" : folder + ", empty");
    return facts;
  }
  const PrivateCache cache(folder, kMostCachedKernelBytes);
  const PrivateCache::Size size = cache.size();
  facts.emplace_back("kernel cache", cache.trouble().empty() ? folder + ", " + std::to_string(size.files) +
                                                                   " kernels, " + format_bytes(size.bytes) +
                                                                   " of at most " + format_bytes(kMostCachedKernelBytes)
                                                             : "none: " + folder + ": " + cache.trouble());
  return facts;
}

}  // namespace qsim
