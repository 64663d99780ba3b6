// The plan: a value (no pointer, handle or rank in it) that says every trip over memory and every exchange of a run.
//
// Physical index of an amplitude: the low `local_bits()` bits are its place in a shard, the top `rank_bits` bits are
// the rank's number. All bits in a plan are physical bits of that index. All masks are over it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/layout.h"
#include "plan/open_numbers.h"
#include "qsim/target.h"
#include "qsim/types.h"

namespace qsim {

/// What an operation of a sweep does to a tile.
enum class Form : std::uint8_t {
  kMatrix,  // dense 2^t x 2^t matrix on t = 1..6 targets, all active
  kFlip,    // X on one active target: a permutation, so free where it is folded into addresses
  kPhases,  // diagonal: product of phase terms over any bits, active or not, local or global
};

/// exp(i angle) where every bit of `mask` is 1 (parity: where an odd number of them is). mask 0, parity false:
/// everywhere.
struct PhaseTerm {
  PhaseTerm() = default;
  PhaseTerm(Index bits, bool of_parity, const OpenAngle& of)
      : mask(bits), parity(of_parity), open(of.sum), angle(of.value) {}
  Index mask = 0;
  bool parity = false;
  std::uint32_t open = 0;  // the angle's sum in Plan::open; 0: fixed
  double angle = 0;
  OpenAngle whole_angle() const { return {angle, open}; }
  friend bool operator==(const PhaseTerm&, const PhaseTerm&) = default;
};

constexpr int kMaxMatrixTargets = 6;

/// One operation of a sweep. It acts only where (index & control_mask) == control_value; controls may be any bits.
struct PlanOp {
  Form form = Form::kMatrix;
  std::uint8_t target_count = 0;                 // kPhases: 0
  std::array<Bit, kMaxMatrixTargets> targets{};  // bit j of a matrix index is targets[j]
  Index control_mask = 0, control_value = 0;
  std::uint32_t data_begin = 0, data_count = 0;  // kMatrix: 4^t entries of Sweep::matrices, row-major; kPhases: terms
  std::uint32_t gates = 0;                       // operations of the circuit merged into this one
  std::uint32_t open = 0;                        // kMatrix: the product in Plan::open that it is; 0: fixed
  friend bool operator==(const PlanOp&, const PlanOp&) = default;

