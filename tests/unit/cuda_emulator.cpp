// Host emulation of tile programs, written for clarity; it also holds the kernels' barriers against what threads touch.
#include "cuda_emulator.h"

#include <stdexcept>

#include "base/bits.h"
#include "cuda/tile/addresses.h"
#include "qsim/error.h"

namespace qsim::test {
namespace {

using namespace qsim::cuda;

/// Throws where two threads touch a place, one of them to write, and no barrier of their warp or block lies between.
class RaceChecker {
 public:
  explicit RaceChecker(std::size_t places) : read_(places), written_(places) {}

  void block_barrier() { ++block_; }
  void warp_barrier() { ++warp_; }  // all warps meet theirs at the same places of a program
  void read(std::size_t place, std::uint32_t thread) {
    if (races(written_[place], thread)) throw std::logic_error("a thread reads what another may not have written yet");
    add(read_[place], thread);
  }
  void write(std::size_t place, std::uint32_t thread) {
    if (races(written_[place], thread)) throw std::logic_error("two threads write a place");
    if (races(read_[place], thread)) throw std::logic_error("a thread writes what another may still have to read");
    add(written_[place], thread);
  }

 private:
  static constexpr std::uint32_t kLanes = 32;
  /// Who came since the last barriers: threads of several warps, of one, or one thread.
  struct Access {
    std::uint64_t block = 0, warp = 0;
    std::uint32_t thread = 0;
    bool warps = false, lanes = false;
  };
  bool races(const Access& access, std::uint32_t thread) const {
    if (access.block != block_) return false;
    if (access.warps || access.thread / kLanes != thread / kLanes) return true;
    return access.warp == warp_ && (access.lanes || access.thread != thread);
  }
  void add(Access& access, std::uint32_t thread) const {
    if (access.block != block_) access = {block_, warp_, thread, false, false};
    access.warps = access.warps || access.thread / kLanes != thread / kLanes;
    access.lanes = access.warp == warp_ && (access.lanes || access.thread != thread);
    access.warp = warp_;
    access.thread = thread;
  }

  std::vector<Access> read_, written_;
  std::uint64_t block_ = 1, warp_ = 1;
};

template <class Memory>
class Block {
 public:
  Block(const TileProgram& program, Memory& state, Index base)
      : program_(program),
        state_(state),
        base_(base),
        memory_(std::size_t{1} << program.bits),
        tile_(std::size_t{1} << program.bits) {
    for (const Bit bit : program.active) {
      if (bit != kPhantom) inside_ |= bit_mask(bit);
    }
    threads_ = 1u << program.thread_bits();
    registers_ = 1u << program.register_bits;
    amplitude_.assign(threads_, std::vector<Complex>(registers_));
    for (const auto& terms : program.tile_factors) {
      Complex factor = 1;
      for (const TileTerm& term : terms) {
        if ((base & term.mask) == term.mask) factor *= std::polar(1.0, term.angle);
      }
      tile_factors_.push_back(factor);
    }
  }

  void run() {
    load();
    for (std::size_t e = 0; e < program_.epochs.size(); ++e) {
      epoch_ = &program_.epochs[e];
      for (const TileOp& op : epoch_->ops) {
        if (op.guard.holds(base_)) apply(op);
      }
      if (e + 1 < program_.epochs.size()) regroup(program_.epochs[e + 1], regroup_columns(program_, e));
    }
    store();
  }

 private:
  template <class Visit>
  void each(Visit visit) {
    for (std::uint32_t t = 0; t < threads_; ++t) {
      for (std::uint32_t j = 0; j < registers_; ++j) visit(t, j);
    }
  }

  // What the tile's base is to be XORed with; without a reach, as place() says.
  Index in_memory(Coordinate v, const std::vector<Bit>& bits) const {
    if (program_.reach.empty()) return place(v, bits);
    Index index = 0;
    for (std::size_t i = 0; i < program_.reach.size(); ++i) index ^= (v >> i & 1) != 0 ? program_.reach[i] : 0;
    return index;
  }

