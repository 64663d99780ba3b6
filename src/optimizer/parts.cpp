// The passes over a long circuit: over parts of it, on as many threads as there are, and the parts put together again.
#include <algorithm>
#include <memory>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file/source_lines.h"
#include "base/threads/thread_team.h"
#include "optimizer/operations.h"
#include "optimizer/pipeline.h"

namespace qsim {

/// Operations that stand one behind the other in a circuit, as a circuit.
struct Optimizer::Part {
  Part(Circuit operations, bool from_zero) : circuit(std::move(operations)), optimizer(circuit, from_zero) {}

  const Circuit circuit;
  Optimizer optimizer;
  Rewritten result;
  bool changed = false;
};

namespace {

/// Puts together again what parts of a circuit became, one after the other.
class Joined {
 public:
  Joined(const Circuit& before, Rewritten& result) : whole_(result), wire_of_(before.qubits()) {
    whole_.circuit = before.without_operations();
    whole_.place.assign(before.operations().size(), kNoPlace);
    std::iota(wire_of_.begin(), wire_of_.end(), Qubit{0});
  }

  /// The operations from `first` on, those of `part`, as they are.
  void append(std::uint32_t first, const Circuit& part) {
    for (const Operation& op : part.operations()) {
      if (!skipped(op)) whole_.place[first] = append(part, op);
      ++first;
    }
  }

  /// The same, rewritten.
  void append(std::uint32_t first, const Rewritten& part) {
    const auto begin = static_cast<std::uint32_t>(whole_.circuit.operations().size());
    for (const Operation& op : part.circuit.operations()) append(part.circuit, op);
    for (std::size_t i = 0; i < part.place.size(); ++i)
      if (part.place[i] != kNoPlace) whole_.place[first + i] = begin + part.place[i];
    for (const auto& [source, reason] : part.removed) whole_.removed.emplace_back(first + source, reason);
    whole_.refused += part.refused;
    if (part.wire_of.empty()) return;
    std::vector<Qubit> next;
    for (const Qubit wire : part.wire_of) next.push_back(wire_of_[wire]);
    wire_of_ = std::move(next);
    renamed_ = !std::ranges::is_sorted(wire_of_);
    whole_.wire_of = renamed_ ? wire_of_ : std::vector<Qubit>{};
  }

 private:
  std::uint32_t append(const Circuit& of, const Operation& op) {
    const auto place = static_cast<std::uint32_t>(whole_.circuit.operations().size());
    if (renamed_) {
      SourceLines::set(whole_.circuit, op.line);
      append_renamed(whole_.circuit, of, op, wire_of_);
    } else {
      whole_.circuit.append(of, op);
    }
    return place;
  }

  Rewritten& whole_;
  std::vector<Qubit> wire_of_;
  bool renamed_ = false;
};

}  // namespace

Optimizer::Optimizer(const Circuit& circuit, bool from_zero, const Rewritten* form, std::size_t part_operations)
    : circuit_(circuit),
      from_zero_(from_zero),
      form_(form),
      part_operations_(part_operations),
      is_short_(count_runs(form != nullptr ? form->circuit : circuit) <= kFewOperations) {}

Optimizer::~Optimizer() = default;

bool Optimizer::run_in_parts(PassSet left_out, Rewritten& result) {
  const Circuit& before = form_ != nullptr ? form_->circuit : circuit_;
  const std::size_t operations = before.operations().size(), parts = operations / part_operations_;
  const auto begin_of = [&](std::size_t part) { return static_cast<std::uint32_t>(operations * part / parts); };
  const Circuit empty = before.without_operations();  // with room for all of them, which copies of it have not
  parts_.resize(parts);
  ThreadTeam(affinity_threads()).run(parts, [&](std::uint64_t number, int) {
    std::unique_ptr<Part>& part = parts_[number];
    if (part == nullptr) {
      Circuit circuit = empty;
      for (std::uint32_t i = begin_of(number); i < begin_of(number + 1); ++i)
        circuit.append(before, before.operations()[i]);
      part = std::make_unique<Part>(std::move(circuit), from_zero_ && number == 0);
    }
    part->changed = part->optimizer.run_whole(left_out, part->result);
  });
  Rewritten whole;
  Joined joined(before, whole);
  std::vector<std::string_view> recognised;
  bool changed = false;
  for (std::size_t number = 0; number < parts; ++number) {
    Part& part = *parts_[number];
    const Rewritten made = std::exchange(part.result, {});
    if (part.changed) {
      joined.append(begin_of(number), made);
    } else {
      joined.append(begin_of(number), part.circuit);
    }
    changed |= part.changed;
    whole.cost += made.cost;
    recognised.insert(recognised.end(), made.recognised.begin(), made.recognised.end());
  }
  for (const std::string_view pass : recognising_passes())
    if (std::ranges::find(recognised, pass) != recognised.end()) whole.recognised.push_back(pass);
  result.cost = whole.cost;
  if (form_ != nullptr) result = *form_;
  bool rewritten = form_ != nullptr;
  if (changed) chain(result, rewritten, std::move(whole));
  return rewritten;
}

}  // namespace qsim
