// Equal flips undo each other over what lies between them. What reads the flipped qubit there, or flips what a flip is
// controlled by, is done once more beside it, with the flip's controls instead: A F A = F E. Chains of Toffoli gates
// that compute into ancillas and take back become flips of the one qubit that stays changed, whatever the ancillas
// hold.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/bits.h"
#include "base/numbers/rounding.h"
#include "optimizer/diagonal_term.h"
#include "optimizer/operations.h"
#include "optimizer/sums/path_sum.h"
#include "optimizer/weights.h"
#include "qsim/circuit.h"

namespace qsim {
namespace {

constexpr std::size_t kMostOpen = 64;     // flips that wait for their like on a qubit
constexpr std::size_t kMostBetween = 16;  // gates that do not commute with one of them
constexpr int kMostRounds = 8;

/// An operation of the circuit, or one that was put beside one.
struct Link {
  enum class Kind : std::uint8_t { kFlip, kHalfTurn, kOther };
  Kind kind = Kind::kOther;
  bool turns_about_x = false;  // `changed`, one qubit
  bool gone = false;
  Index controls = 0, changed = 0, all = 0;
  std::uint32_t at = 0;  // the operation, or the one that it is beside
  std::int64_t next = -1;
  std::uint32_t first = kNoPlace, second = kNoPlace;  // of what was put in: the pair that it is there for
};

bool commute(const Link& flip, const Link& other) {
  if ((other.changed & flip.controls) != 0) return false;
  return (other.all & flip.changed) == 0 || (other.turns_about_x && other.changed == flip.changed);
}

/// E of A F A = F E, where `between`, F, is all that does not commute with `flip`, A.
std::optional<Link> beside(const Link& flip, const Link& between) {
  Link made;
  made.at = between.at;
  made.kind = between.kind;
  if (between.kind == Link::Kind::kHalfTurn) {
    made.all = made.controls = (between.all & ~flip.changed) | flip.controls;
    return made;
  }
  const bool is_read = (between.controls & flip.changed) != 0, reads = (flip.controls & between.changed) != 0;
  if (between.kind != Link::Kind::kFlip || is_read == reads) return std::nullopt;
  const Link &outer = is_read ? between : flip, &inner = is_read ? flip : between;
  made.changed = outer.changed;
  made.controls = (outer.controls & ~inner.changed) | inner.controls;
  made.all = made.changed | made.controls;
  made.turns_about_x = true;
  return made;
}

double weight_of(const Link& link) {
  if (link.kind == Link::Kind::kHalfTurn) return weight::diagonal(count_bits(link.all));
  return weight::flip(link.controls != 0);
}

class FlipCanceller {
 public:
  explicit FlipCanceller(const Circuit& circuit) : circuit_(circuit), open_on_(circuit.qubits()) {}

  bool run(Rewritten& result) {
    const auto& operations = circuit_.operations();
    std::int64_t last = -1;
    for (std::uint32_t i = 0; i < operations.size(); ++i) {
      if (skipped(operations[i])) continue;
      const auto link = static_cast<std::int64_t>(links_.size());
      links_.push_back(read(i));
      if (last >= 0) links_[static_cast<std::size_t>(last)].next = link;
      last = link;
      // What closes a pair may have put something in behind the one before.
      visit(static_cast<std::size_t>(link));
      while (links_[static_cast<std::size_t>(last)].next >= 0) last = links_[static_cast<std::size_t>(last)].next;
    }
    if (found_) build(result);
    return found_;
  }

 private:
  struct Open {
    std::size_t first = 0;             // the flip
    std::vector<std::size_t> between;  // that do not commute with it
    bool ended = false;
    std::size_t seen_by = 0;
  };

  Link read(std::uint32_t i) const {
    const Operation& op = circuit_.operations()[i];
    const Support support = support_of(circuit_, op);
    Link link;
    link.at = i;
    link.all = support.all;
    link.changed = support.all & ~support.diagonal;
    if (op.kind != OpKind::kGate) return link;
    const bool about_x = op.gate == Gate::kX || op.gate == Gate::kRx || op.gate == Gate::kSx || op.gate == Gate::kSxdg;
    link.turns_about_x = about_x && op.targets == 1;
    if (op.gate == Gate::kX) {
      link.kind = Link::Kind::kFlip;
      link.controls = support.diagonal;
    } else if (support.is_diagonal()) {
      const std::optional<DiagonalTerm> term = term_of(circuit_, op);
      if (term && term->parity == 0 && turns_of(term->angle) == kHalfTurn) link.kind = Link::Kind::kHalfTurn;
    }
    return link;
  }

