// Kernels of sweeps that permute: as kernels/cuda/permute.cu, with a register for each row of words and a line for each
// step, so that a flip is one or two instructions for 1,024 places.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/bits.h"
#include "cuda/generate/generate.h"
#include "cuda/generate/generate_prelude.h"
#include "device/permutation/product.h"
#include "device/permutation/program.h"
#include "plan/product_lookups.h"

namespace qsim::cuda {
namespace {

// Steps, of sweeps that read and of first writes, whose flips are left to a compiler, which finds some that are not
// needed and keeps few conditions for later; and those of straight-line code that ptxas keeps less of in memory with
// few optimisations.
constexpr std::size_t kFewRead = 500, kFewSteps = 1000, kManySteps = 2000;

constexpr unsigned kEach = 32, kAtOnce = 8;  // amplitudes of a thread, and those that are on their way together

constexpr const char* kPermutationPrelude =
    R"(struct P { const C* state; C* gathered; const E* tables; Norm* norm; u64 fixed; double scale[2]; };
)";

constexpr const char* kPermutationFunctions = R"(
INLINE void transpose(u32 (&w)[32]) {
  u32 mask = 0x0000ffffu;
#pragma unroll
  for (u32 j = 16; j != 0; j >>= 1, mask ^= mask << j) {
#pragma unroll
    for (u32 k = 0; k < 32; ++k) {
      if ((k & j) != 0) continue;
      const u32 t = (w[k] >> j ^ w[k | j]) & mask;
      w[k] ^= t << j;
      w[k | j] ^= t;
    }
  }
}
// Macros: thousands of functions take a compiler longer to put in line.
#ifdef __CUDA_ARCH__
#define FLIP(w, m) asm volatile("xor.b32 %0, %0, %1;" : "+r"(w) : "r"(m))
#define IN_ORDER(q) asm volatile("" : "+r"(q))
#define SET(m, w) asm volatile("mov.b32 %0, %1;" : "=r"(m) : "r"(w))
#define SET_NOT(m, w) asm volatile("not.b32 %0, %1;" : "=r"(m) : "r"(w))
#define AND(m, w) asm volatile("and.b32 %0, %0, %1;" : "+r"(m) : "r"(w))
#define AND_NOT(m, w) asm volatile("{.reg .b32 t; not.b32 t, %1; and.b32 %0, %0, t;}" : "+r"(m) : "r"(w))
#else
#define SET(m, w) m = w
#define SET_NOT(m, w) m = ~(w)
#define AND(m, w) m &= w
#define AND_NOT(m, w) m &= ~(w)
#define FLIP(w, m) w ^= m
#define IN_ORDER(q)
#endif
#define HALF_ADD(q, c) { const u32 t = q & c; q ^= c; c = t; IN_ORDER(q); }
#define FULL_ADD(q, c, m) { const u32 t = (q & c) | (q & m) | (c & m); q ^= c ^ m; c = t; IN_ORDER(q); }
INLINE void turn0(C& v, u32 on) { const R c = (R)0.92387953251128675613, s = (R)0.38268343236508977173; const C w = mk(c * v.x - s * v.y, c * v.y + s * v.x); if (on != 0) v = w; }
INLINE void turn1(C& v, u32 on) { const R c = (R)0.70710678118654752440; const C w = mk(c * (v.x - v.y), c * (v.x + v.y)); if (on != 0) v = w; }
INLINE void turn2(C& v, u32 on) { if (on != 0) v = mk(-v.y, v.x); }
INLINE void turn3(C& v, u32 on) { if (on != 0) v = mk(-v.x, -v.y); }
INLINE C times(C v, C e) { return mul(v, e); }
INLINE C times(C v, R e) { return mk(v.x * e, v.y * e); }
INLINE void square(double& sum, C v) { const double x = v.x, y = v.y; sum = fma(x, x, fma(y, y, sum)); }
)";

class PermutationText {
 public:
  PermutationText(const Sweep& sweep, std::uint32_t local_bits, Precision precision)
      : sweep_(sweep),
        program_(permutation_program(sweep, local_bits)),
        double_(precision == Precision::kDouble),
        whole_(is_one_bundle(sweep, local_bits)),
        left_to_compiler_(program_.steps.size() <= (sweep.reads ? kFewRead : kFewSteps)),
        bits_(count_bits(program_.bundle)) {
    row_of_.fill(kNone);
    for (std::uint32_t row = 0; row < program_.bits.size(); ++row) row_of_[program_.bits[row]] = row;
  }

