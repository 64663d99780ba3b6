// One of several ranks whose partners are not there.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/ranks/communicator.h"
#include "qsim/error.h"

namespace qsim::test {

/// What is asked of all is answered by this one; what needs a partner is an error.
class LonelyRank final : public Communicator {
 public:
  LonelyRank(int rank, int size) : rank_(rank), size_(size) {}
  std::string_view name() const override { return "a lonely rank"; }
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void exchange(int, std::span<const std::byte>, std::span<std::byte>) override { throw Error("nobody is there"); }
  void sum(std::span<double>) override {}
  void sum(std::span<std::uint64_t>) override {}
  void max(std::span<std::int64_t>) override {}
  void broadcast(std::span<std::byte>, int) override {}
  void all_gather(std::span<const std::byte>, std::span<std::byte>) override { throw Error("nobody is there"); }
  void barrier() override {}
  void abort(int, const std::string& message) override { throw Error(message); }

 private:
  int rank_, size_;
};

}  // namespace qsim::test