  void visit(std::size_t link) {
    const bool waits = links_[link].kind == Link::Kind::kFlip && links_[link].controls != 0;
    const std::pair key(links_[link].changed, links_[link].controls);
    if (waits) {
      const auto like = open_of_.find(key);
      if (like != open_of_.end() && close(like->second, link)) return;
    }
    note(link, links_[link].at);
    if (!waits) return;
    if (const auto [like, fresh] = open_of_.try_emplace(key, open_.size()); !fresh) {
      open_[like->second].ended = true;
      like->second = open_.size();
    }
    for_each_bit(links_[link].all, [&](unsigned q) {
      std::vector<std::size_t>& open = open_on_[q];
      if (open.size() == kMostOpen) {
        std::erase_if(open, [&](std::size_t o) { return open_[o].ended; });
        if (open.size() == kMostOpen) {
          open_[open.front()].ended = true;
          open.erase(open.begin());
        }
      }
      open.push_back(open_.size());
    });
    open_.push_back({link, {}, false, 0});
  }

  /// What stands in the circuit now behind operation `before` is between the pairs that began before that.
  void note(std::size_t link, std::uint32_t before) {
    ++seen_;
    for_each_bit(links_[link].all, [&](unsigned q) {
      for (const std::size_t o : open_on_[q]) {
        Open& open = open_[o];
        if (open.ended || std::exchange(open.seen_by, seen_) == seen_) continue;
        const Link& flip = links_[open.first];
        if (flip.at >= before || commute(flip, links_[link])) continue;
        open.between.push_back(link);
        if (open.between.size() > kMostBetween) forget_gone(open);
        open.ended = links_[link].kind == Link::Kind::kOther || open.between.size() > kMostBetween;
      }
    });
  }

  void forget_gone(Open& open) const {
    std::erase_if(open.between, [&](std::size_t link) { return links_[link].gone; });
  }

  bool close(std::size_t number, std::size_t second) {
    Open& open = open_[number];
    forget_gone(open);
    if (open.ended || open.between.size() > 1) return false;
    std::optional<Link> made;
    if (!open.between.empty()) {
      made = beside(links_[open.first], links_[open.between[0]]);
      if (!made || weight_of(*made) >= 2 * weight::kControlledFlip) return false;
    }
    found_ = open.ended = true;
    Link &a = links_[open.first], &b = links_[second];
    a.gone = b.gone = true;
    if (!made) return true;
    made->first = a.at;
    made->second = b.at;
    const std::size_t place = open.between[0];
    made->next = std::exchange(links_[place].next, static_cast<std::int64_t>(links_.size()));
    links_.push_back(*made);
    note(links_.size() - 1, made->at);
    return true;
  }

  void build(Rewritten& result) const {
    Rewriter rewriter(circuit_, result);
    for (std::int64_t at = 0; at >= 0; at = links_[static_cast<std::size_t>(at)].next) {
      const Link& link = links_[static_cast<std::size_t>(at)];
      if (link.first != kNoPlace) {
        Circuit& out = rewriter.append_for(link.second);
        if (link.kind == Link::Kind::kHalfTurn) {
          append(out, {link.all, 0, angle_of_turns(kHalfTurn)});
        } else {
          const auto target = static_cast<Qubit>(std::countr_zero(link.changed));
          out.add_gate(Gate::kX, qubits_of(link.controls), {&target, 1});
        }
        rewriter.count_on(link.first, rewriter.last());
        rewriter.count_on(link.second, rewriter.last());
      } else if (!link.gone) {
        rewriter.copy(link.at);
      }
    }
    for (const Link& link : links_) {
      if (link.gone && result.place[link.at] == kNoPlace) rewriter.remove(link.at, "cancelled");
    }
  }

  const Circuit& circuit_;
  std::vector<Link> links_;  // each with the next one
  std::vector<Open> open_;
  std::vector<std::vector<std::size_t>> open_on_;           // by qubit
  std::map<std::pair<Index, Index>, std::size_t> open_of_;  // by what a flip changes, and its controls
  std::size_t seen_ = 0;
  bool found_ = false;
};

}  // namespace

bool cancel_flips(const Circuit& circuit, Rewritten& result) {
  if (circuit.qubits() > 64) return false;
  bool changed = false;
  for (int round = 0; round < kMostRounds; ++round) {
    Rewritten next;
    if (!FlipCanceller(changed ? result.circuit : circuit).run(next)) break;
    chain(result, changed, std::move(next));
  }
  return changed;
}

}  // namespace qsim
