// The sweep engine of the "scalar" instruction set.
#include <algorithm>
#include <vector>

#include "cpu/sweep_engine.h"
#include "cpu/tile/tile_geometry.h"
#include "device/numbers/compensated.h"
#include "device/numbers/probability.h"
#include "kernels/cpu/plain_tile.h"
#include "plan/plan.h"

namespace qsim::cpu {
namespace {

struct PlainProgram {
  Sweep sweep;
  TileGeometry geometry;
  std::vector<Index> active_offsets;  // place -> index bits before the store permutation
  std::vector<PlainOp> ops;

  PlainProgram(const Sweep& given, std::uint32_t local_bits) : sweep(given), geometry(given, local_bits) {
    Index active_mask = 0;
    for (const Bit bit : sweep.active) active_mask |= bit_mask(bit);
    active_offsets.resize(geometry.load.size());
    for (Index place = 0; place < active_offsets.size(); ++place) {
      active_offsets[place] = deposit_bits(place, active_mask);
    }
    for (const PlanOp& op : sweep.ops) {
      PlainOp plain;
      plain.op = &op;
      for (unsigned j = 0; j < op.target_count; ++j) {
        plain.targets[j] = static_cast<Bit>(count_bits(active_mask & low_mask(op.targets[j])));
      }
      plain.place_mask = extract_bits(op.control_mask, active_mask);
      plain.place_value = extract_bits(op.control_value, active_mask);
      plain.base_mask = op.control_mask & ~active_mask;
      plain.base_value = op.control_value & ~active_mask;
      ops.push_back(plain);
    }
  }
};

template <typename T>
class PlainEngine : public SweepEngine<T> {
 public:
  std::string_view name() const override { return "scalar"; }

  std::uint32_t prepare(std::span<const Sweep> sweeps, std::uint32_t local_bits, int threads) override {
    const auto first = static_cast<std::uint32_t>(programs_.size());
    tiles_.resize(static_cast<std::size_t>(threads));
    for (const Sweep& sweep : sweeps) {
      programs_.push_back(std::make_unique<PlainProgram>(sweep, local_bits));
      for (auto& tile : tiles_) tile.resize(std::max(tile.size(), programs_.back()->geometry.load.size()));
    }
    return first;
  }

  void renew(std::uint32_t handle, std::span<const Sweep> sweeps, std::uint32_t local_bits) override {
    for (const Sweep& sweep : sweeps) programs_.at(handle++) = std::make_unique<PlainProgram>(sweep, local_bits);
  }

  void clear() override { programs_.clear(); }

  double run(std::uint32_t handle, std::complex<T>* shard, ChunkView chunk, ThreadTeam& team, bool norm) override {
    const PlainProgram& program = *programs_.at(handle);
    const Index tiles = program.geometry.tiles(chunk), pieces = std::min<Index>(tiles, kPieces);
    team.run(pieces, [&](Index piece, int worker) {
      CompensatedSum sum;
      for (Index tile = piece * (tiles / pieces); tile < (piece + 1) * (tiles / pieces); ++tile) {
        sum.add(run_tile(program, shard, program.geometry.base(chunk, tile), tiles_[static_cast<std::size_t>(worker)],
                         norm));
      }
      sums_[piece] = sum;
    });
    CompensatedSum total;
    for (Index piece = 0; piece < pieces; ++piece) total.add(sums_[piece]);
    return total.value();
  }

 private:
  static constexpr Index kPieces = 256;

  static double run_tile(const PlainProgram& program, std::complex<T>* shard, Index base,
                         std::vector<std::complex<T>>& tile, bool norm) {
    const TileGeometry& geometry = program.geometry;
    const Index size = geometry.load.size();
    const std::complex<T> factor(geometry.tile_factor(base));
    // Memory at an unborn bit of 1 is garbage, which a factor of 0 would not make 0.
    const bool load = geometry.reads && (base & geometry.inactive_zero) == 0;
    for (Index place = 0; place < size; ++place) {
      std::complex<T> value = load ? shard[base ^ geometry.load[place]] : std::complex<T>(1);
      if (!geometry.start.empty()) value *= std::complex<T>(geometry.start[place]);
      tile[place] = value * factor;
    }
    for (const PlainOp& plain : program.ops) {
      const PlanOp& op = *plain.op;
      if ((base & plain.base_mask) != plain.base_value) continue;
      switch (op.form) {
        case Form::kMatrix:
          plain_matrix(plain, program.sweep.matrices.data() + op.data_begin, tile.data(), size);
          break;
        case Form::kFlip:
          plain_flip(plain, tile.data(), size);
          break;
        case Form::kPhases:
          plain_phases<T>(plain, std::span(program.sweep.phases).subspan(op.data_begin, op.data_count),
                          program.active_offsets, base, tile.data(), size);
          break;
      }
    }
    double sum = 0;
    for (Index place = 0; place < size; ++place) {
      shard[base ^ geometry.store[place]] = tile[place];
      if (norm) sum += probability(tile[place]);
    }
    return sum;
  }

  std::vector<std::unique_ptr<PlainProgram>> programs_;
  std::vector<std::vector<std::complex<T>>> tiles_;  // one a thread
  std::array<CompensatedSum, kPieces> sums_;
};

}  // namespace

template <typename T>
std::unique_ptr<SweepEngine<T>> make_plain_engine() {
  return std::make_unique<PlainEngine<T>>();
}
template std::unique_ptr<SweepEngine<float>> make_plain_engine();
template std::unique_ptr<SweepEngine<double>> make_plain_engine();

}  // namespace qsim::cpu
