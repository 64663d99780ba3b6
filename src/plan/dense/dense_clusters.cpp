// Clusters of every size from 2 to 6 are tried as matrices, on the steps as they are and on the best form so far, and
// what is cheapest as a whole is kept.
#include "plan/dense/dense_clusters.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/bits.h"
#include "plan/cost/machine.h"
#include "plan/dense/clusters.h"
#include "plan/dense/dense_product.h"
#include "plan/dense/pair_matrix.h"
#include "plan/element/split_steps.h"
#include "plan/matrix_forms.h"

namespace qsim {
namespace {

// A matrix on more than two wires must save that much of a sweep's arithmetic: it takes tables and, on a GPU, time to
// compile. So must one on two wires whose steps are in several register groups, which moves what is beside it, and
// turns that are left for the next matrix: many of them beside small matrices take longer than the table says.
constexpr double kWorthwhile = 0.95;
constexpr std::size_t kLongSweep =
    2000;                            // steps; longer ones try less, large matrices first, so that planning stays fast
constexpr double kManyPairs = 0.15;  // of a sweep's arithmetic: then more of them are looked for

// The members act on no other wire, and nothing else between them acts on theirs: the last one's place will do. The
// matrix is left for later; `parts` are the members among the steps that were there first.
void fuse(std::vector<Element>& elements, std::vector<Members>& parts, const Cluster& cluster) {
  Element dense;
  Members all;
  dense.act_on(cluster.wires);
  dense.entries = cluster.entries;
  for (const std::size_t member : cluster.members) {
    take_over(dense, elements[member]);
    all.insert(all.end(), parts[member].begin(), parts[member].end());
  }
  elements[cluster.members.back()] = std::move(dense);
  parts[cluster.members.back()] = std::move(all);
}

// A form of a sweep's steps, and for each step those that it is made of; what they stand for is filled in last.
struct Candidate {
  std::vector<Element> elements;
  std::vector<Members> parts;
};

Candidate as_they_are(const std::vector<Element>& elements) {
  Candidate candidate{without_sources(elements), std::vector<Members>(elements.size())};
  for (std::size_t i = 0; i < elements.size(); ++i) candidate.parts[i] = {i};
  return candidate;
}

// The candidate with these clusters as matrices, and with smaller ones out of what is left.
Candidate fuse_downwards(Candidate candidate, const std::vector<Cluster>& clusters, int size, const FormCosts& cost,
                         int register_bits) {
  for (const Cluster& cluster : clusters) fuse(candidate.elements, candidate.parts, cluster);
  for (int smaller = size - 1; smaller >= 2; --smaller)
    for (const Cluster& cluster : find_clusters(candidate.elements, cost, smaller, smaller > register_bits))
      fuse(candidate.elements, candidate.parts, cluster);
  return candidate;
}

// A table by which every cluster is worth a matrix.
FormCosts eager_table() {
  FormCosts cost;
  cost.matrix1_general = cost.matrix1_real = cost.butterfly = cost.flip = cost.phases = cost.phase_term = 1;
  for (double& dense : cost.matrix_dense) dense = 1e-9;
  return cost;
}

// Clusters on fewer than `size` wires whose products leave least to multiply on `size` wires.
std::vector<Members> parts_of_product(const std::vector<Element>& steps, int size) {
  static const FormCosts kEager = eager_table();
  if (steps.size() <= 4) return {};
  std::vector<Cluster> best;
  double least = std::numeric_limits<double>::infinity();
  for (int smaller = 2; smaller < size; ++smaller) {
    std::vector<Cluster> clusters = find_clusters(steps, kEager, smaller, false);
    double work = 0;
    auto rest = static_cast<double>(steps.size());
    for (const Cluster& cluster : clusters) {
      work += std::ldexp(1.0, popcount(cluster.wires));
      rest -= static_cast<double>(cluster.members.size());
    }
    work += 2 * rest;
    if (work >= least) continue;
    least = work;
    best = std::move(clusters);
  }
  std::vector<Members> parts;
  for (Cluster& cluster : best) parts.push_back(std::move(cluster.members));
  return parts;
}

/// The matrices, the phases that were taken out of them, and what all steps stand for. Returns how many matrices are
/// not what their steps do.
std::uint64_t fill_in(Candidate& candidate, const std::vector<Element>& elements, const FormCosts& cost) {
  std::uint64_t wrong = 0;
  std::vector<Insertion> phases;
  for (std::size_t i = 0; i < candidate.elements.size(); ++i) {
    Element& dense = candidate.elements[i];
    if (dense.gone) continue;
    for (const std::size_t part : candidate.parts[i]) add_sources(dense, elements[part]);
    if (candidate.parts[i].size() < 2) continue;
    std::vector<Element> steps;
    for (const std::size_t part : candidate.parts[i]) steps.push_back(elements[part]);
    dense.matrix = product_of(steps, dense.target_mask(), parts_of_product);
    if (dense.target_count == 2) tidy_pair(dense.matrix);
    if (!does_what_steps_do(dense.matrix, steps, dense.target_mask())) ++wrong;
    if (dense.target_count != 2) continue;
    const double angle = cost.pair_entry > 0 ? take_phase(dense.matrix, cost.by_parity) : 0;
    if (angle != 0) phases.emplace_back(i, phase_element(0, angle));
    dense.entries = paid_entries(dense.matrix, cost.by_parity);
  }
  insert(candidate.elements, phases);
  return wrong;
}

double matrices_cost(const std::vector<Cluster>& clusters, const FormCosts& cost) {
  double total = 0;
  for (const Cluster& cluster : clusters) total += cost.matrix_dense[popcount(cluster.wires)];
  return total;
}

// Looks for the cheapest form of a sweep's steps.
class FormSearch {
 public:
  FormSearch(const std::vector<Element>& elements, const CostTable& cost, int register_bits)
      : elements_(elements),
        cost_(cost),
        register_bits_(register_bits),
        is_long_(elements.size() > kLongSweep),
        turns_(elements.size()) {}

