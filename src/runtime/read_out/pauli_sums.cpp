// Expectation values of Pauli strings: <P> = i^|x & z| sum over i of conj(a[i ^ x]) a[i] (-1)^|i & z|, grouped by x.
#include <algorithm>
#include <numeric>
#include <vector>

#include "base/bits.h"
#include "qsim/pauli.h"
#include "runtime/read_out/observables.h"

namespace qsim {
namespace {

/// Strings with the same X part; masks are physical.
struct Group {
  Index x = 0;
  std::vector<std::size_t> members;
  std::vector<Index> z;
};

std::vector<Group> group_by_x(const DistributedState& state, std::span<const PauliString> strings) {
  std::vector<std::size_t> order(strings.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return strings[a].x < strings[b].x; });
  std::vector<Group> groups;
  for (const std::size_t member : order) {
    const Index x = state.layout.to_physical(strings[member].x);
    if (groups.empty() || groups.back().x != x) groups.push_back({x, {}, {}});
    groups.back().members.push_back(member);
    groups.back().z.push_back(state.layout.to_physical(strings[member].z));
  }
  return groups;
}

/// Groups as a backend takes them: one list of z masks, and whose value each sum is.
struct Call {
  std::vector<PauliGroup> groups;
  std::vector<Index> z;
  std::vector<std::size_t> members;
  void add(const Group& group) {
    groups.push_back({group.x, static_cast<std::uint32_t>(z.size()), static_cast<std::uint32_t>(group.z.size())});
    z.insert(z.end(), group.z.begin(), group.z.end());
    members.insert(members.end(), group.members.begin(), group.members.end());
  }
};

/// Sums of groups whose partner amplitudes are another rank's, the same rank's and chunks for all of them: `x` of any
/// of them names both. Both ranks keep a copy of a chunk in the last ring slot and trade the chunk. Then the state
/// holds the partners b and the slot the own amplitudes a, so the backend sums conj(a[i ^ x]) b[i] (-1)^|i & z|: with i
/// ^ x for i, the conjugate of what is wanted, times (-1)^|x & z|. The copy goes back in place: each chunk travels
/// once. Both ranks would get the same: one does every other group, for both.
void remote_sums(DistributedState& state, ExchangePipeline& exchanges, std::span<const Group* const> groups, Index cut,
                 std::span<Complex> values) {
  const Index local = low_mask(state.local_bits()), x = groups.front()->x, cut_x = x & cut;
  const int peer = static_cast<int>(state.rank() ^ (x >> state.local_bits()));
  const std::uint32_t copy_slot = exchanges.spare_slot();
  Call call;
  const bool lower = static_cast<int>(state.rank()) < peer;
  for (std::size_t g = lower ? 0 : 1; g < groups.size(); g += 2) call.add(*groups[g]);
  std::vector<Complex> parts(call.z.size());
  // The lower rank walks the chunks in order; the higher one meets it in the partner chunks.
  const Index flip = lower ? 0 : cut_x;
  Index step = 0;
  do {
    const ChunkView mine{cut, step ^ flip}, theirs{cut, step ^ flip ^ cut_x};
    state.backend.pack(mine, copy_slot, 0);
    exchanges.trade_view(mine, theirs, peer);
    if (!call.groups.empty()) state.backend.reader().pauli_sums_remote(call.groups, call.z, mine, copy_slot, parts);
    for (const PauliGroup& group : call.groups) {
      for (std::size_t j = group.begin; j < std::size_t{group.begin} + group.count; ++j) {
        const bool negative = odd_parity(group.x_mask & local & ~cut & call.z[j]);  // the bits of x inside the chunk
        values[call.members[j]] += (negative ? -2.0 : 2.0) * std::conj(parts[j]);
      }
    }
    state.backend.unpack(mine, copy_slot, 0);
    step = next_under_mask(step, cut);
  } while (step != 0);
}

/// All groups with partners on other ranks: those that need the same chunks of the same rank share the trades.
void remote_sums(DistributedState& state, ExchangePipeline& exchanges, std::span<const Group> groups,
                 std::span<Complex> values) {
  const Index local = low_mask(state.local_bits());
  std::vector<const Group*> remote;
  for (const Group& group : groups) {
    if ((group.x & ~local) != 0) remote.push_back(&group);
  }
  if (remote.empty()) return;
  const Index cut = exchanges.extra_cut(0), where = ~local | cut;
  std::stable_sort(remote.begin(), remote.end(),
                   [&](const Group* a, const Group* b) { return (a->x & where) < (b->x & where); });
  for (std::size_t first = 0, end = 0; first < remote.size(); first = end) {
    while (end < remote.size() && ((remote[end]->x ^ remote[first]->x) & where) == 0) ++end;
    remote_sums(state, exchanges, std::span<const Group* const>(remote).subspan(first, end - first), cut, values);
  }
}

/// Groups whose partners are all in this shard, in one call.
void local_sums(DistributedState& state, std::span<const Group> groups, std::span<Complex> values) {
  const Index local = low_mask(state.local_bits());
  Call call;
  for (const Group& group : groups) {
    if ((group.x & ~local) == 0) call.add(group);
  }
  if (call.groups.empty()) return;
  std::vector<Complex> sums(call.z.size());
  state.backend.reader().pauli_sums(call.groups, call.z, sums);
  for (std::size_t j = 0; j < sums.size(); ++j) values[call.members[j]] = sums[j];
}

}  // namespace

std::vector<double> pauli_expectations(DistributedState& state, ExchangePipeline& exchanges,
                                       std::span<const PauliString> strings) {
  const std::vector<Group> groups = group_by_x(state, strings);
  std::vector<Complex> values(strings.size());
  local_sums(state, groups, values);
  remote_sums(state, exchanges, groups, values);
  for (const Group& group : groups) {
    // The part of z on global bits has one sign for the whole shard.
    for (std::size_t j = 0; j < group.z.size(); ++j) {
      if (odd_parity(state.base() & group.z[j])) values[group.members[j]] = -values[group.members[j]];
    }
  }
  std::vector<double> flat(2 * values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    flat[2 * i] = values[i].real();
    flat[2 * i + 1] = values[i].imag();
  }
  state.communicator.sum(flat);
  std::vector<double> result(strings.size());
  for (std::size_t i = 0; i < strings.size(); ++i) {
    // Real part of i^y (re + i im).
    const double parts[4] = {flat[2 * i], -flat[2 * i + 1], -flat[2 * i], flat[2 * i + 1]};
    result[i] = parts[count_bits(strings[i].x & strings[i].z) & 3];
  }
  return result;
}

}  // namespace qsim
