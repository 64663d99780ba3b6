// The plan: a value (no pointer, handle or rank in it) that says every trip over memory and every exchange of a run.
//
// Physical index of an amplitude: the low `local_bits()` bits are its place in a shard, the top `rank_bits` bits are
// the rank's number. All bits in a plan are physical bits of that index. All masks are over it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "qsim/circuit.h"
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
  Index mask = 0;
  bool parity = false;
  double angle = 0;
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
  friend bool operator==(const PlanOp&, const PlanOp&) = default;
};

/// A bit that leaves its known product state in this sweep: the amplitude at bit = v is that at bit = 0 times
/// factor[v].
struct Birth {
  Bit bit = 0;
  std::array<Complex, 2> factor{Complex(1), Complex(0)};
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
struct Sweep {
  std::vector<Bit> active;  // ascending, local
  std::vector<Bit> store;   // a permutation of active; equal to active when nothing moves
  bool reads = true;
  Index unborn = 0;
  std::vector<Birth> births;
  Complex start_scale{1, 0};  // used only where !reads
  std::vector<PlanOp> ops;    // applied in order; bits are those before the store permutation
  std::vector<Complex> matrices;
  std::vector<PhaseTerm> phases;
  double predicted_seconds = 0;
  bool sums_bits = false;  // Backend::take_bit_probabilities() is wanted; the executor's, not a plan's
  friend bool operator==(const Sweep&, const Sweep&) = default;
};

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

enum class Start : std::uint8_t {
  kZero,    // |0...0>
  kRandom,  // normalised Gaussian amplitudes, Philox keyed by seed and logical index
  kState,   // whatever the state holds (later parts of a dynamic circuit)
};

/// Where one operation of the circuit went (only with PlanOptions::trace).
struct TraceEntry {
  std::uint32_t operation = 0;                   // index in Circuit::operations()
  std::int32_t stage = -1, sweep = -1, op = -1;  // -1: removed; `note` says why
  std::string note;
  friend bool operator==(const TraceEntry&, const TraceEntry&) = default;
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
  double unitarity_defect = 0;                                // Circuit::unitarity_defect() of what it stands for
  std::uint64_t rewrites_refused = 0;  // not made: put together again they were not what they stood for
  std::vector<TraceEntry> trace;

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

/// Throws VerificationError naming the stage, sweep and operation that break a rule of the plan's words above.
void verify_plan(const Plan& plan);

/// What `sweep` means on `rank`: controls on global bits decided, global phase bits folded, start_scale set, operations
/// that do nothing here dropped. The result mentions local bits only.
Sweep specialize(const Sweep& sweep, const Plan& plan, std::uint32_t rank);

/// Bytes a rank allocates, item by item: the same function predicts (qsim plan) and sizes the pool (backends).
struct PoolLayout {
  std::uint64_t state_bytes = 0;     // the shard
  std::uint64_t snapshot_bytes = 0;  // saved states for branching runs
  std::uint64_t chunk_bytes = 0;     // one slot of the exchange ring
  std::uint32_t chunk_slots = 0;
  std::uint64_t table_bytes = 0;    // sweep programs
  std::uint64_t scratch_bytes = 0;  // reductions, sampling, tiles of the threads
  /// Sum of all items, each rounded up to 256 bytes.
  std::uint64_t total_bytes() const;
  friend bool operator==(const PoolLayout&, const PoolLayout&) = default;
};

// ---- Making plans
// -------------------------------------------------------------------------------------------------------

/// Seconds of everything a plan does, for one device kind and precision; data in src/plan/cost/machines/*.json.
struct CostTable {
  double sweep_overhead = 0;                                     // a launch
  double read_bytes_per_second = 0, write_bytes_per_second = 0;  // of a sweep that is bound by memory
  double narrow_run_factor[4] = {1, 1, 1, 1};  // memory time multiplier with 0, 1, 2, 3 or more lowest bits active
  // How well memory and arithmetic overlap: a sweep takes (memory^p + arithmetic^p)^(1/p). 1: one after the other;
  // infinite: the longer of the two.
  double overlap_power = 1;
  // Arithmetic, nanoseconds a million amplitudes written:
  double matrix1_general = 0, matrix1_real = 0, butterfly = 0, flip = 0, phases = 0, phase_term = 0, regroup = 0;
  double matrix_dense[kMaxMatrixTargets + 1] = {};  // [t]: dense unitary on t targets
  // Arithmetic from which on a sweep's instructions leave the instruction cache; 0: never.
  double cached_arithmetic = 0;
  double link_bytes_per_second = 0;  // a rank, each way
  double exchange_overhead = 0;      // once, and once more for each partner
};

enum class BackendKind : std::uint8_t { kCpu, kCuda, kNull };

/// What a plan is made for.
struct Machine {
  std::string name = "cpu";  // "cpu", "h200", or the file it was read from
  BackendKind kind = BackendKind::kCpu;
  CostTable cost_single, cost_double;
  std::uint64_t memory_bytes_per_rank = 0;  // usable; 0 = unknown
  std::uint32_t min_tile_bits = 10, max_tile_bits = 12;
  std::uint32_t low_bits = 3;       // lowest bits every sweep keeps active where it can (memory runs)
  std::uint32_t register_bits = 4;  // bits that are worked on between two regroups
  std::uint32_t threads = 1;
  std::uint64_t chunk_bytes = 32ull << 20;
  std::uint32_t chunk_slots = 16;
  const CostTable& cost(Precision p) const { return p == Precision::kDouble ? cost_double : cost_single; }
};

/// "h200", "cpu", or a JSON file (qsim.machine/1); UsageError with what is known otherwise.
Machine find_machine(const std::string& name);

enum class Strategy : std::uint8_t {
  kNaive,   // one gate a sweep, no merging: the reference that every other plan is compared with
  kGreedy,  // merge and pack in order
  kSearch,  // the product's planner
};

struct PlanOptions {
  std::uint32_t rank_bits = 0;
  Precision precision = Precision::kDouble;
  Start start = Start::kZero;
  bool known_zeros = true;
  std::optional<std::uint32_t> tile_bits;  // fixes k; then the fewest sweeps come before the least time
  Strategy strategy = Strategy::kSearch;
  std::vector<std::string> disabled_passes;  // names of optimizer passes to leave out (tests)
  std::optional<Layout> initial_layout;      // fixed start layout (kState)
  bool preserve_layout = false;              // final layout must equal the initial one
  bool trace = false;
};

/// Plans the unitary `circuit` (terminal measurements and barriers are skipped; anything else dynamic is an error).
Plan make_plan(const Circuit& circuit, const Machine& machine, const PlanOptions& options);

/// Memory a rank of `plan` on `machine`.
PoolLayout pool_layout(const Plan& plan, const Machine& machine);
/// Largest number of qubits whose plan would fit `machine` with 2^rank_bits ranks.
std::uint32_t largest_qubits(const Machine& machine, Precision precision, std::uint32_t rank_bits);

/// What a circuit would take on 2^rank_bits ranks.
struct RanksForecast {
  std::uint32_t rank_bits = 0;
  double seconds = 0;  // predicted
  std::uint64_t sweeps = 0, exchanges = 0;
  std::uint64_t memory_bytes_per_rank = 0;
  bool fits = true;  // in the machine's memory, where that is known
};

/// Plans `circuit` (as make_plan) for each number of ranks from `least_rank_bits` to `most_rank_bits` over which it can
/// be split; of `options`, rank_bits and trace are not used.
std::vector<RanksForecast> forecast_ranks(const Circuit& circuit, const Machine& machine, PlanOptions options,
                                          std::uint32_t least_rank_bits, std::uint32_t most_rank_bits);

/// A dynamic circuit: plans joined by measurements and resets. A circuit with terminal measurements is one plan.
struct Step {
  enum class Kind : std::uint8_t { kPlan, kMeasure, kReset, kAssign, kBranch, kJump } kind = Kind::kPlan;
  std::int32_t condition = -1;  // index into Program::conditions
  std::uint32_t plan = 0;       // kPlan: index into Program::plans
  std::uint32_t draw = 0;       // kMeasure, kReset: which of a shot's random words decides; no two steps share one
  Qubit qubit = 0;              // kMeasure, kReset
  Clbit clbit = 0;              // kMeasure; where there is control: the variable, of kAssign too
  // Only where there is control:
  std::uint32_t expression = 0;  // kAssign: the new value; kBranch: goes on with `target` unless it holds
  std::uint32_t target = 0;      // kBranch, kJump: index of a step
  std::uint32_t line = 0;
};
struct Program {
  std::vector<Plan> plans;
  std::vector<Step> steps;  // without the terminal measurements
  std::vector<Condition> conditions;
  std::vector<std::pair<Qubit, Clbit>> terminal_measures;  // in program order; a later one of the same bit wins
  std::uint32_t terminal_draw = 0;                         // as Step::draw, of the terminal measurements together
  std::optional<Control> control;  // its variables, expressions and outputs; conditions and terminal measures are empty
  bool dynamic = false;            // has a measure, reset or condition among its steps

  /// Measurements and resets among the steps, each of which may split a branch in two.
  std::uint64_t collapses() const;
};
Program make_program(const Circuit& circuit, const Machine& machine, const PlanOptions& options);

/// `qsim plan`'s text: a timetable of stages, exchanges and sweeps, and what other numbers of ranks would take.
std::string plan_text(const Plan& plan, const Machine& machine, std::span<const RanksForecast> forecasts = {});

struct CircuitSummary;  // qsim/result.h
struct Failure;
/// The `qsim.plan/1` document of a plan, and of a failure to plan (every key null but circuit, exit_code, error).
std::string plan_json(const Plan& plan, const Machine& machine, const CircuitSummary& circuit,
                      const std::vector<std::string>& warnings = {}, std::span<const RanksForecast> forecasts = {});
std::string plan_error_json(const CircuitSummary& circuit, const Failure& failure,
                            const std::vector<std::string>& warnings = {});

}  // namespace qsim
