#include "comm/liveness.h"

#include <algorithm>
#include <cstdio>

namespace qsim {
namespace {

constexpr std::size_t kMostNamed = 4;  // of many ranks in one message

std::string rank_list(const std::vector<int>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < std::min(ranks.size(), kMostNamed); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
  }
  if (ranks.size() > kMostNamed) text += " and " + std::to_string(ranks.size() - kMostNamed) + " more";
  return text;
}

std::string seconds_text(double seconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g s", seconds);
  return text.data();
}

}  // namespace

Liveness::Liveness(int rank, int ranks, int limit)
    : rank_(rank), limit_(limit), table_(static_cast<std::size_t>(ranks)), age_(static_cast<std::size_t>(ranks)) {}

void Liveness::tick(Pulse own, int late) {
  constexpr int kMostOfOne = 4;
  const int passed = std::clamp(late, 1, kMostOfOne);
  Pulse& mine = table_[static_cast<std::size_t>(rank_)];
  own.beats = mine.beats + 1;
  if (own.moves != mine.moves) quiet_ = 0;
  mine = own;
  for (int& age : age_) age += passed;
  age_[static_cast<std::size_t>(rank_)] = 0;
  const bool all_wait = std::all_of(table_.begin(), table_.end(), [](const Pulse& pulse) { return pulse.waits != 0; });
  quiet_ = all_wait ? quiet_ + passed : 0;
}

void Liveness::merge(std::span<const Pulse> table) {
  for (std::size_t rank = 0; rank < table_.size(); ++rank) {
    if (table[rank].beats <= table_[rank].beats) continue;
    if (table[rank].moves != table_[rank].moves) quiet_ = 0;
    table_[rank] = table[rank];
    age_[rank] = 0;
  }
}

std::vector<int> Liveness::neighbours(int rank, int ranks) {
  std::vector<int> found;
  for (int bit = 1; bit < ranks; bit *= 2) {
    if ((rank ^ bit) < ranks) found.push_back(rank ^ bit);
  }
  return found;
}

std::vector<int> Liveness::lost() const {
  std::vector<int> found;
  for (std::size_t rank = 0; rank < age_.size(); ++rank) {
    if (age_[rank] > limit_) found.push_back(static_cast<int>(rank));
  }
  return found;
}

bool Liveness::speaks() const {
  const auto first = std::find_if(age_.begin(), age_.end(), [this](int age) { return age <= limit_; });
  return first - age_.begin() == rank_;
}

std::string Liveness::place(int rank) const {
  const Pulse& pulse = table_[static_cast<std::size_t>(rank)];
  if (pulse.waits == 0) return "";
  return std::string(pulse.call.data()) +
         (pulse.peer < 0 ? " for the other ranks" : " for rank " + std::to_string(pulse.peer));
}

std::string Liveness::words(double seconds) const {
  const std::string limit = seconds_text(seconds);
  if (const std::vector<int> silent = lost(); !silent.empty()) {
    const std::string here = place(rank_);
    return "nothing was heard from " + rank_list(silent) + " for " + limit + ": stopped, or cut off" +
           (here.empty() ? "" : "; rank " + std::to_string(rank_) + " was in " + here);
  }
  std::string text = "all ranks have waited for each other for " + limit + ":";
  for (std::size_t rank = 0; rank < std::min(table_.size(), kMostNamed); ++rank) {
    text += (rank == 0 ? " rank " : ", rank ") + std::to_string(rank) + " in " + place(static_cast<int>(rank));
  }
  return text;
}

}  // namespace qsim
