#include "bench/gate_list.h"

#include <cmath>
#include <cstdlib>
#include <optional>
#include <sstream>

#include "base/file/files.h"
#include "base/file/source_lines.h"
#include "base/text.h"
#include "circuit/gate_table.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "qsim/gate.h"
#include "qsim/pauli.h"

namespace qsim {
namespace bench {
namespace {

constexpr std::uint64_t kLargestFile = std::uint64_t{256} << 20;

/// All numbers of `line` that stand by themselves or end a word, in order ("q[0]==1 : 0.5" gives 0.5).
std::vector<double> numbers_of(std::string line) {
  for (char& c : line) {
    if (c == ',' || c == ':' || c == '\t') c = ' ';
  }
  std::istringstream words(line);
  std::vector<double> numbers;
  for (std::string word; words >> word;) {
    char* end = nullptr;
    const double value = std::strtod(word.c_str(), &end);
    if (*end == '\0') numbers.push_back(value);
  }
  return numbers;
}

std::vector<std::vector<double>> read_numbers(const std::string& path, std::size_t least) {
  std::istringstream file(read_file(path, kLargestFile));
  std::vector<std::vector<double>> lines;
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    lines.push_back(numbers_of(line));
    if (lines.back().size() < least) {
      throw FileError(escape_text(path) + ":" + std::to_string(number) + ": " + std::to_string(least) +
                      " numbers were expected");
    }
  }
  return lines;
}

/// One line of a gate list, before the number of qubits is known.
struct ListedGate {
  GateName gate{};
  std::vector<Qubit> qubits;
  std::vector<double> angles;
};

std::optional<ListedGate> parse_gate(const std::string& line, const std::string& place) {
  std::istringstream words(line.substr(0, line.find('#')));
  std::string name;
  if (!(words >> name)) return std::nullopt;
  const std::optional<GateName> found = find_spelling(name);
  if (!found) throw CircuitError(place + "the first word is no gate");
  ListedGate gate{*found, {}, {}};
  const GateInfo& info = gate_info(found->gate);
  for (int i = 0; i < found->controls + info.targets; ++i) {
    std::string word;
    words >> word;
    const bool digits = !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
    if (!digits || word.size() > 4) {
      throw CircuitError(place + name + " needs " + std::to_string(found->controls + info.targets) + " qubits");
    }
    gate.qubits.push_back(static_cast<Qubit>(std::stoul(word)));
  }
  for (std::string word; words >> word;) {
    char* end = nullptr;
    gate.angles.push_back(std::strtod(word.c_str(), &end));
    if (*end != '\0' || !std::isfinite(gate.angles.back())) {
      throw CircuitError(place + "angle " + std::to_string(gate.angles.size()) + " is not a finite number");
    }
  }
  if (gate.angles.size() != static_cast<std::size_t>(info.params)) {
    throw CircuitError(place + name + " takes " + std::to_string(info.params) + " angles, not " +
                       std::to_string(gate.angles.size()));
  }
  return gate;
}

}  // namespace

std::vector<double> read_last_numbers(const std::string& path) {
  std::vector<double> values;
  for (const std::vector<double>& line : read_numbers(path, 1)) values.push_back(line.back());
  return values;
}

std::vector<Complex> read_last_pairs(const std::string& path) {
  std::vector<Complex> values;
  for (const std::vector<double>& line : read_numbers(path, 2)) {
    values.emplace_back(line[line.size() - 2], line.back());
  }
  return values;
}

PauliSum read_reversed_pauli_file(const std::string& path, std::uint32_t qubits) {
  PauliSum sum = read_pauli_file(path, qubits);
  for (PauliTerm& term : sum.terms) {
    term.pauli.x = reverse_bits(term.pauli.x, qubits);
    term.pauli.z = reverse_bits(term.pauli.z, qubits);
  }
  return sum;
}

}  // namespace bench

Circuit read_gate_list(const std::string& path) {
  std::istringstream file(read_file(path, bench::kLargestFile));
  std::vector<bench::ListedGate> gates;
  std::vector<std::uint32_t> lines;
  std::uint32_t qubits = 0, number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    std::optional<bench::ListedGate> gate =
        bench::parse_gate(line, escape_text(path) + ":" + std::to_string(number) + ": ");
    if (!gate) continue;
    for (const Qubit qubit : gate->qubits) qubits = std::max(qubits, qubit + 1);
    gates.push_back(std::move(*gate));
    lines.push_back(number);
  }
  if (gates.empty()) throw CircuitError(escape_text(path) + " has no gates");
  Circuit circuit(qubits);
  for (std::size_t i = 0; i < gates.size(); ++i) {
    const bench::ListedGate& gate = gates[i];
    const std::span<const Qubit> all(gate.qubits);
    const auto controls = static_cast<std::size_t>(gate.gate.controls);
    SourceLines::set(circuit, lines[i]);
    try {
      circuit.add_gate(gate.gate.gate, all.first(controls), all.subspan(controls), gate.angles);
    } catch (const CircuitError& error) {
      throw CircuitError(escape_text(path) + ":" + std::to_string(lines[i]) + ": " + error.what());
    }
  }
  return circuit;
}

}  // namespace qsim
