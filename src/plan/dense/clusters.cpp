// A cluster grows step by step while its wires stay few; one that is dearer than the dense matrix on its wires is
// found.
#include "plan/dense/clusters.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "base/bits.h"
#include "plan/dense/dense_product.h"
#include "plan/dense/pair_matrix.h"
#include "plan/matrix_forms.h"

namespace qsim {
namespace {

constexpr std::size_t kMostParted = 40;  // steps of a pair of wires that are cut where it is cheapest
constexpr double kLeftForNext = 0.1;     // of its cost, what a turn counts that the next matrix on its wire may take
constexpr std::size_t kNoCluster = std::numeric_limits<std::size_t>::max();

// Finds clusters of at most `size` wires that are cheaper as one matrix.
class ClusterFinder {
 public:
  ClusterFinder(const std::vector<Element>& elements, const FormCosts& cost, int size, bool across, Cuts cuts)
      : elements_(elements), cost_(cost), size_(size), across_(across), cuts_(cuts), next_(elements.size()) {
    cluster_of_.fill(kNoCluster);
  }

  std::vector<Cluster> run() {
    for (std::size_t i = 0; i < elements_.size(); ++i) {
      const Element& element = elements_[i];
      if (element.gone) continue;
      if (!element.ends_group) {
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
    put(i);
  }

  // Puts the step into the clusters on its wires, which become one.
  void put(std::size_t i) {
    const Index wires = elements_[i].wires();
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
        close(own, true);
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
      if (element.ends_group && !across_) break;
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

  // Ends all clusters that touch `wires`. `only_full`: since they are full; the steps on one wire at their ends, which
  // no matrix has taken, are where the next ones begin.
  void close(Index wires, bool only_full = false) {
    Members free;
    for_each_bit(wires & low_mask(kMaxQubits), [&](unsigned wire) {
      const std::size_t c = cluster_of_[wire];
      if (c == kNoCluster) return;
      const Open& open = clusters_[c];
      for_each_bit(open.wires, [&](unsigned other) { cluster_of_[other] = kNoCluster; });
      const bool worth_it = is_worth_a_look(open), frees = only_full && cuts_ != Cuts::kNone;
      if (!worth_it && !frees) return;
      const Members members = members_of(open);
      const std::size_t taken = worth_it ? take_best(open, members, only_full) : 0;
      if (frees) add_free(members, taken, free);
    });
    for (const std::size_t member : free) put(member);
  }

  // Of `members` those behind the first `taken` on whose wire no step on two wires follows.
  void add_free(const Members& members, std::size_t taken, Members& free) const {
    Index followed = 0;
    for (std::size_t i = members.size(); i > taken; --i) {
      const Index wires = elements_[members[i - 1]].wires();
      if (popcount(wires) > 1) {
        followed |= wires;
      } else if ((wires & followed) == 0) {
        free.push_back(members[i - 1]);
      }
    }
  }

  // Whether any matrix may be cheaper than the steps.
  bool is_worth_a_look(const Open& open) const {
    const int count = popcount(open.wires);
    if (count < 2 || open.count < 2) return false;
    return open.cost > (count == 2 ? cost_.pair(open.least_entries()) : cost_.matrix_dense[count]);
  }

  // The matrices that are worth it among the members of a cluster; how many members, from the first on, they are
  // behind. `is_full`: other steps on two wires follow.
  std::size_t take_best(const Open& open, const Members& members, bool is_full) {
    const int count = popcount(open.wires);
    Cluster cluster{members, open.wires, open.cost};
    if (count == 2 && cuts_ != Cuts::kNone && members.size() <= kMostParted) return take_parts(cluster, is_full);
    if (count == 2) cluster = cheaper_pair(std::move(cluster));
    if (count == 2 && cluster.cost <= cost_.pair(cluster.entries)) return 0;
    found_.push_back(std::move(cluster));
    return members.size();
  }

  // Those neighbours among the members that are cheaper as matrices, as which they cost least together: a turn more may
  // be worth less than the numbers that it fills, or than it is to the matrix that follows.
  std::size_t take_parts(const Cluster& whole, bool is_full) {
    struct Way {
      double cost = std::numeric_limits<double>::infinity(), entries = 0;
      std::size_t from = 0;  // the members since are one matrix; the last one alone where there is one
    };
    const Members& all = whole.members;
    std::array<Way, kMostParted + 1> ways;  // by how many members are done
    ways[0].cost = 0;
    std::array<Complex, 16> matrix;
    std::array<double, kMostParted> costs;  // NOLINT: of each member alone, written before it is read
    std::ranges::transform(all, costs.begin(), [&](std::size_t m) { return element_cost(elements_[m], cost_); });
    Members left;  // for the next cluster
    if (is_full && cuts_ == Cuts::kForNext) add_free(all, 0, left);
    const auto counts = [&](std::size_t m) {
      const bool is_left = !acts_diagonally(elements_[m]) && std::ranges::find(left, m) != left.end();
      return is_left ? kLeftForNext : 1;
    };
    for (std::size_t from = 0; from < all.size(); ++from) {
      const double here = ways[from].cost, alone = here + counts(all[from]) * costs[from];
      if (alone < ways[from + 1].cost) ways[from + 1] = {alone, 0, from};
      if (is_filled_later(all[from])) continue;
      double apart = costs[from];
      Index wires = elements_[all[from]].wires();
      GrowingProduct product(whole.wires);
      product.multiply(elements_[all[from]]);
      for (std::size_t end = from + 1; end < all.size() && !is_filled_later(all[end]); ++end) {
        const Element& element = elements_[all[end]];
        apart += costs[end];
        wires |= element.wires();
        product.multiply(element);
        Way& way = ways[end + 1];
        if (wires != whole.wires || cost_.pair(kFewestEntries) >= std::min(apart, way.cost - here)) continue;
        product.copy_to(matrix);
        const double entries = entries_without_phase(matrix, cost_.by_parity), cost = here + cost_.pair(entries);
        if (cost < way.cost) way = {cost, entries, from};
      }
    }
    std::vector<Cluster> parts;  // the last one first
    std::size_t taken = 0;
    const auto at = [&](std::size_t i) { return all.begin() + static_cast<std::ptrdiff_t>(i); };
    for (std::size_t end = all.size(); end > 0; end = ways[end].from) {
      const Way& way = ways[end];
      if (end - way.from == 1) continue;
      if (parts.empty()) taken = end;
      parts.push_back({{at(way.from), at(end)}, whole.wires, way.cost - ways[way.from].cost, way.entries});
    }
    found_.insert(found_.end(), std::make_move_iterator(parts.rbegin()), std::make_move_iterator(parts.rend()));
    return taken;
  }

  bool is_filled_later(std::size_t member) const {
    return elements_[member].target_count > 1 && elements_[member].matrix.empty();
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
    if (std::ranges::any_of(cluster.members, [&](std::size_t m) { return is_filled_later(m); })) return 32;
    std::vector<Complex> matrix = product_of(elements_, cluster.members, cluster.wires);
    tidy_pair(matrix);
    take_phase(matrix, cost_.by_parity);
    return paid_entries(matrix, cost_.by_parity);
  }

  const std::vector<Element>& elements_;
  const FormCosts& cost_;
  const int size_;
  const bool across_;
  const Cuts cuts_;
  std::vector<Open> clusters_;
  std::vector<Cluster> found_;
  std::vector<std::size_t> next_;  // member of the same cluster after each step, in no order
  std::array<std::size_t, kMaxQubits + 2> cluster_of_{};
  Index group_wires_ = 0;
  std::size_t group_end_ = 0;
};

}  // namespace

std::vector<Cluster> find_clusters(const std::vector<Element>& elements, const FormCosts& cost, int size, bool across,
                                   Cuts cuts) {
  return ClusterFinder(elements, cost, size, across, cuts).run();
}

}  // namespace qsim
