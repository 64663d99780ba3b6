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

std::string KernelText::table_entry(int table) const {
  const std::uint64_t offset = table_offset(table);
  if (!program_.separable[static_cast<std::size_t>(table)]) return fmt::format("__ldg(p.tables + {} + t)", offset);
  return fmt::format("mul(__ldg(p.tables + {0} + (t & 31u)), __ldg(p.tables + {0} + (t & ~31u)))", offset);
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
