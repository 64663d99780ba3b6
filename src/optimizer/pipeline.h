// The circuit-to-circuit passes that run before planning, by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "qsim/circuit.h"

namespace qsim {

/// Circuits of at most so many operations, those of one run on one qubit counted once, are planned both with the
/// structure that is given back and as they are written; longer ones go through the passes once.
constexpr std::size_t kFewOperations = 8000;

/// Those of twice as many and more go through the passes in parts of about so many, each part by itself.
constexpr std::size_t kOptimizerPart = 200'000;

constexpr std::uint32_t kNoPlace = std::numeric_limits<std::uint32_t>::max();

/// A circuit that means the same as another one, and where that one's operations are in it.
struct Rewritten {
  Circuit circuit;
  /// By operation before: the one of `circuit` that it is counted on; kNoPlace where it stands for nothing now. An
  /// operation of `circuit` may have any number of them, also none.
  std::vector<std::uint32_t> place;
  std::vector<std::pair<std::uint32_t, const char*>> removed;  // what stands for nothing, and why
  std::vector<std::string_view> recognised;  // the passes of recognising_passes() that changed something
  std::uint64_t refused = 0;   // rewrites that were not made: put together again they were not what they stood for
  double cost = 0;             // circuit_cost() of `circuit`, set by Optimizer
  std::vector<Qubit> wire_of;  // qubit q of the circuit before is qubit wire_of[q] of `circuit` at the end; empty: q
};

/// `result`, where it is `changed` already, and then `next`; it is changed afterwards.
void chain(Rewritten& result, bool& changed, Rewritten next);

/// A pass (docs/plan.md has what each does).
struct Pass {
  std::string_view name;
  /// False when it found nothing: the result is then of no use and the circuit stays.
  bool (*make)(const Circuit& circuit, Rewritten& result);
  /// Instead: several things that the pass may make of it, between which only plans can tell. Where every qubit is 0 at
  /// the start they need be the same only then.
  std::vector<Rewritten> (*make_several)(const Circuit& circuit, bool from_zero) = nullptr;
  /// circuit_cost() does not judge what it makes of a short circuit: many terms that are one diagonal later. The pass
  /// weighs that itself, and so do plans with and without it.
  bool weighs_itself = false;
  /// It is not taken for less than this part of the circuit's weight: another form of it is planned then.
  double least_saving = 0;

  /// What it makes of the circuit; nothing where it found nothing.
  std::vector<Rewritten> run(const Circuit& circuit, bool from_zero) const;
};

/// A bit for each pass, in the order in which they run.
using PassSet = std::uint32_t;

/// Every pass, in the order in which they run.
std::span<const Pass> optimizer_passes();

/// Those that give back structure. It may be planned as it was hidden for less.
std::span<const std::string_view> recognising_passes();

/// Runs the passes over one unitary circuit (terminal measurements and barriers are dropped), for one set of disabled
/// passes after the other: what several sets begin with is done once. Long circuits are cut into parts, which do not
/// depend on how many threads there are, and what stands on both sides of a cut is not seen together.
class Optimizer {
 public:
  /// `from_zero`: every qubit is 0 at the start, and what is made need be the same only then. `form`: what the circuit
  /// is rewritten as already, from where passes go on.
  Optimizer(const Circuit& circuit, bool from_zero, const Rewritten* form = nullptr,
            std::size_t part_operations = kOptimizerPart);
  ~Optimizer();

  /// All passes but the disabled ones. What a pass makes dearer by circuit_cost() is not taken, but for passes that
  /// weigh it themselves. False when nothing changed: the circuit can be used as it is (`result` has its cost).
  /// `choice`: of what sums over paths make, 0 the lightest.
  bool run(const std::vector<std::string>& disabled, Rewritten& result, std::size_t choice = 0);
  /// How many choices there are; of short circuits alone more than one is kept.
  std::size_t choices(const std::vector<std::string>& disabled);

  const Circuit& circuit() const { return circuit_; }
  /// Of few operations, as it is or as it is rewritten already.
  bool is_short() const { return is_short_; }

 private:
  /// What passes make of the circuit, but for those of them that are left out.
  struct Made {
    Rewritten result;
    bool changed = false;
  };
  struct Part;
  std::size_t operations() const { return (form_ != nullptr ? form_->circuit : circuit_).operations().size(); }
  /// What choices are by; a long circuit is planned in parts, each of which is a piece at best.
  double cost_of(const Circuit& permuted) const;
  bool run_whole(PassSet left_out, Rewritten& result, std::size_t choice = 0);
  bool run_in_parts(PassSet left_out, Rewritten& result);
  /// From place `first` of the list up to the dearest one, by choice.
  std::vector<Made> permuted(Made made, std::size_t first, PassSet left_out) const;
  /// Those up to where what several sets begin with ends, by choice.
  const std::vector<Made>& beginning(PassSet left_out);
  Made until_last(PassSet left_out, std::size_t choice);  // all but the last one
  Made run_without(PassSet left_out, std::size_t choice);
  /// The passes from place `first` to `end` of the list, over what there is. `others`: what else there is to choose
  /// from then, in addition.
  void run_passes(std::size_t first, std::size_t end, PassSet left_out, Made& made,
                  std::vector<Made>* others = nullptr) const;

