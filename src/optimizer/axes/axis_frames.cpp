// Which way each wire of an axis form is looked at: a shortest path through the frames of a wire, wire by wire, a few
// times over, since what a flip costs hangs on both of its wires.
#include <algorithm>
#include <array>
#include <vector>

#include "optimizer/axes/axis_form.h"
#include "optimizer/pairs/letters.h"

namespace qsim {
namespace {

using Costs = std::array<double, kAxisFrames.size()>;

constexpr double kHadamardCost = 1, kPhaseCost = 0.25;
// By the letter that is seen.
constexpr std::array<double, 3> kSeenRotation{2, 2, 0}, kSeenTurn{1.5, 1.8, 0}, kUnknownFlip{0.3, 2, 0.1};
constexpr std::array<std::array<double, 3>, 3> kSeenFlip{{{2, 2, 0}, {2, 4, 2}, {0, 2, 0.1}}};
constexpr double kUnlike = 1;       // of several turns of a pair, about two letters
constexpr double kOtherRole = 1.5;  // of a flip whose control was known
constexpr int kRounds = 4;

struct Place {
  std::uint32_t step = 0;
  unsigned side = 0;
};

Costs costs_of(const AxisStep& step, unsigned side, unsigned other) {
  Costs costs{};
  for (unsigned f = 0; f < costs.size(); ++f) {
    const unsigned seen = kAxisFrames[f][step.letters[side] - 1];
    if (step.kind == AxisStep::Kind::kRotation) {
      costs[f] = kSeenRotation[seen - 1];
    } else if (step.kind == AxisStep::Kind::kTurn) {
      costs[f] = kSeenTurn[seen - 1];
      if (step.beside_others) costs[f] = other == 0 || other == seen ? 0 : kUnlike;
    } else if (step.control >= 0) {
      costs[f] = seen == (static_cast<unsigned>(step.control) == side ? kLetterZ : kLetterX) ? 0 : kOtherRole;
    } else {
      costs[f] = other == 0 ? kUnknownFlip[seen - 1] : kSeenFlip[seen - 1][other - 1];
    }
  }
  return costs;
}

}  // namespace

const std::vector<Gate>& between_frames(unsigned from, unsigned to) {
  static const auto kAll = [] {
    constexpr std::size_t kFrames = kAxisFrames.size();
    std::array<std::array<std::vector<Gate>, kFrames>, kFrames> all;
    const std::array<std::vector<Gate>, 6> words{
        {{}, {Gate::kS}, {Gate::kH}, {Gate::kS, Gate::kH}, {Gate::kH, Gate::kS}, {Gate::kS, Gate::kH, Gate::kS}}};
    for (unsigned f = 0; f < kFrames; ++f) {
      for (const std::vector<Gate>& word : words) {
        std::array<unsigned, 3> seen = kAxisFrames[f];
        for (const Gate gate : word) {
          for (unsigned& letter : seen) {  // H takes X and Z to each other, S takes X and Y
            if (gate == Gate::kH) letter = 4 - letter;
            if (gate == Gate::kS && letter != kLetterZ) letter = 3 - letter;
          }
        }
        const auto g = static_cast<std::size_t>(std::ranges::find(kAxisFrames, seen) - kAxisFrames.begin());
        all[f][g] = word;
      }
    }
    return all;
  }();
  return kAll[from][to];
}

AxisFrames choose_frames(const AxisForm& form) {
  constexpr std::size_t kFrames = kAxisFrames.size();
  std::array<Costs, kFrames> between{};
  for (unsigned f = 0; f < kFrames; ++f) {
    for (unsigned g = 0; g < kFrames; ++g) {
      for (const Gate gate : between_frames(f, g)) between[f][g] += gate == Gate::kH ? kHadamardCost : kPhaseCost;
    }
  }
  std::vector<std::vector<Place>> wires(form.after.size());
  for (std::uint32_t i = 0; i < form.steps.size(); ++i) {
    const unsigned sides = form.steps[i].kind == AxisStep::Kind::kRotation ? 1 : 2;
    for (unsigned k = 0; k < sides; ++k) wires[form.steps[i].wires[k]].push_back({i, k});
  }
  AxisFrames frames(form.steps.size(), {0, 0});
  std::vector<std::array<unsigned, 2>> seen(form.steps.size(), {0, 0});
  std::vector<std::array<std::uint8_t, kFrames>> from;
  for (int round = 0; round < kRounds; ++round) {
    for (const std::vector<Place>& places : wires) {
      Costs least = between[0];
      from.assign(places.size(), {});
      for (std::size_t at = 0; at < places.size(); ++at) {
        const AxisStep& step = form.steps[places[at].step];
        const Costs here = costs_of(step, places[at].side, seen[places[at].step][1 - places[at].side]);
        Costs next{};
        for (unsigned f = 0; f < kFrames; ++f) {
          unsigned best = f;
          for (unsigned g = 0; g < kFrames; ++g) {
            if (least[g] + between[g][f] < least[best] + between[best][f]) best = g;
          }
          from[at][f] = static_cast<std::uint8_t>(best);
          next[f] = least[best] + between[best][f] + here[f];
        }
        least = next;
      }
      // What is left behind the last step is a gate of any kind, mostly: half of what a frame costs to leave.
      unsigned frame = 0;
      for (unsigned f = 1; f < kFrames; ++f) {
        if (least[f] + between[f][0] / 2 < least[frame] + between[frame][0] / 2) frame = f;
      }
      for (std::size_t at = places.size(); at-- > 0;) {
        const auto [step, side] = places[at];
        frames[step][side] = static_cast<std::uint8_t>(frame);
        seen[step][side] = kAxisFrames[frame][form.steps[step].letters[side] - 1];
        frame = from[at][frame];
      }
    }
  }
  return frames;
}

}  // namespace qsim
