// A session as Python holds it: who may use it when, and the arrays that share its memory.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <future>
#include <memory>
#include <optional>

#include "common.h"

namespace qsim::python {

class Core {
 public:
  Core(const Target& target, Verify verify, nb::object progress, bool mpi);
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;
  ~Core();

  /// The session; UsageError where it is closed or belongs to another process.
  Session& session();
  /// UsageError likewise, and where it shares memory with arrays: then it answers only questions about the state
  /// `reading`, theirs.
  void require(const State* reading);
  /// Does `work` without the interpreter's lock. Ctrl-C ends it.
  template <typename Work>
  void call(const Work& work) {
    const Call counted(calls_);
    if (threaded_) {
      // The library calls back on a thread of its own, where Python handles no signals.
      std::future<void> done = std::async(std::launch::async, work);
      return wait(done);
    }
    const nb::gil_scoped_release release;
    work();
  }
  /// UsageError while a call is under way in another thread.
  void close();
  bool closed() const { return closed_; }
  void hold(const State* state);
  void let_go();

 private:
  struct Call {
    explicit Call(int& of_all) : all(of_all) { ++all; }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    ~Call() { --all; }
    int& all;
  };
  void tell(const Progress& progress);
  void wait(std::future<void>& work);

  const pid_t pid_;
  nb::object progress_;
  bool threaded_ = false, closed_ = false;
  int calls_ = 0;  // under way; this and the arrays are counted under the interpreter's lock
  std::atomic<bool> stop_{false};
  int views_ = 0;
  const State* viewed_ = nullptr;
  std::optional<Session> session_;
};

/// Keeps a state's memory as it is.
struct View {
  View(std::shared_ptr<Core> of, std::shared_ptr<State> shown) : core(std::move(of)), state(std::move(shown)) {
    core->require(state.get());
    core->hold(state.get());
  }
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  ~View() { core->let_go(); }
  std::shared_ptr<Core> core;
  std::shared_ptr<State> state;
};

struct PyState {
  std::shared_ptr<Core> core;
  std::shared_ptr<State> state;
  std::shared_ptr<View> exported = {};  // where its address was given away
};

}  // namespace qsim::python