  GeneratedSweep generate() {
    const bool writes = !sweep_.reads;
    const ProductLookups lookups = writes ? product_lookups(sweep_) : ProductLookups();
    const bool real = writes && has_real_products(sweep_);
    // With a fourth block of a multiprocessor there are too few registers, and it is no faster.
    line(fmt::format("extern \"C\" __global__ void __launch_bounds__({}, 3) sweep(const __grid_constant__ P p) {{",
                     kPermutationThreads));
    line("const u32 lane = threadIdx.x % 32u;");
    line("__shared__ double scratch[32];\ndouble sum = 0;");
    if (writes) {
      line("extern __shared__ __align__(16) char tile[];\nE* const table = (E*)tile;");
      line(fmt::format("for (u32 i = threadIdx.x; i < {}u; i += {}u) table[i] = p.tables[i];", lookups.entries(),
                       kPermutationThreads));
      line("__syncthreads();\nconst C scale = mk((R)p.scale[0], (R)p.scale[1]), zero = mk(0, 0);");
    }
    line(fmt::format(
        "#pragma unroll 1\nfor (u64 first = (u64)blockIdx.x * {0}u + (threadIdx.x / 32u << 10); first < {1}ull; first "
        "+= (u64)gridDim.x * {0}u) {{",
        kPermutationBlock, Index{1} << bits_));
    // Where places are read, words begin with a 0 that a compiler does not know (no place has bit 63): what it finds
    // from constants there has made a kernel 9 ms of 20 slower, while first writes lose up to 10 of 16 without them.
    const std::string none = writes ? "0" : "(u32)(p.fixed >> 63)";
    line(fmt::format("const u32 none = {};", none));
    for (std::uint32_t row = 0; row < program_.bits.size(); ++row)
      line(fmt::format("u32 w{} = {} ^ none;", row, initial(program_.bits[row])));
    steps();
    if (writes) {
      write(lookups);
    } else {
      gather();
    }
    line("}\nif (p.norm != 0) add_norm(p.norm, sum, scratch);\n}");
    GeneratedSweep out;
    if (program_.steps.size() > kManySteps) out.source = kAssembledSimply;
    out.source += fmt::format("typedef {} R;\ntypedef {} C;\ntypedef {} E;\n", double_ ? "double" : "float",
                              double_ ? "double2" : "float2", real ? "R" : "C") +
                  kTypes + kPermutationPrelude + kPrelude + kPermutationFunctions + body_;
    out.shared_bytes = static_cast<std::uint32_t>(lookups.entries() * (double_ ? 8 : 4) * (real ? 1 : 2));
    return out;
  }

 private:
  static constexpr std::uint32_t kNone = ~0u;

  void line(const std::string& text) { body_ += text + "\n"; }

  /// The word of a bit of the places first + 32 i + lane, i < 32, of a bundle.
  std::string initial(unsigned bit) const {
    constexpr std::array<const char*, 5> kWithin = {"0xaaaaaaaau", "0xccccccccu", "0xf0f0f0f0u", "0xff00ff00u",
                                                    "0xffff0000u"};
    if (!test_bit(program_.bundle, bit)) return fmt::format("0u - (u32)(p.fixed >> {} & 1)", bit);
    const unsigned position = count_bits(program_.bundle & low_mask(bit));
    if (position < 5) return fmt::format("0u - (lane >> {} & 1u)", position);
    return position < 10 ? kWithin[position - 5] : fmt::format("0u - (u32)(first >> {} & 1)", position);
  }
  /// The same after all steps.
  std::string word(unsigned bit) const {
    return row_of_[bit] == kNone ? "(" + initial(bit) + ")" : fmt::format("w{}", row_of_[bit]);
  }

  /// Rows whose bits are 1, or 0 where they are negated.
  using Where = std::vector<std::pair<std::uint32_t, bool>>;

