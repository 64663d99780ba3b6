// Generated kernels on their way: compiled on host threads, kept in memory and on disk.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/file/cache.h"
#include "cuda/run/nvrtc.h"

namespace qsim::cuda {

/// Cubins by source on disk; trouble with it is never an error.
class KernelCache {
 public:
  /// An empty folder: no cache.
  KernelCache(const std::string& folder, int architecture, int compiler_version);
  std::vector<char> read(const std::string& source) const;
  void write(const std::string& source, const std::vector<char>& cubin) const;
  bool lock() const { return files_.lock(); }

 private:
  PrivateCache files_;
  std::string salt_;
};

/// One device's kernels; devices of a process share the compiling. Used by the device's thread only.
class JitCompiler {
 public:
  /// DeviceError when NVRTC is not there.
  JitCompiler(int architecture, const std::string& cache_folder);
  ~JitCompiler();

  using Ticket = std::size_t;
  /// Starts making the kernel of `source` (at once when it is in the cache); the same source gives the same ticket.
  /// With `cached_only`, nothing is compiled.
  Ticket request(const std::string& source, std::uint32_t shared_bytes, bool cached_only = false);
  /// The kernel when it is ready, null while it is not (or when it failed); without `may_load`, only one that find() or
  /// wait() has given before.
  const DriverKernel* find(Ticket ticket, bool may_load = true);
  /// Waits for the kernel; DeviceError with the compiler's log when it failed.
  const DriverKernel& wait(Ticket ticket);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace qsim::cuda