  /// Empty: as they are.
  Candidate run() {
    Index turning = 0;
    double sum = 0;
    for (const Element& element : elements_) {
      if (element.gone) continue;
      turning |= element.target_mask();
      sum += element_cost(element, cost_);
    }
    const int most = std::min(kMaxMatrixTargets, popcount(turning));
    const auto least_of = [&](int size) { return size == 2 ? cost_.pair(kFewestEntries) : cost_.matrix_dense[size]; };
    for (int step = 2; step <= most; ++step) {
      const int size = is_long_ ? most + 2 - step : step;
      if (sum > least_of(size)) try_size(size, size > register_bits_, cost_, size > 2 ? kWorthwhile : 1);
      // Pairs that register groups cut apart are worth the regroup where much of the sweep is pairs.
      if (size == 2 && !is_long_ && pairs_matter()) try_size(size, true, cheaper_way(), kWorthwhile);
    }
    return std::move(best_);
  }

 private:
  // Clusters of the steps as they are, and of the best form so far.
  void try_size(int size, bool across, const FormCosts& cost, double worthwhile) {
    try_clusters(size, across, cost, worthwhile, Cuts::kNone);
    if (size != 2 || cost.pair_entry == 0 || is_long_) return;
    try_clusters(size, across, cost, worthwhile, Cuts::kCheapest);
    try_clusters(size, across, cost, kWorthwhile, Cuts::kForNext);
  }

  void try_clusters(int size, bool across, const FormCosts& cost, double worthwhile, Cuts cuts) {
    for (const bool from_best : {false, true}) {
      if (from_best && (best_.elements.empty() || is_long_)) continue;
      const auto clusters = find_clusters(from_best ? best_.elements : elements_, cost, size, across, cuts);
      if (clusters.empty()) continue;
      if (is_long_ && least_ > 0 && matrices_cost(clusters, cost) >= least_) continue;
      if (least_ == 0) least_ = cost_of(elements_);
      Candidate candidate =
          fuse_downwards(from_best ? best_ : as_they_are(elements_), clusters, size, cost, register_bits_);
      const double now = cost_of(candidate.elements);
      if (now >= least_ * worthwhile) continue;
      least_ = now;
      best_ = std::move(candidate);
    }
  }

  // Whether matrices on two wires are a good part of the best form so far.
  bool pairs_matter() const {
    double pairs = 0;
    for (const Element& element : best_.elements) {
      if (!element.gone && element.target_count == 2) pairs += cost_.pair(element.entries);
    }
    return pairs > kManyPairs * least_;
  }

  // The table by which the best form so far costs less: in registers or on lanes.
  const FormCosts& cheaper_way() {
    if (!cost_.lanes) return cost_;
    return cost_by(best_.elements, *cost_.lanes) < cost_by(best_.elements, cost_) ? *cost_.lanes : cost_;
  }

  // In registers or, where there are matrices on two wires, on lanes: as sweeps are done.
  double cost_of(const std::vector<Element>& elements) {
    const double registers = cost_by(elements, cost_);
    const auto is_pair = [](const Element& element) { return !element.gone && element.target_count == 2; };
    if (!cost_.lanes || std::ranges::none_of(elements, is_pair)) return registers;
    return std::min(registers, cost_by(elements, *cost_.lanes));
  }

  double cost_by(const std::vector<Element>& elements, const FormCosts& cost) {
    return cost_when_split(elements, cost, register_bits_, turns_);
  }

  const std::vector<Element>& elements_;
  const CostTable& cost_;
  const int register_bits_;
  const bool is_long_;
  TurnParts turns_;
  Candidate best_;
  double least_ = 0;
};

}  // namespace

std::uint64_t fuse_matrices(std::vector<Element>& elements, const CostTable& cost, int register_bits) {
  Candidate best = FormSearch(elements, cost, register_bits).run();
  if (best.elements.empty()) return 0;
  const std::uint64_t wrong = fill_in(best, elements, cost);
  if (wrong == 0) elements = std::move(best.elements);
  return wrong;
}

}  // namespace qsim
