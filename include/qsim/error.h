// Every failure the library can report: an exception whose type decides the process's exit code.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "qsim/types.h"

namespace QSIM_PUBLIC qsim {

/// Process exit codes, from 0 on (the same on every rank).
// clang-format off
enum class ExitCode : int {
  kOk, kInternal, kUsage, kCircuit, kUnsupported, kCapacity, kDevice, kCommunication, kVerification, kFile
};
// clang-format on

/// Base of all errors. `what()` holds the values and the remedy; `hint()` is an optional second line.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, ExitCode code = ExitCode::kInternal, std::string hint = {})
      : std::runtime_error(message), code_(code), hint_(std::move(hint)) {}
  ExitCode code() const { return code_; }
  const std::string& hint() const { return hint_; }

 private:
  ExitCode code_;
  std::string hint_;
};

/// Where in a source file something is; line and column count from 1, 0 = unknown.
struct SourcePosition {
  std::string file;
  std::uint32_t line = 0, column = 0;
};

/// One thing that is wrong in a source text.
struct Diagnostic {
  std::string text;  // file:line:column: error: message, the source line, a caret; control characters escaped
  SourcePosition where;
  std::string hint;  // "did you mean 'cx'?", or empty
  ExitCode code = ExitCode::kCircuit;
  std::string message;  // alone
};

/// An error with a place in the circuit file; `what()` already contains file:line:column, the source line and a caret.
class SourceError : public Error {
 public:
  SourceError(const std::string& message, ExitCode code, SourcePosition where, std::string hint = {})
      : Error(message, code, std::move(hint)), where_(std::move(where)) {}
  const SourcePosition& where() const { return where_; }
  /// All that is wrong, where there is a list; what() holds their texts.
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  void list(std::vector<Diagnostic> diagnostics) { diagnostics_ = std::move(diagnostics); }

 private:
  SourcePosition where_;
  std::vector<Diagnostic> diagnostics_;
};

template <ExitCode kCode>
class SourceErrorOf : public SourceError {
 public:
  explicit SourceErrorOf(const std::string& message, SourcePosition where = {}, std::string hint = {})
      : SourceError(message, kCode, std::move(where), std::move(hint)) {}
};
using ParseError = SourceErrorOf<ExitCode::kCircuit>;            // the text is not a valid program
using UnsupportedError = SourceErrorOf<ExitCode::kUnsupported>;  // valid, but not supported

template <ExitCode kCode>
class ErrorOf : public Error {
 public:
  explicit ErrorOf(const std::string& message, std::string hint = {}) : Error(message, kCode, std::move(hint)) {}
};
using UsageError = ErrorOf<ExitCode::kUsage>;
using CircuitError = ErrorOf<ExitCode::kCircuit>;  // same qubit twice, not a unitary matrix, ...
using DeviceError = ErrorOf<ExitCode::kDevice>;    // there is none, or its library failed
using VerificationError = ErrorOf<ExitCode::kVerification>;
using FileError = ErrorOf<ExitCode::kFile>;

/// Does not fit (exit 5), said before anything is allocated. Bytes a rank.
class CapacityError : public Error {
 public:
  CapacityError(const std::string& message, std::uint64_t wanted_bytes, std::uint64_t free_bytes, std::string hint = {})
      : Error(message, ExitCode::kCapacity, std::move(hint)), wanted_bytes_(wanted_bytes), free_bytes_(free_bytes) {}
  std::uint64_t wanted_bytes() const { return wanted_bytes_; }
  std::uint64_t free_bytes() const { return free_bytes_; }

 private:
  std::uint64_t wanted_bytes_, free_bytes_;
};

/// Launch, transport or message passing failed (exit 7).
class CommunicatorError : public Error {
 public:
  explicit CommunicatorError(const std::string& message, int rank = -1, std::string hint = {})
      : Error(message, ExitCode::kCommunication, std::move(hint)), rank_(rank) {}
  int rank() const { return rank_; }

 private:
  int rank_;
};

}  // namespace qsim
