// Clusters grow step by step while their wires stay few; one that is dearer than the dense matrix on its wires becomes
// that matrix. Every size from 2 to 6 is tried, on the steps as they are and on the best form so far, and what is
// cheapest as a whole is kept.
#include "plan/sweep/dense_clusters.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "base/bits.h"
#include "base/numbers/rounding.h"
#include "optimizer/single_qubit.h"
#include "plan/cost/machine.h"
#include "plan/matrix_forms.h"
#include "plan/sweep/dense_product.h"

namespace qsim {
namespace {

// A matrix on more than two wires must save that much of a sweep's arithmetic: it takes tables and, on a GPU, time to
// compile.
constexpr double kWorthwhile = 0.95;
constexpr std::size_t kLongSweep =
    2000;  // steps; longer ones try less, large matrices first, so that planning stays fast
constexpr std::size_t kNoCluster = std::numeric_limits<std::size_t>::max();

using Members = std::vector<std::size_t>;

// Steps that act on `wires` alone.
struct Cluster {
  Members members;
  Index wires = 0;
  double cost = 0;
  double entries = 32;  // of the matrix, where there are two wires
};

// What rounding has left of 0 and 1 becomes that: such entries of a matrix on two targets cost nothing.
void tidy_pair(std::vector<Complex>& matrix) {
  drop_dust(matrix);
  for (Complex& entry : matrix) {
    if (is_one(entry)) entry = 1;
  }
}

// Finds clusters of at most `size` wires that are cheaper as one matrix.
class ClusterFinder {
 public:
  /// `across`: clusters may span register groups.
  ClusterFinder(const std::vector<Element>& elements, const CostTable& cost, int size, bool across)
      : elements_(elements), cost_(cost), size_(size), across_(across) {
    cluster_of_.fill(kNoCluster);
  }

  std::vector<Cluster> run() {
    for (std::size_t i = 0; i < elements_.size(); ++i) {
      const Element& element = elements_[i];
      if (element.gone) continue;
      if (element.kind != Element::Kind::kGroupEnd) {
        visit(i);
      } else if (!across_) {
        close(~Index{0});
      }
    }
    close(~Index{0});
    return std::move(found_);
  }

 private:
  void visit(std::size_t i) {
    const Element& element = elements_[i];
    const Index wires = element.wires();
    if (element.is_open() || popcount(wires) > size_ || (wires & ~turning_wires(i)) != 0) return close(wires);
    make_room(wires);
    std::size_t cluster = kNoCluster;
    for_each_bit(wires, [&](unsigned wire) {
      const std::size_t found = cluster_of_[wire];
      if (found != kNoCluster && found != cluster) cluster = cluster == kNoCluster ? found : join(cluster, found);
    });
    if (cluster == kNoCluster) {
      cluster = clusters_.size();
      clusters_.emplace_back();
    }
    clusters_[cluster].members.push_back(i);
    clusters_[cluster].wires |= wires;
    clusters_[cluster].cost += element_cost(element, cost_);
    for_each_bit(wires, [&](unsigned wire) { cluster_of_[wire] = cluster; });
  }

  // Ends those clusters on `wires` that do not fit into one with the step: the dearest stay.
  void make_room(Index wires) {
    std::vector<std::size_t> touched;
    for_each_bit(wires, [&](unsigned wire) {
      const std::size_t found = cluster_of_[wire];
      if (found != kNoCluster && std::find(touched.begin(), touched.end(), found) == touched.end())
        touched.push_back(found);
    });
    std::ranges::stable_sort(touched,
                             [&](std::size_t a, std::size_t b) { return clusters_[a].cost > clusters_[b].cost; });
    Index reach = wires;
    for (const std::size_t c : touched) {
      if (popcount(reach | clusters_[c].wires) <= size_) {
        reach |= clusters_[c].wires;
      } else {
        close(clusters_[c].wires);
      }
    }
  }

  // Wires that may be targets of a dense matrix: those with a turn in this register group, or in the sweep. A diagonal
  // on others ends the clusters that it touches.
  Index turning_wires(std::size_t i) {
    if (i < group_end_) return group_wires_;
    group_wires_ = 0;
    for (group_end_ = i; group_end_ < elements_.size(); ++group_end_) {
      const Element& element = elements_[group_end_];
      if (element.kind == Element::Kind::kGroupEnd && !across_) break;
      if (!element.gone) group_wires_ |= element.target_mask();
    }
    return group_wires_;
  }

