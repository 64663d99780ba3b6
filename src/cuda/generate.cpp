// One method a kind of operation; registers are variables a0, a1, ... that uncontrolled swaps merely rename.
#include "cuda/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "base/bits.h"
#include "cuda/addresses.h"
#include "cuda/generate_prelude.h"
#include "cuda/work.h"
#include "qsim/error.h"

namespace qsim::cuda {
namespace {

/// A constant that needs no argument.
enum class Plain { kOne, kMinusOne, kI, kMinusI, kNo };

Plain plain_of(Complex value) {
  constexpr double kTiny = 1e-15;
  if (std::abs(value - 1.0) < kTiny) return Plain::kOne;
  if (std::abs(value + 1.0) < kTiny) return Plain::kMinusOne;
  if (std::abs(value - Complex(0, 1)) < kTiny) return Plain::kI;
  if (std::abs(value + Complex(0, 1)) < kTiny) return Plain::kMinusI;
  return Plain::kNo;
}

class Generator {
 public:
  explicit Generator(const TileProgram& program) : program_(program) {
    double_ = program.precision == Precision::kDouble;
    registers_ = 1u << program.register_bits;
    amplitude_bytes_ = double_ ? 16 : 8;
    name_.resize(registers_);
    deferred_.resize(registers_);
    reset_names();
    out_.shared_bytes = amplitude_bytes_ << program.bits;
  }

  GeneratedSweep generate() {
    begin();
    for (std::size_t e = 0; e < program_.epochs.size(); ++e) {
      epoch_ = &program_.epochs[e];
      for (const TileOp& op : epoch_->ops) {
        if (is_deferred(op)) {
          defer(op);
          continue;
        }
        if (op.kind != TileOpKind::kPair && op.kind != TileOpKind::kMultiply) multiply_deferred();
        guarded(op);
      }
      multiply_deferred();
      if (e + 1 < program_.epochs.size()) regroup(regroup_columns(program_, e));
    }
    store();
    body_ += "}\n";
    out_.source = head() + functions_ + body_;
    return std::move(out_);
  }

 private:
  template <class... Values>
  void line(fmt::format_string<Values...> format, Values&&... values) {
    body_ += fmt::format(format, std::forward<Values>(values)...);
    body_ += '\n';
  }
  std::string int_arg(std::uint64_t value) {
    out_.ints.push_back(value);
    return fmt::format("p.u[{}]", out_.ints.size() - 1);
  }
  std::string real_arg(double value) {
    out_.reals.push_back(value);
    return fmt::format("p.d[{}]", out_.reals.size() - 1);
  }
  std::string complex_arg(Complex value) {
    if (out_.reals.size() % 2 != 0) out_.reals.push_back(0);  // both parts are loaded at once
    const std::string re = real_arg(value.real());
    return "mk(" + re + "," + real_arg(value.imag()) + ")";
  }
  void reset_names() { std::iota(name_.begin(), name_.end(), 0u); }
  std::string a(std::uint32_t j) const { return "a" + std::to_string(name_[j]); }

  std::string head() const {
    return fmt::format("#define NU {}\n#define ND {}\ntypedef {} R;\ntypedef {} C;\n",
                       std::max<std::size_t>(out_.ints.size(), 1), std::max<std::size_t>(out_.reals.size(), 1),
                       double_ ? "double" : "float", double_ ? "double2" : "float2") +
           kPrelude;
  }

  /// index part of a thread's number, from columns; neighbouring unit columns become one shift.
  std::string thread_index(const std::vector<Index>& columns) {
    std::string text;
    for (std::size_t i = 0; i < columns.size();) {
      std::size_t run = 1;
      const bool unit = is_power_of_two(columns[i]) && log2_exact(columns[i]) >= i;
      while (unit && i + run < columns.size() && columns[i + run] == columns[i] << run) ++run;
      if (columns[i] != 0) {
        if (!text.empty()) text += " ^ ";
        if (unit) {
          const auto mask = static_cast<std::uint32_t>(low_mask(static_cast<unsigned>(run)) << i);
          text += fmt::format("((u64)(t & {}u) << (int){})", mask, int_arg(log2_exact(columns[i]) - i));
        } else {
          text += fmt::format("bit64(t, {}, {})", i, int_arg(columns[i]));
        }
      }
      i += run;
    }
    return text.empty() ? "0ull" : text;
  }

  /// Registers' offsets o0, o1, ... as XORs of slot columns.
  void slot_offsets(const std::vector<Index>& columns) {
    line("u64 o0 = 0;");
    for (std::size_t s = 0; s < columns.size(); ++s) line("u64 o{} = {};", 1u << s, int_arg(columns[s]));
    for (std::uint32_t j = 3; j < registers_; ++j) {
      if (!is_power_of_two(j)) line("u64 o{} = o{} ^ o{};", j, j & (j - 1), j & (~j + 1));
    }
  }

