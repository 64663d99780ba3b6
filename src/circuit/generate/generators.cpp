// The list of circuit families, and the checks that all of them share.
#include "circuit/generate/generators.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "base/text.h"
#include "qsim/error.h"

namespace qsim {
namespace generator {

void rotate(Circuit& circuit, Gate gate, double angle, Qubit target) {
  circuit.add_gate(gate, {}, {&target, 1}, {&angle, 1});
}

void rotate(Circuit& circuit, Gate gate, double angle, Qubit control, Qubit target) {
  circuit.add_gate(gate, {&control, 1}, {&target, 1}, {&angle, 1});
}

double halved(double angle, std::uint32_t halvings) { return std::ldexp(angle, -static_cast<int>(halvings)); }

}  // namespace generator

namespace {

using namespace generator;

constexpr std::array<GeneratorInfo, 17> kFamilies = {{
    {"ghz", "h on qubit 0, then a chain of cx", 1, 0, make_ghz},
    {"qft", "quantum Fourier transform, with the final swaps", 1, 0, make_qft},
    {"qft_noswap", "quantum Fourier transform, output in reversed qubit order", 1, 0, make_qft_noswap},
    {"iqft", "inverse Fourier transform of the basis state ...1010", 1, 0, make_iqft},
    {"ghz_qft", "ghz, then qft", 1, 0, make_ghz_qft},
    {"random", "layers of one random gate a qubit and random pairs of cx or cz", 2, 20, make_random, true},
    {"qv", "quantum volume: random pairs under generic two-qubit gates (u3 and cx)", 2, 10, make_qv, true},
    {"supremacy", "grid with cz patterns and random t, sqrt(x), sqrt(y)", 2, 14, make_supremacy, true},
    {"ising", "Trotter steps of a transverse-field Ising ring", 2, 5, make_ising},
    {"heisenberg", "Trotter steps of a Heisenberg chain in a field", 2, 5, make_heisenberg},
    {"qaoa", "MaxCut ansatz on a ring with random chords", 2, 4, make_qaoa, true},
    {"wstate", "equal superposition of all strings with a single 1", 1, 0, make_wstate},
    {"bv", "Bernstein-Vazirani with a random hidden string (the last qubit is the ancilla)", 2, 0, make_bv, true},
    {"asc_ghz_qft", "ASC20-21 GHZ + QFT (crz instead of cp)", 2, 0, make_asc_ghz_qft},
    {"inv_qft", "ASC20-21 InvQFT: controlled rotations, then the inverse QFT", 18, 0, make_inv_qft},
    {"qft_inv_qft", "ASC20-21 QFT-InvQFT: inv_qft, then QFT, then inverse QFT", 18, 0, make_qft_inv_qft},
    {"shor", "ASC20-21 Shor kernel: controlled rotations, inverse QFT on the lower half", 3, 0, make_shor},
}};

// More than any simulator holds, but `gen` also writes circuits for other tools; the product bounds memory.
constexpr std::uint32_t kMaxGeneratedQubits = 4096;
constexpr std::uint64_t kMaxLayerSites = std::uint64_t{1} << 26;

}  // namespace

std::span<const GeneratorInfo> generators() { return kFamilies; }

Circuit generate(std::string_view name, const GeneratorOptions& options) {
  std::vector<std::string_view> names;
  for (const GeneratorInfo& info : kFamilies) {
    names.push_back(info.name);
    if (info.name != name) continue;
    if (options.qubits < info.min_qubits || options.qubits > kMaxGeneratedQubits) {
      throw UsageError(fmt::format("{} is made for {} to {} qubits, not {}", name, info.min_qubits, kMaxGeneratedQubits,
                                   options.qubits));
    }
    if (options.depth != 0 && info.default_depth == 0) {
      throw UsageError(fmt::format("{} has no depth to choose", name));
    }
    if (std::uint64_t{options.qubits} * options.depth > kMaxLayerSites) {
      throw UsageError(fmt::format("{} layers on {} qubits are too many: at most {} in all", options.depth,
                                   options.qubits, kMaxLayerSites));
    }
    GeneratorOptions complete = options;
    if (complete.depth == 0) complete.depth = info.default_depth;
    return info.make(complete);
  }
  const std::string_view near = nearest_name(name, names, 3);
  std::string known;
  for (const std::string_view one : names) known += (known.empty() ? "" : ", ") + std::string(one);
  throw UsageError(fmt::format("there is no circuit family '{}'; known: {}", escape_text(name, 40), known),
                   near.empty() ? std::string() : fmt::format("did you mean '{}'?", near));
}

}  // namespace qsim
