// Interprets plans amplitude by amplitude.
#include "support/plan_interpreter.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>

#include "base/layout.h"

namespace qsim::test {
namespace {

using Shard = std::vector<Complex>;
const Complex kPoison{std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};

bool bit_set(Index index, unsigned bit) { return (index >> bit) % 2 == 1; }

unsigned ones(Index index) {
  unsigned count = 0;
  for (; index != 0; index /= 2) count += static_cast<unsigned>(index % 2);
  return count;
}

class Interpreter {
 public:
  Interpreter(const Plan& plan, const std::vector<Complex>& start, const InterpreterOptions& options)
      : plan_(plan), options_(options), random_(options.scramble_seed) {
    ranks_ = Index{1} << plan.rank_bits;
    shard_size_ = Index{1} << plan.local_bits();
    shards_.assign(ranks_, Shard(shard_size_, kPoison));
    if (plan.start == Start::kZero) return;
    for (Index logical = 0; logical < ranks_ * shard_size_; ++logical) {
      const Index physical = place(plan.initial_layout, logical);
      shards_[physical / shard_size_][physical % shard_size_] = start.at(logical);
    }
  }

  std::vector<Complex> run() {
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      const Stage& stage = plan_.stages[s];
      std::size_t first = 0;
      if (stage.exchange) first = run_exchange(s);
      const std::size_t end = stage.sweeps.size() - wait_for_exchange(s);
      for (std::size_t i = first; i < end; ++i) run_sweep(stage.sweeps[i], 0, 0);
    }
    std::vector<Complex> state(ranks_ * shard_size_);
    for (Index logical = 0; logical < state.size(); ++logical) {
      const Index physical = place(plan_.final_layout, logical);
      state[logical] = shards_[physical / shard_size_][physical % shard_size_];
    }
    return state;
  }

 private:
  static Index place(const Layout& layout, Index logical) {
    Index physical = 0;
    for (std::size_t q = 0; q < layout.bit_of.size(); ++q) {
      if (bit_set(logical, static_cast<unsigned>(q))) physical += Index{1} << layout.bit_of[q];
    }
    return physical;
  }

  // How many of the stage's last sweeps run together with the next stage's exchange.
  std::size_t wait_for_exchange(std::size_t s) const {
    if (!options_.chunked || s + 1 >= plan_.stages.size() || !plan_.stages[s + 1].exchange) return 0;
    return plan_.stages[s + 1].exchange->overlap_before;
  }

  // Returns how many sweeps of the stage have run.
  std::size_t run_exchange(std::size_t s) {
    const Exchange& exchange = *plan_.stages[s].exchange;
    if (!options_.chunked) {
      trade(exchange, 0, 0);
      return 0;
    }
    const std::vector<Sweep>& before = plan_.stages[s - 1].sweeps;
    const std::size_t travels = exchange.overlap_before, phases = travels + 1 + exchange.overlap_after;
    // Every chunk goes through sweeps, trade, sweeps in this order; chunks overtake each other.
    std::vector<Index> values;
    for (Index v = 0; v < shard_size_; ++v) {
      if ((v & ~exchange.chunk_mask) == 0) values.push_back(v);
    }
    std::vector<std::size_t> steps;
    for (std::size_t c = 0; c < values.size(); ++c) steps.insert(steps.end(), phases, c);
    std::shuffle(steps.begin(), steps.end(), random_);
    std::vector<std::size_t> done(values.size(), 0);
    for (const std::size_t chunk : steps) {
      const std::size_t phase = done[chunk]++;
      if (phase == travels) {
        trade(exchange, exchange.chunk_mask, values[chunk]);
      } else {
        const Sweep& sweep =
            phase < travels ? before[before.size() - travels + phase] : plan_.stages[s].sweeps[phase - travels - 1];
        run_sweep(sweep, exchange.chunk_mask, values[chunk]);
      }
    }
    return exchange.overlap_after;
  }

  void trade(const Exchange& exchange, Index mask, Index value) {
    const std::vector<Shard> old = shards_;
    for (Index rank = 0; rank < ranks_; ++rank) {
      for (Index local = 0; local < shard_size_; ++local) {
        if ((local & mask) != value || (local & exchange.unborn) != 0) continue;
        Index index = rank * shard_size_ + local;
        const Index from = index;
        for (const auto& [a, b] : exchange.swaps) {
          const bool at_a = bit_set(from, a), at_b = bit_set(from, b);
          index &= ~(Index{1} << a) & ~(Index{1} << b);
          if (at_a) index |= Index{1} << b;
          if (at_b) index |= Index{1} << a;
        }
        shards_[index / shard_size_][index % shard_size_] = old[rank][local];
      }
    }
  }

