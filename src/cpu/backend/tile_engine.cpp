// The sweep engine of the vector instruction sets: programs for a tile machine, run tile by tile on every thread.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "cpu/cpu_info.h"
#include "cpu/direct/direct_sweep.h"
#include "cpu/sweep_engine.h"
#include "cpu/tile/tile_translation.h"
#include "device/numbers/compensated.h"
#include "plan/plan.h"
#include "qsim/error.h"

namespace qsim::cpu {
namespace {

constexpr Index kPieces = 256;  // parts of a sweep that threads share, and whose norms are added up in order

template <typename T>
struct ThreadMemory {
  LineVector<T> tile, next, tables, dense;
  std::vector<const MicroOp*> enabled;
  std::array<Complex, kMaxBatch> scales;
};

/// A sweep with few active bits wastes vectors: the same sweep with further bits active, where chunks allow it.
Sweep widened(const Sweep& sweep, std::uint32_t local_bits, std::size_t wanted) {
  Sweep wide = sweep;
  Index unborn = sweep.unborn, active = 0;
  for (const Birth& birth : sweep.births) unborn &= ~bit_mask(birth.bit);
  for (const Bit bit : sweep.active) active |= bit_mask(bit);
  for (Bit bit = 0; bit < local_bits && wide.active.size() < wanted; ++bit) {
    if (test_bit(active | unborn, bit)) continue;
    const auto at = std::lower_bound(wide.active.begin(), wide.active.end(), bit) - wide.active.begin();
    wide.active.insert(wide.active.begin() + at, bit);
    wide.store.insert(wide.store.begin() + at, bit);
    if (!wide.reach.empty()) wide.reach.insert(wide.reach.begin() + at, bit_mask(bit));
  }
  return wide;
}

template <typename T>
class TileEngine : public SweepEngine<T> {
 public:
  TileEngine(std::string_view name, TileMachine<T> machine, DirectMachine direct)
      : name_(name), machine_(machine), direct_(direct) {}

  std::string_view name() const override { return name_; }

  std::uint32_t prepare(std::span<const Sweep> sweeps, std::uint32_t local_bits, int threads) override {
    const auto first = static_cast<std::uint32_t>(prepared_.size());
    threads_.resize(static_cast<std::size_t>(threads));
    for (const Sweep& sweep : sweeps) fill(prepared_.emplace_back(), sweep, local_bits);
    return first;
  }

  void renew(std::uint32_t handle, std::span<const Sweep> sweeps, std::uint32_t local_bits) override {
    for (const Sweep& sweep : sweeps) fill(prepared_.at(handle++), sweep, local_bits);
  }

  void clear() override { prepared_.clear(); }

  double run(std::uint32_t handle, std::complex<T>* shard, ChunkView chunk, ThreadTeam& team, bool norm) override {
    Prepared& prepared = prepared_.at(handle);
    if (prepared.direct) return prepared.direct->run(shard, norm);
    const TileProgram<T>& program = (chunk.mask & prepared.wide_bits) != 0 ? *prepared.narrow : *prepared.wide;
    const TileGeometry& geometry = program.geometry;
    const TileProgramView<T> view = program.view();
    const Index batch = program.batch(chunk.mask), batches = geometry.tiles(chunk) / batch;
    const Index pieces = std::min<Index>(batches, kPieces);
    team.run(pieces, [&](Index piece, int worker) {
      ThreadMemory<T>& memory = threads_[static_cast<std::size_t>(worker)];
      TileScratch<T> scratch{memory.tile.data(),
                             memory.next.data(),
                             memory.tables.data(),
                             memory.enabled.data(),
                             reinterpret_cast<std::complex<T>*>(memory.dense.data()),
                             memory.scales.data()};
      const Index begin = piece * (batches / pieces), end = begin + batches / pieces;
      CompensatedSum sum;
      TileTask task;
      task.tiles = batch;
      task.tile_step = geometry.tile_mask & (~geometry.tile_mask + 1);
      Index next = geometry.base(chunk, begin * batch);
      for (Index number = begin; number < end; ++number) {
        task.base = next;
        task.number = extract_bits(task.base, geometry.tile_mask);
        task.factor = geometry.tile_factor(task.base);
        task.loaded = task.next_base != kNowhere;
        next = number + 1 < end ? geometry.base(chunk, (number + 1) * batch) : kNowhere;
        const bool ahead = view.ahead && next != kNowhere && geometry.tile_factor(next) != Complex(0);
        task.next_base = ahead ? next : kNowhere;
        sum.add(machine_.run(view, shard, task, scratch, norm));
        std::swap(scratch.tile, scratch.next);
      }
      sums_[piece] = sum;
    });
    CompensatedSum total;
    for (Index piece = 0; piece < pieces; ++piece) total.add(sums_[piece]);
    return total.value();
  }

