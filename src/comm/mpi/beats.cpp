// A message is the table of all pulses. The last one between two ranks has no beats at all: its sender has stopped.
#include "comm/mpi/beats.h"

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>

namespace qsim {

Beats::Beats(Watch& watch, MPI_Comm world, std::chrono::seconds limit)
    : watch_(watch), world_(world), silent_seconds_(kSilentShare * static_cast<double>(limit.count())) {
  MPI_Comm_rank(world_, &rank_);
  MPI_Comm_size(world_, &ranks_);
  const auto ticks = static_cast<int>(silent_seconds_ * 1000 / static_cast<double>(kPeriod.count()));
  liveness_.emplace(rank_, ranks_, std::max(ticks, 4));
  for (const int rank : Liveness::neighbours(rank_, ranks_)) {
    Neighbour& neighbour = neighbours_.emplace_back();
    neighbour.rank = rank;
    neighbour.incoming.resize(static_cast<std::size_t>(ranks_));
    neighbour.outgoing.resize(static_cast<std::size_t>(ranks_));
  }
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

Beats::~Beats() {
  if (phase_ == Phase::kBeats) phase_ = Phase::kStops;
  thread_.request_stop();
}

void Beats::check(int code, const char* call) const {
  if (code != MPI_SUCCESS) watch_.end(std::string(call) + " of a heartbeat failed", true);
}

void Beats::listen(Neighbour& neighbour) {
  check(MPI_Irecv(neighbour.incoming.data(), static_cast<int>(neighbour.incoming.size() * sizeof(Pulse)), MPI_BYTE,
                  neighbour.rank, kTag, world_, &neighbour.receive),
        "MPI_Irecv");
}

void Beats::hear(Neighbour& neighbour) {
  while (!neighbour.stopped) {
    int arrived = 0;
    check(MPI_Test(&neighbour.receive, &arrived, MPI_STATUS_IGNORE), "MPI_Test");
    if (arrived == 0) return;
    neighbour.stopped = neighbour.incoming[static_cast<std::size_t>(neighbour.rank)].beats == 0;
    if (neighbour.stopped) return;
    liveness_->merge(neighbour.incoming);
    listen(neighbour);
  }
}

/// Skipped while the last message has not left: the neighbour does not take them.
void Beats::tell(Neighbour& neighbour, bool last) {
  int free = 1;
  check(MPI_Test(&neighbour.send, &free, MPI_STATUS_IGNORE), "MPI_Test");
  if (free == 0) return;
  std::copy(liveness_->table().begin(), liveness_->table().end(), neighbour.outgoing.begin());
  if (last) std::fill(neighbour.outgoing.begin(), neighbour.outgoing.end(), Pulse{});
  check(MPI_Isend(neighbour.outgoing.data(), static_cast<int>(neighbour.outgoing.size() * sizeof(Pulse)), MPI_BYTE,
                  neighbour.rank, kTag, world_, &neighbour.send),
        "MPI_Isend");
}

void Beats::judge() {
  if (liveness_->lost().empty() && !liveness_->stuck()) {
    last_chance_ = 0;
    return;
  }
  constexpr int kTicksForOthers = 4;
  const bool speaks = liveness_->speaks();
  if (!speaks && ++last_chance_ <= kTicksForOthers) return;
  watch_.end(liveness_->words(silent_seconds_) + " (QSIM_WATCHDOG_SECONDS sets another limit)", speaks);
}

/// The last message to every neighbour, and everything up to its last one.
void Beats::part() {
  for (Neighbour& neighbour : neighbours_) {
    check(MPI_Wait(&neighbour.send, MPI_STATUS_IGNORE), "MPI_Wait");
    tell(neighbour, true);
  }
  for (Neighbour& neighbour : neighbours_) {
    while (!neighbour.stopped) {
      hear(neighbour);
      std::this_thread::yield();
    }
    check(MPI_Wait(&neighbour.send, MPI_STATUS_IGNORE), "MPI_Wait");
  }
}

void Beats::run(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  const auto pause = [&] { return stopped.wait_for(lock, stop, kPeriod, [&] { return stop.stop_requested(); }); };
  while (phase_ == Phase::kIdle) {
    if (pause()) break;
  }
  if (phase_ == Phase::kIdle) return;
  ::pthread_setname_np(::pthread_self(), "qsim-beats");  // seen by tools, and by tests that wait for the start
  for (Neighbour& neighbour : neighbours_) listen(neighbour);
  auto last = std::chrono::steady_clock::now();
  do {
    const auto now = std::chrono::steady_clock::now();
    liveness_->tick(watch_.pulse(), static_cast<int>(std::min<std::int64_t>((now - last) / kPeriod, 1000)));
    last = now;
    for (Neighbour& neighbour : neighbours_) {
      hear(neighbour);
      tell(neighbour, false);
    }
    judge();
  } while (!pause());
  part();
}

}  // namespace qsim