  // Runs a sweep on the tiles whose bits under `mask` equal `value`, on every rank.
  void run_sweep(const Sweep& sweep, Index mask, Index value) {
    for (Index rank = 0; rank < ranks_; ++rank) {
      if (options_.specialize) {
        run_tiles(specialize(sweep, plan_, static_cast<std::uint32_t>(rank)), rank, mask, value, 0);
      } else {
        run_tiles(sweep, rank, mask, value, rank * shard_size_);
      }
    }
  }

  // `high`: the rank's part of the indices that controls and phases see.
  void run_tiles(const Sweep& sweep, Index rank, Index mask, Index value, Index high) {
    Index active = 0, births = 0;
    for (const Bit bit : sweep.active) active |= Index{1} << bit;
    for (const Birth& birth : sweep.births) births |= Index{1} << birth.bit;
    const Index still_unborn = sweep.unborn & ~births;
    if (sweep.permutes()) return permute(sweep, rank, high, still_unborn);
    std::vector<Index> tiles;
    for (Index tile = 0; tile < shard_size_; ++tile) {
      if ((tile & active) == 0 && (tile & still_unborn & ~active) == 0 && (tile & mask) == value) tiles.push_back(tile);
    }
    std::shuffle(tiles.begin(), tiles.end(), random_);
    for (const Index tile : tiles) {
      std::vector<Complex> values(std::size_t{1} << sweep.active.size());
      for (Index i = 0; i < values.size(); ++i) values[i] = load(sweep, rank, place_of(sweep, tile, i), still_unborn);
      for (const PlanOp& op : sweep.ops) apply(sweep, op, high | tile, values);
      for (Index i = 0; i < values.size(); ++i) {
        const Index from = tile | spread(i, sweep.active);
        const Index to = sweep.reach.empty() ? tile | spread(i, sweep.store) : place_of(sweep, tile, i);
        // What stays unborn is not written: it must never be read either.
        shards_[rank][to] = (from & still_unborn) == 0 ? values[i] : kPoison;
      }
    }
  }

  // Every amplitude by itself: where the flips take its place, and the phases on the way.
  void permute(const Sweep& sweep, Index rank, Index high, Index still_unborn) {
    Shard moved(shard_size_, kPoison);
    if (!sweep.reads) return write_from_everywhere(sweep, rank, high | sweep.above);
    for (Index from = 0; from < shard_size_; ++from) {
      if ((from & still_unborn) != 0) continue;
      Index to = from;
      Complex value = load(sweep, rank, from, still_unborn);
      for (const PlanOp& op : sweep.ops) {
        if (((high | to) & op.control_mask) != op.control_value) continue;
        if (op.form == Form::kFlip) {
          to ^= Index{1} << op.targets[0];
        } else {
          value *= phase_at(sweep, op, high | to);
        }
      }
      moved.at(to) = value;
    }
    shards_[rank] = std::move(moved);
  }

  // The first write: what the product state has anywhere, and the flips take to this rank.
  void write_from_everywhere(const Sweep& sweep, Index rank, Index high) {
    shards_[rank].assign(shard_size_, kPoison);
    for (Index from = 0; from < ranks_ * shard_size_; ++from) {
      Index to = from;
      Complex value = load(sweep, rank, from, 0);
      for (const PlanOp& op : sweep.ops) {
        if ((to & op.control_mask) != op.control_value) continue;
        if (op.form == Form::kFlip) {
          to ^= Index{1} << op.targets[0];
        } else {
          value *= phase_at(sweep, op, to);
        }
      }
      if ((to & ~(shard_size_ - 1)) == high) shards_[rank].at(to & (shard_size_ - 1)) = value;
    }
  }

  // Of amplitude i of a tile, in memory.
  static Index place_of(const Sweep& sweep, Index tile, Index i) {
    if (sweep.reach.empty()) return tile | spread(i, sweep.active);
    for (std::size_t j = 0; j < sweep.reach.size(); ++j)
      if (bit_set(i, static_cast<unsigned>(j))) tile ^= sweep.reach[j];
    return tile;
  }