  void begin() {
    const int threads = 1 << program_.thread_bits();
    line(
        "extern \"C\" __global__ void __launch_bounds__({}, {}) sweep(const __grid_constant__ P p, u64 base0, u64 "
        "first_tile) {{",
        threads, (amplitude_bytes_ * registers_ > 128 ? 512 : 1024) / threads);
    line("extern __shared__ __align__(16) char tile[];");
    line("__shared__ C F[{}];", std::max<std::size_t>(program_.tile_factors.size(), 1));
    line("__shared__ double scratch[32];");
    line("const u32 t = threadIdx.x;");
    line("const u64 number = first_tile + blockIdx.x;");
    // The chunk's runs are known only at launch: their number is part of the structure, masks are filled in there.
    line("u64 base = base0;");
    line("#pragma unroll 1");
    line("for (int i = 0; i < (int)p.u[0]; ++i) base |= number << p.u[1 + 2 * i] & p.u[2 + 2 * i];");
    out_.ints.assign(1 + 2 * kGeneratedRuns, 0);
    for (std::uint32_t j = 0; j < registers_; ++j) line("C a{} = mk(0, 0);", j);
    load();
    if (!program_.tile_factors.empty()) {
      line("for (u32 f = t; f < {}; f += {}) {{", program_.tile_factors.size(), threads);
      line("double sum = 0, s, c;");
      line(
          "for (u32 i = p.angle_begin[f]; i < p.angle_begin[f + 1]; ++i) {{ Angle g = p.angles[i]; if ((base & g.mask) "
          "== g.mask) sum += g.half_turns; }}");
      line("sincospi(sum, &s, &c); F[f] = mk((R)c, (R)s);");
      line("}}\n__syncthreads();");
    }
    start();
  }

  void load() {
    const Epoch& first = program_.epochs.front();
    const std::uint32_t dead = dead_threads(program_, first), dead_set = dead_registers(program_, first);
    std::uint32_t births = 0;
    for (std::size_t s = 0; s < first.reg.size(); ++s) births |= (program_.births >> first.reg[s] & 1u) << s;
    std::string condition;
    if (dead != 0) condition = fmt::format("(t & {}u) == 0", dead);
    if (program_.reads && program_.zero_tiles != 0) {
      condition += fmt::format("{}(base & {}) == 0", condition.empty() ? "" : " && ", int_arg(program_.zero_tiles));
    }
    line("{} {{", condition.empty() ? "" : "if (" + condition + ")");
    if (program_.reads) {
      const IndexColumns columns = load_columns(program_);
      line("const C* from = p.state + (base | ({}));", thread_index(columns.thread));
      slot_offsets(columns.slot);
      for (std::uint32_t j = 0; j < registers_; ++j) {
        if ((dead_set >> j & 1) == 0 && (j & births) == 0) line("a{} = __ldcs(from + o{});", j, j);
      }
      for (std::uint32_t j = 0; j < registers_; ++j) {
        if ((dead_set >> j & 1) == 0 && (j & births) != 0) line("a{} = a{};", j, j & ~births);
      }
    } else {
      for (std::uint32_t j = 0; j < registers_; ++j) {
        if ((dead_set >> j & 1) == 0) line("a{}.x = 1;", j);
      }
    }
    line("}}");
  }

  void start() {
    if (!program_.start_scaled) return;
    line("{{ C w = {};", complex_arg(program_.start_constant));
    for (const Birth& birth : program_.start_tile) {
      line("w = mul(w, (base & {}) != 0 ? {} : {});", int_arg(bit_mask(birth.bit)), complex_arg(birth.factor[1]),
           complex_arg(birth.factor[0]));
    }
    if (program_.start_table >= 0) line("w = mul(w, {});", table_entry(program_.start_table));
    for (std::uint32_t j = 0; j < registers_; ++j) line("a{0} = mul(a{0}, w);", j);
    for (std::uint32_t s = 0; s < static_cast<std::uint32_t>(program_.register_bits); ++s) {
      for (std::uint32_t v = 0; v < 2; ++v) {
        std::uint32_t set = 0;
        for (std::uint32_t j = 0; j < registers_; ++j) set |= (j >> s & 1) == v ? 1u << j : 0u;
        multiply_constant(set, program_.start_register[s][v]);
      }
    }
    line("}}");
  }

  /// Text of this thread's entry of a table. Most are products of a lane's and a warp's part: reading those touches few
  /// lines, so they stay in the first-level cache.
  std::string table_entry(int table) const {
    const std::uint64_t offset = table_offset(table);
    if (!separable(program_.tables[static_cast<std::size_t>(table)]))
      return fmt::format("__ldg(p.tables + {} + t)", offset);
    return fmt::format("mul(__ldg(p.tables + {0} + (t & 31u)), __ldg(p.tables + {0} + (t & ~31u)))", offset);
  }
  static bool separable(const std::vector<Complex>& table) {
    if (table.size() <= 32) return false;
    for (std::size_t t = 0; t < table.size(); ++t) {
      if (std::abs(table[t] - table[t & 31] * table[t & ~std::size_t{31}]) > 1e-14) return false;
    }
    return true;
  }
  std::uint64_t table_offset(int table) const { return static_cast<std::uint64_t>(table) << program_.thread_bits(); }

