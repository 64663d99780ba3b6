// One qubit after another becomes what it shall be; what the others still lack is then written in what is there.
#include "optimizer/paths/flips.h"

#include <utility>

#include "base/bits.h"
#include "optimizer/weights.h"

namespace qsim {
namespace {

constexpr std::size_t kMostProducts = 256;

/// What a qubit is still to be flipped by, in what the qubits hold now.
struct Lack {
  Qubit qubit = 0;
  Boolean<Index> flips;
  Index reads = 0;

  void set(Boolean<Index> polynomial) {
    flips = std::move(polynomial);
    reads = 0;
    for (const Index p : flips) reads |= p;
  }
};

/// `polynomial`, when `qubit` has been flipped by `flips`.
Boolean<Index> after(const Boolean<Index>& polynomial, Qubit qubit, const Boolean<Index>& flips) {
  Boolean<Index> result = polynomial;
  for (const Index p : polynomial) {
    if (!test_bit(p, qubit)) continue;
    for (const Index f : flips) toggle(result, (p & ~bit_mask(qubit)) | f);
  }
  return result;
}

/// How many products all lack once `next` has what it lacks, with those that this takes; so many or more than `most`.
std::size_t products_after(const std::vector<Lack>& lacks, const Lack& next, std::size_t most) {
  std::size_t sum = next.flips.size();
  for (const Lack& other : lacks) {
    if (&other != &next && !test_bit(other.reads, next.qubit)) sum += other.flips.size();
  }
  for (const Lack& other : lacks) {
    if (sum >= most) break;
    if (&other != &next && test_bit(other.reads, next.qubit)) sum += after(other.flips, next.qubit, next.flips).size();
  }
  return sum;
}

}  // namespace

std::optional<std::vector<Flip>> flips_of(const std::vector<Boolean<Index>>& values, Index zeros) {
  std::vector<Lack> lacks;
  std::size_t products = 0;
  for (Qubit q = 0; q < values.size(); ++q) {
    Boolean<Index> difference = values[q];
    if (!test_bit(zeros, q)) toggle(difference, bit_mask(q));
    if (difference.empty()) continue;
    products += difference.size();
    lacks.push_back({q, {}, 0});
    lacks.back().set(std::move(difference));
  }
  std::vector<Flip> flips;
  while (!lacks.empty()) {
    if (products > kMostProducts) return std::nullopt;
    std::size_t best = lacks.size();
    for (std::size_t i = 0; i < lacks.size(); ++i) {
      if (test_bit(lacks[i].reads, lacks[i].qubit)) continue;
      const std::size_t most = best < lacks.size() ? products : ~std::size_t{0};
      const std::size_t sum = products_after(lacks, lacks[i], most);
      if (sum >= most) continue;
      best = i;
      products = sum;
    }
    if (best == lacks.size()) return std::nullopt;
    const Lack next = std::move(lacks[best]);
    lacks.erase(lacks.begin() + static_cast<std::ptrdiff_t>(best));
    for (const Index controls : next.flips) flips.push_back({next.qubit, controls});
    for (Lack& other : lacks) {
      if (test_bit(other.reads, next.qubit)) other.set(after(other.flips, next.qubit, next.flips));
    }
    std::erase_if(lacks, [](const Lack& lack) { return lack.flips.empty(); });
    products = 0;
    for (const Lack& lack : lacks) products += lack.flips.size();
  }
  return flips;
}

double weight_of_turns(const PhasedPermutation& permutation) {
  double sum = 0;
  for (const PhasedPermutation::Turn& turn : permutation.turned_after) {
    sum += weight::kRealTurn + (turn.phase != 0 ? weight::kPhase + weight::kLonelyPhases : 0);
  }
  return sum;
}

double weight_of(const PhasedPermutation& permutation, double& least_flips) {
  double sum = weight::kRealTurn * count_bits(permutation.turned);
  for (const auto& [product, turns] : permutation.phases_before) sum += weight::diagonal(count_bits(product));
  for (const auto& [product, turns] : permutation.phases) {
    if (product != 0) sum += weight::diagonal(count_bits(product));
  }
  sum += weight_of_turns(permutation);
  // At least a flip for each qubit that changes.
  for (Qubit q = 0; q < permutation.values.size(); ++q) {
    const Boolean<Index>& value = permutation.values[q];
    const bool stays = test_bit(permutation.zeros, q) ? value.empty() : value.size() == 1 && value[0] == bit_mask(q);
    const bool once = !value.empty() && value[0] == 0 && value.size() <= 2;
    if (!stays) least_flips += weight::flip(!once);
  }
  return sum;
}

double weight_of(const std::vector<Flip>& flips) {
  double sum = 0;
  for (const Flip& flip : flips) sum += weight::flip(flip.controls != 0);
  return sum;
}

}  // namespace qsim
