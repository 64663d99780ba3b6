// A rank that fails in the middle of a run.
#pragma once

#include <string>

#include "base/ranks/communicator.h"
#include "qsim/error.h"

namespace qsim::test {

/// Throws in the call numbered `moment`.
class FailingCommunicator final : public Communicator {
 public:
  FailingCommunicator(Communicator& inner, int moment) : inner_(inner), moment_(moment) {}
  std::string_view name() const override { return inner_.name(); }
  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  void exchange(int peer, std::span<const std::byte> send, std::span<std::byte> receive) override {
    step();
    inner_.exchange(peer, send, receive);
  }
  void sum(std::span<double> values) override { step(), inner_.sum(values); }
  void sum(std::span<std::uint64_t> values) override { step(), inner_.sum(values); }
  void max(std::span<std::int64_t> values) override { step(), inner_.max(values); }
  void broadcast(std::span<std::byte> data, int root) override { step(), inner_.broadcast(data, root); }
  void all_gather(std::span<const std::byte> send, std::span<std::byte> receive) override {
    step();
    inner_.all_gather(send, receive);
  }
  void barrier() override { step(), inner_.barrier(); }
  void abort(int exit_code, const std::string& message) override { inner_.abort(exit_code, message); }
  int steps() const { return step_; }

 private:
  void step() {
    if (step_++ == moment_) throw DeviceError("pulled the plug");
  }
  Communicator& inner_;
  int moment_, step_ = 0;
};

}  // namespace qsim::test