  static Index place(Coordinate v, const std::vector<Bit>& bits) {
    Index index = 0;
    for (std::size_t i = 0; i < bits.size(); ++i) {
      if ((v >> i & 1) != 0 && bits[i] != kPhantom) index |= bit_mask(bits[i]);
    }
    return index;
  }

  void load() {
    const Epoch& first = program_.epochs.front();
    each([&](std::uint32_t t, std::uint32_t j) {
      const Coordinate v = first.coordinate(t, j);
      Complex value = 0;
      if ((v & program_.dead) == 0) {
        if (!program_.reads)
          value = 1;
        else if ((base_ & program_.zero_tiles) == 0) {
          const Index from = base_ ^ in_memory(v & ~program_.births, program_.active);
          memory_.read(extract_bits(place(v & ~program_.births, program_.active), inside_), t);
          value = state_.at(from);
        }
      }
      if (program_.start_scaled) {
        value *= program_.start_constant;
        if (program_.start_table >= 0) value *= program_.tables[static_cast<std::size_t>(program_.start_table)][t];
        for (int s = 0; s < program_.register_bits; ++s) {
          value *= program_.start_register[static_cast<std::size_t>(s)][j >> s & 1];
        }
        for (const Birth& birth : program_.start_tile) value *= birth.factor[test_bit(base_, birth.bit) ? 1 : 0];
      }
      amplitude_[t][j] = value;
    });
  }

  Coordinate moved(Coordinate v) const {
    Coordinate to = epoch_->map.apply(v);
    for (const auto& [guard, offset] : epoch_->map.guarded) {
      if (guard.holds(base_)) to ^= offset;
    }
    return to;
  }

  // The barriers of both tiers' kernels.
  void block_barrier() {
    memory_.block_barrier();
    tile_.block_barrier();
  }
  void warp_barrier() {
    memory_.warp_barrier();
    tile_.warp_barrier();
  }
  void before_tile_is_written(bool own_places) {
    if (tile_read_ && (others_read_ || !own_places)) block_barrier();
    tile_read_ = true;
  }

  /// Threads trade amplitudes within their warp, by shuffles: no place of the tile is touched.
  void exchange(const Epoch& next) {
    warp_barrier();
    std::vector<std::vector<Complex>> traded(threads_, std::vector<Complex>(registers_));
    each([&](std::uint32_t t, std::uint32_t j) {
      const Coordinate wanted = next.coordinate(t, j);
      for (std::uint32_t from = t / 4 * 4; from < t / 4 * 4 + 4; ++from) {
        for (std::uint32_t r = 0; r < registers_; ++r) {
          if (epoch_->coordinate(from, r) == wanted) traded[t][j] = amplitude_[from][r];
        }
      }
    });
    amplitude_ = traded;
  }

  void regroup(const Epoch& next, const Regroup& how) {
    if (next.exchanged) return exchange(next);
    std::vector<Complex> tile(std::size_t{1} << program_.bits);
    before_tile_is_written(how.own_places);
    each([&](std::uint32_t t, std::uint32_t j) {
      const Coordinate to = moved(epoch_->coordinate(t, j));
      tile_.write(to, t);
      tile[to] = amplitude_[t][j];
    });
    if (how.within_warp)
      warp_barrier();
    else
      block_barrier();
    each([&](std::uint32_t t, std::uint32_t j) {
      const Coordinate from = next.coordinate(t, j);
      tile_.read(from, t);
      amplitude_[t][j] = tile[from];
    });
    others_read_ = false;
  }

  void store() {
    const StoreWait wait = store_wait(program_);
    if (wait == StoreWait::kBlock) block_barrier();
    if (wait == StoreWait::kWarp) warp_barrier();
    each([&](std::uint32_t t, std::uint32_t j) {
      const Coordinate v = epoch_->coordinate(t, j);
      if ((v & program_.dead) != 0) return;
      const Index to = base_ ^ in_memory(moved(v), program_.store);
      memory_.write(extract_bits(place(moved(v), program_.store), inside_), t);
      state_.at(to) = amplitude_[t][j];
    });
  }

