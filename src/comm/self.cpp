// The group of one rank: every collective is the identity.
#include <algorithm>
#include <memory>
#include <string>

#include "base/ranks/communicator.h"
#include "qsim/error.h"

namespace qsim {
namespace {

void require_root(int rank) {
  if (rank != 0) throw CommunicatorError("rank " + std::to_string(rank) + " does not exist in a group of one", 0);
}

class SelfCommunicator final : public Communicator {
 public:
  std::string_view name() const override { return "self"; }
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void exchange(int peer, std::span<const std::byte> send, std::span<std::byte> receive) override {
    require_root(peer);
    copy(send, receive);
  }
  void sum(std::span<double>) override {}
  void sum(std::span<std::uint64_t>) override {}
  void max(std::span<std::int64_t>) override {}
  void broadcast(std::span<std::byte>, int root) override { require_root(root); }
  void all_gather(std::span<const std::byte> send, std::span<std::byte> receive) override { copy(send, receive); }
  void barrier() override {}
  void abort(int exit_code, const std::string& message) override {
    throw CommunicatorError(message + " (exit code " + std::to_string(exit_code) + ")", 0);
  }

 private:
  static void copy(std::span<const std::byte> send, std::span<std::byte> receive) {
    if (send.size() != receive.size()) {
      throw CommunicatorError(
          "a rank sends itself " + std::to_string(send.size()) + " bytes and expects " + std::to_string(receive.size()),
          0);
    }
    std::copy(send.begin(), send.end(), receive.begin());
  }
};

}  // namespace

std::unique_ptr<Communicator> make_self_communicator() { return std::make_unique<SelfCommunicator>(); }

}  // namespace qsim
