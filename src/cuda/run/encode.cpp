// Writes words in the order in which sweep_machine.cuh reads them.
#include "cuda/run/encode.h"

#include <cmath>
#include <cstring>
#include <numbers>

#include "base/bits.h"
#include "cuda/tile/addresses.h"
#include "cuda/tile/work.h"
#include "qsim/error.h"

namespace qsim::cuda {
namespace {

template <class Real>
class Encoder {
 public:
  explicit Encoder(const TileProgram& program) : program_(program) {}

  std::optional<EncodedSweep<Real>> encode() {
    if (program_.tile_factors.size() > static_cast<std::size_t>(kMaxTileFactors) ||
        program_.start_tile.size() > static_cast<std::size_t>(kMaxStartBirths) || program_.tables.size() > 4094) {
      return std::nullopt;
    }
    set_addresses();
    set_start();
    for (std::size_t e = 0; e < program_.epochs.size(); ++e) {
      epoch_ = &program_.epochs[e];
      for (const TileOp& op : epoch_->ops) add(op);
      if (e + 1 < program_.epochs.size()) add_regroup(regroup_columns(program_, e));
    }
    add_end();
    if (words_.size() > static_cast<std::size_t>(kMaxProgramWords) ||
        reals_.size() > static_cast<std::size_t>(kMaxProgramReals)) {
      return std::nullopt;
    }
    std::copy(words_.begin(), words_.end(), out_.params.words);
    std::copy(reals_.begin(), reals_.end(), out_.params.reals);
    set_tables();
    return std::move(out_);
  }

 private:
  void word(std::uint32_t value) { words_.push_back(value); }
  void word(Code code) { words_.push_back(static_cast<std::uint32_t>(code)); }
  void word64(Index value) {
    word(static_cast<std::uint32_t>(value));
    word(static_cast<std::uint32_t>(value >> 32));
  }
  void real(double value) { reals_.push_back(static_cast<Real>(value)); }
  void complex(Complex value) {
    real(value.real());
    real(value.imag());
  }
  template <class Columns>
  void columns(const Columns& values) {
    for (const Coordinate value : values) word(value);
  }

  void set_addresses() {
    SweepParams<Real>& p = out_.params;
    const IndexColumns load = load_columns(program_), store = store_columns(program_);
    std::copy(load.thread.begin(), load.thread.end(), p.load_thread);
    std::copy(load.slot.begin(), load.slot.end(), p.load_slot);
    std::copy(store.thread.begin(), store.thread.end(), p.store_thread);
    std::copy(store.slot.begin(), store.slot.end(), p.store_slot);
    p.store_offset = store.offset;
    p.zero_tiles = program_.zero_tiles;
    p.dead_load_threads = dead_threads(program_, program_.epochs.front());
    p.dead_store_threads = dead_threads(program_, program_.epochs.back());
    p.dead_load_registers = dead_registers(program_, program_.epochs.front());
    p.dead_store_registers = dead_registers(program_, program_.epochs.back());
    p.thread_bits = static_cast<std::uint32_t>(program_.thread_bits());
    p.tile_factors = static_cast<std::uint32_t>(program_.tile_factors.size());
    p.reads = program_.reads ? 1 : 0;
    p.store_wait = static_cast<std::uint8_t>(store_wait(program_));
  }

  static void put(Real (&out)[2], Complex value) {
    out[0] = static_cast<Real>(value.real());
    out[1] = static_cast<Real>(value.imag());
  }

  void set_start() {
    SweepParams<Real>& p = out_.params;
    p.start_scaled = program_.start_scaled ? 1 : 0;
    put(p.start_constant, program_.start_constant);
    p.start_table = program_.start_table;
    for (std::size_t s = 0; s < static_cast<std::size_t>(program_.register_bits); ++s) {
      for (std::size_t v = 0; v < 2; ++v) {
        put(p.start_register[s][v], program_.start_register[s][v]);
        if (program_.start_register[s][v] != Complex(1)) p.start_slots |= 1u << s;
      }
    }
    p.start_tile_count = static_cast<std::uint32_t>(program_.start_tile.size());
    for (std::size_t b = 0; b < program_.start_tile.size(); ++b) {
      p.start_tile_bit[b] = bit_mask(program_.start_tile[b].bit);
      for (std::size_t v = 0; v < 2; ++v) put(p.start_tile[b][v], program_.start_tile[b].factor[v]);
    }
  }