  std::size_t join(std::size_t a, std::size_t b) {
    auto& members = clusters_[a].members;
    members.insert(members.end(), clusters_[b].members.begin(), clusters_[b].members.end());
    std::sort(members.begin(), members.end());
    clusters_[a].wires |= clusters_[b].wires;
    clusters_[a].cost += clusters_[b].cost;
    for_each_bit(clusters_[b].wires, [&](unsigned wire) { cluster_of_[wire] = a; });
    clusters_[b] = {};
    return a;
  }

  // Ends all clusters that touch `wires`.
  void close(Index wires) {
    for_each_bit(wires & low_mask(kMaxQubits), [&](unsigned wire) {
      const std::size_t c = cluster_of_[wire];
      if (c == kNoCluster) return;
      Cluster cluster = std::move(clusters_[c]);
      clusters_[c] = {};
      for_each_bit(cluster.wires, [&](unsigned other) { cluster_of_[other] = kNoCluster; });
      const int count = popcount(cluster.wires);
      if (count < 2 || cluster.members.size() < 2) return;
      if (count == 2) cluster.entries = entries_of(cluster);
      if (cluster.cost > (count == 2 ? cost_.pair(cluster.entries) : cost_.matrix_dense[count]))
        found_.push_back(std::move(cluster));
    });
  }

  double entries_of(const Cluster& cluster) const {
    if (cost_.pair_entry == 0) return 32;
    const auto filled_later = [&](std::size_t member) {
      return elements_[member].targets.size() > 1 && elements_[member].matrix.empty();
    };
    if (std::ranges::any_of(cluster.members, filled_later)) return 32;
    std::vector<Complex> matrix = product_of(elements_, cluster.members, cluster.wires);
    tidy_pair(matrix);
    return pair_entries(matrix);
  }

