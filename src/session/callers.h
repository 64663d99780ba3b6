// Where the calls of a session are agreed on, one at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "base/ranks/communicator.h"

namespace qsim {

/// A session and its states share it, those too that were moved from and those that outlive the session: so that what
/// one rank does wrongly with them is said on all.
class Callers {
 public:
  /// `ranks`: the processes that make the same calls; null where this one is alone.
  explicit Callers(std::shared_ptr<Communicator> ranks) : ranks_(std::move(ranks)) {}

  /// What ranks compare before they begin: a call's name, a digest of its arguments, and whether they are right: what
  /// `check` throws on one of them, all throw.
  struct Call {
    Call(const char* of, std::uint64_t digest = 0, std::function<void()> arguments_check = {})  // implicit: most have
        : name(of), arguments(digest), check(std::move(arguments_check)) {}                     // no arguments
    const char* name;
    std::uint64_t arguments;
    std::function<void()> check;
  };

  /// The right to call, for as long as it lives; false where another has it.
  class Turn {
   public:
    explicit Turn(Callers& callers) : busy_(callers.busy_), taken_(!busy_.exchange(true)) {}
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() {
      if (taken_) busy_ = false;
    }
    explicit operator bool() const { return taken_; }
    void require() const;  // UsageError unless true

   private:
    std::atomic<bool>& busy_;
    const bool taken_;
  };
  /// Collective among the ranks, in one's turn. UsageError where one's session has ended.
  void agree(const Call& call) const;
  void end() { ended_ = true; }

 private:
  const std::shared_ptr<Communicator> ranks_;
  std::atomic<bool> busy_{false};  // no mutex: a thread may ask for what it has
  std::atomic<bool> ended_{false};
};

}  // namespace qsim
