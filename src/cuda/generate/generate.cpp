// What surrounds the operations of a kernel: arguments, loads, tile factors, the order of operations, stores.
#include "cuda/generate/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <span>

#include "base/bits.h"
#include "cuda/generate/generate_prelude.h"
#include "cuda/generate/generate_text.h"
#include "cuda/tile/work.h"
#include "qsim/error.h"

namespace qsim::cuda {

GeneratedSweep KernelText::generate() {
  begin();
  for (std::size_t e = 0; e < program_.epochs.size(); ++e) {
    epoch_ = &program_.epochs[e];
    number_ = e;
    if (e + 1 < program_.epochs.size() && program_.epochs[e + 1].exchanged && !epoch_->exchanged) line("__syncwarp();");
    for (std::span<const TileOp> left = epoch_->ops; !left.empty();) {
      const TileOp& op = left.front();
      std::size_t taken = 1;
      if (is_deferred(op)) {
        defer(op);
      } else {
        if (op.kind != TileOpKind::kPair && op.kind != TileOpKind::kMultiply) multiply_deferred();
        if (op.kind == TileOpKind::kSwap)
          taken = swaps(left);
        else
          guarded(op);
      }
      left = left.subspan(taken);
    }
    multiply_deferred();
    if (e + 1 == program_.epochs.size()) break;
    const Regroup columns = regroup_columns(program_, e);
    if (program_.epochs[e + 1].exchanged) {
      exchange(columns);
      continue;
    }
    regroup(columns);
  }
  store();
  body_ += "}\n";
  out_.source = head() + functions_ + body_;
  return std::move(out_);
}

std::string KernelText::head() const {
  return fmt::format("#define NU {}\n#define ND {}\ntypedef {} R;\ntypedef {} C;\n",
                     std::max<std::size_t>(out_.ints.size(), 1), std::max<std::size_t>(out_.reals.size(), 1),
                     double_ ? "double" : "float", double_ ? "double2" : "float2") +
         kTypes + kArguments + kPrelude + (uses_lanes(program_) ? kLanePrelude : "") +
         (has_wide_matrices_ ? kWidePrelude : "");
}

std::string KernelText::thread_index(const std::vector<Index>& columns) {
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

void KernelText::slot_offsets(const std::vector<Index>& columns) {
  line("u64 o0 = 0;");
  for (std::size_t s = 0; s < columns.size(); ++s) line(fmt::format("u64 o{} = {};", 1u << s, int_arg(columns[s])));
  for (std::uint32_t j = 3; j < registers_; ++j) {
    if (!is_power_of_two(j)) line(fmt::format("u64 o{} = o{} ^ o{};", j, j & (j - 1), j & (~j + 1)));
  }
}

void KernelText::begin() {
  const int threads = 1 << program_.thread_bits();
  line(fmt::format(
      "extern \"C\" __global__ void __launch_bounds__({}, {}) sweep(const __grid_constant__ P p, u64 base0, u64 "
      "first_tile) {{",
      threads, (amplitude_bytes_ * registers_ > 128 ? 512 : 1024) / threads));
  line("extern __shared__ __align__(16) char tile[];");
  line(fmt::format("__shared__ C F[{}];", std::max<std::size_t>(program_.tile_factors.size(), 1)));
  line("__shared__ double scratch[32];");
  line("const u32 t = threadIdx.x;");
  line("const u64 number = first_tile + blockIdx.x;");
  // Added to the places of real arguments that are held (real_arg): a place that the compiler does not know.
  line("const u32 z = (u32)(first_tile >> 63);");
  // The chunk's runs are known only at launch: their number is part of the structure, masks are filled in there.
  tile_base("base", "number");
  out_.ints.assign(1 + 2 * kGeneratedRuns, 0);
  for (std::uint32_t j = 0; j < registers_; ++j) line(fmt::format("C a{} = mk(0, 0);", j));
  const std::size_t rows = ask_for_angles();
  load();
  if (rows != 0) ask_for_tables();
  tile_factors(rows);
  start();
}

void KernelText::tile_base(const char* name, const std::string& number) {
  line(fmt::format("u64 {} = base0;", name));
  line("#pragma unroll 1");
  line(fmt::format("for (int i = 0; i < (int)p.u[0]; ++i) {} |= ({}) << p.u[1 + 2 * i] & p.u[2 + 2 * i];", name,
                   number));
}

void KernelText::load() {
  const Epoch& first = program_.epochs.front();
  const std::uint32_t dead = dead_threads(program_, first), dead_set = dead_registers(program_, first);
  std::uint32_t births = 0;
  for (std::size_t s = 0; s < first.reg.size(); ++s) births |= (program_.births >> first.reg[s] & 1u) << s;
  std::string condition;
  if (dead != 0) condition = fmt::format("(t & {}u) == 0", dead);
  if (program_.reads && program_.zero_tiles != 0) {
    condition += fmt::format("{}(base & {}) == 0", condition.empty() ? "" : " && ", int_arg(program_.zero_tiles));
  }
  line(fmt::format("{} {{", condition.empty() ? "" : "if (" + condition + ")"));
  if (program_.reads) {
    const IndexColumns columns = load_columns(program_);
    line(fmt::format("const u64 at = base ^ ({});", thread_index(columns.thread)));
    slot_offsets(columns.slot);
    const std::uint32_t apart = arrived_origins(columns.slot);
    for (std::uint32_t j = 0; j < registers_; ++j) {
      if ((dead_set >> j & 1) != 0 || (j & births) != 0) continue;
      if (program_.reach.empty())
        line(fmt::format("a{} = fetch(from{} + o{});", j, j & apart, j));
      else
        line(fmt::format("a{0} = fetch(p.state + (at ^ o{0}));", j));
    }
    ask_ahead(columns.thread, dead_set, births);
    for (std::uint32_t j = 0; j < registers_; ++j) {
      if ((dead_set >> j & 1) == 0 && (j & births) != 0) line(fmt::format("a{} = a{};", j, j & ~births));
    }
  } else {
    for (std::uint32_t j = 0; j < registers_; ++j) {
      if ((dead_set >> j & 1) == 0) line(fmt::format("a{}.x = 1;", j));
    }
  }
  line("}");
}

// A tile that is born for the most part loads little and waits for it as long as others do: while it waits it asks for
// what a tile loads that begins about when it ends. With fewer births the other blocks have enough to do meanwhile.
void KernelText::ask_ahead(const std::vector<Index>& threads, std::uint32_t dead, std::uint32_t births) {
  constexpr int kManyBirths = 7, kTilesAtOnce = 264;  // two on each multiprocessor of an H100 or an H200
  if (std::popcount(program_.births) < kManyBirths || !program_.reach.empty() || program_.arrivals != 0) return;
  std::uint32_t alike = 0;  // bits of a thread's number whose values load the same
  for (std::size_t i = 0; i < threads.size(); ++i) alike |= threads[i] == 0 ? 1u << i : 0u;
  line(fmt::format("if ((t & {}u) == 0) {{", alike));
  tile_base("later", fmt::format("number + {}u", kTilesAtOnce));
  if (program_.zero_tiles != 0) line(fmt::format("if ((later & {}) == 0) {{", int_arg(program_.zero_tiles)));
  line("const C* const ahead = p.state + (at ^ base ^ later);");
  for (std::uint32_t j = 0; j < registers_; ++j) {
    if ((dead >> j & 1) == 0 && (j & births) == 0) line(fmt::format("prefetch(ahead + o{});", j));
  }
  line(program_.zero_tiles != 0 ? "} }" : "}");
}

std::uint32_t KernelText::arrived_origins(const std::vector<Index>& slots) {
  if (program_.arrivals == 0) {
    line("const C* from0 = p.state + at;");
    return 0;
  }
  const Index values = bit_mask(count_bits(program_.arrivals));
  const std::string shift = int_arg(log2_exact(program_.arrivals & (~program_.arrivals + 1)));
  out_.origins = out_.ints.size();
  out_.ints.resize(out_.ints.size() + values);
  std::uint32_t apart = 0;
  for (std::size_t s = 0; s < slots.size(); ++s) apart |= (slots[s] & program_.arrivals) != 0 ? 1u << s : 0;
  for (std::uint32_t j = 0; j < registers_; ++j) {
    if ((j & ~apart) != 0) continue;
    const std::string value = fmt::format("((at ^ o{}) >> {} & {})", j, shift, values - 1);
    line(fmt::format("const C* from{} = (const C*)((const char*)(p.state + at) + p.u[{} + {}]);", j, out_.origins,
                     value));
  }
  return apart;
}

void KernelText::start() {
  if (!program_.start_scaled) return;
  line(fmt::format("{{ C w = {};", complex_arg(program_.start_constant)));
  for (const Birth& birth : program_.start_tile) {
    line(fmt::format("w = mul(w, (base & {}) != 0 ? {} : {});", int_arg(bit_mask(birth.bit)),
                     complex_arg(birth.factor[1]), complex_arg(birth.factor[0])));
  }
  if (program_.start_table >= 0) line(fmt::format("w = mul(w, {});", table_entry(program_.start_table)));
  for (std::uint32_t j = 0; j < registers_; ++j) line(fmt::format("a{0} = mul(a{0}, w);", j));
  for (std::uint32_t s = 0; s < static_cast<std::uint32_t>(program_.register_bits); ++s) {
    for (std::uint32_t v = 0; v < 2; ++v) {
      std::uint32_t set = 0;
      for (std::uint32_t j = 0; j < registers_; ++j) set |= (j >> s & 1) == v ? 1u << j : 0u;
      multiply_constant(set, program_.start_register[s][v]);
    }
  }
  line("}");
}

std::string KernelText::condition(const TileGuard& guard) {
  std::string text;
  if (guard.mask != 0) {
    const std::string mask = int_arg(guard.mask);
    text = fmt::format("(base & {}) == {}", mask, int_arg(guard.value));
  }
  if (guard.parity_mask != 0) {
    text += fmt::format("{}(__popcll(base & {}) & 1) == {}", text.empty() ? "" : " && ", int_arg(guard.parity_mask),
                        guard.odd ? 1 : 0);
  }
  return text;
}

void KernelText::guarded(const TileOp& op) {
  if (op.guard.always()) return add(op);
  line(fmt::format("if ({}) {{", condition(op.guard)));
  add(op);
  line("}");
}

void KernelText::add(const TileOp& op) {
  switch (op.kind) {
    case TileOpKind::kRotate:
      return rotate(op);
    case TileOpKind::kMatrix1:
      return matrix(op, {op.slots[0]});
    case TileOpKind::kMatrix2:
      return matrix(op, {op.slots[0], op.slots[1]});
    case TileOpKind::kSwap:
      break;  // swaps()
    case TileOpKind::kLanes:
      return lanes(op);
    case TileOpKind::kDense:
      return dense(op);
    case TileOpKind::kPair:
      return pair(op);
    case TileOpKind::kMultiply:
      return multiply(op);
  }
  throw Error("unknown tile operation");
}

// Such a sweep waits for memory alone. Its stores ask the second-level cache to stay, so that rows of DRAM are written
// together: 2 % faster, where sweeps that compute were up to 4 % slower.
bool KernelText::hardly_computes() const {
  std::size_t ops = 0;
  for (const Epoch& epoch : program_.epochs) ops += epoch.ops.size();
  return ops <= 4;
}

void KernelText::store() {
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
  line(fmt::format("u64 to = base ^ (({}) ^ {});", thread_index(columns.thread), int_arg(columns.offset)));
  for (const auto& [guard, offset] : columns.guarded) {
    const std::string mask = int_arg(guard.mask), value = int_arg(guard.value);
    line(fmt::format("if ((base & {}) == {}) to ^= {};", mask, value, int_arg(offset)));
  }
  line("double norm = 0;");
  const char* const way = hardly_computes() ? "keep" : "put";
  line(fmt::format("{} {{", dead == 0 ? "" : fmt::format("if ((t & {}u) == 0)", dead)));
  slot_offsets(columns.slot);
  for (std::uint32_t j = 0; j < registers_; ++j) {
    if ((dead_set >> j & 1) == 0) line(fmt::format("{}(p.state + (to ^ o{}), {});", way, j, a(j)));
  }
  line("if (p.norm != 0) {");
  add_squares(dead_set);
  // A block that loads little has soon nothing to do but to wait for the last of its warps.
  const bool by_warps = program_.births != 0 || program_.zero_tiles != 0;
  line(by_warps ? "} }\nif (p.norm != 0) add_norm_by_warps(p.norm, norm);"
                : "} }\nif (p.norm != 0) add_norm(p.norm, norm, scratch);");
  if (program_.sums_bits) sum_bits(columns, dead, dead_set);
}

// Conversions to double have an eighth of the rate of a multiplication: in single precision eight squares are added
// before one, in pairs of pairs, so that equal ones are added without rounding.
void KernelText::add_squares(std::uint32_t dead_set) {
  std::vector<std::string> squares;
  for (std::uint32_t j = 0; j < registers_; ++j) {
    if ((dead_set >> j & 1) != 0) continue;
    if (double_)
      line(fmt::format("norm = fma({0}.x, {0}.x, fma({0}.y, {0}.y, norm));", a(j)));
    else
      squares.push_back(fmt::format("fma({0}.x, {0}.x, {0}.y * {0}.y)", a(j)));
  }
  for (std::size_t width = 1; width < 8 && squares.size() > 1; width *= 2) {  // a power of two of registers is stored
    for (std::size_t i = 0; i < squares.size() / 2; ++i)
      squares[i] = fmt::format("({} + {})", squares[2 * i], squares[2 * i + 1]);
    squares.resize(squares.size() / 2);
  }
  for (const std::string& sum : squares) line(fmt::format("norm += (double){};", sum));
}

GeneratedSweep generate(const TileProgram& program) { return KernelText(program).generate(); }

}  // namespace qsim::cuda
