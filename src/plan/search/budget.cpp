// Seconds of a sweep against seconds of a move.
#include "plan/search/budget.h"

#include <algorithm>
#include <cmath>

namespace qsim {
namespace {

constexpr std::uint64_t kMost = 40000;     // for short circuits
constexpr std::uint64_t kMostMore = 6000;  // for longer ones
constexpr std::uint64_t kLeast = 3000;
constexpr double kShareOfSweep = 0.3;  // of the time of a sweep for every set that is looked for
constexpr double kTurnsInSweep = 25;
constexpr double kSecondsOfMove = 0.5e-6;
constexpr std::uint64_t kMostAgain = 52000;

constexpr double kShareOfRun = 0.2;       // for later births
constexpr double kSecondsOfTurn = 20e-6;  // to write a plan at both paces
constexpr std::uint64_t kLeastLater = 15000, kMostLater = 200000;
// Hosts of GPUs have cores for several looks at once, where each is short: four of them find what is 4 % shorter.
constexpr std::uint64_t kMostLooks = 4, kMostInLooks = 160000;

std::uint64_t whole(double moves) { return static_cast<std::uint64_t>(std::min(moves, 1e9)); }

// What the sweeps are worth, without bounds.
std::uint64_t moves_of_sweeps(std::size_t turns, const Machine& machine, const PlanOptions& options, int local) {
  const CostTable& cost = machine.cost(options.precision);
  const double bytes = std::ldexp(static_cast<double>(amplitude_bytes(options.precision)), local);
  const double sweep = bytes / cost.read_bytes_per_second + bytes / cost.write_bytes_per_second;
  return whole(kShareOfSweep * sweep * (1 + static_cast<double>(turns) / kTurnsInSweep) / kSecondsOfMove);
}

}  // namespace

std::uint64_t set_search_budget(std::size_t turns, const Machine& machine, const PlanOptions& options, int local) {
  // From |0...0> two schedules are looked for, with births late and in the first write.
  const bool known = options.knows_zero();
  const std::uint64_t share = known ? kMost * 3 / 8 : kMost;
  const std::uint64_t more = (known ? 6 : 12) * turns;
  if (options.tile_bits) return share + more;  // the fewest sweeps are asked for
  const std::uint64_t most = share + std::min(more, kMostMore);
  return std::clamp(moves_of_sweeps(turns, machine, options, local), std::min(kLeast, share), most);
}

std::uint64_t set_search_more(std::size_t turns, const Machine& machine, const PlanOptions& options, int local) {
  if (options.knows_zero() || options.tile_bits) return 0;
  const std::uint64_t moves = moves_of_sweeps(turns, machine, options, local);
  return std::min(moves - std::min(moves, set_search_budget(turns, machine, options, local)), kMostAgain);
}

void set_tile(const Timeline& timeline, const Machine& machine, const PlanOptions& options, int local,
              SetRules& rules) {
  std::uint32_t widest = 1;
  for (const Turn& turn : timeline.turns) widest = std::max<std::uint32_t>(widest, turn.target_count);
  const std::uint32_t asked = options.tile_bits.value_or(machine.max_tile_bits);
  const std::uint32_t size = std::min(std::max(asked, widest), static_cast<std::uint32_t>(local));
  const std::uint32_t low = std::min(machine.low_bits, size - std::min(size, std::max(widest, std::min(size, 3u))));
  rules.size = static_cast<int>(size);
  rules.low = static_cast<int>(low);
}

LateBirthBudget late_birth_budget(std::size_t turns, double seconds, const Machine& machine) {
  if (seconds < kSecondsOfTurn * static_cast<double>(turns)) return {};
  const std::uint64_t moves = std::clamp(whole(kShareOfRun * seconds / kSecondsOfMove), kLeastLater, kMostLater);
  const bool many_cores = machine.kind == BackendKind::kCuda;
  return {moves,
          many_cores ? static_cast<std::uint32_t>(std::clamp(kMostInLooks / moves, std::uint64_t{1}, kMostLooks)) : 1};
}

}  // namespace qsim
