// Clusters grow step by step while their wires stay few; one that is dearer than the dense matrix on its wires becomes
// that matrix. Every size from 2 to 6 is tried, on the steps as they are and on the best form so far, and what is
// cheapest as a whole is kept.
#include "plan/sweep/dense_clusters.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>

#include "base/bits.h"
#include "base/numbers/rounding.h"
#include "optimizer/single_qubit.h"
#include "plan/cost/machine.h"
#include "plan/matrix_forms.h"
#include "plan/sweep/dense_product.h"
#include "plan/sweep/split_steps.h"

namespace qsim {
namespace {

// A matrix on more than two wires must save that much of a sweep's arithmetic: it takes tables and, on a GPU, time to
// compile. So must one on two wires whose steps are in several register groups: it moves what is beside it.
constexpr double kWorthwhile = 0.95;
constexpr std::size_t kLongSweep =
    2000;                           // steps; longer ones try less, large matrices first, so that planning stays fast
constexpr double kManyPairs = 0.3;  // of a sweep's arithmetic: then more of them are looked for
constexpr double kNoNoise = 1e-6;   // squares of entries whose phases are known
constexpr double kFewEntries = 4;   // of a matrix on two targets that is worth making: one in each row
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

// Takes the phase that all of a matrix on two targets share out of it, where that leaves fewer numbers; its angle.
double take_phase(std::vector<Complex>& matrix) {
  const auto first = std::ranges::find_if(matrix, [](const Complex& entry) { return std::norm(entry) > kNoNoise; });
  if (first == matrix.end() || first->real() == 0 || first->imag() == 0) return 0;
  // Wide, so that each entry is rounded by itself: the modulus of a rounded phase would move the norm, always one way.
  using Wide = std::complex<long double>;
  const Wide phase = Wide(*first) / std::sqrt(std::norm(Wide(*first)));
  std::vector<Complex> turned(matrix.size()), again(matrix.size());
  const auto times = [](Complex entry, Wide factor) { return Complex(Wide(entry) * factor); };
  std::ranges::transform(matrix, turned.begin(), [&](Complex entry) { return times(entry, std::conj(phase)); });
  tidy_pair(turned);
  if (pair_entries(turned) >= pair_entries(matrix)) return 0;
  std::ranges::transform(turned, again.begin(), [&](Complex entry) { return times(entry, phase); });
  if (!recomposes(again, matrix)) return 0;
  matrix = std::move(turned);
  return static_cast<double>(std::arg(phase));
}

// Finds clusters of at most `size` wires that are cheaper as one matrix.
class ClusterFinder {
 public:
  /// `across`: clusters may span register groups.
  ClusterFinder(const std::vector<Element>& elements, const FormCosts& cost, int size, bool across)
      : elements_(elements), cost_(cost), size_(size), across_(across), next_(elements.size()) {
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
  // A cluster that may grow: its members are a chain in `next_`.
  struct Open {
    std::size_t first = 0, last = 0, count = 0;
    Index wires = 0;
    double cost = 0;
    Index mixed = 0;  // wires with a turn that has no 0
    // Entries of the product may be sums, and so may be 0: a wire has two such turns, or not turns alone.
    bool adds = false;

    /// The fewest entries of a matrix on two wires.
    double least_entries() const { return adds || mixed == 0 ? 0 : 4 << popcount(mixed); }
  };

  // A cluster of this step alone.
  Open opened(std::size_t i) const {
    const Element& element = elements_[i];
    Open cluster{i, i, 1, element.wires(), element_cost(element, cost_)};
    if (acts_diagonally(element)) return cluster;
    cluster.mixed = cluster.wires;
    cluster.adds = !is_single_turn(element) || !std::ranges::all_of(element.matrix, [](const Complex& entry) {
      return std::norm(entry) > kNoNoise;
    });
    return cluster;
  }

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
    append(clusters_[cluster], opened(i));
    for_each_bit(wires, [&](unsigned wire) { cluster_of_[wire] = cluster; });
  }

