#include "cuda_host_block.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <new>
#include <stdexcept>

namespace qsim::test {
namespace {

constexpr std::size_t kStackBytes = 1 << 20;
constexpr unsigned kWarp = 32;

}  // namespace

HostBlock::HostBlock(unsigned threads) : state_(threads), context_(threads) {
  void* const memory = mmap(nullptr, threads * kStackBytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  stacks_ = static_cast<std::byte*>(memory);
}

HostBlock::~HostBlock() { munmap(stacks_, state_.size() * kStackBytes); }

// makecontext passes integers alone.
void HostBlock::enter(unsigned low, unsigned high) {
  auto& block = *std::bit_cast<HostBlock*>(static_cast<std::uintptr_t>(high) << 32 | low);
  (*block.body_)();
  block.wait(State::kDone);
}

void HostBlock::wait(State state) {
  state_[running_] = state;
  swapcontext(&context_[running_], &scheduler_);
}

bool HostBlock::release() {
  const auto waits_at = [](State where) {
    return [where](State state) { return state == where || state == State::kDone; };
  };
  const auto let_go = [](auto begin, auto end, State where) {
    const bool any = std::find(begin, end, where) != end;
    std::replace(begin, end, where, State::kReady);
    return any;
  };
  bool any = false;
  for (std::size_t warp = 0; warp < state_.size(); warp += kWarp) {
    const auto begin = state_.begin() + static_cast<std::ptrdiff_t>(warp);
    const auto end = begin + static_cast<std::ptrdiff_t>(std::min<std::size_t>(kWarp, state_.size() - warp));
    if (std::all_of(begin, end, waits_at(State::kAtWarp))) any = let_go(begin, end, State::kAtWarp) || any;
  }
  if (std::ranges::all_of(state_, waits_at(State::kAtBlock))) {
    any = let_go(state_.begin(), state_.end(), State::kAtBlock) || any;
  }
  return any;
}

void HostBlock::run(unsigned& number, const std::function<void()>& body) {
  body_ = &body;
  const auto self = std::bit_cast<std::uintptr_t>(this);
  for (std::size_t t = 0; t < state_.size(); ++t) {
    state_[t] = State::kReady;
    getcontext(&context_[t]);
    context_[t].uc_stack.ss_sp = stacks_ + t * kStackBytes;
    context_[t].uc_stack.ss_size = kStackBytes;
    makecontext(&context_[t], reinterpret_cast<void (*)()>(enter), 2, static_cast<unsigned>(self),
                static_cast<unsigned>(self >> 32));
  }
  // Forwards, then backwards: a barrier that is missing is missed by the first or by the last.
  for (bool forwards = true;; forwards = !forwards) {
    for (unsigned i = 0; i < state_.size(); ++i) {
      running_ = forwards ? i : static_cast<unsigned>(state_.size()) - 1 - i;
      if (state_[running_] != State::kReady) continue;
      number = running_;
      swapcontext(&scheduler_, &context_[running_]);
    }
    if (release()) continue;
    if (std::ranges::all_of(state_, [](State state) { return state == State::kDone; })) return;
    throw std::runtime_error("threads of a block wait for others that do not come");
  }
}

}  // namespace qsim::test