  void guarded(const TileOp& op) {
    if (op.guard.always()) return add(op, false);
    std::string condition;
    if (op.guard.mask != 0) {
      const std::string mask = int_arg(op.guard.mask);
      condition = fmt::format("(base & {}) == {}", mask, int_arg(op.guard.value));
    }
    if (op.guard.parity_mask != 0) {
      condition += fmt::format("{}(__popcll(base & {}) & 1) == {}", condition.empty() ? "" : " && ",
                               int_arg(op.guard.parity_mask), op.guard.odd ? 1 : 0);
    }
    line("if ({}) {{", condition);
    add(op, true);
    line("}}");
  }

  void add(const TileOp& op, bool conditional) {
    switch (op.kind) {
      case TileOpKind::kRotate:
        return rotate(op);
      case TileOpKind::kMatrix1:
        return matrix(op, {op.slots[0]});
      case TileOpKind::kMatrix2:
        return matrix(op, {op.slots[0], op.slots[1]});
      case TileOpKind::kSwap:
        return swap(op, conditional);
      case TileOpKind::kDense:
        return dense(op);
      case TileOpKind::kPair:
        return pair(op);
      case TileOpKind::kMultiply:
        return multiply(op);
    }
    throw Error("unknown tile operation");
  }

  void rotate(const TileOp& op) {
    for (std::uint32_t s = 0; s < static_cast<std::uint32_t>(program_.register_bits); ++s) {
      if (op.rotation[s] == Rotation::kNone) continue;
      const bool hadamard = op.rotation[s] == Rotation::kRealMinus && std::abs(op.tangent[s] - 1) < 1e-15;
      const std::string tangent = hadamard ? "" : "," + real_arg(op.tangent[s]);
      const int form = hadamard ? 7 : static_cast<int>(op.rotation[s]);
      for (std::uint32_t j = 0; j < registers_; ++j) {
        if ((j >> s & 1) == 0) line("r{}({},{}{});", form, a(j), a(j | 1u << s), tangent);
      }
    }
  }

  /// A function that multiplies its `order` arguments by `matrix`, whose entries are e0, e1, ... from the first of its
  /// own reals on; returns its name. Parts that are exactly 0 are left out.
  std::string matrix_function(const std::vector<Complex>& matrix, std::size_t order) {
    const std::string name = fmt::format("m{}", function_count_++);
    std::string head = "INLINE void " + name + "(", text = ") {";
    for (std::size_t c = 0; c < order; ++c) {
      head += fmt::format("{}C& x{}", c == 0 ? "" : ", ", c);
      text += fmt::format("C y{0} = x{0};", c);
    }
    text += "\n";
    entries_.clear();
    for (std::size_t r = 0; r < order; ++r) {
      std::size_t unit = order;  // a column whose entry is 1 needs no multiplication
      for (std::size_t c = 0; c < order && unit == order; ++c) {
        if (matrix[r * order + c] == Complex(1)) unit = c;
      }
      bool empty = unit == order;
      if (!empty) text += fmt::format("x{} = y{};", r, unit);
      for (std::size_t c = 0; c < order; ++c) {
        if (c != unit) add_entry(text, matrix[r * order + c], r, c, empty);
      }
      if (empty) text += fmt::format("x{} = mk(0, 0);", r);
      text += "\n";
    }
    for (std::size_t e = 0; e < entries_.size(); ++e) head += fmt::format(", R e{}", e);
    functions_ += head + text + "}\n";
    return name;
  }

  /// Row r += entry * column c.
  void add_entry(std::string& text, Complex entry, std::size_t r, std::size_t c, bool& empty) {
    constexpr double kNothing = 1e-17;
    const auto add = [&](double part, const char* sign, char first, char second) {
      if (std::abs(part) <= kNothing) return;
      const std::size_t e = entries_.size();
      entries_.push_back(real_arg(part));
      text += empty
                  ? fmt::format("x{0}.x = {1}e{2} * y{3}.{4}; x{0}.y = e{2} * y{3}.{5};", r, sign, e, c, first, second)
                  : fmt::format("x{0}.x = fma({1}e{2}, y{3}.{4}, x{0}.x); x{0}.y = fma(e{2}, y{3}.{5}, x{0}.y);", r,
                                sign, e, c, first, second);
      empty = false;
    };
    add(entry.real(), "", 'x', 'y');
    add(entry.imag(), "-", 'y', 'x');
  }

  void open_threads(const TileOp& op) {
    line("{} {{", op.thread_mask == 0 ? "" : fmt::format("if ((t & {}u) == {}u)", op.thread_mask, op.thread_value));
  }