  /// Whether its controls ask none of these bits to be 0; else where it acts they are never all 1.
  bool may_meet(Index ones) const { return (ones & control_mask & ~control_value) == 0; }
  /// Bits that must be active (and local).
  Index target_mask() const {
    Index mask = 0;
    for (std::size_t j = 0; j < target_count; ++j) mask |= Index{1} << targets[j];
    return mask;
  }
  /// Its targets become the bits of `mask`, the lowest first.
  void act_on(Index mask) {
    target_count = 0;
    for (; mask != 0; mask &= mask - 1) targets.at(target_count++) = static_cast<Bit>(std::countr_zero(mask));
  }
};

/// A bit that leaves its known product state in this sweep: the amplitude at bit = v is that at bit = 0 times
/// factor[v].
struct Birth {
  Bit bit = 0;
  std::array<Complex, 2> factor{Complex(1), Complex(0)};
  std::uint32_t open = 0;  // the product in Plan::open of which it is the first column; 0: fixed
  friend bool operator==(const Birth&, const Birth&) = default;
};

/// One read and one write of the (nonzero part of the) shard.
///
/// A tile is the 2^k amplitudes that differ in the active bits only; tiles are named by the inactive local bits.
/// `unborn` bits are those that no sweep has materialised: memory holds valid amplitudes only where all of them are 0,
/// and what lies elsewhere is garbage that must not be read. Afterwards unborn' = unborn minus the births. Tiles cover
/// the values of all inactive bits that are born afterwards. Loading a tile: where `reads`, amplitudes with every
/// unborn bit 0 come from memory; bits born here multiply them by their factor (a bit born while inactive must have
/// factor {1, 0}: its tiles at 1 start as zeros); still unborn bits stay 0. Where not `reads` (the first write), the
/// loaded value is the product of all births' factors, times the rank's entry of Plan::global_start (put into
/// `start_scale` by specialize), and inactive births may have any factor. Storing: the amplitude with in-tile bits at
/// active[i] goes to the place with the same bits at store[i].
///
/// Where `reach` is not empty, operations see other coordinates than memory has: an active bit i at 1 flips the bits
/// reach[i] of the place in memory, where it otherwise flips active[i] alone. They are local bits and, taken on the
/// active bits, linearly independent, so that tiles still cover the shard, each place once. Such a sweep reads, bears
/// nothing, moves nothing at its store, none of these bits is unborn, and no exchange overlaps with it.
///
/// Where it has a `bundle`, a sweep permutes: its operations are flips of bits of the bundle, under any controls, and
/// phases of whole sixteenths of a turn; no bit is active, and what is at a place goes where the flips, one after the
/// other, take the place, with the phases of the places on its way. A bundle of places are those that differ in these
/// bits, all born afterwards; they are gathered into memory beside the state (PoolLayout::spare_bytes) and put back,
/// unless one bundle is all of the shard: then that memory becomes the state's and the state's is beside it. Such a
/// sweep bears bits with the factor {1, 0} alone, and no exchange overlaps with it. Where it is the first write it
/// bears every bit, global ones too, one bundle is all of the shard, and what is taken to a place is the product of the
/// factors where it comes from, on whichever rank that is: flips may have global bits as their targets, and no memory
/// beside the state and no exchange is needed. Plan::global_start is of modulus 1 then. Specialised, such a sweep keeps
/// its operations, and has the rank's global bits in `above`.
struct Sweep {
  std::vector<Bit> active;   // ascending, local
  std::vector<Bit> store;    // a permutation of active; equal to active when nothing moves
  std::vector<Index> reach;  // empty, or one mask an active bit
  Index bundle = 0;          // not 0: the sweep permutes
  Index above = 0;           // of a specialised first write that permutes: the global bits of the shard's places
  bool reads = true;
  Index unborn = 0;
  std::vector<Birth> births;
  Complex start_scale{1, 0};  // used only where !reads
  std::vector<PlanOp> ops;    // applied in order; bits are those before the store permutation
  std::vector<Complex> matrices;
  std::vector<PhaseTerm> phases;
  double predicted_seconds = 0;
  bool once = false;  // made for a single run: a device need not spend on translating it what only many runs give back
  bool permutes() const { return bundle != 0; }
  bool gathers() const { return permutes() && reads; }  // through memory beside the state
  friend bool operator==(const Sweep&, const Sweep&) = default;
};

/// Of an operation of `sweep`; none where it is not diagonal.
inline std::span<const PhaseTerm> terms_of(const Sweep& sweep, const PlanOp& op) {
  return op.form == Form::kPhases ? std::span(sweep.phases).subspan(op.data_begin, op.data_count)
                                  : std::span<const PhaseTerm>();
}

/// Whether it has numbers that may be put in anew.
inline bool is_open(const Sweep& sweep) {
  const auto open = [](const auto& of) { return of.open != 0; };
  return std::ranges::any_of(sweep.ops, open) || std::ranges::any_of(sweep.phases, open) ||
         std::ranges::any_of(sweep.births, open);
}

/// Whether all that `sweep`, which permutes a shard of 2^local_bits, leaves born is one bundle.
inline bool is_one_bundle(const Sweep& sweep, std::uint32_t local_bits) {
  Index unborn = sweep.unborn;
  for (const Birth& birth : sweep.births) unborn &= ~(Index{1} << birth.bit);
  return (sweep.bundle | unborn) == (Index{1} << local_bits) - 1;
}

/// Whether `sweep`, which permutes, is an affine map of places, over bits, and one phase of everything.
inline bool is_affine(const Sweep& sweep) {
  return std::ranges::all_of(sweep.ops, [&](const PlanOp& op) {
    if (op.form == Form::kFlip) return (op.control_mask & (op.control_mask - 1)) == 0;
    const auto has_bits = [&](const PhaseTerm& term) { return (term.mask | op.control_mask) != 0; };
    return op.form == Form::kPhases && std::ranges::none_of(terms_of(sweep, op), has_bits);
  });
}

/// What active bit i of `sweep` flips of a place in memory.
inline Index reach_of(const Sweep& sweep, std::size_t i) {
  return sweep.reach.empty() ? Index{1} << sweep.active[i] : sweep.reach[i];
}

/// Swaps local bits with global bits, all at once: rank r keeps the part of its shard whose local bits equal r's value
/// on the global bits and trades each other part with the rank that has that value. `chunk_mask`: local bits that cut
/// each part into independent chunks. They are not swapped, and they are inactive and born in the last `overlap_before`
/// sweeps of the stage before and the first `overlap_after` sweeps of this stage, so those sweeps may run chunk by
/// chunk, one after the other, while other chunks travel. All swapped local bits are born. `unborn`: local bits that
/// are still unborn; only what lies where all of them are 0 travels.
struct Exchange {
  std::vector<std::pair<Bit, Bit>> swaps;  // (local bit, global bit)
  Index chunk_mask = 0, unborn = 0;
  std::uint32_t overlap_before = 0, overlap_after = 0;
  double predicted_seconds = 0;        // alone
  double predicted_added_seconds = 0;  // to the sweeps that run anyway, some of them beside it
  friend bool operator==(const Exchange&, const Exchange&) = default;
};

/// Everything between two exchanges.
struct Stage {
  std::optional<Exchange> exchange;  // runs before the sweeps
  Layout layout;                     // qubit -> bit at the first sweep, after the exchange
  std::vector<Sweep> sweeps;
  friend bool operator==(const Stage&, const Stage&) = default;
};

/// Where one operation of the circuit went (only with PlanOptions::trace).
struct TraceEntry {
  std::uint32_t operation = 0;                   // index in Circuit::operations()
  std::int32_t stage = -1, sweep = -1, op = -1;  // -1: removed; `note` says why
  std::string note;
  friend bool operator==(const TraceEntry&, const TraceEntry&) = default;
};

/// What a run starts from.
enum class Start : std::uint8_t {
  kZero,    // |0...0>
  kRandom,  // normalised Gaussian amplitudes, Philox keyed by seed and logical index
  kState,   // whatever the state holds (later parts of a dynamic circuit)
};

struct Plan {
  std::uint32_t qubits = 0;
  std::uint32_t rank_bits = 0;
  std::uint32_t tile_bits = 0;  // k the planner aimed at; a sweep may have fewer active bits
  Precision precision = Precision::kDouble;
  Start start = Start::kZero;
  Layout initial_layout, final_layout;  // final: after the last sweep
  std::vector<Complex> global_start;    // start kZero: amplitude of each rank's value of the global bits (2^rank_bits)
  std::vector<Stage> stages;
  std::uint64_t gates = 0;          // gates of the circuit that the plan stands for
  std::uint64_t gates_removed = 0;  // of those: cancelled, relabelled or vanished on known states
  std::vector<std::pair<std::string, std::uint64_t>> merged;  // what was merged or removed, by kind, for people
  double unitarity_defect = 0;                                // unitarity_defect() of what it stands for
  std::uint64_t rewrites_refused = 0;  // not made: put together again they were not what they stood for
  std::vector<TraceEntry> trace;
  OpenNumbers open;  // of a plan for angles that are open: how its numbers follow them

  std::uint32_t local_bits() const { return qubits - rank_bits; }
  friend bool operator==(const Plan&, const Plan&) = default;
};

/// What a plan does to memory and links, a rank (exact: a run counts the same numbers). Bytes.
struct PlanWork {
  std::uint64_t sweeps = 0, exchanges = 0;
  std::uint64_t bytes_swept_per_rank = 0;                             // read plus written, exactly what is touched
  std::uint64_t bytes_exchanged_per_rank = 0;                         // sent
  double sweep_seconds = 0, exchange_seconds = 0, total_seconds = 0;  // predicted; total counts overlap
};
PlanWork plan_work(const Plan& plan);

/// Puts in the numbers of `plan`, which `open` says how to make, for other angles of its circuit.
void put_angles(Plan& plan, const OpenNumbers& open, std::span<const double> angles);

/// Throws VerificationError naming the stage, sweep and operation that break a rule of the plan's words above.
void verify_plan(const Plan& plan);

/// What `sweep` means on `rank`: controls on global bits decided, global phase bits folded, start_scale set, operations
/// that do nothing here dropped. The result mentions local bits only.
Sweep specialize(const Sweep& sweep, const Plan& plan, std::uint32_t rank);

}  // namespace qsim