  const Circuit& circuit_;
  bool from_zero_;
  const Rewritten* form_;
  std::size_t part_operations_;
  bool is_short_;
  std::map<PassSet, std::vector<Made>> permuted_, beginnings_;
  std::map<std::pair<PassSet, std::size_t>, Made> made_;
  std::vector<std::unique_ptr<Part>> parts_;  // of a long circuit
};

/// The passes, once, from whatever state.
bool optimize(const Circuit& circuit, const std::vector<std::string>& disabled, Rewritten& result);

/// Arithmetic of the circuit on an amplitude, done gate by gate, in units of half a real 2x2 matrix. Phases of one
/// qubit are nearly free where a diagonal on several qubits stands between the same gates: one merged diagonal does
/// both.
double circuit_cost(const Circuit& circuit);
/// The same, and more for each piece of flips that gates which turn qubits cut off: a piece by itself may be one sweep.
double cost_in_pieces(const Circuit& circuit);

/// Flips of one qubit move past diagonals and CX gates to where a gate on the qubit or another flip takes them in.
bool absorb_flips(const Circuit& circuit, Rewritten& result);
/// The same of circuits of gates on one qubit and CX gates.
bool absorb_compiled_flips(const Circuit& circuit, Rewritten& result);

/// Square roots of X between phases become the Hadamard gates, flips and rotations that they were written for.
bool name_turns(const Circuit& circuit, Rewritten& result);

/// Unitary matrices that act only where a target is 1 become smaller ones with controls.
bool extract_controls(const Circuit& circuit, Rewritten& result);

/// SWAP gates, phased or not, rename the qubits of all that follows.
bool relabel_swaps(const Circuit& circuit, Rewritten& result);

/// Removes pairs of operations that undo each other and have nothing between them on any of their qubits.
bool cancel_inverses(const Circuit& circuit, Rewritten& result);

/// Neighbours on one target under the same controls become one matrix under them.
bool merge_controlled(const Circuit& circuit, Rewritten& result);

/// Turns about XX, YY and ZZ of a pair of qubits, however they are written, become a controlled rotation between CX
/// gates, and a phase.
bool recognise_exchanges(const Circuit& circuit, Rewritten& result);

/// CX gates and phases about Z become rotations about parities and, where they add up to those, phases of products.
bool gather_products(const Circuit& circuit, Rewritten& result);

/// Hadamard gates around half turns become flips, with controls, and flips between them half turns.
bool recognise_flips(const Circuit& circuit, Rewritten& result);

/// Removes pairs of equal flips with controls that commute with all but one flip or half turn between them, and does
/// beside that one what they did to it.
bool cancel_flips(const Circuit& circuit, Rewritten& result);

/// Runs of gates on one qubit become one matrix. Phases at their ends stay apart where a diagonal on several qubits
/// takes them.
bool merge_runs(const Circuit& circuit, Rewritten& result);
/// The same where rotations and products are still to be recognised: phases stay apart beside targets of CX as well.
bool gather_runs(const Circuit& circuit, Rewritten& result);

/// Hadamard gates with phases between them that only permute basis states and give them phases become flips, with
/// controls, and phases: what gates with several controls are written as. In several ways, those that find something.
/// `from_zero`: every qubit is 0 at the start, and the first ones need be the same only then.
std::vector<Rewritten> recognise_permutations(const Circuit& circuit, bool from_zero);

/// Gates on a qubit between CX gates onto it of one control become one gate on it and one under the control.
bool recognise_controlled(const Circuit& circuit, Rewritten& result);
/// The same behind the other passes, also around an odd number of CX gates: a reflection under their control.
bool join_controlled(const Circuit& circuit, Rewritten& result);

/// Rotations about Y between CX gates that have the qubit for their target become rotations about parities, between two
/// turns about X that take Y to Z: what a rotation chosen by other qubits is written as.
bool recognise_multiplexers(const Circuit& circuit, Rewritten& result);

/// Matrices on a qubit between controlled ones on it become rotations about parities of the controls and the qubit,
/// around two turns about X: what a matrix chosen by other qubits is written as.
bool recognise_choices(const Circuit& circuit, Rewritten& result);

/// CX a,b ... CX a,b around rotations of b about Z becomes rotations about the parity of both.
bool recognise_rotations(const Circuit& circuit, Rewritten& result);

/// CX gates with nothing else between them become fewer, and new names of the qubits that follow.
bool shorten_cx_networks(const Circuit& circuit, Rewritten& result);

/// Equal diagonals with nothing between them but diagonals on their qubits add up.
bool merge_diagonals(const Circuit& circuit, Rewritten& result);

/// The same, and angles that are simple parts of a turn but for rounding are exactly those.
bool gather_diagonals(const Circuit& circuit, Rewritten& result);

/// Phases about parities become phases of products, where those are fewer.
bool recognise_products(const Circuit& circuit, Rewritten& result);

/// A rotation about XX with turns of both qubits behind it becomes turns around one about ZZ.
bool split_pairs(const Circuit& circuit, Rewritten& result);

/// A general gate on one qubit, beside diagonals, becomes phases around a real rotation.
bool split_turns(const Circuit& circuit, Rewritten& result);

}  // namespace qsim
