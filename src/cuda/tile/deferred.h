// Phases on their way through an epoch: what the registers must still be multiplied with, before something that does
// not commute with it. Factors of several operations that meet the same registers are one multiplication.
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/tile/tile_program.h"

namespace qsim::cuda {

/// Operations are numbered as they are taken; factor f of operation n is number 4 n + f.
class DeferredPhases {
 public:
  /// Registers with the same factors. Which they are does not depend on angles.
  struct Group {
    std::vector<std::uint32_t> variables;  // factors that threads or tiles change
    std::vector<std::uint32_t> constants;  // the others, whose product is `value`
    Complex value{1};
    std::uint32_t set = 0;  // registers
  };

  DeferredPhases(std::uint32_t registers, Precision precision) : registers_(registers), precision_(precision) {}
  /// An operation with is_deferred(); returns its number.
  std::uint32_t take(const TileOp& op);
  /// What waits, in an order in which a group comes after those whose variables its own begin with. Nothing waits then.
  /// Many factors that each depend on some slots alone are done slots after slots where that is less work, in double
  /// also where it is about as much: products of all of them at once would not find registers of their own.
  std::vector<Group> done();

 private:
  /// A factor that waits.
  struct Waiting {
    std::uint32_t number = 0;
    bool variable = false;
    Complex value{1};
    std::uint32_t set = 0;    // registers
    std::uint32_t slots = 0;  // that it depends on
  };
  using Layer = std::vector<const Waiting*>;

  std::uint32_t slots_of(std::uint32_t set) const;
  std::vector<Group> groups_of(const Layer& layer) const;

  std::vector<Waiting> waiting_;
  std::uint32_t registers_, count_ = 0;
  Precision precision_;
};

}  // namespace qsim::cuda