  void matrix(const TileOp& op, std::vector<std::uint8_t> slots) {
    const std::size_t order = std::size_t{1} << slots.size();
    if (out_.reals.size() % 2 != 0) out_.reals.push_back(0);
    const std::string function = matrix_function(op.matrix, order);
    open_threads(op);
    const bool held = hold_entries(op, order);
    for (std::uint32_t j = 0; j < registers_; ++j) {
      if ((op.set >> j & 1) == 0) continue;
      std::string call = function + "(";
      for (std::size_t r = 0; r < order; ++r) {
        std::uint32_t place = j;
        for (std::size_t s = 0; s < slots.size(); ++s) place |= static_cast<std::uint32_t>(r >> s & 1) << slots[s];
        call += (r == 0 ? "" : ",") + a(place);
      }
      for (std::size_t e = 0; e < entries_.size(); ++e) call += held ? fmt::format(",h{}", e) : "," + entries_[e];
      line("{});", call);
    }
    line("}}");
  }

  /// Entries of a matrix that is used several times stay in registers where there is room: arithmetic in single
  /// precision leaves no issue slots for loading them each time, and the compiler would.
  bool hold_entries(const TileOp& op, std::size_t order) {
    constexpr std::size_t kMostHeld = 32;
    if (double_ || entries_.size() > kMostHeld || count_bits(op.set) < 2 || order < 4) return false;
    line("const R* const held = &{} + hidden_zero(t, first_tile);", entries_.front());
    for (std::size_t e = 0; e < entries_.size(); ++e) line("const R h{0} = held[{0}];", e);
    return true;
  }

  void swap(const TileOp& op, bool conditional) {
    const bool rename = !conditional && op.thread_mask == 0;
    if (!rename) open_threads(op);
    for (std::uint32_t j = 0; j < registers_; ++j) {
      if ((op.set >> j & 1) == 0) continue;
      const std::uint32_t other = j | 1u << op.slots[0];
      if (rename)
        std::swap(name_[j], name_[other]);
      else
        line("swp({},{});", a(j), a(other));
    }
    if (!rename) line("}}");
  }

  // -- phases
  /// Keeps constant phases aside: those of several operations are one multiplication. Registers that the same factors
  /// of the same operations meet share a constant, whatever the angles are.
  void defer(const TileOp& op) {
    const auto number = static_cast<std::uint32_t>(deferred_count_++);
    for (std::uint32_t j = 0; j < registers_; ++j) {
      Deferred& mine = deferred_[j];
      const std::uint32_t quarter = (j >> op.slots[0] & 1) | (j >> op.slots[1] & 1) << 1;
      for (std::uint32_t f = 0; f < 4; ++f) {
        if (!op.factor[f].present) continue;
        const bool applies = op.kind == TileOpKind::kMultiply ? (op.set >> j & 1) != 0 : (quarter & f) == f;
        if (!applies || plain_of(op.factor[f].constant) == Plain::kOne) continue;
        mine.factors.push_back(number * 4 + f);
        mine.value *= op.factor[f].constant;
      }
    }
  }

  void multiply_deferred() {
    std::map<std::vector<std::uint32_t>, std::uint32_t> sets;  // factors -> registers
    for (std::uint32_t j = 0; j < registers_; ++j) sets[deferred_[j].factors] |= 1u << j;
    for (const auto& [factors, set] : sets) {
      if (!factors.empty()) multiply_constant(set, deferred_[log2_exact(set & (~set + 1))].value);
    }
    deferred_.assign(registers_, {});
  }

  void multiply_constant(std::uint32_t set, Complex value) {
    const Plain plain = plain_of(value);
    if (plain == Plain::kOne || set == 0) return;
    if (plain == Plain::kNo && value.imag() == 0) {
      const std::string scale = real_arg(value.real());
      for (std::uint32_t j = 0; j < registers_; ++j) {
        if (set >> j & 1) line("{0}.x *= {1}; {0}.y *= {1};", a(j), scale);
      }
      return;
    }
    std::string argument;
    if (plain == Plain::kNo) argument = complex_arg(value);
    for (std::uint32_t j = 0; j < registers_; ++j) {
      if ((set >> j & 1) == 0) continue;
      switch (plain) {
        case Plain::kMinusOne:
          line("neg({});", a(j));
          break;
        case Plain::kI:
          line("tmi({});", a(j));
          break;
        case Plain::kMinusI:
          line("tni({});", a(j));
          break;
        case Plain::kNo:
          line("{0} = mul({0}, {1});", a(j), argument);
          break;
        case Plain::kOne:
          break;
      }
    }
  }

  /// Declares variable `name` with the factor's value.
  void factor_variable(const std::string& name, const Factor& factor) {
    std::string value;
    const auto times = [&](const std::string& more) {
      value = value.empty() ? more : "mul(" + value + "," + more + ")";
    };
    if (plain_of(factor.constant) != Plain::kOne || is_constant(factor)) times(complex_arg(factor.constant));
    if (factor.table >= 0) times(table_entry(factor.table));
    if (factor.tile >= 0) times(fmt::format("F[{}]", factor.tile));
    if (value.empty()) value = "mk(1, 0)";
    line("C {} = {};", name, value);
    for (const auto& [thread_bit, tile] : factor.cross) {
      line("if (t >> {} & 1) {} = mul({}, F[{}]);", thread_bit, name, name, tile);
    }
  }

