// Ranks first show each other a digest; texts travel only where something is wrong.
#include "base/ranks/agreement.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <new>
#include <system_error>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/text.h"
#include "qsim/error.h"

namespace qsim {
namespace {

constexpr char kRemedy[] = "start every rank with the same program, circuit and options";

std::uint64_t digest(const Fact& fact) {
  // The length keeps what belongs to the name apart from the value.
  return xxh3(std::to_string(fact.name.size()) + ":" + fact.name + fact.value);
}

template <typename T>
std::vector<T> gather(Communicator& communicator, const std::vector<T>& mine) {
  std::vector<T> all(mine.size() * static_cast<std::size_t>(communicator.size()));
  communicator.all_gather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)));
  return all;
}

/// Where the lists of digests, each of `length` and padded with zeros, first differ from rank 0's: the place, and the
/// lowest rank.
std::pair<std::size_t, int> first_difference(const std::vector<std::uint64_t>& all, std::size_t length) {
  for (std::size_t place = 0; place < length; ++place) {
    for (std::size_t rank = 1; rank * length < all.size(); ++rank) {
      if (all[rank * length + place] != all[place]) return {place, static_cast<int>(rank)};
    }
  }
  throw Error("lists that differ in their digest have the same entries");
}

std::string words(const Fact& fact) { return fact.name + " '" + escape_text(fact.value) + "'"; }

template <class SourceErrorKind>
[[noreturn]] void throw_with_places(const Failure& failure) {
  SourceErrorKind error(failure.message, {failure.file, failure.line, failure.column}, failure.hint);
  error.list(failure.diagnostics);
  throw error;
}

[[noreturn]] void throw_as(const Failure& failure) {
  switch (failure.code) {
    case ExitCode::kUsage:
      throw UsageError(failure.message, failure.hint);
    case ExitCode::kCircuit:
      if (failure.line != 0 || !failure.diagnostics.empty()) throw_with_places<ParseError>(failure);
      throw CircuitError(failure.message, failure.hint);
    case ExitCode::kUnsupported:
      throw_with_places<UnsupportedError>(failure);
    case ExitCode::kCapacity:
      throw CapacityError(failure.message, failure.wanted_bytes, failure.free_bytes, failure.hint);
    case ExitCode::kDevice:
      throw DeviceError(failure.message, failure.hint);
    case ExitCode::kCommunication:
      throw CommunicatorError(failure.message, failure.rank, failure.hint);
    case ExitCode::kVerification:
      throw VerificationError(failure.message, failure.hint);
    case ExitCode::kFile:
      throw FileError(failure.message, failure.hint);
    case ExitCode::kOk:
    case ExitCode::kInternal:
      break;
  }
  throw Error(failure.message, failure.code, failure.hint);
}

}  // namespace

Failure current_failure() {
  Failure failure;
  try {
    throw;
  } catch (const Error& error) {
    failure.code = error.code();
    failure.message = error.what();
    failure.hint = error.hint();
    if (const auto* source = dynamic_cast<const SourceError*>(&error)) {
      failure.file = source->where().file;
      failure.line = source->where().line;
      failure.column = source->where().column;
      failure.diagnostics = source->diagnostics();
    }
    if (const auto* capacity = dynamic_cast<const CapacityError*>(&error)) {
      failure.wanted_bytes = capacity->wanted_bytes();
      failure.free_bytes = capacity->free_bytes();
    }
    if (const auto* communication = dynamic_cast<const CommunicatorError*>(&error)) {
      failure.rank = communication->rank();
    }
  } catch (const std::bad_alloc&) {
    failure.code = ExitCode::kCapacity;
    failure.message = "out of host memory";
    failure.hint = "fewer qubits, `precision` single or more ranks need less";
  } catch (const std::system_error& error) {
    failure.code = ExitCode::kCapacity;
    failure.message = std::string("the system gave no thread or other resource: ") + error.what();
    failure.hint = "fewer `threads` or ranks need fewer; 'ulimit -u' and the container's pids.max limit them";
  } catch (const std::exception& error) {
    failure.message = std::string("internal error: ") + error.what();
  }
  return failure;
}

void broadcast_text(Communicator& communicator, std::string& value, int root) {
  std::uint64_t size = value.size();
  communicator.broadcast(std::as_writable_bytes(std::span(&size, 1)), root);
  value.resize(size);
  if (size != 0) communicator.broadcast(std::as_writable_bytes(std::span(value)), root);
}

namespace {

void broadcast_diagnostics(Communicator& communicator, std::vector<Diagnostic>& diagnostics, int root) {
  std::uint64_t count = diagnostics.size();
  communicator.broadcast(std::as_writable_bytes(std::span(&count, 1)), root);
  diagnostics.resize(count);
  for (Diagnostic& one : diagnostics) {
    for (std::string* text : {&one.text, &one.where.file, &one.hint, &one.message}) {
      broadcast_text(communicator, *text, root);
    }
    std::array<std::uint32_t, 3> numbers{one.where.line, one.where.column, static_cast<std::uint32_t>(one.code)};
    communicator.broadcast(std::as_writable_bytes(std::span(numbers)), root);
    one.where.line = numbers[0];
    one.where.column = numbers[1];
    one.code = static_cast<ExitCode>(numbers[2]);
  }
}

}  // namespace

