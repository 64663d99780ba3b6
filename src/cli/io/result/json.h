// The JSON documents of the command line (docs/json.md, docs/schema).
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/build_info.h"
#include "cli/io/output.h"
#include "document/result.h"

namespace qsim::cli {

/// `qsim.result/1`: every key always there, null where it was not computed; `result.error` makes it a failure's.
void write_result_document(const Result& result, const TextSink& sink);
std::string result_document(const Result& result);

/// `qsim.version/1`.
std::string version_document(const BuildInfo& build);

/// What `qsim info` finds.
struct MachineInfo {
  struct Choice {
    std::uint32_t qubits = 0;  // of a quantum Fourier transform
    std::string backend, reason;
  };
  EnvironmentSummary environment;
  std::string processor;
  unsigned threads = 0;
  std::vector<std::string> instruction_sets;
  std::uint64_t memory_bytes = 0, available_bytes = 0, usable_bytes = 0;
  struct Sizes {
    std::uint32_t in_double = 0, in_single = 0;
  };
  Sizes largest_on_cpu;                                         // qubits
  std::optional<Sizes> largest_on_gpu;                          // on one
  std::vector<std::pair<std::string, std::string>> host, gpus;  // further facts by name
  std::vector<Choice> choices;                                  // what `auto` would do
};
/// `qsim.info/1`.
std::string info_document(const MachineInfo& info);

}  // namespace qsim::cli