  Complex factor(const Factor& f, std::uint32_t t) const {
    Complex value = f.constant;
    if (f.where && (odd_parity(t & f.where->threads) != odd_parity(base_ & f.where->tile)) != f.where->odd) value = 1;
    if (f.lookup) value *= program_.lookups[static_cast<std::size_t>(f.lookup->table)].at(f.lookup->place(t, base_));
    if (f.table >= 0) value *= program_.tables[static_cast<std::size_t>(f.table)][t];
    if (f.tile >= 0) value *= tile_factors_[static_cast<std::size_t>(f.tile)];
    for (const auto& [bit, tile] : f.cross) {
      if (t >> bit & 1) value *= tile_factors_[static_cast<std::size_t>(tile)];
    }
    for (const auto& [table, tile] : f.turned) {
      const Complex entry = program_.tables[static_cast<std::size_t>(table)][t];
      const double sign = tile_factors_[static_cast<std::size_t>(tile)].real();
      if (std::abs(std::abs(sign) - 1) > 1e-12) throw Error("a table is turned by a factor that is neither 1 nor -1");
      value *= sign < 0 ? std::conj(entry) : entry;
    }
    for (const auto& [tile, threads] : f.mirrored) {
      const Complex entry = tile_factors_[static_cast<std::size_t>(tile)];
      value *= odd_parity(t & threads) ? std::conj(entry) : entry;
    }
    return value;
  }

  void rotate(Rotation rotation, double t, Complex& u, Complex& v) const {
    const Complex i(0, 1);
    const Complex a = u, b = v;
    switch (rotation) {
      case Rotation::kNone:
        break;
      case Rotation::kReal:
        u = a - t * b;
        v = t * a + b;
        break;
      case Rotation::kRealMinus:
        u = a + t * b;
        v = t * a - b;
        break;
      case Rotation::kImaginary:
        u = a - i * t * b;
        v = b - i * t * a;
        break;
      case Rotation::kRealSwap:
        u = t * a - b;
        v = a + t * b;
        break;
      case Rotation::kRealSwapMinus:
        u = t * a + b;
        v = a - t * b;
        break;
      case Rotation::kImaginarySwap:
        u = t * a - i * b;
        v = t * b - i * a;
        break;
    }
  }

  void matrix(const TileOp& op, std::size_t targets) {
    std::uint32_t masks[2] = {1u << op.slots[0], targets == 2 ? 1u << op.slots[1] : 0u};
    const std::size_t order = std::size_t{1} << targets;
    each([&](std::uint32_t t, std::uint32_t j) {
      if ((op.set >> j & 1) == 0 || (t & op.thread_mask) != op.thread_value) return;
      std::vector<Complex> in(order);
      const auto slot = [&](std::size_t r) { return j | (r & 1 ? masks[0] : 0) | (r & 2 ? masks[1] : 0); };
      for (std::size_t c = 0; c < order; ++c) in[c] = amplitude_[t][slot(c)];
      for (std::size_t r = 0; r < order; ++r) {
        Complex sum = 0;
        for (std::size_t c = 0; c < order; ++c) sum += op.matrix[r * order + c] * in[c];
        amplitude_[t][slot(r)] = sum;
      }
    });
  }

  void lanes(const TileOp& op) {
    const std::vector<std::vector<Complex>> before = amplitude_;
    each([&](std::uint32_t t, std::uint32_t j) {
      amplitude_[t][j] = 0;
      for (std::uint32_t c = 0; c < 4; ++c) amplitude_[t][j] += op.matrix[t % 4 * 4 + c] * before[t / 4 * 4 + c][j];
    });
  }