  // Steps are done in the order in which they are written, and conditions made anew for each: left to itself a compiler
  // gathers conditions of many steps, or keeps them for later ones, in memory, and takes a time that grows with the
  // square of their number. No lop3 is written out: where two operands of one are equal, as registers or as values it
  // knows, ptxas 13.0 joins it wrongly with what uses its result. Those it makes of and, or and xor are right.
  void steps() {
    const std::uint32_t ones = program_.rows() - 1;
    Where where;
    if (program_.phases) line("u32 q0 = none, q1 = none, q2 = none, q3 = none;");
    for (const std::uint32_t step : program_.steps) {
      for (const unsigned at : {8u, 16u}) {
        const std::uint32_t row = step >> at & 63;
        if (row != ones) where.emplace_back(row, test_bit(step, at + 6));
      }
      if ((step & PermutationStep::kApplies) == 0) continue;
      if ((step & PermutationStep::kPhase) == 0) {
        add_flip(step & 63, where);
      } else {
        add_phase(step & 15, where);
      }
      where.clear();
    }
  }

  static std::string expression(const Where& where) {
    std::string text;
    for (const auto& [row, negated] : where)
      text += fmt::format("{}{}w{}", text.empty() ? "" : " & ", negated ? "~" : "", row);
    return text.empty() ? "~0u" : text;
  }
  /// The same as m, in order.
  static std::string condition(const Where& where) {
    if (where.empty()) return "const u32 m = ~0u;";
    std::string text = "u32 m;";
    const char* put = "SET";
    for (const auto& [row, negated] : where)
      text += fmt::format(" {}{}(m, w{});", std::exchange(put, "AND"), negated ? "_NOT" : "", row);
    return text;
  }

  void add_flip(std::uint32_t target, const Where& where) {
    if (left_to_compiler_) return line(fmt::format("w{} ^= {};", target, expression(where)));
    line(fmt::format("{{ {} FLIP(w{}, m); }}", condition(where), target));
  }

  /// A sum of four digits, a word each.
  void add_phase(std::uint32_t sixteenths, const Where& where) {
    constexpr std::uint32_t kHalfTurn = 8;
    if (sixteenths == 0) return;
    std::string text = "{ " + condition(where);
    if (sixteenths == kHalfTurn) {
      used_[3] = true;
      return line(text + " FLIP(q3, m); }");
    }
    bool carries = false;
    for (unsigned bit = 0; bit < 4; ++bit) {
      const bool adds = test_bit(sixteenths, bit);
      if (!adds && !carries) continue;
      used_[bit] = true;
      if (!std::exchange(carries, true)) {
        text += fmt::format(" u32 c = m; HALF_ADD(q{}, c);", bit);
      } else if (bit < 3) {
        text += adds ? fmt::format(" FULL_ADD(q{}, c, m);", bit) : fmt::format(" HALF_ADD(q{}, c);", bit);
      } else {
        text += adds ? " FLIP(q3, c ^ m);" : " FLIP(q3, c);";
      }
    }
    line(text + " }");
  }

  /// Of amplitude v[i].
  void turns(unsigned i) {
    for (unsigned bit = 0; bit < 4; ++bit) {
      if (used_[bit]) line(fmt::format("turn{0}(v{1}, q{0} & {2}u);", bit, i, 1u << i));
    }
  }

  std::string there(unsigned i) const {
    return bits_ < 10 ? fmt::format("if ((first | {}u | lane) < {}ull) ", i * 32, Index{1} << bits_) : "";
  }

  /// Of words for the bits of a thread's 32 places, a word for each place: x[i].
  void transpose(const std::array<std::string, kEach>& words) {
    line("u32 x[32];");
    for (unsigned b = 0; b < kEach; ++b) line(fmt::format("x[{}] = {};", b, words[b].empty() ? "0" : words[b]));
    line("transpose(x);");
  }

  std::string places_of(const std::string& packed) const {
    std::string text;
    for (Index left = program_.bundle; left != 0;) {
      const auto low = static_cast<unsigned>(std::countr_zero(left));
      const auto length = static_cast<unsigned>(std::countr_one(left >> low));
      const unsigned position = count_bits(program_.bundle & low_mask(low));
      text +=
          fmt::format("{}({} >> {} & {}ull) << {}", text.empty() ? "" : " | ", packed, position, low_mask(length), low);
      left &= ~(low_mask(length) << low);
    }
    return text;
  }

