// Classical values of a program as a drawing calls them: by the program's own names.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "classical/control.h"
#include "qsim/circuit.h"

namespace qsim::picture {

/// Steps write variables of which several may stand for one of the program's own, one after the other. A value that
/// its name no longer holds where it is read is shown with the line that made it: "c[0]@7".
class Values {
 public:
  /// `first_wire`: that of the circuit's first register. UnsupportedError for programs too large to be drawn.
  Values(const Circuit& circuit, std::uint32_t first_wire);

  /// Labels of the wires behind the circuit's registers.
  const std::vector<std::string>& labels() const { return labels_; }
  /// The wire of what the program calls `variable`.
  std::uint32_t wire(std::uint32_t variable) const;
  /// Which bit of its wire it is: "2"; empty for a number.
  std::string element(std::uint32_t variable) const;
  /// Whether assignment number `step` changes nothing that has a name.
  bool is_copy(std::uint32_t step) const { return copies_.contains(step); }
  /// "0:=c[1]": what assignment number `step` writes to its wire.
  std::string assignment(std::uint32_t step) const;
  /// The condition of branch number `step`, or its opposite.
  std::string condition(std::uint32_t step, bool negated) const;
  /// The wires of what the condition reads, rising.
  std::vector<std::uint32_t> wires_read(std::uint32_t step) const;

  /// What stands in a register when the program ends although nothing was drawn that wrote it: wire and text.
  const std::vector<std::pair<std::uint32_t, std::string>>& written_at_end() const { return at_end_; }

 private:
  /// A name and which of its elements.
  using Key = std::pair<std::uint32_t, std::uint32_t>;
  /// The variables that hold what stands under a name now; without an entry nothing was written there yet.
  using Held = std::map<Key, std::vector<std::uint32_t>>;

  void name_variables();
  void name_outputs();
  void make_wires();
  void follow_steps();
  void do_step(std::uint32_t place, Held& held);
  void note_reads(std::uint32_t place, const Held& held);
  std::uint32_t source_of(std::uint32_t expression) const;
  std::string name(std::uint32_t variable) const;
  std::string name_at(std::uint32_t variable, std::uint32_t step) const;
  std::string text(std::uint32_t expression, std::uint32_t step) const;
  std::string joined_text(std::uint32_t expression, std::uint32_t step) const;
  std::string operation_text(const FlowExpression& node, std::uint32_t step) const;
  std::string part(std::uint32_t expression, std::uint32_t step) const;

  const Circuit& circuit_;
  const Control& control_;
  std::uint32_t first_wire_;
  std::vector<Key> keys_;                                    // by variable
  std::vector<std::string> names_;                           // by Key::first
  std::vector<std::uint32_t> sizes_;                         // elements of each name; 0: a number
  std::vector<std::uint32_t> wires_;                         // by name
  std::vector<std::string> labels_;                          // of wires behind the registers
  std::vector<std::uint32_t> lines_;                         // by variable: where it was written
  std::set<std::uint32_t> copies_;                           // steps
  std::set<std::pair<std::uint32_t, std::uint32_t>> stale_;  // step and variable that its name no longer holds there
  std::vector<std::pair<std::uint32_t, std::string>> at_end_;
};

}  // namespace qsim::picture