  void dense(const TileOp& op) {
    std::vector<Complex> tile(std::size_t{1} << program_.bits);
    before_tile_is_written(true);
    each([&](std::uint32_t t, std::uint32_t j) {
      const Coordinate to = epoch_->coordinate(t, j);
      tile_.write(to, t);
      tile[to] = amplitude_[t][j];
    });
    block_barrier();
    others_read_ = true;
    const std::size_t order = std::size_t{1} << op.targets.size();
    each([&](std::uint32_t t, std::uint32_t j) {
      const Coordinate v = epoch_->coordinate(t, j);
      if ((v & op.control_mask) != op.control_value) return;
      std::size_t row = 0;
      Coordinate rest = v;
      for (std::size_t b = 0; b < op.targets.size(); ++b) {
        row |= static_cast<std::size_t>(v >> op.targets[b] & 1) << b;
        rest &= ~(1u << op.targets[b]);
      }
      Complex sum = 0;
      for (std::size_t c = 0; c < order; ++c) {
        Coordinate from = rest;
        for (std::size_t b = 0; b < op.targets.size(); ++b)
          from |= static_cast<Coordinate>(c >> b & 1) << op.targets[b];
        tile_.read(from, t);
        sum += op.matrix[row * order + c] * tile[from];
      }
      amplitude_[t][j] = sum;
    });
  }

  void apply(const TileOp& op) {
    switch (op.kind) {
      case TileOpKind::kRotate:
        each([&](std::uint32_t t, std::uint32_t j) {
          if (j != 0) return;
          for (std::size_t s = 0; s < static_cast<std::size_t>(program_.register_bits); ++s) {
            for (std::uint32_t r = 0; r < registers_; ++r) {
              if ((r >> s & 1) == 0)
                rotate(op.rotation[s], op.tangent[s], amplitude_[t][r], amplitude_[t][r | 1u << s]);
            }
          }
        });
        return;
      case TileOpKind::kMatrix1:
        return matrix(op, 1);
      case TileOpKind::kMatrix2:
        return matrix(op, 2);
      case TileOpKind::kLanes:
        return lanes(op);
      case TileOpKind::kDense:
        return dense(op);
      case TileOpKind::kSwap:
        each([&](std::uint32_t t, std::uint32_t j) {
          if ((op.set >> j & 1) == 0 || (t & op.thread_mask) != op.thread_value) return;
          std::swap(amplitude_[t][j], amplitude_[t][j | 1u << op.slots[0]]);
        });
        return;
      case TileOpKind::kPair:
        each([&](std::uint32_t t, std::uint32_t j) {
          const bool low = j >> op.slots[0] & 1, high = j >> op.slots[1] & 1;
          const bool applies[4] = {true, low, high, low && high};
          for (std::size_t f = 0; f < 4; ++f) {
            if (applies[f] && op.factor[f].present) amplitude_[t][j] *= factor(op.factor[f], t);
          }
        });
        return;
      case TileOpKind::kMultiply:
        each([&](std::uint32_t t, std::uint32_t j) {
          if ((op.set >> j & 1) != 0) amplitude_[t][j] *= factor(op.factor[0], t);
        });
        return;
    }
    throw std::logic_error("unknown tile operation");
  }

  const TileProgram& program_;
  Memory& state_;
  Index base_, inside_ = 0;
  RaceChecker memory_, tile_;
  bool tile_read_ = false, others_read_ = false;
  std::uint32_t threads_ = 0, registers_ = 0;
  std::vector<std::vector<Complex>> amplitude_;
  std::vector<Complex> tile_factors_;
  const Epoch* epoch_ = nullptr;
};

}  // namespace

void emulate(const TileProgram& program, std::vector<Complex>& state, Index chunk_mask, Index chunk_value) {
  const Index free = program.tile_bits & ~chunk_mask;
  for (Index number = 0; number < Index{1} << count_bits(free); ++number) {
    Block(program, state, deposit_bits(number, free) | chunk_value).run();
  }
}

void emulate_tile(const TileProgram& program, Index base, std::map<Index, Complex>& memory) {
  Block(program, memory, base).run();
}

}  // namespace qsim::test
