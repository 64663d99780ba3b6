// The tile machine: loads a tile, runs the passes of a sweep's program on it and stores it. Included once by each
// instruction set's file; everything here is a template over that file's own vector types.
#pragma once

#include <immintrin.h>

#include "kernels/cpu/tile_program.h"

namespace qsim::cpu {

/// While it lives, subnormal numbers count as 0: what rounding leaves where amplitudes cancel gets there after few
/// products, and processors then take a hundred times longer for every operation.
class FlushSubnormals {
 public:
  FlushSubnormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ | kFlushResults | kTakeAsZero); }
  ~FlushSubnormals() { _mm_setcsr(before_); }
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

 private:
  static constexpr unsigned kFlushResults = 1u << 15, kTakeAsZero = 1u << 6;
  const unsigned before_;
};

template <typename S>
class Machine {
 public:
  using T = typename S::Real;
  using V = typename S::Register;
  static constexpr int kLanes = S::kLanes, kRegisterBits = S::kRegisterBits, kGroup = 1 << kRegisterBits;

  static double run(const TileProgramView<T>& program, std::complex<T>* shard, const TileTask& task,
                    const TileScratch<T>& scratch, bool norm) {
    const FlushSubnormals flush;
    Machine machine(program, shard, task, scratch);
    for (std::uint64_t tile = 0; tile < task.tiles; ++tile) {
      machine.begin_tile(tile);
      machine.load();
      if (task.factor == std::complex<double>(0)) {
        // Zeros stay zeros.
        machine.load_ahead(0, program.pass_count * machine.groups());
        continue;
      }
      machine.make_tables();
      for (std::uint32_t pass = 0; pass < program.pass_count; ++pass) {
        if (program.passes[pass].dense) {
          machine.run_dense(program.passes[pass]);
          machine.load_ahead(pass * machine.groups(), (pass + 1) * machine.groups());
        } else {
          machine.run_pass(pass);
        }
      }
    }
    return norm ? machine.template store<true>() : machine.template store<false>();
  }

 private:
  Machine(const TileProgramView<T>& program, std::complex<T>* shard, const TileTask& task,
          const TileScratch<T>& scratch)
      : program_(program), all_(reinterpret_cast<T*>(shard)), task_(task), scratch_(scratch) {
    const std::uint64_t steps = groups() * program.pass_count * task.tiles;
    if (steps != 0) share_ = ((program.vectors << 32) + steps - 1) / steps;
  }

  std::uint64_t groups() const { return program_.vectors >> kRegisterBits; }
  std::uint64_t tile_reals() const { return program_.vectors * 2 * kLanes; }

  void begin_tile(std::uint64_t tile) {
    base_ = task_.base + tile * task_.tile_step;
    number_ = task_.number + tile;
    tile_ = scratch_.tile + tile * tile_reals();
    first_step_ = tile * program_.pass_count * groups();
    // Asks nothing of the tile's data, so it can be known before the tile is stored.
    scratch_.scales[tile] = tile_scale();
  }

  // ---- loading and storing

  T* vector(std::uint64_t number) const { return tile_ + number * 2 * kLanes; }
  T* at(Index place) const { return all_ + 2 * place; }

  void load() const {
    if (task_.factor == std::complex<double>(0)) {
      for (std::uint64_t i = 0; i < program_.vectors; ++i) put(vector(i), S::zero(), S::zero());
      return;
    }
    switch (program_.load) {
      case Load::kUnits:
        // The first tile of a batch loads all.
        if (!task_.loaded && tile_ == scratch_.tile) load_all();
        break;
      case Load::kElements:
        load_elements();
        break;
      case Load::kStart:
        for (std::uint64_t i = 0; i < program_.vectors; ++i) {
          const T* const from = program_.start + i * 2 * kLanes;
          put(vector(i), S::load(from), S::load(from + kLanes));
        }
        return;
    }
    if (program_.start != nullptr) {
      for (std::uint64_t i = 0; i < program_.vectors; ++i) multiply_at(vector(i), program_.start + i * 2 * kLanes);
    }
  }

