// CX gates with nothing else between them are one linear map, whatever their number: Qiskit's full entanglement of n
// qubits, n (n - 1) / 2 gates, is a chain of n - 1. Fewer gates reach less far, so that a sweep can do more of them.
#include <algorithm>
#include <numeric>
#include <queue>

#include "base/bits.h"
#include "optimizer/cx_network.h"
#include "optimizer/operations.h"
#include "qsim/circuit.h"

namespace qsim {
namespace {

constexpr std::uint64_t kSteps = 100'000'000;  // for all networks of a circuit: tenths of a second

// Networks are found by rounds: all operations but CX as far as they go, then all CX as far as they go, and so on. The
// connected parts of a round's CX gates are networks. A network stands where its first gate stood, or where what it
// depends on allows.
class Shortener {
 public:
  explicit Shortener(const Circuit& circuit)
      : circuit_(circuit), operations_(circuit.operations()), network_of_(operations_.size(), kNone) {}

  bool run(Rewritten& result) {
    find_networks();
    bool found = false;
    std::uint64_t steps = kSteps;
    for (Network& network : networks_) {
      if (shorten(network, steps)) {
        found = true;
      } else {
        for (const std::uint32_t i : network.gates) network_of_[i] = kNone;
      }
    }
    result.refused = refused_;
    if (found) build(result);
    return found;
  }

 private:
  static constexpr std::uint32_t kNone = kNoPlace;

  struct Network {
    std::vector<std::uint32_t> gates;  // by number of operation, ascending
    std::vector<Qubit> qubits;         // by place, ascending
    std::optional<CxNetwork> shorter;
  };

  // Rounds of CX gates are the odd ones.
  void find_networks() {
    std::vector<std::uint32_t> round(circuit_.qubits(), 0), newest(circuit_.qubits());
    std::vector<std::uint32_t> joined(operations_.size());  // a tree of gates of one network: towards an earlier one
    std::iota(joined.begin(), joined.end(), 0U);
    const auto first_of = [&](std::uint32_t i) {
      while (joined[i] != i) i = joined[i] = joined[joined[i]];
      return i;
    };
    for (std::uint32_t i = 0; i < operations_.size(); ++i) {
      const Operation& op = operations_[i];
      if (skipped(op)) continue;
      std::uint32_t now = 0;
      for_each_qubit(circuit_, op, [&](Qubit q) { now = std::max(now, round[q]); });
      now += (now & 1U) == (is_cx(op) ? 1U : 0U) ? 0 : 1;
      for_each_qubit(circuit_, op, [&](Qubit q) {
        if (is_cx(op) && round[q] == now) {  // then the newest is a CX as well
          const std::uint32_t a = first_of(newest[q]), b = first_of(i);
          joined[std::max(a, b)] = std::min(a, b);
        }
        round[q] = now;
        newest[q] = i;
      });
    }
    for (std::uint32_t i = 0; i < operations_.size(); ++i) {
      if (!is_cx(operations_[i])) continue;
      const std::uint32_t first = first_of(i);
      if (first == i) {
        network_of_[i] = static_cast<std::uint32_t>(networks_.size());
        networks_.emplace_back();
      }
      network_of_[i] = network_of_[first];
      networks_[network_of_[i]].gates.push_back(i);
    }
  }

  bool shorten(Network& network, std::uint64_t& steps) {
    Index qubits = 0;
    for (const std::uint32_t i : network.gates)
      for_each_qubit(circuit_, operations_[i], [&](Qubit q) { qubits |= bit_mask(q); });
    if (network.gates.size() < count_bits(qubits)) return false;  // a tree: no network that connects them has fewer
    for_each_bit(qubits, [&](unsigned q) { network.qubits.push_back(q); });
    const auto place = [&](Qubit q) { return count_bits(qubits & low_mask(q)); };
    std::vector<Cx> gates;
    for (const std::uint32_t i : network.gates) {
      const Operation& op = operations_[i];
      gates.push_back({place(circuit_.controls(op)[0]), place(circuit_.targets(op)[0])});
    }
    network.shorter = shorter_network(gates, count_bits(qubits), steps);
    if (network.shorter && !same_map(gates, *network.shorter, count_bits(qubits))) {
      ++refused_;
      network.shorter.reset();
    }
    return network.shorter.has_value();
  }

  // What is appended together: a shortened network, by its first gate, or an operation.
  std::uint32_t unit_of(std::uint32_t i) const {
    return network_of_[i] == kNone ? i : networks_[network_of_[i]].gates.front();
  }

  // Appends units in the order of the circuit as far as their qubits allow.
  void build(Rewritten& result) const {
    std::vector<std::vector<std::uint32_t>> line(circuit_.qubits());  // units on each qubit, in order
    std::vector<std::uint32_t> waits(operations_.size(), 0);          // by unit: on how many qubits it is not next
    for (std::uint32_t i = 0; i < operations_.size(); ++i) {
      if (skipped(operations_[i])) continue;
      const std::uint32_t unit = unit_of(i);
      for_each_qubit(circuit_, operations_[i], [&](Qubit q) {
        if (!line[q].empty() && line[q].back() == unit) return;
        if (!line[q].empty()) ++waits[unit];
        line[q].push_back(unit);
      });
    }
    std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
    for (std::uint32_t i = 0; i < operations_.size(); ++i)
      if (!skipped(operations_[i]) && unit_of(i) == i && waits[i] == 0) ready.push(i);
    std::vector<std::size_t> next(circuit_.qubits(), 0);
    Rewriter rewriter(circuit_, result);
    result.wire_of.resize(circuit_.qubits());
    std::iota(result.wire_of.begin(), result.wire_of.end(), Qubit{0});
    const auto leave = [&](Qubit q) {
      if (++next[q] < line[q].size() && --waits[line[q][next[q]]] == 0) ready.push(line[q][next[q]]);
    };
    while (!ready.empty()) {
      const std::uint32_t unit = ready.top();
      ready.pop();
      if (network_of_[unit] == kNone) {
        rewriter.copy_renamed(unit, result.wire_of);
        for_each_qubit(circuit_, operations_[unit], leave);
      } else {
        const Network& network = networks_[network_of_[unit]];
        append(network, rewriter, result.wire_of);
        for (const Qubit q : network.qubits) leave(q);
      }
    }
  }

  void append(const Network& network, Rewriter& rewriter, std::vector<Qubit>& wire_of) const {
    std::size_t counted = 0;
    const auto add = [&](const std::vector<Cx>& gates) {
      for (const Cx& gate : gates) {
        const std::uint32_t i = network.gates[counted++];
        rewriter.append_for(i).cx(wire_of[network.qubits[gate.control]], wire_of[network.qubits[gate.target]]);
        rewriter.count_here(i);
      }
    };
    add(network.shorter->before);
    std::vector<Qubit> wires;
    for (const unsigned from : network.shorter->from) wires.push_back(wire_of[network.qubits[from]]);
    for (std::size_t j = 0; j < wires.size(); ++j) wire_of[network.qubits[j]] = wires[j];
    add(network.shorter->after);
    for (; counted < network.gates.size(); ++counted) rewriter.remove(network.gates[counted], "CX networks");
  }

  const Circuit& circuit_;
  const std::vector<Operation>& operations_;
  std::vector<std::uint32_t> network_of_;  // by operation; kNone where it stays as it is
  std::vector<Network> networks_;
  std::uint64_t refused_ = 0;
};

}  // namespace

bool shorten_cx_networks(const Circuit& circuit, Rewritten& result) { return Shortener(circuit).run(result); }

}  // namespace qsim
