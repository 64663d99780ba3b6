// Networks of CX gates: linear maps over GF(2), of which other networks may need fewer gates.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace qsim {

/// A CX gate between two of a network's places.
struct Cx {
  unsigned control = 0, target = 0;
};

/// Gates, then new names, then gates: after `before`, place j is what place from[j] was; `after` is on the new names.
struct CxNetwork {
  std::vector<Cx> before;
  std::vector<unsigned> from;
  std::vector<Cx> after;

  std::size_t gates() const { return before.size() + after.size(); }
};

/// A network that maps every basis state as `gates` on `places` (at most 64) do, with fewer gates; nothing where none
/// is found. Takes its steps, of places^2 each, from `steps`, and finds nothing when they are used up.
///
/// The matrix of the map (row j: which places place j is the parity of) is cleared to a permutation by row and column
/// operations, which are CX gates at its end and at its beginning: always the one that leaves the fewest ones (greedy
/// synthesis, T. Goubault de Brugiere et al., arXiv:2201.06457); where none leaves fewer, one column is cleared as in
/// Gaussian elimination.
std::optional<CxNetwork> shorter_network(std::span<const Cx> gates, unsigned places, std::uint64_t& steps);

/// Does `network` map every basis state as `gates` on `places` do?
bool same_map(std::span<const Cx> gates, const CxNetwork& network, unsigned places);

}  // namespace qsim
