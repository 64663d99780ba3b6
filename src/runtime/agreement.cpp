// Carries an error's code, text and hint from the rank that has the worst one to all others.
#include "runtime/agreement.h"

#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <span>
#include <string>

#include "qsim/error.h"

namespace qsim {
namespace {

struct Report {
  ExitCode code = ExitCode::kInternal;
  std::string message, hint;
};

[[noreturn]] void throw_as(const Report& report) {
  switch (report.code) {
    case ExitCode::kUsage:
      throw UsageError(report.message, report.hint);
    case ExitCode::kCircuit:
      throw CircuitError(report.message);
    case ExitCode::kUnsupported:
      throw UnsupportedError(report.message);
    case ExitCode::kCapacity:
      throw CapacityError(report.message, 0, 0);
    case ExitCode::kDevice:
      throw DeviceError(report.message);
    case ExitCode::kCommunication:
      throw CommunicatorError(report.message, -1, report.hint);
    case ExitCode::kVerification:
      throw VerificationError(report.message);
    case ExitCode::kFile:
      throw FileError(report.message);
    case ExitCode::kOk:
    case ExitCode::kInternal:
    case ExitCode::kCheckpoint:
      break;
  }
  throw Error(report.message, report.code, report.hint);
}

std::string broadcast_text(Communicator& communicator, std::string text, int root) {
  std::uint64_t size = text.size();
  communicator.broadcast(std::as_writable_bytes(std::span(&size, 1)), root);
  text.resize(size);
  communicator.broadcast(std::as_writable_bytes(std::span(text)), root);
  return text;
}

}  // namespace

void together(Communicator& communicator, const std::function<void()>& step) {
  if (communicator.size() == 1) {
    step();
    return;
  }
  std::exception_ptr error;
  Report report{ExitCode::kOk, {}, {}};
  try {
    step();
  } catch (const Error& failed) {
    error = std::current_exception();
    report = {failed.code(), failed.what(), failed.hint()};
  } catch (const std::bad_alloc&) {
    error = std::current_exception();
    report = {ExitCode::kCapacity, "out of host memory", {}};
  } catch (const std::exception& failed) {
    error = std::current_exception();
    report = {ExitCode::kInternal, failed.what(), {}};
  }
  // The worst code first, then the lowest rank.
  const auto ranks = static_cast<std::int64_t>(communicator.size());
  const auto code = static_cast<std::int64_t>(report.code);
  std::int64_t worst = code * ranks + (ranks - 1 - communicator.rank());
  communicator.max({&worst, 1});
  if (worst / ranks == 0) return;
  const int root = static_cast<int>(ranks - 1 - worst % ranks);
  const std::string message = broadcast_text(communicator, report.message, root);
  const std::string hint = broadcast_text(communicator, report.hint, root);
  if (error && root == communicator.rank() && code == static_cast<std::int64_t>(ExitCode::kUnsupported)) {
    std::rethrow_exception(error);  // keeps its place in the file
  }
  throw_as({static_cast<ExitCode>(worst / ranks), message, hint});
}

void alone(Communicator& communicator, const std::function<void()>& step) {
  const auto end_job = [&](ExitCode code, const std::string& message) {
    if (communicator.name() == "mpi" && communicator.size() > 1) communicator.abort(static_cast<int>(code), message);
  };
  try {
    step();
  } catch (const VerificationError&) {
    throw;
  } catch (const UnsupportedError&) {
    throw;
  } catch (const Error& error) {
    end_job(error.code(), error.what());
    throw;
  } catch (const std::exception& error) {
    end_job(ExitCode::kInternal, error.what());
    throw;
  }
}

}  // namespace qsim