  void add(const TileOp& op) {
    if (op.guard.always()) return add_op(op);
    word(Code::kGuard);
    const std::size_t words_at = words_.size();
    word(0u);
    word(0u);
    word64(op.guard.mask);
    word64(op.guard.value);
    word64(op.guard.parity_mask);
    word(op.guard.odd ? 1u : 0u);
    const std::size_t first_word = words_.size(), first_real = reals_.size();
    add_op(op);
    words_[words_at] = static_cast<std::uint32_t>(words_.size() - first_word);
    words_[words_at + 1] = static_cast<std::uint32_t>(reals_.size() - first_real);
  }

  static std::uint32_t pair_number(const TileOp& op) {
    const std::uint32_t low = op.slots[0], high = op.slots[1];
    return high * (high - 1) / 2 + low;
  }

  void add_threads(const TileOp& op) {
    word(op.set);
    word(op.thread_mask);
    word(op.thread_value);
  }

  void add_op(const TileOp& op) {
    switch (op.kind) {
      case TileOpKind::kRotate:
        return add_rotation(op);
      case TileOpKind::kMatrix1:
        word(Code::kMatrix1);
        word(std::uint32_t{op.slots[0]});
        add_threads(op);
        for (const Complex entry : op.matrix) complex(entry);
        return;
      case TileOpKind::kMatrix2:
        word(Code::kMatrix2);
        word(pair_number(op));
        add_threads(op);
        for (const Complex entry : op.matrix) complex(entry);
        return;
      case TileOpKind::kSwap:
        word(Code::kSwap);
        word(std::uint32_t{op.slots[0]});
        return add_threads(op);
      case TileOpKind::kDense:
        return add_dense(op, op.targets);
      case TileOpKind::kLanes:  // of targets that are not in registers
        return add_dense(op, {epoch_->thread[0], epoch_->thread[1]});
      case TileOpKind::kPair:
        return add_pair(op);
      case TileOpKind::kMultiply:
        return add_multiply(op);
    }
    throw Error("unknown tile operation");
  }

  void add_rotation(const TileOp& op) {
    word(Code::kRotate);
    std::uint32_t forms = 0;
    for (std::size_t s = 0; s < static_cast<std::size_t>(program_.register_bits); ++s) {
      forms |= static_cast<std::uint32_t>(op.rotation[s]) << (3 * s);
      if (op.rotation[s] != Rotation::kNone) real(op.tangent[s]);
    }
    word(forms);
  }

  void add_factor(const Factor& factor) {
    const std::size_t entries =
        (factor.where ? 1 : 0) + factor.cross.size() + factor.turned.size() + factor.mirrored.size();
    if (factor.where && (factor.table >= 0 || factor.tile >= 0))
      throw Error("a parity that is not of a constant alone");
    if (entries > 255) throw Error("a factor has more entries than its word counts");
    complex(factor.constant);
    word(static_cast<std::uint32_t>(factor.table + 1) | static_cast<std::uint32_t>(factor.tile + 1) << 12 |
         static_cast<std::uint32_t>(entries) << 24);
    if (factor.where) {
      word(kParityEntry | (factor.where->odd ? 1u << 8 : 0u) | factor.where->threads << 20);
      word64(factor.where->tile);
    }
    for (const auto& [bit, tile] : factor.cross) word(static_cast<std::uint32_t>(bit | tile << 8));
    for (const auto& [table, tile] : factor.turned)
      word(kTurnedEntry | static_cast<std::uint32_t>(tile << 8) | static_cast<std::uint32_t>(table) << 20);
    for (const auto& [tile, threads] : factor.mirrored)
      word(kMirroredEntry | static_cast<std::uint32_t>(tile << 8) | threads << 20);
  }

  void add_pair(const TileOp& op) {
    word(Code::kPair);
    word(pair_number(op));
    std::uint32_t present = 0;
    for (std::uint32_t f = 0; f < 4; ++f) present |= (op.factor[f].present ? 1u : 0u) << f;
    word(present);
    for (const Factor& factor : op.factor) {
      if (factor.present) add_factor(factor);
    }
  }

  void add_multiply(const TileOp& op) {
    const Factor& factor = op.factor[0];
    const bool all = op.set == low_mask(1u << program_.register_bits);
    if (all && is_constant(factor) && factor.constant.imag() == 0) {
      word(Code::kScale);
      return real(factor.constant.real());
    }
    word(Code::kMultiply);
    word(op.set);
    add_factor(factor);
  }

