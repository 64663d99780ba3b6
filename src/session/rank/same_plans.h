// What a program does, compared between ranks before they start on it.
#pragma once

#include <cstdint>

#include "base/ranks/communicator.h"
#include "plan/plan.h"
#include "plan/program/planned_circuit.h"

namespace qsim {

/// Throws CommunicatorError on every rank where the ranks' plans differ in their steps, sweeps, exchanges or numbers,
/// or in how many `snapshots` they keep: such ranks would wait for each other for ever, or give wrong numbers.
/// Collective.
void require_same_plans(const Plan& plan, Communicator& communicator);
void require_same_plans(const PlannedCircuit& program, std::uint32_t snapshots, Communicator& communicator);

}  // namespace qsim