  void gather() {
    std::array<std::string, kEach> changed;
    std::vector<unsigned> high;
    for (std::uint32_t row = 0; row < program_.targets; ++row) {
      const unsigned bit = program_.bits[row];
      const std::string difference = fmt::format("w{} ^ ({})", row, initial(bit));
      if (bit < kEach) {
        changed[bit] = difference;
      } else {
        line(fmt::format("const u32 h{} = {};", bit, difference));
        high.push_back(bit);
      }
    }
    transpose(changed);
    line("const u64 packed = first | lane;");
    line(fmt::format("const u64 base = p.fixed | {};", places_of("packed")));
    for (unsigned begin = 0; begin < kEach; begin += kAtOnce) {
      line("{");
      for (unsigned i = begin; i < begin + kAtOnce; ++i) {
        const Index apart = deposit_bits(Index{i} * 32, program_.bundle);
        std::string from = fmt::format("base ^ {}ull ^ x[{}]", apart, i);
        for (const unsigned bit : high) from += fmt::format(" ^ (u64)(h{} >> {} & 1u) << {}", bit, i, bit);
        line(fmt::format("const u64 f{} = {};", i, from));
        line(fmt::format("C v{} = mk(0, 0);", i));
        std::string condition = there(i);
        if (program_.unborn != 0) condition += fmt::format("if ((f{} & {}ull) == 0) ", i, program_.unborn);
        line(fmt::format("{}v{} = __ldg(p.state + f{});", condition, i, i));
      }
      for (unsigned i = begin; i < begin + kAtOnce; ++i) {
        const Index apart = deposit_bits(Index{i} * 32, program_.bundle);
        turns(i);
        if (program_.phase != 1.0) line(fmt::format("v{0} = times(v{0}, mk((R)p.scale[0], (R)p.scale[1]));", i));
        line(whole_ ? fmt::format("{}p.gathered[base ^ {}ull] = v{};", there(i), apart, i)
                    : fmt::format("{}p.gathered[packed | {}u] = v{};", there(i), i * 32, i));
        line(fmt::format("if (p.norm != 0) square(sum, v{});", i));
      }
      line("}");
    }
  }

  void write(const ProductLookups& lookups) {
    const ProductStart start = product_start(sweep_);
    std::string alive = "~0u";
    for_each_bit(start.checked, [&](unsigned bit) {
      alive += fmt::format(" & {}{}", test_bit(start.wanted, bit) ? "" : "~", word(bit));
    });
    line(fmt::format("const u32 there = {};", alive));
    std::array<std::string, kEach> words;
    std::vector<unsigned> left;
    unsigned number = 0;
    for_each_bit(start.varying, [&](unsigned bit) {
      if (number < lookups.indexed) {
        words[number++] = word(bit);
      } else {
        left.push_back(bit);
      }
    });
    transpose(words);
    for (std::size_t k = 0; k < left.size(); ++k) line(fmt::format("const u32 l{} = {};", k, word(left[k])));
    for (unsigned begin = 0; begin < kEach; begin += kAtOnce) {
      line("{");
      for (unsigned i = begin; i < begin + kAtOnce; ++i) {
        line(fmt::format("C v{} = scale;", i));
        for (std::uint32_t t = 0; t < lookups.tables; ++t) {
          line(fmt::format("v{0} = times(v{0}, table[{1}u + (x[{0}] >> {2} & {3}u)]);", i, t << lookups.width,
                           t * lookups.width, low_mask(lookups.width)));
        }
        for (std::size_t k = 0; k < left.size(); ++k) {
          line(fmt::format("v{0} = times(v{0}, table[{1}u + (l{2} >> {0} & 1u)]);", i,
                           (lookups.tables << lookups.width) + 2 * k, k));
        }
        turns(i);
        if (start.checked != 0) line(fmt::format("if ((there & {}u) == 0) v{} = zero;", 1u << i, i));
      }
      for (unsigned i = begin; i < begin + kAtOnce; ++i) {
        line(fmt::format("{}p.gathered[first | {}u | lane] = v{};", there(i), i * 32, i));
        line(fmt::format("{}if (p.norm != 0) square(sum, v{});", there(i), i));
      }
      line("}");
    }
  }

  const Sweep& sweep_;
  const PermutationProgram program_;
  const bool double_, whole_, left_to_compiler_;
  const std::uint32_t bits_;
  std::array<std::uint32_t, 64> row_of_{};
  std::array<bool, 4> used_{};  // digits of the phases
  std::string body_;
};

}  // namespace

GeneratedSweep generate_permutation(const Sweep& sweep, std::uint32_t local_bits, Precision precision) {
  return PermutationText(sweep, local_bits, precision).generate();
}

}  // namespace qsim::cuda