  // Ends those clusters on `wires` that do not fit into one with the step: the dearest stay.
  void make_room(Index wires) {
    std::array<std::size_t, kMaxMatrixTargets> touched;  // NOLINT: the first `count`, the dearest first
    std::size_t count = 0;
    for_each_bit(wires, [&](unsigned wire) {
      const std::size_t found = cluster_of_[wire];
      const auto end = touched.begin() + static_cast<std::ptrdiff_t>(count);
      if (found == kNoCluster || std::find(touched.begin(), end, found) != end) return;
      const auto place = std::upper_bound(touched.begin(), end, found, [&](std::size_t a, std::size_t b) {
        return clusters_[a].cost > clusters_[b].cost;
      });
      std::move_backward(place, end, end + 1);
      *place = found;
      ++count;
    });
    Index reach = wires;
    for (std::size_t i = 0; i < count; ++i) {
      const Index own = clusters_[touched[i]].wires;
      if (popcount(reach | own) <= size_) {
        reach |= own;
      } else {
        close(own);
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

  void append(Open& cluster, const Open& more) {
    if (cluster.count == 0) {
      cluster.first = more.first;
    } else {
      next_[cluster.last] = more.first;
    }
    cluster.last = more.last;
    cluster.adds = cluster.adds || more.adds || (cluster.mixed & more.mixed) != 0;
    cluster.mixed |= more.mixed;
    cluster.count += more.count;
    cluster.wires |= more.wires;
    cluster.cost += more.cost;
  }

  std::size_t join(std::size_t a, std::size_t b) {
    for_each_bit(clusters_[b].wires, [&](unsigned wire) { cluster_of_[wire] = a; });
    append(clusters_[a], clusters_[b]);
    return a;
  }

  // Ends all clusters that touch `wires`.
  void close(Index wires) {
    for_each_bit(wires & low_mask(kMaxQubits), [&](unsigned wire) {
      const std::size_t c = cluster_of_[wire];
      if (c == kNoCluster) return;
      const Open& open = clusters_[c];
      for_each_bit(open.wires, [&](unsigned other) { cluster_of_[other] = kNoCluster; });
      const int count = popcount(open.wires);
      if (count < 2 || open.count < 2) return;
      if (open.cost <= (count == 2 ? cost_.pair(open.least_entries()) : cost_.matrix_dense[count])) return;
      Cluster cluster{members_of(open), open.wires, open.cost};
      if (count == 2) cluster = cheaper_pair(std::move(cluster));
      if (count > 2 || cluster.cost > cost_.pair(cluster.entries)) found_.push_back(std::move(cluster));
    });
  }

  // With the diagonals at its ends, or without them: they may leave numbers of the matrix real, or 1.
  Cluster cheaper_pair(Cluster whole) const {
    const auto is_diagonal_member = [&](std::size_t member) { return acts_diagonally(elements_[member]); };
    whole.entries = entries_of(whole);
    const Members& all = whole.members;
    const auto begin = std::ranges::find_if_not(all, is_diagonal_member);
    const auto end = std::find_if_not(all.rbegin(), std::make_reverse_iterator(begin), is_diagonal_member).base();
    if (end - begin < 2 || end - begin == std::ssize(all)) return whole;
    Cluster core{{begin, end}, 0, 0};
    for (const std::size_t member : core.members) {
      core.wires |= elements_[member].wires();
      core.cost += element_cost(elements_[member], cost_);
    }
    if (core.wires != whole.wires) return whole;
    core.entries = entries_of(core);
    return cost_.pair(core.entries) + whole.cost - core.cost < cost_.pair(whole.entries) ? core : whole;
  }

  Members members_of(const Open& open) const {
    Members members(open.count);
    members[0] = open.first;
    for (std::size_t i = 1; i < members.size(); ++i) members[i] = next_[members[i - 1]];
    std::sort(members.begin(), members.end());
    return members;
  }

  double entries_of(const Cluster& cluster) const {
    if (cost_.pair_entry == 0) return 32;
    const auto filled_later = [&](std::size_t member) {
      return elements_[member].targets.size() > 1 && elements_[member].matrix.empty();
    };
    if (std::ranges::any_of(cluster.members, filled_later)) return 32;
    std::vector<Complex> matrix = product_of(elements_, cluster.members, cluster.wires);
    tidy_pair(matrix);
    take_phase(matrix);
    return pair_entries(matrix);
  }

  const std::vector<Element>& elements_;
  const FormCosts& cost_;
  const int size_;
  const bool across_;
  std::vector<Open> clusters_;
  std::vector<Cluster> found_;
  std::vector<std::size_t> next_;  // member of the same cluster after each step, in no order
  std::array<std::size_t, kMaxQubits + 2> cluster_of_{};
  Index group_wires_ = 0;
  std::size_t group_end_ = 0;
};

std::vector<Cluster> find_clusters(const std::vector<Element>& elements, const FormCosts& cost, int size, bool across) {
  return ClusterFinder(elements, cost, size, across).run();
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
    if (dense.targets.size() == 2) tidy_pair(dense.matrix);
    if (!does_what_steps_do(dense.matrix, steps, dense.target_mask())) ++wrong;
    if (dense.targets.size() != 2) continue;
    const double angle = cost.pair_entry > 0 ? take_phase(dense.matrix) : 0;
    if (angle != 0) phases.emplace_back(i, phase_element(0, angle));
    dense.entries = pair_entries(dense.matrix);
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
    const auto least_of = [&](int size) { return size == 2 ? cost_.pair(kFewEntries) : cost_.matrix_dense[size]; };
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
    for (const bool from_best : {false, true}) {
      if (from_best && (best_.elements.empty() || is_long_)) continue;
      const auto clusters = find_clusters(from_best ? best_.elements : elements_, cost, size, across);
      if (clusters.empty()) continue;
      if (is_long_ && least_ > 0 && matrices_cost(clusters, cost) >= least_) continue;
      if (least_ == 0) least_ = cost_of(elements_, cost);
      Candidate candidate =
          fuse_downwards(from_best ? best_ : as_they_are(elements_), clusters, size, cost, register_bits_);
      const double now = cost_of(candidate.elements, cost);
      if (now >= least_ * worthwhile) continue;
      least_ = now;
      best_ = std::move(candidate);
    }
  }

  // Whether matrices on two wires are a good part of the best form so far.
  bool pairs_matter() const {
    double pairs = 0;
    for (const Element& element : best_.elements) {
      if (!element.gone && element.targets.size() == 2) pairs += cost_.pair(element.entries);
    }
    return pairs > kManyPairs * least_;
  }

  // What the best form so far costs where it is done in less, in registers or on lanes; it counts as that from then on.
  const FormCosts& cheaper_way() {
    if (!cost_.lanes) return cost_;
    const double lanes = cost_of(best_.elements, *cost_.lanes);
    if (lanes >= least_) return cost_;
    least_ = lanes;
    return *cost_.lanes;
  }

  double cost_of(const std::vector<Element>& elements, const FormCosts& cost) {
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
