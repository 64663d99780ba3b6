// Benchmark and example circuits by rule; `qsim gen NAME -n N` writes any of them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "qsim/circuit.h"

namespace qsim {

struct GeneratorOptions {
  std::uint32_t qubits = 0;
  std::uint32_t depth = 0;  // 0 = the family's default
  std::uint64_t seed = 1;
};

struct GeneratorInfo {
  std::string_view name;     // "ghz", "qft", "random", ...
  std::string_view summary;  // one line for --help
  std::uint32_t min_qubits;
  std::uint32_t default_depth;  // 0 = the family has no depth
  Circuit (*make)(const GeneratorOptions& options);
  bool seeded = false;  // drawn at random: the seed matters
};

std::span<const GeneratorInfo> generators();
/// Makes the circuit of family `name`; UsageError with the nearest name when there is none, or when qubits are too few.
Circuit generate(std::string_view name, const GeneratorOptions& options);

}  // namespace qsim
