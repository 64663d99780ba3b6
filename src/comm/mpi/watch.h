// A thread that ends this process when what it waits for cannot come any more. It makes no MPI call.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <thread>

#include "base/ranks/launcher_process.h"
#include "comm/liveness.h"
#include "comm/siblings.h"

namespace qsim {

/// Within QSIM_WATCHDOG_SECONDS of a rank's stop or of a broken link the job has ended: this share of them passes in
/// silence, the rest is for the launcher to follow.
constexpr double kSilentShare = 0.4;
constexpr std::chrono::seconds kDefaultWatch{15};
/// Of MPI_Init and what follows at once: the ranks of a large job do not start together.
constexpr std::chrono::seconds kStartLimit{30};

/// QSIM_WATCHDOG_SECONDS, or the default; UsageError. 0: nothing is watched but the launcher.
std::chrono::seconds watch_limit();

class Watch {
 public:
  explicit Watch(int rank);

  /// Calls `call`, which needs `peer` (-1: all ranks), and lets others see that this rank waits.
  template <typename Call>
  void during(const char* name, int peer, Call&& call) {
    name_.store(name, std::memory_order_relaxed);
    peer_.store(peer, std::memory_order_relaxed);
    waits_.store(true, std::memory_order_release);
    if (limits_waits_) {
      limited(name, kStrictness * silence(), call);
    } else {
      call();
    }
    waits_.store(false, std::memory_order_relaxed);
    moves_.fetch_add(1, std::memory_order_relaxed);
  }
  /// Calls `call` and ends the process with `exit_code` where it has not returned after `limit` (0: none): for calls in
  /// which nothing can be heard of the others.
  template <typename Call>
  void limited(const char* name, std::chrono::milliseconds limit, Call&& call, int exit_code = 7) {
    limited_code_.store(exit_code, std::memory_order_relaxed);
    name_.store(name, std::memory_order_relaxed);
    limited_ticks_.store(0, std::memory_order_relaxed);
    limit_ticks_.store(limit / kTick, std::memory_order_release);
    call();
    limit_ticks_.store(0, std::memory_order_relaxed);
  }

  /// Of QSIM_WATCHDOG_SECONDS, as rank 0 has it; 0: none.
  void set_limit(std::chrono::seconds limit) { limit_ = limit; }
  /// From now on a call that needs other ranks has a limit, a generous one: without heartbeats a rank that computes
  /// looks like one that has stopped.
  void limit_waits() { limits_waits_ = true; }
  /// How long nothing may be heard.
  std::chrono::milliseconds silence() const {
    return std::chrono::milliseconds(
        static_cast<std::int64_t>(1000 * kSilentShare * static_cast<double>(limit_.count())));
  }

  /// From now on, and until the ranks may end one by one, the end of another rank's process on this host ends this one.
  void watch_siblings(std::span<const RankProcess> processes, int rank);
  void leave_siblings() { siblings_watched_ = false; }

  /// What others may know of this rank now.
  Pulse pulse() const;
  /// Ends the process; the launcher ends the other ranks of this host. `with_launcher`: and is ended where it does not
  /// end by itself.
  [[noreturn]] void end(const std::string& what, bool with_launcher) const;

 private:
  static constexpr std::chrono::milliseconds kTick{100};
  static constexpr int kStrictness = 50;  // times the silence: 5 minutes

  /// Of the launcher, to end the other ranks by itself once one has ended; and of the rank that speaks, to those that
  /// do not.
  static constexpr int kTicksForLauncher = 10;

  void run(const std::stop_token& stop);
  void look_at_siblings();

  const int rank_;
  const HostProcess launcher_;
  std::chrono::seconds limit_ = kDefaultWatch;
  bool limits_waits_ = false;
  std::optional<Siblings> siblings_;
  std::atomic<bool> siblings_watched_{false};
  int ticks_without_sibling_ = 0;
  std::atomic<const char*> name_{""};
  std::atomic<int> peer_{-1}, limited_code_{7};
  std::atomic<bool> waits_{false};
  std::atomic<std::uint64_t> moves_{0};
  std::atomic<std::int64_t> limit_ticks_{0}, limited_ticks_{0};  // 0: no limit
  std::jthread thread_;                                          // last: it reads the others
};

}  // namespace qsim