  /// Vector i of each tile of a batch, neighbours in memory one after the other.
  void load_vectors(T* to, Index base, std::uint64_t i) const {
    const Index low = program_.load_offsets[2 * i], high = program_.load_offsets[2 * i + 1];
    to += 2 * kLanes * i;
    for (std::uint64_t tile = 0; tile < task_.tiles; ++tile) {
      const V a = low == kNowhere ? S::zero() : S::load_any(at(base ^ low));
      const V b = high == kNowhere ? S::zero() : S::load_any(at(base ^ high));
      V re, im;
      S::split(a, b, re, im);
      put(to, re, im);
      base += task_.tile_step;
      to += tile_reals();
    }
  }
  /// Inlined always: g++ takes a function that only prefetches for one without effects, and drops its calls.
  __attribute__((always_inline)) void ask_for_vectors(Index base, std::uint64_t i) const {
    const Index low = program_.load_offsets[2 * i], high = program_.load_offsets[2 * i + 1];
    for (std::uint64_t tile = 0; tile < task_.tiles; ++tile) {
      if (low != kNowhere) __builtin_prefetch(at(base ^ low), 0, 3);
      if (high != kNowhere) __builtin_prefetch(at(base ^ high), 0, 3);
      base += task_.tile_step;
    }
  }

  /// Vectors that are asked for ahead of loading: enough to hide memory, few enough that the lines are still in the
  /// first cache when they are loaded (those of one tile often share few places there).
  std::uint64_t ahead() const { return task_.tiles >= 8 ? 4 : task_.tiles >= 4 ? 8 : task_.tiles == 2 ? 16 : 24; }

  void load_all() const {
    const Index from = task_.base;
    const std::uint64_t distance = ahead();
    for (std::uint64_t i = 0; i < program_.vectors; ++i) {
      if (i + distance < program_.vectors) ask_for_vectors(from, i + distance);
      load_vectors(scratch_.tile, from, i);
    }
  }

  /// Loads the share of the next batch that belongs to steps [first, last) of this tile; a step is one group of one
  /// pass.
  /// Not inlined: a pass needs all registers for its group.
  [[gnu::noinline]] void load_ahead(std::uint64_t first, std::uint64_t last) const {
    if (task_.next_base == kNowhere) return;
    const std::uint64_t begin = (first_step_ + first) * share_ >> 32, wanted = (first_step_ + last) * share_ >> 32;
    const std::uint64_t end = wanted < program_.vectors ? wanted : program_.vectors;
    if (begin >= end) return;
    const Index from = task_.next_base;
    const std::uint64_t distance = ahead();
    for (std::uint64_t i = begin == 0 ? 0 : begin + distance; i < end + distance && i < program_.vectors; ++i) {
      ask_for_vectors(from, i);
    }
    for (std::uint64_t i = begin; i < end; ++i) load_vectors(scratch_.next, from, i);
  }

  void load_elements() const {
    for (std::uint64_t i = 0; i < program_.vectors; ++i) {
      T* const to = vector(i);
      for (int lane = 0; lane < kLanes; ++lane) {
        const Index offset = program_.load_offsets[i * kLanes + static_cast<std::uint64_t>(lane)];
        to[lane] = offset == kNowhere ? T(0) : at(base_ ^ offset)[0];
        to[kLanes + lane] = offset == kNowhere ? T(0) : at(base_ ^ offset)[1];
      }
    }
  }

  /// Phase and scale of everything in this tile.
  std::complex<double> tile_scale() const {
    double re = program_.scale.real(), im = program_.scale.imag();
    auto times = [&](double r, double i) {
      const double product = re * r - im * i;
      im = re * i + im * r;
      re = product;
    };
    if (program_.load == Load::kStart) times(task_.factor.real(), task_.factor.imag());
    if (program_.scalar_pieces != nullptr) {
      for (int piece = 0; piece < program_.pieces; ++piece) {
        const double* const entry =
            program_.scalar_pieces + 2 * (64 * piece + static_cast<int>(number_ >> 6 * piece & 63));
        times(entry[0], entry[1]);
      }
    }
    for (std::uint32_t j = 0; j < program_.tile_scale_count; ++j) {
      const TileScale& one = program_.tile_scales[j];
      if (holds(one.mask, one.value, one.parity_mask)) times(one.re, one.im);
    }
    return {re, im};
  }