  const std::vector<Element>& elements_;
  const CostTable& cost_;
  const int size_;
  const bool across_;
  std::vector<Cluster> clusters_, found_;
  std::array<std::size_t, kMaxQubits + 2> cluster_of_{};
  Index group_wires_ = 0;
  std::size_t group_end_ = 0;
};

std::vector<Cluster> find_clusters(const std::vector<Element>& elements, const CostTable& cost, int size,
                                   int register_bits) {
  return ClusterFinder(elements, cost, size, size > register_bits).run();
}

// The members act on no other wire, and nothing else between them acts on theirs: the last one's place will do. The
// matrix is left for later; `parts` are the members among the steps that were there first.
void fuse(std::vector<Element>& elements, std::vector<Members>& parts, const Cluster& cluster) {
  Element dense;
  Members all;
  for_each_bit(cluster.wires, [&](unsigned wire) { dense.targets.push_back(static_cast<Bit>(wire)); });
  dense.entries = cluster.entries;
  for (const std::size_t member : cluster.members) {
    take_over(dense, elements[member]);
    all.insert(all.end(), parts[member].begin(), parts[member].end());
  }
  elements[cluster.members.back()] = std::move(dense);
  parts[cluster.members.back()] = std::move(all);
}

// A form of a sweep's steps, and for each step those that it is made of.
struct Candidate {
  std::vector<Element> elements;
  std::vector<Members> parts;
};

Candidate as_they_are(const std::vector<Element>& elements) {
  Candidate candidate{elements, std::vector<Members>(elements.size())};
  for (std::size_t i = 0; i < elements.size(); ++i) candidate.parts[i] = {i};
  return candidate;
}

// The candidate with these clusters as matrices, and with smaller ones out of what is left.
Candidate fuse_downwards(Candidate candidate, const std::vector<Cluster>& clusters, int size, const CostTable& cost,
                         int register_bits) {
  for (const Cluster& cluster : clusters) fuse(candidate.elements, candidate.parts, cluster);
  for (int smaller = size - 1; smaller >= 2; --smaller)
    for (const Cluster& cluster : find_clusters(candidate.elements, cost, smaller, register_bits))
      fuse(candidate.elements, candidate.parts, cluster);
  return candidate;
}

// A table by which every cluster is worth a matrix.
CostTable eager_table() {
  CostTable cost;
  cost.matrix1_general = cost.matrix1_real = cost.butterfly = cost.flip = cost.phases = cost.phase_term = 1;
  for (double& dense : cost.matrix_dense) dense = 1e-9;
  return cost;
}

// Clusters on fewer than `size` wires whose products leave least to multiply on `size` wires.
std::vector<Members> parts_of_product(const std::vector<Element>& steps, int size) {
  static const CostTable kEager = eager_table();
  if (steps.size() <= 4) return {};
  std::vector<Cluster> best;
  double least = std::numeric_limits<double>::infinity();
  for (int smaller = 2; smaller < size; ++smaller) {
    std::vector<Cluster> clusters = find_clusters(steps, kEager, smaller, size);
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

/// Returns how many matrices are not what their steps do.
std::uint64_t fill_matrices(Candidate& candidate, const std::vector<Element>& elements) {
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < candidate.elements.size(); ++i) {
    Element& dense = candidate.elements[i];
    if (dense.gone || candidate.parts[i].size() < 2) continue;
    std::vector<Element> steps;
    for (const std::size_t part : candidate.parts[i]) steps.push_back(elements[part]);
    dense.matrix = product_of(steps, dense.target_mask(), parts_of_product);
    if (dense.targets.size() == 2) {
      tidy_pair(dense.matrix);
      dense.entries = pair_entries(dense.matrix);
    }
    if (!does_what_steps_do(dense.matrix, steps, dense.target_mask())) ++wrong;
  }
  return wrong;
}

double matrices_cost(const std::vector<Cluster>& clusters, const CostTable& cost) {
  double total = 0;
  for (const Cluster& cluster : clusters) total += cost.matrix_dense[popcount(cluster.wires)];
  return total;
}

double cost_when_split(std::vector<Element> elements, const CostTable& cost, int register_bits) {
  split_steps(elements, cost);
  return steps_cost(elements, cost, register_bits);
}

}  // namespace

double steps_cost(const std::vector<Element>& elements, const CostTable& cost, int register_bits) {
  double total = 0;
  Index held = 0, waiting = 0;  // wires in registers; wires of diagonals that wait to be merged
  int terms = 0;
  const auto merge = [&] {
    if (terms > 0) total += cost.phases + cost.phase_term * terms;
    terms = 0;
    waiting = 0;
  };
  for (const Element& element : elements) {
    if (element.gone || element.kind == Element::Kind::kGroupEnd || element.wires() == 0) continue;
    if (element.kind == Element::Kind::kDiagonal || is_diagonal_step(element)) {
      terms += 1 << std::min(4, popcount(element.diagonal.mask & ~element.diagonal.value));
      waiting |= element.wires();
      continue;
    }
    const Index targets = element.target_mask();
    if ((waiting & targets) != 0) merge();
    if (popcount(held | targets) > register_bits) {
      total += cost.regroup;
      held = 0;
    }
    held |= targets;
    total += element_cost(element, cost);
  }
  merge();
  return total;
}

std::uint64_t fuse_matrices(std::vector<Element>& elements, const CostTable& cost, int register_bits) {
  Index turning = 0;
  double sum = 0;
  for (const Element& element : elements) {
    if (element.gone) continue;
    turning |= element.target_mask();
    sum += element_cost(element, cost);
  }
  const int most = std::min(kMaxMatrixTargets, popcount(turning));
  const auto least_of = [&](int size) { return size == 2 ? cost.pair(4) : cost.matrix_dense[size]; };
  Candidate best;  // empty: as they are
  double least = 0;
  const bool is_long = elements.size() > kLongSweep;
  for (int step = 2; step <= most; ++step) {
    const int size = is_long ? most + 2 - step : step;
    for (const bool from_best : {false, true}) {
      if (from_best && (best.elements.empty() || is_long)) continue;
      if (sum <= least_of(size)) continue;
      const auto clusters = find_clusters(from_best ? best.elements : elements, cost, size, register_bits);
      if (clusters.empty()) continue;
      if (is_long && least > 0 && matrices_cost(clusters, cost) >= least) continue;
      if (least == 0) least = cost_when_split(elements, cost, register_bits);
      Candidate candidate =
          fuse_downwards(from_best ? best : as_they_are(elements), clusters, size, cost, register_bits);
      const double now = cost_when_split(candidate.elements, cost, register_bits);
      if (now >= least * (size > 2 ? kWorthwhile : 1)) continue;
      least = now;
      best = std::move(candidate);
    }
  }
  if (best.elements.empty()) return 0;
  const std::uint64_t wrong = fill_matrices(best, elements);
  if (wrong == 0) elements = std::move(best.elements);
  return wrong;
}

}  // namespace qsim
