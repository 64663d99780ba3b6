// The text of a kernel while it is written: arguments, lines, and one method a kind of operation. Registers are
// variables a0, a1, ... that uncontrolled swaps merely rename.
#pragma once

#include <map>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "cuda/generate/generate.h"
#include "cuda/tile/addresses.h"
#include "cuda/tile/deferred.h"
#include "cuda/tile/shears.h"

namespace qsim::cuda {

class KernelText {
 public:
  explicit KernelText(const TileProgram& program)
      : program_(program), deferred_(1u << program.register_bits, program.precision) {
    double_ = program.precision == Precision::kDouble;
    registers_ = 1u << program.register_bits;
    amplitude_bytes_ = double_ ? 16 : 8;
    name_.resize(registers_);
    reset_names();
    out_.shared_bytes = amplitude_bytes_ << program.bits;
  }
  GeneratedSweep generate();

 private:
  void line(const std::string& text) { body_ += text + '\n'; }

  // -- arguments: generate_arguments.cpp
  std::string int_arg(std::uint64_t value);
  /// Text of a truth value, a bit of such an argument.
  std::string bit_arg(bool value);
  /// Text of a real number among the arguments, where equal ones are one: what the processor keeps of them at hand is
  /// 2 KiB. One that is `held` is loaded once, to a uniform register; of the others the compiler loads all but a few
  /// again for each use: up to a third of a kernel's instructions.
  std::string real_arg(double value, bool held = true);
  std::string complex_arg(Complex value);  // both parts are loaded at once
  /// The place of these numbers, which begins evenly where they are two.
  std::size_t place_of(Complex numbers, std::size_t count);

  void reset_names() { std::iota(name_.begin(), name_.end(), 0u); }
  std::string a(std::uint32_t j) const { return "a" + std::to_string(name_[j]); }
  std::uint64_t table_offset(int table) const { return static_cast<std::uint64_t>(table) << program_.thread_bits(); }

  // -- the frame
  std::string head() const;
  /// index part of a thread's number, from columns; neighbouring unit columns become one shift.
  std::string thread_index(const std::vector<Index>& columns);
  /// Registers' offsets o0, o1, ... as XORs of slot columns.
  void slot_offsets(const std::vector<Index>& columns);
  void begin();
  /// The part of an index that all amplitudes of a tile have in common.
  void tile_base(const char* name, const std::string& number);
  void load();
  void ask_ahead(const std::vector<Index>& threads, std::uint32_t dead, std::uint32_t births);
  /// Pointers from0, ... by the slots whose bits tell where an amplitude has arrived; returns those slots.
  std::uint32_t arrived_origins(const std::vector<Index>& slots);
  void start();
  /// What a guard asks of a tile; empty where nothing.
  std::string condition(const TileGuard& guard);
  void guarded(const TileOp& op);
  void add(const TileOp& op);
  bool hardly_computes() const;
  void store();
  void add_squares(std::uint32_t dead_set);
  /// Sums of |a|^2 where an index bit is 1: over a thread's registers by the parity that says so (`to` is where its
  /// register 0 goes), then over the block's threads. generate_sums.cpp
  void sum_bits(const IndexColumns& columns, std::uint32_t dead, std::uint32_t dead_set);

  // -- rotations and matrices: generate_matrices.cpp
  void rotate(const TileOp& op);
  /// A function that multiplies its `order` arguments by `matrix`, whose entries are e0, e1, ... from the first of its
  /// own reals on; returns its name. Parts that are exactly 0 are left out.
  std::string matrix_function(const std::vector<Complex>& matrix, std::size_t order);
  /// Row r of the product, and two rows by shears.
  void add_row(std::string& text, std::span<const Complex> row, std::size_t r, double nothing, bool held);
  void add_shears(std::string& text, const Shears& shears, bool held);
  /// Row r += entry * column c.
  void add_entry(std::string& text, Complex entry, std::size_t r, std::size_t c, double nothing, bool held,
                 bool& empty);
  void open_threads(const TileOp& op);
  void matrix(const TileOp& op, std::vector<std::uint8_t> slots);
  /// The first of `ops`, a swap, and those after it of the same bit: how many.
  std::size_t swaps(std::span<const TileOp> ops);
  void dense(const TileOp& op);

  // -- blocks on lanes: generate_lanes.cpp
  /// Whether epoch e ends with a block on lanes that the next one, after an exchange, begins with another: between them
  /// real and imaginary parts may be on the upper lane bit, and what was there takes their place in registers.
  bool parts_split(std::size_t e) const;
  /// Of a split exchange: the bit of the lanes' matrix index, 0 or 1, that stays on lanes.
  static unsigned kept_target(const Regroup& columns);
  void lanes(const TileOp& op);
  void exchange(const Regroup& columns);
  void exchange(std::uint8_t bit, std::uint8_t slot);

