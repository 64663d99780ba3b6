// A program with classical control as it comes from its text: unitary blocks and what joins them.
#pragma once

#include <optional>

#include "classical/control.h"
#include "qsim/circuit.h"

namespace qsim {

struct Flow : Control {
  Circuit circuit;          // the blocks' operations; without classical registers
  double global_phase = 0;  // of the whole program; 0 where it branches
};

/// Takes out steps that nothing reaches, jumps to the next step, and assignments that nothing reads.
void tidy(Control& control);

/// A flow without branches as a circuit: its registers are the classical ones, bits that no measurement reaches keep
/// what they begin with. The operations are taken out of `flow`. nullopt, and `flow` as it was, where a circuit cannot
/// hold it.
std::optional<Circuit> straight_circuit(Flow& flow);

/// Any flow as a circuit: its registers are the classical ones, and its control says what runs when.
Circuit controlled_circuit(Flow flow);

}  // namespace qsim
