// Runs on one qubit: phases, then a core that begins and ends with gates that are not diagonal, then phases. The core
// becomes one matrix. Phases wait through everything that is diagonal on the qubit; where that includes a diagonal on
// several qubits they stay phases, else they join a core. Beside the target of a CX they may be a part of a rotation or
// of a product that is recognised later: before that they stay phases there too.
#include <algorithm>
#include <cmath>

#include "base/bits.h"
#include "optimizer/operations.h"
#include "qsim/circuit.h"

namespace qsim {
namespace {

struct Part {
  Matrix2 matrix = kIdentity2;
  std::vector<std::uint32_t> members;

  bool empty() const { return members.empty(); }
  void multiply(const Matrix2& left, std::uint32_t i) {
    matrix = unitary_product(left, matrix);
    members.push_back(i);
  }
};

// A part that comes after (left) or before (right) the core; it takes the core's place.
void absorb(Part& core, Part& other, bool left) {
  core.matrix = left ? unitary_product(other.matrix, core.matrix) : unitary_product(core.matrix, other.matrix);
  core.members.insert(core.members.end(), other.members.begin(), other.members.end());
  other = {};
}

class RunMerger {
 public:
  RunMerger(const Circuit& circuit, bool recognised)
      : circuit_(circuit),
        recognised_(recognised),
        lines_(circuit.qubits()),
        host_(circuit.operations().size(), kNoPlace) {}

  bool run(Rewritten& result) {
    const auto& operations = circuit_.operations();
    for (std::uint32_t i = 0; i < operations.size(); ++i)
      if (!skipped(operations[i])) visit(i);
    for (Line& line : lines_) close(line);
    result.refused = refused_;
    if (merged_.empty()) return false;
    build(result);
    return true;
  }

 private:
  struct Line {
    Part before, core, after;
    bool joined = false;  // a diagonal on several qubits has passed since the last core
  };
  struct MergedRun {
    Part part;
    std::uint32_t place = kNoPlace;
  };

  void visit(std::uint32_t i) {
    const Operation& op = circuit_.operations()[i];
    if (const auto matrix = single_qubit_matrix(circuit_, op)) {
      Line& line = lines_[circuit_.targets(op)[0]];
      if (is_diagonal(*matrix)) return (line.core.empty() ? line.before : line.after).multiply(*matrix, i);
      if (!line.after.empty()) absorb(line.core, line.after, true);
      return line.core.multiply(*matrix, i);
    }
    const Support support = support_of(circuit_, op);
    for_each_bit(support.all, [&](unsigned q) {
      Line& line = lines_[q];
      if (!test_bit(support.diagonal, q)) {
        const bool apart = !recognised_ && is_cx(op);
        if (apart && !line.core.empty()) pass(line);
        close(line);
        line.joined = apart;
        return;
      }
      if (!line.core.empty()) pass(line);
      line.joined = line.joined || support.is_diagonal();
    });
  }

  // The phases after the core go on to meet what is diagonal on the qubit.
  void pass(Line& line) {
    Part after = std::move(line.after);
    line.after = {};
    close(line);
    line.before = std::move(after);
  }

  void close(Line& line) {
    if (!line.core.empty()) {
      if (!line.joined && !line.before.empty()) absorb(line.core, line.before, false);
      if (!line.after.empty()) absorb(line.core, line.after, true);
    }
    settle(line.before);
    settle(line.core);
    line = {};
  }

  // The part becomes one operation where its first member was.
  void settle(Part& part) {
    if (part.members.size() < 2) return;
    if (!stands_for_members(part)) {
      ++refused_;
      return;
    }
    for (const std::uint32_t i : part.members) host_[i] = static_cast<std::uint32_t>(merged_.size());
    if (is_diagonal(part.matrix)) {  // exactly a diagonal, its entries phases
      for (const std::size_t entry : {std::size_t{0}, std::size_t{3}})
        part.matrix[entry] = std::polar(1.0, std::arg(part.matrix[entry]));
      part.matrix[1] = part.matrix[2] = 0;
    }
    merged_.push_back({std::move(part), kNoPlace});
  }

  // The members' matrices multiplied once more, in the order of the circuit.
  bool stands_for_members(const Part& part) const {
    std::vector<std::uint32_t> members = part.members;
    std::ranges::sort(members);
    Matrix2 made = kIdentity2;
    for (const std::uint32_t i : members)
      made = unitary_product(*single_qubit_matrix(circuit_, circuit_.operations()[i]), made);
    return recomposes(made, part.matrix, std::sqrt(static_cast<double>(members.size())));
  }

  void build(Rewritten& result) {
    Rewriter rewriter(circuit_, result);
    const auto& operations = circuit_.operations();
    for (std::uint32_t i = 0; i < operations.size(); ++i) {
      if (skipped(operations[i])) continue;
      if (host_[i] == kNoPlace) {
        rewriter.copy(i);
        continue;
      }
      MergedRun& run = merged_[host_[i]];
      if (is_identity(run.part.matrix)) {
        rewriter.remove(i, "cancelled");
      } else if (i == run.part.members.front()) {
        rewriter.add_matrix(i, circuit_.targets(operations[i])[0], run.part.matrix);
        run.place = rewriter.last();
      }
    }
    for (const MergedRun& run : merged_) {
      for (const std::uint32_t i : run.part.members) rewriter.count_on(i, run.place);
    }
  }

  const Circuit& circuit_;
  const bool recognised_;  // what CX gates and phases make together
  std::vector<Line> lines_;
  std::vector<std::uint32_t> host_;  // by operation: its run in merged_
  std::vector<MergedRun> merged_;
  std::uint64_t refused_ = 0;
};

}  // namespace

bool merge_runs(const Circuit& circuit, Rewritten& result) { return RunMerger(circuit, true).run(result); }

bool gather_runs(const Circuit& circuit, Rewritten& result) { return RunMerger(circuit, false).run(result); }

}  // namespace qsim
