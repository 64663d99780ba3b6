// What ranks must have alike: one failure, and one list of what decides their work. All calls but alone and
// current_failure are collective.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/ranks/communicator.h"
#include "base/ranks/failure.h"

namespace qsim {

/// The exception being handled, as a value.
Failure current_failure();

/// The worst of the ranks' failures, the same on every rank: the highest code, then the lowest rank, whose number it
/// carries where it is about no other. ExitCode::kOk says that a rank has none.
Failure worst_failure(Communicator& communicator, Failure mine);

/// Runs `step` on this rank; if it failed on any rank, every rank throws the same error. Collective. Errors that are
/// not of the library become Error.
void together(Communicator& communicator, const std::function<void()>& step);

/// Runs a step between agreements, whose errors only this rank may have: of MPI ranks they end the job, with this
/// rank's message and code; thread ranks are released by their group. Verification and Unsupported errors pass: they
/// are decided from what all ranks share.
void alone(Communicator& communicator, const std::function<void()>& step);

/// Something that decides what a rank does, in words that a user knows it by.
struct Fact {
  std::string name, value;
};

/// For Fact::value: how many words, and a digest that stands for them.
std::string digest_text(std::span<const std::uint64_t> words);

/// Throws CommunicatorError, the same on every rank, where the ranks' lists differ: with the first fact that does, its
/// two values and the lowest rank that differs from rank 0. Lists may differ in length.
void require_same(Communicator& communicator, std::span<const Fact> facts);

/// Throws CommunicatorError, the same on every rank, where one of the numbers, equally many on each, differs from rank
/// 0's by more than hosts round differently: number so and so `of` something.
void require_same_numbers(Communicator& communicator, std::span<const double> numbers, const std::string& of);

/// `value` of rank `root` on every rank.
void broadcast_text(Communicator& communicator, std::string& value, int root);

}  // namespace qsim
