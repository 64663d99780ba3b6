// Phases of a sweep that wait until a matrix changes one of their bits, so that few multiplications do many.
#pragma once

#include <array>
#include <map>
#include <utility>
#include <vector>

#include "cpu/items/tile_items.h"

namespace qsim::cpu {

class WaitingPhases {
 public:
  void add(Term term);
  /// A flip with few phases waiting on its target: they wait on, as what they are after it. False where they would be
  /// too many, or it is no flip.
  bool pull_through(const MatrixItem& flip);
  bool wait_on(Index targets) const;
  bool empty() const { return pending_.empty(); }

  /// Those on `targets`, and with them those on `later`; none where none waits on `targets`.
  std::vector<Term> take(Index targets, Index later);
  std::vector<Term> take_all();
  /// Those of whole tiles, on no bits.
  std::vector<Term> take_whole() { return std::exchange(whole_, {}); }

 private:
  /// What two terms have alike that are one term of the sum of their angles.
  using Key = std::array<Index, 5>;
  static Key key_of(const Term& term);
  void add_reduced(Term term, Index ones);

  std::map<Key, Term> pending_;
  std::vector<Term> whole_;
};

}  // namespace qsim::cpu