  /// Stores the tiles of the batch, neighbours in memory one after the other. What a vector's stores need is read
  /// before its tiles: the compiler must assume that each store changes the program.
  template <bool kNorm>
  double store() const {
    V sum = S::zero();
    double total = 0;
    const bool units = program_.store_units, stream = program_.stream;
    const std::uint64_t tiles = task_.tiles, reals = tile_reals();
    const Index step = task_.tile_step;
    T* const all = all_;
    const std::complex<double>* const scales = scratch_.scales;
    for (std::uint64_t i = 0; i < program_.vectors; ++i) {
      T* from = scratch_.tile + i * 2 * kLanes;
      Index to = task_.base;
      const Index low = units ? program_.store_offsets[2 * i] : 0, high = units ? program_.store_offsets[2 * i + 1] : 0;
      for (std::uint64_t tile = 0; tile < tiles; ++tile) {
        const std::complex<double> scale = scales[tile];
        V xr = S::load(from), xi = S::load(from + kLanes);
        if (scale != std::complex<double>(1)) {
          multiply(xr, xi, S::set1(static_cast<T>(scale.real())), S::set1(static_cast<T>(scale.imag())));
        }
        if constexpr (kNorm) sum = S::fmadd(xr, xr, S::fmadd(xi, xi, sum));
        if (units) {
          V a, b;
          S::join(xr, xi, a, b);
          store_unit(all + 2 * (to ^ low), a, stream);
          store_unit(all + 2 * (to ^ high), b, stream);
        } else {
          put(from, xr, xi);
          store_elements(to, i, from);
        }
        from += reals;
        to += step;
      }
      if (kNorm && (i & 63) == 63) {
        total += S::sum(sum);
        sum = S::zero();
      }
    }
    return kNorm ? total + S::sum(sum) : 0;
  }

  static void store_unit(T* to, V value, bool stream) {
    if (stream) {
      S::stream(to, value);
    } else {
      S::store(to, value);
    }
  }

  void store_elements(Index base, std::uint64_t i, const T* from) const {
    for (int lane = 0; lane < kLanes; ++lane) {
      const Index offset = program_.store_offsets[i * kLanes + static_cast<std::uint64_t>(lane)];
      if (offset == kNowhere) continue;
      T* const to = at(base ^ offset);
      to[0] = from[lane];
      to[1] = from[kLanes + lane];
    }
  }

  // ---- complex vectors

  static void put(T* to, V re, V im) {
    S::store(to, re);
    S::store(to + kLanes, im);
  }
  static void multiply(V& xr, V& xi, V cr, V ci) {
    const V re = S::fnmadd(xi, ci, S::mul(xr, cr));
    xi = S::fmadd(xi, cr, S::mul(xr, ci));
    xr = re;
  }
  static void multiply_at(T* at, const T* by) {
    V xr = S::load(at), xi = S::load(at + kLanes);
    multiply(xr, xi, S::load(by), S::load(by + kLanes));
    put(at, xr, xi);
  }

  // ---- tables of this tile

  std::uint64_t table_reals() const { return program_.table_reals; }

  void make_tables() const {
    for (std::uint32_t d = 0; d < program_.tile_diagonal_count; ++d) {
      make_table(program_.tile_diagonals[d], scratch_.tables + d * table_reals());
    }
  }