  static Index spread(Index value, const std::vector<Bit>& bits) {
    Index index = 0;
    for (std::size_t j = 0; j < bits.size(); ++j) {
      if (bit_set(value, static_cast<unsigned>(j))) index |= Index{1} << bits[j];
    }
    return index;
  }

  Complex load(const Sweep& sweep, Index rank, Index local, Index still_unborn) const {
    if ((local & still_unborn) != 0) return 0;
    Complex value = 1;
    bool from_memory_allowed = true;
    for (const Birth& birth : sweep.births) {
      const bool one = bit_set(local, birth.bit);
      value *= birth.factor[one ? 1 : 0];
      const bool inactive = std::find(sweep.active.begin(), sweep.active.end(), birth.bit) == sweep.active.end();
      if (one && inactive) from_memory_allowed = false;
    }
    if (!sweep.reads) {
      return value * (options_.specialize ? sweep.start_scale : plan_.global_start.at(rank));
    }
    if (!from_memory_allowed) return 0;
    return value * shards_[rank][local & ~sweep.unborn];
  }

  static void apply(const Sweep& sweep, const PlanOp& op, Index base, std::vector<Complex>& values) {
    const std::vector<Complex> old = values;
    for (Index i = 0; i < values.size(); ++i) {
      const Index index = base | spread(i, sweep.active);
      if ((index & op.control_mask) != op.control_value) continue;
      switch (op.form) {
        case Form::kMatrix: {
          const Index order = Index{1} << op.target_count;
          Complex sum = 0;
          for (Index column = 0; column < order; ++column) {
            sum += sweep.matrices.at(op.data_begin + matrix_index(op, index) * order + column) *
                   old[in_tile(sweep, with_targets(op, index, column))];
          }
          values[i] = sum;
          break;
        }
        case Form::kFlip:
          values[i] = old[in_tile(sweep, index ^ (Index{1} << op.targets[0]))];
          break;
        case Form::kPhases:
          values[i] *= phase_at(sweep, op, index);
          break;
      }
    }
  }

  static Complex phase_at(const Sweep& sweep, const PlanOp& op, Index index) {
    Complex phase = 1;
    for (std::uint32_t t = 0; t < op.data_count; ++t) {
      const PhaseTerm& term = sweep.phases.at(op.data_begin + t);
      const bool applies = term.parity ? ones(index & term.mask) % 2 == 1 : (index & term.mask) == term.mask;
      if (applies) phase *= std::exp(Complex(0, term.angle));
    }
    return phase;
  }

  static Index matrix_index(const PlanOp& op, Index index) {
    Index row = 0;
    for (unsigned j = 0; j < op.target_count; ++j) row |= Index{bit_set(index, op.targets[j])} << j;
    return row;
  }
  static Index with_targets(const PlanOp& op, Index index, Index value) {
    for (unsigned j = 0; j < op.target_count; ++j) {
      index &= ~(Index{1} << op.targets[j]);
      if (bit_set(value, j)) index |= Index{1} << op.targets[j];
    }
    return index;
  }
  static Index in_tile(const Sweep& sweep, Index index) {
    Index value = 0;
    for (std::size_t j = 0; j < sweep.active.size(); ++j) value |= Index{bit_set(index, sweep.active[j])} << j;
    return value;
  }

  const Plan& plan_;
  const InterpreterOptions& options_;
  std::mt19937 random_;
  Index ranks_ = 1, shard_size_ = 1;
  std::vector<Shard> shards_;
};

}  // namespace

std::vector<Complex> interpret(const Plan& plan, const std::vector<Complex>& start, const InterpreterOptions& options) {
  return Interpreter(plan, start, options).run();
}

std::vector<Complex> interpret_ops(const Lowered& lowered, const std::vector<LoweredOp>& ops,
                                   const std::vector<Complex>& start) {
  Plan plan;
  plan.qubits = lowered.qubits;
  plan.start = Start::kState;
  plan.initial_layout = Layout::identity(static_cast<int>(lowered.qubits));
  plan.final_layout = qubit_layout(lowered, plan.initial_layout);
  Sweep sweep;
  for (Bit bit = 0; bit < lowered.qubits; ++bit) sweep.active.push_back(bit);
  sweep.store = sweep.active;
  for (const LoweredOp& op : ops) append_to_sweep(sweep, lowered, op, plan.initial_layout);
  plan.stages.push_back({std::nullopt, plan.initial_layout, {sweep}});
  return interpret(plan, start);
}

}  // namespace qsim::test
