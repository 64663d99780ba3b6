// Phases: products of constants, tables and tile factors, which wait and become one multiplication.
#include <fmt/format.h>

#include <bit>

#include "base/bits.h"
#include "base/numbers/rounding.h"
#include "cuda/generate/generate_text.h"
#include "cuda/tile/work.h"

namespace qsim::cuda {

namespace {

/// A constant that needs no argument.
enum class Plain { kOne, kMinusOne, kI, kMinusI, kNo };

Plain plain_of(Complex value) {
  if (is_one(value)) return Plain::kOne;
  if (is_one(-value)) return Plain::kMinusOne;
  if (is_one(value * Complex(0, -1))) return Plain::kI;
  if (is_one(value * Complex(0, 1))) return Plain::kMinusI;
  return Plain::kNo;
}

}  // namespace

// What the factors of a tile are made of is asked for before its amplitudes: what is asked for after them comes after
// them, and all threads wait for the factors.
std::size_t KernelText::ask_for_angles() {
  const std::size_t entries = angle_share(program_) * program_.tile_factors.size(), all = angle_rows(program_).size();
  if (all == 0) return 0;
  const std::size_t rows = all / entries;
  for (std::size_t k = 0; k < rows; ++k) line(fmt::format("u64 mask{0} = 0; double turns{0} = 0;", k));
  line(fmt::format("if (t < {}) {{", entries));
  for (std::size_t k = 0; k < rows; ++k) {
    line(fmt::format("{{ const Angle g = p.angles[t + {1}]; mask{0} = g.mask; turns{0} = g.half_turns; }}", k,
                     k * entries));
  }
  line("}");
  return rows;
}

// The tables of the first phases, before all threads wait for the tile's factors. The store is never reached, but its
// values must have been asked for where it stands: the compiler would move half of the loads behind the factors.
void KernelText::ask_for_tables() {
  constexpr std::size_t kMostTables = 4;
  std::string re, im;
  for (std::uint32_t j = 0; j < registers_; ++j) {
    re += fmt::format("{}{}.x", j == 0 ? "" : " + ", a(j));
    im += fmt::format("{}{}.y", j == 0 ? "" : " + ", a(j));
  }
  line(fmt::format("if (z != 0) put(p.state, mk({}, {}));", re, im));
  for (const TileOp& op : program_.epochs.front().ops) {
    if (!is_deferred(op)) break;
    for (const Factor& factor : op.factor) {
      if (!factor.present || factor.table < 0 || !program_.separable[static_cast<std::size_t>(factor.table)]) continue;
      if (tables_asked_.size() == kMostTables || tables_asked_.contains(factor.table)) continue;
      line(fmt::format("const C e{0} = early({1}), g{0} = early({2});", factor.table, lane_part(factor.table),
                       warp_part(factor.table)));
      tables_asked_.insert(factor.table);
    }
  }
}

void KernelText::tile_factors(std::size_t rows_asked) {
  const std::size_t factors = program_.tile_factors.size(), share = angle_share(program_);
  if (factors == 0) return;
  const bool in_turn = share == 1 && rows_asked == 0;  // a thread may have several factors
  const std::string mine = in_turn ? "" : fmt::format("if (f < {})\n", factors);
  line(in_turn ? fmt::format("for (u32 f = t; f < {}; f += {}) {{", factors, 1 << program_.thread_bits())
               : fmt::format("{{ const u32 f = t / {}u;", share));
  line("double sum = 0, s, c;");
  for (std::size_t k = 0; k < rows_asked; ++k)
    line(fmt::format("if ((base & mask{0}) == mask{0}) sum += turns{0};", k));
  if (rows_asked == 0) {
    line(
        fmt::format("{1}for (u32 i = p.angle_begin[f] + t % {0}u; i < p.angle_begin[f + 1]; i += {0}) {{ Angle g = "
                    "p.angles[i]; if ((base & g.mask) == g.mask) sum += g.half_turns; }}",
                    share, mine));
  }
  for (std::size_t lanes = share / 2; lanes > 0; lanes /= 2)
    line(fmt::format("sum += __shfl_xor_sync(0xffffffffu, sum, {}u);", lanes));
  line(mine + "{ sincospi(sum, &s, &c); F[f] = mk((R)c, (R)s); }");
  line("}\n__syncthreads();");
}

std::string KernelText::lane_part(int table) const {
  return fmt::format("p.tables + {} + (t & 31u)", table_offset(table));
}

std::string KernelText::warp_part(int table) const {
  return fmt::format("p.tables + {} + (t & ~31u)", table_offset(table));
}

std::string KernelText::table_entry(int table) const {
  if (tables_asked_.contains(table)) return fmt::format("mul(e{0}, g{0})", table);
  if (!program_.separable[static_cast<std::size_t>(table)])
    return fmt::format("__ldg(p.tables + {} + t)", table_offset(table));
  return fmt::format("mul(__ldg({}), __ldg({}))", lane_part(table), warp_part(table));
}

void KernelText::defer(const TileOp& op) {
  const std::uint32_t number = deferred_.take(op);
  for (std::uint32_t f = 0; f < 4; ++f) {
    const Factor& factor = op.factor[f];
    if (!factor.present || is_constant(factor)) continue;
    if (factor.lookup)
      declare_lookup(number * 4 + f, *factor.lookup);
    else
      factor_variable(fmt::format("v{}", number * 4 + f), factor);
  }
}

std::string KernelText::factor_text(std::uint32_t variable) const {
  const auto found = entries_read_.find(variable);
  return found == entries_read_.end() ? fmt::format("v{}", variable) : found->second;
}

void KernelText::declare_lookup(std::uint32_t variable, const Lookup& lookup) {
  // Its first entry is the first that is asked for.
  if (lookup.first == 0) {
    std::string place;
    unsigned packed = 0;
    for (std::uint32_t left = lookup.threads; left != 0;) {
      const auto bit = static_cast<unsigned>(std::countr_zero(left));
      const auto run = static_cast<unsigned>(std::countr_one(left >> bit));
      const auto mask = static_cast<std::uint32_t>(low_mask(run));
      place += fmt::format(" + ((t >> {} & {}u) << {})", bit, mask, packed);
      packed += run;
      left &= ~(mask << bit);
    }
    for_each_bit(lookup.tile, [&](unsigned bit) {
      place += fmt::format(" + ((u32)(base >> (int){} & 1) << {})", int_arg(bit), packed++);
    });
    line(fmt::format("const C* x{} = p.tables + {}{};", lookup.table, lookup_offset(program_, lookup.table), place));
  }
  entries_read_[variable] = fmt::format("__ldg(x{} + {})", lookup.table, lookup.first);
}

std::string KernelText::product_of(const std::vector<std::uint32_t>& variables,
                                   std::map<std::vector<std::uint32_t>, std::string>& made) {
  if (variables.size() == 1) return factor_text(variables.front());
  if (const auto found = made.find(variables); found != made.end()) return found->second;
  const std::string before = product_of({variables.begin(), variables.end() - 1}, made);
  const std::string name = fmt::format("w{}", products_++);
  line(fmt::format("const C {} = mul({}, {});", name, before, factor_text(variables.back())));
  return made[variables] = name;
}

void KernelText::multiply_deferred() {
  std::map<std::vector<std::uint32_t>, std::string> made;
  for (const DeferredPhases::Group& group : deferred_.done()) {
    if (group.variables.empty()) {
      multiply_constant(group.set, group.value);
      continue;
    }
    std::string product = product_of(group.variables, made);
    line("{");
    if (group.variables.size() == 1 && entries_read_.contains(group.variables.front())) {
      line(fmt::format("const C entry = {};", product));
      product = "entry";
    }
    if (plain_of(group.value) == Plain::kNo) {
      line(fmt::format("const C g = mul({}, {});", product, complex_arg(group.value)));
      product = "g";
    }
    for (std::uint32_t j = 0; j < registers_; ++j) {
      if (group.set >> j & 1) line(fmt::format("{0} = mul({0}, {1});", a(j), product));
    }
    line("}");
    if (plain_of(group.value) != Plain::kNo) multiply_constant(group.set, group.value);
  }
}

void KernelText::multiply_constant(std::uint32_t set, Complex value) {
  const Plain plain = plain_of(value);
  if (plain == Plain::kOne || set == 0) return;
  if (plain == Plain::kNo && value.imag() == 0) {
    const std::string scale = real_arg(value.real());
    for (std::uint32_t j = 0; j < registers_; ++j) {
      if (set >> j & 1) line(fmt::format("{0}.x *= {1}; {0}.y *= {1};", a(j), scale));
    }
    return;
  }
  std::string argument;
  if (plain == Plain::kNo) argument = complex_arg(value);
  for (std::uint32_t j = 0; j < registers_; ++j) {
    if ((set >> j & 1) == 0) continue;
    switch (plain) {
      case Plain::kMinusOne:
        line(fmt::format("neg({});", a(j)));
        break;
      case Plain::kI:
        line(fmt::format("tmi({});", a(j)));
        break;
      case Plain::kMinusI:
        line(fmt::format("tni({});", a(j)));
        break;
      case Plain::kNo:
        line(fmt::format("{0} = mul({0}, {1});", a(j), argument));
        break;
      case Plain::kOne:
        break;
    }
  }
}

void KernelText::factor_variable(const std::string& name, const Factor& factor) {
  std::string value;
  const auto times = [&](const std::string& more) { value = value.empty() ? more : "mul(" + value + "," + more + ")"; };
  if (factor.where) {
    const ParityPart& part = *factor.where;
    times(fmt::format("(((__popcll(base & {}) ^ __popc(t & {}u)) & 1) == {} ? {} : mk(1, 0))", int_arg(part.tile),
                      part.threads, part.odd ? 1 : 0, complex_arg(factor.constant)));
  } else if (plain_of(factor.constant) != Plain::kOne || is_constant(factor)) {
    times(complex_arg(factor.constant));
  }
  if (factor.table >= 0) times(table_entry(factor.table));
  if (factor.tile >= 0) times(fmt::format("F[{}]", factor.tile));
  if (value.empty()) value = "mk(1, 0)";
  line(fmt::format("C {} = {};", name, value));
  for (const auto& [thread_bit, tile] : factor.cross) {
    line(fmt::format("if (t >> {} & 1) {} = mul({}, F[{}]);", thread_bit, name, name, tile));
  }
  for (const auto& [table, tile] : factor.turned) {
    line(fmt::format("{{ C w = {1}; w.y *= F[{2}].x; {0} = mul({0}, w); }}", name, table_entry(table), tile));
  }
  for (const auto& [tile, threads] : factor.mirrored) {
    line(fmt::format("{{ C w = F[{}];", tile));
    if (threads != 0) line(fmt::format("if (__popc(t & {}u) & 1) w.y = -w.y;", threads));
    line(fmt::format("{0} = mul({0}, w); }}", name));
  }
}

void KernelText::pair(const TileOp& op) {
  std::uint32_t set[4] = {0, 0, 0, 0};  // registers by the two slots' bits
  for (std::uint32_t j = 0; j < registers_; ++j) {
    set[(j >> op.slots[0] & 1) | (j >> op.slots[1] & 1) << 1] |= 1u << j;
  }
  line("{");
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
    line(fmt::format("{{ C g = {};", product));
    for (std::uint32_t j = 0; j < registers_; ++j) {
      if (set[v] >> j & 1) line(fmt::format("{0} = mul({0}, g);", a(j)));
    }
    line("}");
  }
  line("}");
}

void KernelText::multiply(const TileOp& op) {
  const Factor& factor = op.factor[0];
  if (is_constant(factor)) return multiply_constant(op.set, factor.constant);
  line("{");
  factor_variable("g", factor);
  for (std::uint32_t j = 0; j < registers_; ++j) {
    if (op.set >> j & 1) line(fmt::format("{0} = mul({0}, g);", a(j)));
  }
  line("}");
}

}  // namespace qsim::cuda
