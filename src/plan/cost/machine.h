// What plans are made for: a machine's memory, and what everything that a plan does costs there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/numbers/matrix2.h"
#include "plan/plan.h"
#include "qsim/target.h"

namespace qsim {

/// A number for each form of operation; of phases one for the operation and one for each term.
struct FormCosts {
  double matrix1_general = 0, matrix1_real = 0, butterfly = 0, flip = 0, phases = 0, phase_term = 0, regroup = 0;
  double flip_outside = 0;  // of a flip that bits outside the tile control, beside `flip`
  double flip_inside = 0;   // of one that two bits and more control, of which some are in the tile, instead of that
  double phase_part = 0;    // of terms with bits inside and outside the tile: each set of those inside
  double matrix_dense[kMaxMatrixTargets + 1] = {};  // [t]: dense unitary on t targets
  double pair_entry = 0;        // each of the 32 real numbers of a matrix on two targets that is not 0; 0: all are paid
  double pair_base = 0;         // beside them; 0: two flips
  double flip_in_a_row = 0;     // of flips that no turns stand between; 0: as others
  bool by_parity = false;       // parity_entries() are paid, not pair_entries()
  double controlled_entry = 0;  // the same of the 8 numbers of one on one target, with controls

  /// What is left of a matrix's cost with controls, where the numbers in it do not count: half of the amplitudes stay,
  /// but the lanes wait.
  static constexpr double kControlledShare = 0.75;

  /// All of them, `arithmetic` times as long, but a regroup `moves` times.
  void scale(double arithmetic, double moves);

  /// The same where flips follow each other; what else is made of their cost stays.
  void put_flips_in_a_row();

  /// Of a matrix on two targets, by pair_entries() or parity_entries().
  double pair(double entries) const {
    return pair_entry == 0 ? matrix_dense[2]
                           : std::min(matrix_dense[2], (pair_base > 0 ? pair_base : 2 * flip) + pair_entry * entries);
  }
  /// Of matrices on one target with controls, by real_entries() and by what they cost without controls.
  double controlled(double entries, double alone) const {
    return controlled_entry > 0 ? controlled_entry * entries : kControlledShare * alone;
  }
  friend bool operator==(const FormCosts&, const FormCosts&) = default;
};

/// What FormCosts or ArithmeticCounts have for matrices of a kind on one target without controls.
template <class Table>
auto& of_turn(Table& table, TurnKind kind) {
  return kind == TurnKind::kGeneral     ? table.matrix1_general
         : kind == TurnKind::kButterfly ? table.butterfly
                                        : table.matrix1_real;
}

/// Of sweeps that permute. Amplitudes come from far apart: `line_bytes` are read with each, and those that go where it
/// goes, not more than 2^window_bits places away, are there then; the others are read again, in nanoseconds a million
/// amplitudes for each line (`again`; 0: as long as reading takes). Those that go further than 2^near_bits away are
/// asked for once more, which takes `near_again`. Beside memory nanoseconds a million amplitudes: for making places of
/// words, and for each step of a program. `affine`: trips over memory that a sweep takes which
/// is_affine; 0: it is as any other. Of a first write that permutes: for each amplitude, and for each table in which a
/// factor of it is looked up. `interpreted_step`: in programs of more than kMostCompiledSteps; 0: as in any other.
struct PermutationCosts {
  double line_bytes = 0, place = 0, step = 0, affine = 0, product = 0, lookup = 0;
  std::uint32_t window_bits = 0;
  double interpreted_step = 0;
  double again = 0, near_again = 0;
  std::uint32_t near_bits = 0;
  friend bool operator==(const PermutationCosts&, const PermutationCosts&) = default;
};

/// Of sweeps that write amplitudes which they do not read, by the share of those in what is written: of memory's time,
/// where anything is read, since a tile's stores wait for its few loads, unless `ahead` bits or more are born in a
/// tile, which asks ahead then (0: none does); and of the writing, where 3, 4, ... lowest bits are active, since lines
/// are not written beside each other. With more than these they are.
struct BirthCosts {
  double wait = 0;
  std::vector<double> apart;
  std::uint32_t ahead = 0;
  std::uint32_t whole_lines() const { return 3 + static_cast<std::uint32_t>(apart.size()); }
  friend bool operator==(const BirthCosts&, const BirthCosts&) = default;
};

/// Seconds of everything a plan does, for one device kind and precision; data in src/plan/cost/machines/*.json. The
/// costs by form are arithmetic: nanoseconds a million amplitudes written.
struct CostTable : FormCosts {
  double sweep_overhead = 0;                                     // a launch
  double read_bytes_per_second = 0, write_bytes_per_second = 0;  // of a sweep that is bound by memory
  double narrow_run_factor[4] = {1, 1, 1, 1};  // memory time multiplier with 0, 1, 2, 3 or more lowest bits active
  std::optional<BirthCosts> births;            // none: they cost no more than their traffic
  double norm = 0;                             // arithmetic of a plan's last sweep, which adds up the norm
  // How well memory and arithmetic overlap: a sweep takes (memory^p + arithmetic^p)^(1/p). 1: one after the other;
  // infinite: the longer of the two.
  double overlap_power = 1;
  // Straight-line kernels: instructions of a thread by form and of what surrounds them, and how many the instruction
  // cache holds; 0: any number.
  FormCosts instructions;
  double kernel_instructions = 0, cached_instructions = 0;
  // Of sweeps that do dense matrices on two targets on lanes (decision 0012), where those are cheaper and all else is
  // dearer: whichever is less work as a whole is done.
  std::optional<FormCosts> lanes, lanes_instructions;
  std::optional<PermutationCosts> permutation;  // where sweeps may permute
  double link_bytes_per_second = 0;             // a rank, each way
  double exchange_overhead = 0;                 // once, and once more for each partner
  friend bool operator==(const CostTable&, const CostTable&) = default;
};

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
  friend bool operator==(const Machine&, const Machine&) = default;
};

/// The machine for plans whose sweeps write whole lines where wires are born (BirthCosts): more low bits; none where it
/// has no such costs.
std::optional<Machine> with_whole_lines(Machine machine, Precision precision);

/// The machine as if births cost no more than their traffic, and the norm nothing.
Machine without_births_and_norm(Machine machine);

/// The machine for plans whose controlled flips stay whole: FormCosts::flip_in_a_row.
Machine with_flips_in_a_row(Machine machine);

/// "cpu", "h200", another of known_gpus(), or a JSON file (qsim.machine/1); UsageError with what is known otherwise.
Machine find_machine(const std::string& name);

namespace detail {

/// The machine descriptions that are part of the library (src/plan/cost/machines/*.json, embedded by
/// cmake/embed_costs.cmake).
struct BuiltInMachine {
  std::string_view name, json;
};
std::span<const BuiltInMachine> built_in_machines();

/// Parses a qsim.machine/1 document; UsageError naming the key that is missing, unknown or out of range. `source` is
/// what messages call it.
Machine parse_machine(std::string_view json, const std::string& source);

}  // namespace detail

}  // namespace qsim