Failure worst_failure(Communicator& communicator, Failure mine) {
  // A rank without a failure has code 0, so the largest key is the worst code's, at its lowest rank.
  const auto ranks = static_cast<std::int64_t>(communicator.size());
  std::int64_t key = static_cast<std::int64_t>(mine.code) * ranks + (ranks - 1 - communicator.rank());
  communicator.max({&key, 1});
  mine.code = static_cast<ExitCode>(key / ranks);
  if (mine.code == ExitCode::kOk) return mine;
  const int owner = static_cast<int>(ranks - 1 - key % ranks);
  if (mine.rank < 0) mine.rank = owner;
  for (std::string* text : {&mine.message, &mine.hint, &mine.file}) broadcast_text(communicator, *text, owner);
  std::array<std::uint64_t, 5> numbers{mine.line, mine.column, mine.wanted_bytes, mine.free_bytes,
                                       static_cast<std::uint64_t>(mine.rank)};
  communicator.broadcast(std::as_writable_bytes(std::span(numbers)), owner);
  mine.line = static_cast<std::uint32_t>(numbers[0]);
  mine.column = static_cast<std::uint32_t>(numbers[1]);
  mine.wanted_bytes = numbers[2];
  mine.free_bytes = numbers[3];
  mine.rank = static_cast<int>(numbers[4]);
  broadcast_diagnostics(communicator, mine.diagnostics, owner);
  return mine;
}

void together(Communicator& communicator, const std::function<void()>& step) {
  if (communicator.size() == 1) {
    step();
    return;
  }
  Failure failure;
  failure.code = ExitCode::kOk;
  try {
    step();
  } catch (const std::exception&) {
    failure = current_failure();
  }
  failure = worst_failure(communicator, failure);
  if (failure.code != ExitCode::kOk) throw_as(failure);
}

void alone(Communicator& communicator, const std::function<void()>& step) {
  try {
    step();
  } catch (const VerificationError&) {
    throw;
  } catch (const UnsupportedError&) {
    throw;
  } catch (const std::exception&) {
    const Failure failure = current_failure();
    if (communicator.name() == "mpi" && communicator.size() > 1) {
      const std::string hint = failure.hint.empty() ? "" : " (" + failure.hint + ")";
      communicator.abort(static_cast<int>(failure.code), failure.message + hint);
    }
    throw;
  }
}

std::string digest_text(std::span<const std::uint64_t> words) {
  return std::to_string(words.size()) + " with digest " +
         std::to_string(xxh3({reinterpret_cast<const char*>(words.data()), words.size_bytes()}));
}

void require_same_numbers(Communicator& communicator, std::span<const double> numbers, const std::string& of) {
  std::vector<double> first(numbers.begin(), numbers.end());
  communicator.broadcast(std::as_writable_bytes(std::span(first)), 0);
  const auto alike = [](double a, double b) { return std::abs(a - b) <= 1e-9 * (1 + std::abs(a)); };
  together(communicator, [&] {
    const auto [there, here] = std::mismatch(first.begin(), first.end(), numbers.begin(), alike);
    if (there == first.end()) return;
    throw CommunicatorError("ranks were started differently: number " + std::to_string(there - first.begin() + 1) +
                                " of " + of + " is " + std::to_string(*there) + " on rank 0, and " +
                                std::to_string(*here) + " on rank " + std::to_string(communicator.rank()),
                            communicator.rank(), kRemedy);
  });
}

void require_same(Communicator& communicator, std::span<const Fact> facts) {
  if (communicator.size() == 1) return;
  std::vector<std::uint64_t> digests;
  for (const Fact& fact : facts) digests.push_back(digest(fact));
  const std::uint64_t all_of_mine =
      xxh3({reinterpret_cast<const char*>(digests.data()), digests.size() * sizeof(digests[0])});
  const std::vector<std::uint64_t> lists = gather(communicator, std::vector<std::uint64_t>{all_of_mine});
  if (std::all_of(lists.begin(), lists.end(), [&](std::uint64_t list) { return list == lists[0]; })) return;

  auto length = static_cast<std::int64_t>(digests.size());
  communicator.max({&length, 1});
  digests.resize(static_cast<std::size_t>(length), 0);
  const auto [place, rank] = first_difference(gather(communicator, digests), digests.size());
  std::string of_first = place < facts.size() ? words(facts[place]) : "no more";
  std::string of_other = of_first;
  broadcast_text(communicator, of_first, 0);
  broadcast_text(communicator, of_other, rank);
  throw CommunicatorError(
      "ranks were started differently: rank 0 has " + of_first + ", rank " + std::to_string(rank) + " has " + of_other,
      rank, kRemedy);
}

}  // namespace qsim