  void pair(const TileOp& op) {
    std::uint32_t set[4] = {0, 0, 0, 0};  // registers by the two slots' bits
    for (std::uint32_t j = 0; j < registers_; ++j) {
      set[(j >> op.slots[0] & 1) | (j >> op.slots[1] & 1) << 1] |= 1u << j;
    }
    line("{{");
    for (std::uint32_t f = 0; f < 4; ++f) {
      if (op.factor[f].present) factor_variable(fmt::format("f{}", f), op.factor[f]);
    }
    for (std::uint32_t v = 0; v < 4; ++v) {
      std::string product;
      for (std::uint32_t f = 0; f < 4; ++f) {
        if (!op.factor[f].present || (v & f) != f) continue;
        product = product.empty() ? fmt::format("f{}", f) : fmt::format("mul({},f{})", product, f);
      }
      if (product.empty()) continue;
      line("{{ C g = {};", product);
      for (std::uint32_t j = 0; j < registers_; ++j) {
        if (set[v] >> j & 1) line("{0} = mul({0}, g);", a(j));
      }
      line("}}");
    }
    line("}}");
  }

  void multiply(const TileOp& op) {
    const Factor& factor = op.factor[0];
    if (is_constant(factor)) return multiply_constant(op.set, factor.constant);
    line("{{");
    factor_variable("g", factor);
    for (std::uint32_t j = 0; j < registers_; ++j) {
      if (op.set >> j & 1) line("{0} = mul({0}, g);", a(j));
    }
    line("}}");
  }

