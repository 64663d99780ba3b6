// Pools for several plans.
#pragma once

#include <cstdint>

#include "plan/cost/machine.h"
#include "plan/cost/pool_layout.h"
#include "plan/program/planned_circuit.h"

namespace qsim {

/// What a pool needs to hold any one of the program's plans and the tables of all of them on 2^rank_bits ranks, which
/// play the ranks of the plans where those are more. Saved states of branches come on top.
PoolLayout program_layout(const PlannedCircuit& program, const Machine& machine, std::uint32_t rank_bits);

/// A pool for both, one after the other: the tables of both, otherwise the larger of each.
PoolLayout joined(PoolLayout first, const PoolLayout& second);

}  // namespace qsim
