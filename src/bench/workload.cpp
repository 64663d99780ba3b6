#include "bench/workload.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>

#include "base/bits.h"
#include "base/file/files.h"
#include "base/hash.h"
#include "base/philox.h"
#include "base/text.h"
#include "bench/gate_list.h"
#include "bench/names.h"
#include "circuit/generate/families.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "qsim/qasm.h"

namespace qsim::bench {
namespace {

const std::array<const char*, 6> kDefaultSuite{"ghz", "qft", "supremacy", "random", "qv", "ising"};
constexpr std::uint64_t kStatisticsSample = 65536;
// By how much the second moment may be above 2: grids at depth 14 reach 3.1 for some seeds and sizes, the others 2.3.
constexpr double kExcess = 0.3, kExcessOfGrids = 1.5;
constexpr std::uint32_t kStatisticsQubits = 14;  // fewer are too few for statistics

/// The challenge's workloads: a gate list of its own or a family of ours, and how precise the printed values are.
struct Challenge {
  const char* name;
  const char* list;    // file of gates, or ""
  const char* family;  // family, or ""
  std::uint32_t qubits;
  double tolerance;  // of the family's exact angles against values made with printed ones
};
const std::array<Challenge, 7> kChallenges{{
    {"random30", "random30.gates", "", 30, 0.51e-6},
    {"ghz_qft30", "", "asc_ghz_qft", 30, 1.51e-6},
    {"ghz_qft29", "", "asc_ghz_qft", 29, 0.51e-6},
    {"invqft34", "", "inv_qft", 34, 0.51e-6},
    {"qftinvqft35", "", "qft_inv_qft", 35, 0.51e-6},
    {"shor35", "", "shor", 35, 0.51e-6},
    {"hamexp22", "hamexp22_ansatz.gates", "", 22, 0.51e-6},
}};

bool is_folder(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// e^(2 pi i fraction / 2^qubits) / sqrt(2^qubits)
Complex fourier_amplitude(std::uint32_t qubits, Index fraction) {
  const double turn = std::ldexp(static_cast<double>(fraction & low_mask(qubits)), -static_cast<int>(qubits));
  return std::polar(std::exp2(-0.5 * qubits), 2 * std::numbers::pi * turn);
}

/// The Fourier transform of basis state `basis`; `swapped`: without the final swaps, the index is read backwards.
void add_fourier_companion(Workload& workload, bool no_swaps) {
  const std::uint32_t n = workload.circuit.qubits();
  const Index basis = 0x9e3779b97f4a7c15 & low_mask(n);
  Circuit circuit(n);
  for_each_bit(basis, [&](unsigned qubit) { circuit.x(qubit); });
  for (const Operation& op : workload.circuit.operations()) circuit.append(workload.circuit, op);
  workload.companion = std::move(circuit);
  workload.companion_amplitude = [n, basis, no_swaps](Index k) {
    return fourier_amplitude(n, basis * (no_swaps ? reverse_bits(k, n) : k));
  };
}

/// What is known of a family's state in closed form.
void add_closed_form(Workload& workload, const std::string& family) {
  const std::uint32_t n = workload.circuit.qubits();
  const double root_half = std::numbers::sqrt2 / 2;
  if (family == "ghz") {
    workload.indices = {0, low_mask(n)};
    workload.amplitude = [root_half](Index) { return Complex(root_half); };
  } else if (family == "qft" || family == "qft_noswap") {
    workload.amplitude = [n](Index) { return fourier_amplitude(n, 0); };
    add_fourier_companion(workload, family == "qft_noswap");
  } else if (family == "iqft") {
    const Index basis = 0xaaaaaaaaaaaaaaaa & low_mask(n);
    workload.amplitude = [n, basis](Index k) { return fourier_amplitude(n, Index{0} - basis * k); };
  } else if (family == "ghz_qft") {
    // The transform of (|0...0> + |1...1>) / sqrt(2); the second is the basis state -1.
    workload.amplitude = [n, root_half](Index k) {
      return root_half * (fourier_amplitude(n, 0) + fourier_amplitude(n, Index{0} - k));
    };
  } else if (family == "wstate") {
    for (std::uint32_t q = 0; q < n; ++q) workload.indices.push_back(Index{1} << q);
    workload.amplitude = [n](Index) { return Complex(1 / std::sqrt(static_cast<double>(n))); };
  }
  if (workload.amplitude && workload.indices.empty()) workload.indices = sample_indices(n);
}

Workload make_family(const std::string& family, std::uint32_t qubits, const BenchRequest& request) {
  Workload workload;
  workload.name = family;
  GeneratorOptions options{qubits, request.depth, request.seed};
  for (const GeneratorInfo& info : generators()) {
    if (info.name == family && info.default_depth == 0) options.depth = 0;
  }
  workload.circuit = generate(family, options);
  add_closed_form(workload, family);
  const bool scrambles = family == "random" || family == "qv" || family == "supremacy";
  if (scrambles && qubits >= kStatisticsQubits) {
    workload.statistics = family == "supremacy" ? kExcessOfGrids : kExcess;
    workload.indices = sample_indices(qubits, kStatisticsSample);
  }
  return workload;
}

/// Reads `stem`_probs.expected and `stem`_amps.expected where they exist.
void add_reference(Workload& workload, const std::string& stem, double tolerance) {
  Reference reference;
  reference.tolerance = tolerance;
  if (is_regular_file(stem + "_probs.expected")) reference.marginals = read_last_numbers(stem + "_probs.expected");
  if (is_regular_file(stem + "_amps.expected")) reference.amplitudes = read_last_pairs(stem + "_amps.expected");
  if (reference.marginals.empty() && reference.amplitudes.empty()) return;
  if (!reference.marginals.empty() && reference.marginals.size() != workload.circuit.qubits()) {
    throw FileError(stem + "_probs.expected has " + std::to_string(reference.marginals.size()) + " values for " +
                    std::to_string(workload.circuit.qubits()) + " qubits");
  }
  workload.indices.clear();
  for (Index i = 0; i < reference.amplitudes.size(); ++i) workload.indices.push_back(i);
  workload.reference = std::move(reference);
}

void add_observable(Workload& workload, const std::string& paulis, const std::string& expected) {
  workload.observable = read_reversed_pauli_file(paulis, workload.circuit.qubits());
  if (expected.empty()) return;
  std::vector<double>& values = workload.observable_terms;
  values = read_last_numbers(expected);
  // The challenge's program read once more at the end of its file and printed the last term twice.
  const bool twice = values.size() == workload.observable->terms.size() + 1 && values.size() > 1 &&
                     values.back() == values[values.size() - 2];
  if (twice) values.pop_back();
  if (workload.observable_terms.size() != workload.observable->terms.size()) {
    throw FileError(expected + " has " + std::to_string(workload.observable_terms.size()) + " values for the " +
                    std::to_string(workload.observable->terms.size()) + " terms of " + paulis);
  }
}

Workload make_challenge(const std::string& name, const BenchRequest& request) {
  const auto* const challenge =
      std::find_if(kChallenges.begin(), kChallenges.end(), [&](const Challenge& c) { return c.name == name; });
  const std::string folder = workloads_folder(request.workloads_folder) + "/asc/";
  Workload workload;
  if (*challenge->list != '\0') {
    if (!is_regular_file(folder + challenge->list)) {
      throw FileError("the challenge's file " + std::string(challenge->list) +
                      " is not here: QSIM_SHARED names the folder that holds workloads/asc");
    }
    workload.circuit = read_gate_list(folder + challenge->list);
  } else {
    workload.circuit = generate(challenge->family, {challenge->qubits, 0, 1});
  }
  workload.name = "asc:" + name;
  add_reference(workload, folder + name, challenge->tolerance);
  if (name == "hamexp22") add_observable(workload, folder + "hamexp22_H12.pauli", folder + "hamexp22_expected.txt");
  if (!workload.reference && !workload.observable) {
    workload.unchecked.push_back("the challenge's reference outputs are not here (QSIM_SHARED names their folder)");
  }
  return workload;
}

Workload make_gate_list(const std::string& path, const BenchRequest& request) {
  Workload workload;
  workload.name = base_name(path);
  workload.circuit = read_gate_list(path);
  if (ends_with(path, ".gates")) add_reference(workload, path.substr(0, path.size() - 6), 0.51e-6);
  if (!request.pauli_file.empty()) add_observable(workload, request.pauli_file, request.expected_file);
  return workload;
}

Item resolve_name(const std::string& name) {
  if (name.compare(0, 4, "asc:") == 0) {
    std::vector<std::string_view> names;
    std::string known;
    for (const Challenge& challenge : kChallenges) {
      if (name.substr(4) == challenge.name) return {Item::Kind::kChallenge, challenge.name};
      names.push_back(challenge.name);
      known += (known.empty() ? "" : ", ") + std::string(challenge.name);
    }
    const std::string_view near = nearest_name(name.substr(4), names, 3);
    throw UsageError("the challenge has no workload '" + escape_text(name.substr(4), 40) + "'; known: " + known,
                     near.empty() ? "" : "did you mean 'asc:" + std::string(near) + "'?");
  }
  std::vector<std::string_view> names;
  for (const GeneratorInfo& info : generators()) {
    if (info.name == name) return {Item::Kind::kFamily, name};
    names.push_back(info.name);
  }
  if (name.find('/') != std::string::npos || ends_with(name, ".qasm") || is_regular_file(name)) {
    if (!is_regular_file(name)) throw FileError("cannot read " + escape_text(name));
    return {ends_with(name, ".gates") ? Item::Kind::kGateList : Item::Kind::kFile, name};
  }
  const std::string_view near = nearest_name(name, names, 3);
  std::string known;
  for (const std::string_view one : names) known += (known.empty() ? "" : ", ") + std::string(one);
  throw UsageError("there is no benchmark '" + escape_text(name, 40) + "'; known: " + known + ", asc:..., a file",
                   near.empty() ? "" : "did you mean '" + std::string(near) + "'?");
}

template <class Value>
void append_bytes(std::string& text, const Value& value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

}  // namespace

std::string workloads_folder(const std::string& given) {
  if (!given.empty()) return given;
  const char* shared = std::getenv("QSIM_SHARED");
  std::vector<std::string> candidates;
  if (shared != nullptr && *shared != '\0') candidates.emplace_back(std::string(shared) + "/workloads");
  for (const char* folder : {"../shared/workloads", "../../shared/workloads"}) candidates.emplace_back(folder);
  for (const std::string& folder : candidates) {
    if (is_folder(folder + "/asc")) return folder;
  }
  return "";
}

std::vector<Item> resolve_items(const BenchRequest& request) {
  std::vector<Item> items;
  for (const std::string& name : request.names) items.push_back(resolve_name(name));
  for (const std::string& path : request.gate_files) items.push_back({Item::Kind::kGateList, path});
  if (items.empty()) {
    for (const char* name : kDefaultSuite) items.push_back({Item::Kind::kFamily, name});
  }
  return items;
}

Workload make_workload(const Item& item, std::uint32_t qubits, const BenchRequest& request) {
  switch (item.kind) {
    case Item::Kind::kFamily:
      return make_family(item.name, qubits, request);
    case Item::Kind::kChallenge:
      return make_challenge(item.name, request);
    case Item::Kind::kGateList:
      return make_gate_list(item.name, request);
    case Item::Kind::kFile: {
      Workload workload;
      workload.name = base_name(item.name);
      workload.circuit = parse_qasm_file(item.name).circuit;
      return workload;
    }
  }
  throw Error("unknown kind of benchmark " + std::to_string(static_cast<int>(item.kind)));
}

std::string circuit_hash(const Circuit& circuit) {
  std::string text;
  append_bytes(text, circuit.qubits());
  for (const Operation& op : circuit.operations()) {
    append_bytes(text, op.kind);
    append_bytes(text, op.gate);
    for (const Qubit qubit : circuit.controls(op)) append_bytes(text, qubit);
    append_bytes(text, char{'|'});
    for (const Qubit qubit : circuit.targets(op)) append_bytes(text, qubit);
    if (op.kind == OpKind::kPauliRotation) {
      for (const std::uint32_t letter : circuit.letters(op)) append_bytes(text, letter);
    }
    if (op.kind == OpKind::kMeasure) append_bytes(text, circuit.clbit(op));
    for (const double angle : circuit.params(op)) append_bytes(text, angle);
    append_bytes(text, op.condition);
  }
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(xxh3(text)));
  return digits.data();
}

}  // namespace qsim::bench