  // -- through shared memory
  std::string thread_address(const std::vector<Coordinate>& columns) const {
    std::string text;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i] == 0) continue;
      text += fmt::format("{}bit(t, {}, {}u)", text.empty() ? "" : " ^ ", i, columns[i] * amplitude_bytes_);
    }
    return text.empty() ? "0u" : text;
  }
  std::uint32_t slot_address(const std::vector<Coordinate>& columns, std::uint32_t j) const {
    std::uint32_t sum = 0;
    for (std::size_t s = 0; s < columns.size(); ++s) {
      if (j >> s & 1) sum ^= columns[s] * amplitude_bytes_;
    }
    return sum;
  }

  /// Bits that a thread's address may have.
  std::uint32_t address_bits(const std::vector<Coordinate>& columns) const {
    return std::accumulate(columns.begin(), columns.end(), 0u, std::bit_or<>()) * amplitude_bytes_;
  }

  /// Places of a thread's registers in the tile. What `taken` bits share with a register's is XORed, once for all
  /// registers that share alike; the rest is a displacement that costs nothing.
  std::vector<std::string> tile_places(const std::string& address, std::uint32_t taken,
                                       const std::vector<Coordinate>& slots) {
    std::map<std::uint32_t, std::string> shared;
    std::vector<std::string> places;
    for (std::uint32_t j = 0; j < registers_; ++j) {
      const std::uint32_t all = slot_address(slots, j), common = all & taken;
      const auto [found, is_new] = shared.try_emplace(common, fmt::format("{}_{}", address, common));
      if (is_new) line("char* const {} = tile + ({} ^ {}u);", found->second, address, common);
      places.push_back(fmt::format("*(C*)({} + {}u)", found->second, all & ~taken));
    }
    return places;
  }

  void write_tile(const std::vector<std::string>& places, bool own_places, bool within_warp) {
    if (tile_read_ && (others_read_ || !own_places)) line("__syncthreads();");
    for (std::uint32_t j = 0; j < registers_; ++j) line("{} = {};", places[j], a(j));
    line("{};", within_warp ? "__syncwarp()" : "__syncthreads()");
    tile_read_ = true;
    others_read_ = false;
  }

  void regroup(const Regroup& columns) {
    line("{{ u32 w = ({}) ^ {}u;", thread_address(columns.write_thread), columns.offset * amplitude_bytes_);
    std::uint32_t taken = address_bits(columns.write_thread) | columns.offset * amplitude_bytes_;
    for (const auto& [guard, offset] : columns.guarded) {
      const std::string mask = int_arg(guard.mask);
      line("if ((base & {}) == {}) w ^= {}u;", mask, int_arg(guard.value), offset * amplitude_bytes_);
      taken |= offset * amplitude_bytes_;
    }
    write_tile(tile_places("w", taken, columns.write_slot), columns.own_places, columns.within_warp);
    reset_names();
    line("u32 r = {};", thread_address(columns.read_thread));
    const std::vector<std::string> places = tile_places("r", address_bits(columns.read_thread), columns.read_slot);
    for (std::uint32_t j = 0; j < registers_; ++j) line("a{} = {};", j, places[j]);
    line("}}");
  }

  void dense(const TileOp& op) {
    std::vector<std::uint8_t> slots;
    std::uint32_t target_slots = 0;
    for (const std::uint8_t target : op.targets) {
      const auto found = std::find(epoch_->reg.begin(), epoch_->reg.end(), target);
      if (found == epoch_->reg.end()) break;
      slots.push_back(static_cast<std::uint8_t>(found - epoch_->reg.begin()));
      target_slots |= 1u << slots.back();
    }
    if (slots.size() == op.targets.size() && slots.size() <= 3) {
      TileOp inside = op;
      std::uint32_t control_slots = 0, control_bits = 0;
      for (std::size_t j = 0; j < epoch_->reg.size(); ++j) {
        control_slots |= (op.control_mask >> epoch_->reg[j] & 1u) << j;
        control_bits |= (op.control_value >> epoch_->reg[j] & 1u) << j;
      }
      for (std::size_t i = 0; i < epoch_->thread.size(); ++i) {
        inside.thread_mask |= (op.control_mask >> epoch_->thread[i] & 1u) << i;
        inside.thread_value |= (op.control_value >> epoch_->thread[i] & 1u) << i;
      }
      for (std::uint32_t j = 0; j < registers_; ++j) {
        if ((j & target_slots) == 0 && (j & control_slots) == control_bits) inside.set |= 1u << j;
      }
      dense_used_ += op.matrix.size();  // its entries are arguments here, but the table holds them too
      return matrix(inside, slots);
    }
    if (double_ && op.targets.size() >= 4) return tensor_matrix(op);
    wide_matrix(op);
  }

  /// Coordinates that number the columns of a dense product: those that are no targets, the first three such that the
  /// lanes of a fragment meet different banks where that is possible.
  std::vector<std::uint8_t> column_coordinates(const TileOp& op) const {
    std::vector<std::uint8_t> free, chosen;
    for (std::uint8_t i = 0; i < program_.bits; ++i) {
      if (std::find(op.targets.begin(), op.targets.end(), i) == op.targets.end()) free.push_back(i);
    }
    const auto bank = [&](std::uint8_t i) { return static_cast<Coordinate>(program_.bank[i]); };
    const auto choose = [&](const std::vector<Coordinate>& others) {
      auto best = free.begin();
      for (auto it = free.begin(); it != free.end(); ++it) {
        std::vector<Coordinate> banks = others;
        banks.push_back(bank(*it));
        if (!independent(banks)) continue;
        best = it;
        break;
      }
      chosen.push_back(*best);
      free.erase(best);
    };
    choose({bank(op.targets[0]), bank(op.targets[1])});
    choose({bank(op.targets[0])});
    choose({bank(op.targets[0]), bank(chosen[1])});
    chosen.insert(chosen.end(), free.begin(), free.end());
    return chosen;
  }

  /// Matrix times tile on tensor cores, 8 columns a warp at a time: a complex product is four real ones. A lane brings
  /// row lane % 4 of four and column lane / 4, and gets row lane / 4 of eight and columns 2 (lane % 4) and the next.
  void tensor_matrix(const TileOp& op) {
    const std::vector<Coordinate> address = place_columns(program_);
    const std::vector<std::uint8_t> columns = column_coordinates(op);
    const std::size_t order = std::size_t{1} << op.targets.size();
    const auto place = [&](std::uint8_t i) { return address[i] * amplitude_bytes_; };
    std::vector<Coordinate> thread_columns, slot_columns;
    for (const std::uint8_t i : epoch_->thread) thread_columns.push_back(address[i]);
    for (const std::uint8_t i : epoch_->reg) slot_columns.push_back(address[i]);
    line("{{ u32 w = {};", thread_address(thread_columns));
    const std::vector<std::string> homes = tile_places("w", address_bits(thread_columns), slot_columns);
    write_tile(homes, true, false);
    const auto warp_bits = static_cast<std::size_t>(program_.thread_bits()) - 5;
    std::string warp;
    for (std::size_t b = 0; b < warp_bits; ++b) warp += fmt::format(" ^ bit(t, {}, {}u)", 5 + b, place(columns[3 + b]));
    line("const u32 from = bit(t, 0, {}u) ^ bit(t, 1, {}u) ^ bit(t, 2, {}u) ^ bit(t, 3, {}u) ^ bit(t, 4, {}u){};",
         place(op.targets[0]), place(op.targets[1]), place(columns[0]), place(columns[1]), place(columns[2]), warp);
    line("const u32 to = bit(t, 2, {}u) ^ bit(t, 3, {}u) ^ bit(t, 4, {}u) ^ bit(t, 0, {}u) ^ bit(t, 1, {}u){};",
         place(op.targets[0]), place(op.targets[1]), place(op.targets[2]), place(columns[1]), place(columns[2]), warp);
    line("const C* const m = p.dense + {} + (t >> 2 & 7u) * {} + (t & 3u);", dense_used_, order);
    dense_used_ += op.matrix.size();
    const std::size_t set_bits = columns.size() - 3 - warp_bits;
    line("#pragma unroll 1");
    line("for (u32 s = 0; s < {}; ++s) {{ u32 set = 0;", 1u << set_bits);
    for (std::size_t b = 0; b < set_bits; ++b) line("set ^= bit(s, {}, {}u);", b, place(columns[3 + warp_bits + b]));
    fragments(op, address, order);
    line("__syncwarp();");
    store_fragments(op, address, columns, warp_bits);
    line("}}\n__syncthreads();");
    for (std::uint32_t j = 0; j < registers_; ++j) line("{} = {};", a(j), homes[j]);
    line("}}");
    others_read_ = true;  // of a thread's places; what follows need not know that the block has met since
  }

  /// Where a row of the product lies, from where row 0 does.
  std::uint32_t row_place(const TileOp& op, const std::vector<Coordinate>& address, std::size_t row) const {
    std::uint32_t sum = 0;
    for (std::size_t b = 0; b < op.targets.size(); ++b) {
      if (row >> b & 1) sum ^= address[op.targets[b]] * amplitude_bytes_;
    }
    return sum;
  }

  void fragments(const TileOp& op, const std::vector<Coordinate>& address, std::size_t order) {
    for (std::size_t r = 0; r < order / 8; ++r) line("double u{0} = 0, v{0} = 0, x{0} = 0, y{0} = 0;", r);
    // Eight rows at a time: more of the loop at once would ask for more registers than there are.
    line("#pragma unroll 1");
    line("for (u32 q = 0; q < {}; ++q) {{ const C* const n = m + 8 * q; u32 rows = from ^ set;", order / 8);
    for (std::size_t b = 3; b < op.targets.size(); ++b) {
      line("rows ^= bit(q, {}, {}u);", b - 3, address[op.targets[b]] * amplitude_bytes_);
    }
    for (std::size_t k = 0; k < 8; k += 4) {
      line("{{ const C b = *(const C*)(tile + (rows ^ {}u));", row_place(op, address, k));
      for (std::size_t r = 0; r < order / 8; ++r) {
        line("{{ const C e = __ldg(n + {});", r * 8 * order + k);
        line("mma(u{0}, v{0}, e.x, b.x); mma(u{0}, v{0}, -e.y, b.y); mma(x{0}, y{0}, e.x, b.y); ", r);
        line("mma(x{0}, y{0}, e.y, b.x); }}", r);
      }
      line("}}");
    }
    line("}}");
  }

  /// Columns whose controls do not hold stay as they are.
  void store_fragments(const TileOp& op, const std::vector<Coordinate>& address,
                       const std::vector<std::uint8_t>& columns, std::size_t warp_bits) {
    std::uint32_t mask = 0, value = 0;
    for (std::size_t b = 0; b < columns.size(); ++b) {
      mask |= (op.control_mask >> columns[b] & 1u) << b;
      value |= (op.control_value >> columns[b] & 1u) << b;
    }
    const std::uint32_t next = address[columns[0]] * amplitude_bytes_;
    if (mask != 0) line("const u32 column = (t & 3u) << 1 | t >> 5 << 3 | s << {};", 3 + warp_bits);
    for (std::uint32_t side = 0; side < 2; ++side) {
      if (mask != 0) line("if (((column | {}u) & {}u) == {}u)", side, mask, value);
      line("{{");
      for (std::size_t r = 0; r < std::size_t{1} << (op.targets.size() - 3); ++r) {
        line("*(C*)(tile + (to ^ set ^ {}u)) = mk({}{}, {}{});", row_place(op, address, 8 * r) ^ (side == 0 ? 0 : next),
             side == 0 ? 'u' : 'v', r, side == 0 ? 'x' : 'y', r);
      }
      line("}}");
    }
  }

  /// Each thread makes its own amplitudes from the group's in shared memory, all of its registers at once.
  void wide_matrix(const TileOp& op) {
    const std::vector<Coordinate> address = place_columns(program_);
    std::vector<Coordinate> thread_columns, slot_columns, target_columns;
    Coordinate targets = 0;
    for (const std::uint8_t i : epoch_->thread) thread_columns.push_back(address[i]);
    for (const std::uint8_t i : epoch_->reg) slot_columns.push_back(address[i]);
    for (const std::uint8_t i : op.targets) {
      target_columns.push_back(address[i]);
      targets |= 1u << i;
    }
    line("{{ u32 w = {};", thread_address(thread_columns));
    write_tile(tile_places("w", address_bits(thread_columns), slot_columns), true, false);
    others_read_ = true;
    const std::size_t order = std::size_t{1} << op.targets.size();
    // Row part and address part of the thread, then of each register.
    std::string row = "0u", home = "w";
    for (std::size_t b = 0; b < op.targets.size(); ++b) {
      for (std::size_t i = 0; i < epoch_->thread.size(); ++i) {
        if (epoch_->thread[i] != op.targets[b]) continue;
        row += fmt::format(" | (t >> {} & 1u) << {}", i, b);
        home += fmt::format(" ^ bit(t, {}, {}u)", i, address[op.targets[b]] * amplitude_bytes_);
      }
    }
    line("const u32 row = {}, home = {}; const C* const m = p.dense + {} + row * {};", row, home, dense_used_, order);
    dense_used_ += op.matrix.size();
    for (std::uint32_t j = 0; j < registers_; ++j) line("C s{} = mk(0, 0);", j);
    line("#pragma unroll 1");
    line("for (u32 c = 0; c < {}; ++c) {{ u32 from = home;", order);
    for (std::size_t b = 0; b < op.targets.size(); ++b)
      line("from ^= bit(c, {}, {}u);", b, target_columns[b] * amplitude_bytes_);
    std::vector<std::uint32_t> seen;
    for (std::uint32_t j = 0; j < registers_; ++j) {
      std::uint32_t place = 0;
      std::size_t register_row = 0;
      for (std::size_t s = 0; s < epoch_->reg.size(); ++s) {
        if ((j >> s & 1) == 0) continue;
        if ((targets >> epoch_->reg[s] & 1) == 0)
          place ^= slot_columns[s] * amplitude_bytes_;
        else
          register_row |=
              std::size_t{1} << (std::find(op.targets.begin(), op.targets.end(), epoch_->reg[s]) - op.targets.begin());
      }
      if (std::find(seen.begin(), seen.end(), place) == seen.end()) {
        seen.push_back(place);
        line("C v{0} = *(C*)(tile + (from ^ {0}u));", place);
      }
      line("s{0} = mad(__ldg(m + {1} + c), v{2}, s{0});", j, register_row * order, place);
    }
    line("}}");
    for (std::uint32_t j = 0; j < registers_; ++j) assign_where_controlled(op, j);
    line("}}");
  }

  void assign_where_controlled(const TileOp& op, std::uint32_t j) {
    std::uint32_t thread_mask = 0, thread_value = 0;
    for (std::size_t s = 0; s < epoch_->reg.size(); ++s) {
      if ((op.control_mask >> epoch_->reg[s] & 1) != 0 && (op.control_value >> epoch_->reg[s] & 1) != (j >> s & 1))
        return;
    }
    for (std::size_t i = 0; i < epoch_->thread.size(); ++i) {
      thread_mask |= (op.control_mask >> epoch_->thread[i] & 1u) << i;
      thread_value |= (op.control_value >> epoch_->thread[i] & 1u) << i;
    }
    if (thread_mask == 0)
      line("{} = s{};", a(j), j);
    else
      line("if ((t & {}u) == {}u) {} = s{};", thread_mask, thread_value, a(j), j);
  }

  void store() {
    const Epoch& last = program_.epochs.back();
    const IndexColumns columns = store_columns(program_);
    const std::uint32_t dead = dead_threads(program_, last), dead_set = dead_registers(program_, last);
    switch (store_wait(program_)) {
      case StoreWait::kNone:
        break;
      case StoreWait::kWarp:
        line("__syncwarp();");
        break;
      case StoreWait::kBlock:
        line("__syncthreads();");
        break;
    }
    line("u64 to = base | (({}) ^ {});", thread_index(columns.thread), int_arg(columns.offset));
    for (const auto& [guard, offset] : columns.guarded) {
      const std::string mask = int_arg(guard.mask), value = int_arg(guard.value);
      line("if ((base & {}) == {}) to ^= {};", mask, value, int_arg(offset));
    }
    line("double norm = 0;");
    line("{} {{", dead == 0 ? "" : fmt::format("if ((t & {}u) == 0)", dead));
    slot_offsets(columns.slot);
    for (std::uint32_t j = 0; j < registers_; ++j) {
      if ((dead_set >> j & 1) == 0) line("__stcs(p.state + (to ^ o{}), {});", j, a(j));
    }
    line("if (p.norm != 0) {{");
    for (std::uint32_t j = 0; j < registers_; ++j) {
      if ((dead_set >> j & 1) == 0)
        line("norm = fma((double){0}.x, (double){0}.x, fma((double){0}.y, (double){0}.y, norm));", a(j));
    }
    line("}} }}\nif (p.norm != 0) add_norm(p.norm, norm, scratch);");
  }

  /// What a register must still be multiplied with, and by which factors of which operations.
  struct Deferred {
    std::vector<std::uint32_t> factors;
    Complex value{1};
  };

  const TileProgram& program_;
  const Epoch* epoch_ = nullptr;
  GeneratedSweep out_;
  std::vector<Deferred> deferred_;
  std::size_t deferred_count_ = 0;
  std::string functions_, body_;
  std::vector<std::string> entries_;  // arguments of the latest matrix function
  std::vector<std::uint32_t> name_;   // variable that holds each register
  bool double_ = true, tile_read_ = false, others_read_ = false;
  std::uint32_t registers_ = 16, amplitude_bytes_ = 16;
  std::size_t function_count_ = 0, dense_used_ = 0;
};

}  // namespace

GeneratedSweep generate(const TileProgram& program) { return Generator(program).generate(); }

}  // namespace qsim::cuda