  // -- phases: generate_phases.cpp
  /// How many rows of the tile's factors' angles (angle_rows) variables have, asked for before what is loaded next.
  std::size_t ask_for_angles();
  void ask_for_tables();
  void tile_factors(std::size_t rows_asked);
  /// Texts of where a separable table's factors are.
  std::string lane_part(int table) const;
  std::string warp_part(int table) const;
  /// Text of this thread's entry of a table. Most are products of a lane's and a warp's part: reading those touches few
  /// lines, so they stay in the first-level cache.
  std::string table_entry(int table) const;
  /// Keeps phases aside; declares the factors that threads or tiles change.
  void defer(const TileOp& op);
  void multiply_deferred();
  /// Name of the variable that has the product of these factors, which are declared; products that one begins with are
  /// `made`.
  std::string product_of(const std::vector<std::uint32_t>& variables,
                         std::map<std::vector<std::uint32_t>, std::string>& made);
  void multiply_constant(std::uint32_t set, Complex value);
  /// Text of a factor that was declared; an entry of a lookup is read where it is used, so that no register waits.
  std::string factor_text(std::uint32_t variable) const;
  void declare_lookup(std::uint32_t variable, const Lookup& lookup);
  /// Declares variable `name` with the factor's value.
  void factor_variable(const std::string& name, const Factor& factor);
  void pair(const TileOp& op);
  void multiply(const TileOp& op);

  // -- through shared memory: generate_tile.cpp
  std::string thread_address(const std::vector<Coordinate>& columns) const;
  std::uint32_t slot_address(const std::vector<Coordinate>& columns, std::uint32_t j) const;
  /// Bits that a thread's address may have.
  std::uint32_t address_bits(const std::vector<Coordinate>& columns) const;
  /// Places of a thread's registers in the tile. What `taken` bits share with a register's is XORed, once for all
  /// registers that share alike; the rest is a displacement that costs nothing.
  std::vector<std::string> tile_places(const std::string& address, std::uint32_t taken,
                                       const std::vector<Coordinate>& slots);
  void write_tile(const std::vector<std::string>& places, bool own_places, bool within_warp);
  void regroup(const Regroup& columns);
  /// Coordinates that number the columns of a dense product: those that are no targets, the first three such that the
  /// lanes of a fragment meet different banks where that is possible.
  std::vector<std::uint8_t> column_coordinates(const TileOp& op) const;
  /// Matrix times tile on tensor cores, 8 columns a warp at a time: a complex product is four real ones. A lane brings
  /// row lane % 4 of four and column lane / 4, and gets row lane / 4 of eight and columns 2 (lane % 4) and the next.
  void tensor_matrix(const TileOp& op);
  /// Where a row of the product lies, from where row 0 does.
  std::uint32_t row_place(const TileOp& op, const std::vector<Coordinate>& address, std::size_t row) const;
  void fragments(const TileOp& op, const std::vector<Coordinate>& address, std::size_t order);
  /// Columns whose controls do not hold stay as they are.
  void store_fragments(const TileOp& op, const std::vector<Coordinate>& address,
                       const std::vector<std::uint8_t>& columns, std::size_t warp_bits);
  /// Each thread makes its own amplitudes from the group's in shared memory, all of its registers at once.
  void wide_matrix(const TileOp& op);
  void assign_where_controlled(const TileOp& op, std::uint32_t j);

  const TileProgram& program_;
  const Epoch* epoch_ = nullptr;
  std::size_t number_ = 0;  // of the epoch
  GeneratedSweep out_;
  DeferredPhases deferred_;
  std::string functions_, body_;
  std::map<std::tuple<std::size_t, double, double>, std::size_t> places_;  // of reals, by how many and which they are
  std::vector<std::string> entries_;                                       // arguments of the latest matrix function
  std::vector<std::uint32_t> name_;                                        // variable that holds each register
  std::set<int> tables_asked_;                                             // variables have both parts of them
  bool double_ = true, tile_read_ = false, others_read_ = false;
  std::uint32_t registers_ = 16, amplitude_bytes_ = 16;
  std::size_t products_ = 0;                           // that have a name
  std::size_t bits_used_ = 0, bits_place_ = 0;         // of truth values, and where the latest of them are
  std::map<std::uint32_t, std::string> entries_read_;  // of lookups, by factor
  std::size_t function_count_ = 0, dense_used_ = 0;
  bool has_wide_matrices_ = false;
};

}  // namespace qsim::cuda