  void add_dense(const TileOp& op, const std::vector<std::uint8_t>& targets) {
    const std::vector<Coordinate> address = place_columns(program_);
    word(Code::kDense);
    word(static_cast<std::uint32_t>(targets.size()));
    word(static_cast<std::uint32_t>(dense_.size()));
    word(op.control_mask);
    word(op.control_value);
    for (const std::uint8_t i : epoch_->thread) word(address[i]);
    for (const std::uint8_t i : epoch_->reg) word(address[i]);
    for (const std::uint8_t i : epoch_->thread) word(1u << i);
    for (const std::uint8_t i : epoch_->reg) word(1u << i);
    for (const std::uint8_t i : targets) word(address[i]);
    for (const std::uint8_t i : targets) word(1u << i);
    dense_.insert(dense_.end(), op.matrix.begin(), op.matrix.end());
  }

  void add_regroup(const Regroup& regroup) {
    word(Code::kRegroup);
    word(regroups_++ | (regroup.own_places ? 1u << 16 : 0u) | (regroup.within_warp ? 1u << 17 : 0u));
    columns(regroup.write_slot);
    word(static_cast<std::uint32_t>(regroup.guarded.size()));
    for (const auto& [guard, offset] : regroup.guarded) {
      word64(guard.mask);
      word64(guard.value);
      word(offset);
    }
    columns(regroup.read_slot);
    for (std::uint32_t thread = 0; thread < 1u << program_.thread_bits(); ++thread) {
      std::uint32_t write = regroup.offset, read = 0;
      for_each_bit(thread, [&](unsigned bit) {
        write ^= regroup.write_thread[bit];
        read ^= regroup.read_thread[bit];
      });
      addresses_.push_back(write | read << 16);
    }
  }

  void add_end() {
    word(Code::kEnd);
    const IndexColumns store = store_columns(program_);
    word(static_cast<std::uint32_t>(store.guarded.size()));
    for (const auto& [guard, offset] : store.guarded) {
      word64(guard.mask);
      word64(guard.value);
      word64(offset);
    }
  }

  template <class T>
  std::size_t append(const std::vector<T>& values) {
    std::vector<std::byte>& bytes = out_.tables.bytes;
    bytes.resize((bytes.size() + 15) / 16 * 16);
    const std::size_t at = bytes.size();
    bytes.resize(at + values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(bytes.data() + at, values.data(), values.size() * sizeof(T));
    return at;
  }

  void set_tables() {
    const std::vector<Complex> memory = table_memory(program_);
    const std::vector<std::complex<Real>> tables(memory.begin(), memory.end()), dense(dense_.begin(), dense_.end());
    const AngleTable angles = angle_table(program_);
    out_.tables.tables = append(tables);
    out_.tables.dense = append(dense);
    out_.tables.addresses = append(addresses_);
    out_.tables.angles = append(angles.angles);
    out_.tables.angle_begin = append(angles.begin);
  }

  const TileProgram& program_;
  const Epoch* epoch_ = nullptr;
  EncodedSweep<Real> out_;
  std::vector<std::uint32_t> words_;
  std::vector<Real> reals_;
  std::vector<Complex> dense_;
  std::vector<std::uint32_t> addresses_;
  std::uint32_t regroups_ = 0;
};

}  // namespace

AngleTable angle_table(const TileProgram& program) {
  AngleTable table;
  const auto add = [&](const std::vector<TileTerm>& terms) {
    for (const TileTerm& term : terms)
      table.angles.push_back({term.mask, std::remainder(term.angle / std::numbers::pi, 2.0)});
    table.begin.push_back(static_cast<std::uint32_t>(table.angles.size()));
  };
  add(angle_rows(program));
  for (const auto& terms : program.tile_factors) add(terms);
  return table;
}

template <class Real>
std::optional<EncodedSweep<Real>> encode(const TileProgram& program) {
  return Encoder<Real>(program).encode();
}

template <class Real>
std::uint64_t set_tiles(SweepParams<Real>& params, Index tile_bits, Index chunk_mask, Index chunk_value) {
  const Index free = tile_bits & ~chunk_mask;
  const std::vector<BitRun> runs = runs_of(free);
  if (runs.size() > static_cast<std::size_t>(kMaxRuns)) throw Error("tile bits are in too many runs");
  params.runs = static_cast<std::uint32_t>(runs.size());
  for (std::size_t r = 0; r < runs.size(); ++r) {
    params.run_mask[r] = runs[r].mask << runs[r].shift;
    params.run_shift[r] = runs[r].shift;
  }
  params.base = chunk_value;
  return bit_mask(count_bits(free));
}

template std::optional<EncodedSweep<double>> encode(const TileProgram&);
template std::optional<EncodedSweep<float>> encode(const TileProgram&);
template std::uint64_t set_tiles(SweepParams<double>&, Index, Index, Index);
template std::uint64_t set_tiles(SweepParams<float>&, Index, Index, Index);

}  // namespace qsim::cuda