 private:
  struct Prepared {
    std::optional<TileProgram<T>> wide;
    std::optional<TileProgram<T>> narrow;  // for chunks that name bits which `wide` has in its tiles
    Index wide_bits = 0;
    std::optional<DirectProgram> direct;  // else than both
  };

  /// What is there already is of a sweep that was the same but for numbers.
  void fill(Prepared& prepared, const Sweep& sweep, std::uint32_t local_bits) {
    if (runs_directly(sweep, local_bits)) {
      prepared.direct.emplace(sweep, local_bits, direct_);
      return;
    }
    const std::size_t wanted = static_cast<std::size_t>(machine_.lane_bits + machine_.register_bits) + 2;
    const Sweep wide = widened(sweep, local_bits, wanted);
    Index wide_bits = 0;
    for (const Bit bit : wide.active) wide_bits |= bit_mask(bit);
    for (const Bit bit : sweep.active) wide_bits &= ~bit_mask(bit);
    prepared.wide_bits = wide_bits;
    translate(prepared.wide, wide, local_bits);
    if (wide_bits != 0) translate(prepared.narrow, sweep, local_bits);
  }

  void translate(std::optional<TileProgram<T>>& place, const Sweep& sweep, std::uint32_t local_bits) {
    const TileProgram<T>* const like = place ? &*place : nullptr;
    TileProgram<T> program = translate_sweep<T>(sweep, local_bits, machine_.lane_bits, machine_.register_bits, like);
    const std::size_t reals = program.batch(0) << (program.position_bits + 1);
    const std::size_t tables = program.tile_diagonals.size() * program.table_reals();
    for (ThreadMemory<T>& memory : threads_) {
      if (memory.tile.size() < reals) memory.tile.resize(reals);
      if (memory.next.size() < reals) memory.next.resize(reals);
      if (memory.tables.size() < tables) memory.tables.resize(tables);
      if (memory.enabled.size() < program.ops.size()) memory.enabled.resize(program.ops.size());
      memory.dense.resize(std::size_t{2 << kMaxMatrixTargets} << program.lane_bits);
    }
    place = std::move(program);
  }

  const std::string_view name_;
  const TileMachine<T> machine_;
  const DirectMachine direct_;
  std::vector<Prepared> prepared_;
  std::vector<ThreadMemory<T>> threads_;
  std::array<CompensatedSum, kPieces> sums_;
};

template <typename T>
std::unique_ptr<SweepEngine<T>> engine_of(InstructionSet set, TileMachine<T> (*avx512)(), TileMachine<T> (*avx2)()) {
  if (set == InstructionSet::kScalar) return make_plain_engine<T>();
  const auto tiles = for_instruction_set<TileMachine<T>()>(set, nullptr, avx2, avx512);
  const auto direct = for_instruction_set<DirectMachine()>(set, nullptr, direct_machine_avx2, direct_machine_avx512);
  return std::make_unique<TileEngine<T>>(name_of(set), tiles(), direct());
}

}  // namespace

template <>
std::unique_ptr<SweepEngine<float>> make_engine(InstructionSet instruction_set) {
  return engine_of(instruction_set, tile_machine_single_avx512, tile_machine_single_avx2);
}

template <>
std::unique_ptr<SweepEngine<double>> make_engine(InstructionSet instruction_set) {
  return engine_of(instruction_set, tile_machine_double_avx512, tile_machine_double_avx2);
}

}  // namespace qsim::cpu