  /// Fills one table of 2^R vectors, then the group factors.
  void make_table(const TileDiagonal& diagonal, T* table) const {
    const std::uint64_t groups = diagonal.groups ? program_.vectors >> kRegisterBits : 0;
    const T* const first = piece_entry(diagonal, 0);
    V lane_re = S::load(first), lane_im = S::load(first + kLanes);
    T registers[2 * kGroup];
    for (int i = 0; i < 2 * kGroup; ++i) registers[i] = first[2 * kLanes + i];
    T* const factors = table + 2 * kLanes * kGroup;
    for (std::uint64_t g = 0; g < 2 * groups; ++g) factors[g] = first[2 * kLanes + 2 * kGroup + g];
    for (int piece = 1; piece < program_.pieces; ++piece) {
      const T* const entry = piece_entry(diagonal, piece);
      multiply(lane_re, lane_im, S::load(entry), S::load(entry + kLanes));
      scalar_products(registers, entry + 2 * kLanes, kGroup);
      scalar_products(factors, entry + 2 * kLanes + 2 * kGroup, groups);
    }
    for (int i = 0; i < kGroup; ++i) {
      V re = lane_re, im = lane_im;
      multiply(re, im, S::set1(registers[2 * i]), S::set1(registers[2 * i + 1]));
      put(table + i * 2 * kLanes, re, im);
      if (diagonal.fixed) {
        multiply_at(table + i * 2 * kLanes,
                    program_.coefficients + diagonal.fixed_data + static_cast<std::uint64_t>(i) * 2 * kLanes);
      }
    }
  }

  const T* piece_entry(const TileDiagonal& diagonal, int piece) const {
    const std::uint64_t entry = 64 * static_cast<std::uint64_t>(piece) + (number_ >> 6 * piece & 63);
    return program_.coefficients + diagonal.pieces_data + entry * diagonal.entry_reals;
  }

  static void scalar_products(T* values, const T* by, std::uint64_t count) {
    for (std::uint64_t j = 0; j < count; ++j) {
      const T re = values[2 * j] * by[2 * j] - values[2 * j + 1] * by[2 * j + 1];
      values[2 * j + 1] = values[2 * j] * by[2 * j + 1] + values[2 * j + 1] * by[2 * j];
      values[2 * j] = re;
    }
  }

  // ---- passes

  bool holds(Index mask, Index value, Index parity_mask) const {
    if ((base_ & mask) != value) return false;
    return parity_mask == 0 || (__builtin_popcountll(base_ & parity_mask) & 1) != 0;
  }
  bool enabled(const MicroOp& op) const { return holds(op.tile_mask, op.tile_value, op.parity_mask); }

  /// How a pass goes through the tile: group g's vectors are pdep(g, others) and offset[] reals from it.
  struct Walk {
    explicit Walk(const Pass& pass) {
      for (int b = 0; b < kRegisterBits; ++b) others &= ~(std::uint64_t{1} << pass.register_bits[b]);
      for (std::uint64_t i = 0; i < kGroup; ++i) offset[i] = _pdep_u64(i, ~others) * 2 * kLanes;
    }
    std::uint64_t others = ~std::uint64_t{0};
    std::uint64_t offset[kGroup];
  };
  /// visit(group, g, its first vector) for those where wanted(g, first vector).
  template <typename Wanted, typename Visit>
  void each_group(const Walk& walk, std::uint64_t begin, std::uint64_t end, Wanted&& wanted, Visit&& visit) const;
  void run_pass(std::uint32_t number) const;
  void walk_alone(const Walk& walk, const MicroOp& op, std::uint64_t begin, std::uint64_t end) const;
  void walk_together(const Walk& walk, const MicroOp* const* ops, std::uint32_t count, std::uint64_t begin,
                     std::uint64_t end, std::uint64_t first_step) const;
  void run_dense(const Pass& pass) const;
  template <int kTargets>
  void dense_order(const Pass& pass, const MicroOp& op) const;

  const TileProgramView<T>& program_;
  T* const all_;
  const TileTask& task_;
  const TileScratch<T>& scratch_;
  std::uint64_t share_ = 0;  // 2^32 times the vectors to load ahead in a step, rounded up: no division in loops
  // The tile of the batch that is worked on:
  Index base_ = 0, number_ = 0;
  T* tile_ = nullptr;
  std::uint64_t first_step_ = 0;
};

}  // namespace qsim::cpu

#include "kernels/cpu/tile_dense.h"
#include "kernels/cpu/tile_pass.h"
