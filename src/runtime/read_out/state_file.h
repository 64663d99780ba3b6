// The state as a .npy file in logical order, written and read by all ranks at once.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/file/files.h"
#include "document/result.h"
#include "runtime/distributed_state.h"
#include "runtime/exchange/exchange_pipeline.h"

namespace qsim {

/// Writes one-dimensional complex64 or complex128 (little-endian). Throws FileError, the same on every rank; a file
/// that could not be finished is removed. `state`'s layout may change.
OutputFile write_state_file(DistributedState& state, ExchangePipeline& exchanges, const std::string& path);

/// What write_state_file() has written, of either precision.
class StateFile {
 public:
  /// FileError where `path` holds no array of 2^qubits complex numbers.
  StateFile(const std::string& path, std::uint32_t qubits);
  /// Amplitudes from `first` on. FileError, also where one is not a number.
  void read(Index first, std::span<Complex> values) const;

 private:
  InputFile file_;
  std::uint64_t header_bytes_ = 0;
  bool is_double_ = true;
};

}  // namespace qsim
