// A rank that fails at any moment ends the run on all of them with its own error.
#include <gtest/gtest.h>

#include <random>

#include "qsim/error.h"
#include "qsim/generators.h"
#include "qsim/simulator.h"

namespace qsim {
namespace {

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

TEST(SimulateFaults, OfOneRankEndTheRunWithItsError) {
  const Circuit circuit = generate("random", {9, 4, 2});
  RunOptions options;
  options.marginals = true;
  options.top = 3;
  int steps = 0;
  run_thread_ranks(4, [&](Communicator& communicator) {
    FailingCommunicator counting(communicator, -1);
    simulate(circuit, options, counting);
    if (communicator.rank() == 0) steps = counting.steps();
  });
  ASSERT_GT(steps, 20);
  std::mt19937 random(1);
  for (int trial = 0; trial < 50; ++trial) {
    const int victim = static_cast<int>(random() % 4), moment = static_cast<int>(random() % 20u);
    EXPECT_THROW(run_thread_ranks(4,
                                  [&](Communicator& communicator) {
                                    const bool fails = communicator.rank() == victim;
                                    FailingCommunicator failing(communicator, fails ? moment : -1);
                                    simulate(circuit, options, failing);
                                  }),
                 DeviceError)
        << "rank " << victim << " at call " << moment;
  }
}

}  // namespace
}  // namespace qsim
