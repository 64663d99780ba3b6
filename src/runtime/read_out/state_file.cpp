// First the highest qubits become the ranks' numbers, so that every rank owns long runs of the file; then all write.
#include "runtime/read_out/state_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <complex>
#include <cstring>
#include <utility>
#include <vector>

#include "base/ranks/agreement.h"
#include "qsim/error.h"
#include "runtime/read_out/sampling.h"

namespace qsim {
namespace {

constexpr std::uint32_t kBlockBits = 16;

[[noreturn]] void fail(const std::string& path, const char* what, int code) {
  throw FileError("cannot " + std::string(what) + " " + path + ": " + std::strerror(code));
}

class FileHandle {
 public:
  FileHandle(const std::string& path, int flags)
      : path_(path), descriptor_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0) fail(path, "open", errno);
  }
  ~FileHandle() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  FileHandle(const FileHandle&) = delete;
  FileHandle& operator=(const FileHandle&) = delete;

  void reserve(std::uint64_t bytes) const {
    if (const int code = ::posix_fallocate(descriptor_, 0, static_cast<off_t>(bytes)); code != 0) {
      fail(path_, ("reserve " + std::to_string(bytes) + " bytes for").c_str(), code);
    }
  }
  void write(const void* data, std::uint64_t bytes, std::uint64_t offset) const {
    const char* from = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t written = ::pwrite(descriptor_, from, bytes, static_cast<off_t>(offset));
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) fail(path_, "write to", written < 0 ? errno : EIO);
      from += written;
      offset += static_cast<std::uint64_t>(written);
      bytes -= static_cast<std::uint64_t>(written);
    }
  }
  void close() {
    const int descriptor = std::exchange(descriptor_, -1);
    if (::close(descriptor) != 0) fail(path_, "finish", errno);
  }

 private:
  std::string path_;
  int descriptor_;
};

std::string npy_header(std::uint64_t count, Precision precision) {
  std::string text = std::string("{'descr': '") + (precision == Precision::kDouble ? "<c16" : "<c8") +
                     "', 'fortran_order': False, 'shape': (" + std::to_string(count) + ",), }";
  constexpr std::size_t kPrefix = 10;
  while ((kPrefix + text.size() + 1) % 64 != 0) text += ' ';
  text += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

/// How many of the lowest qubits are at their own bits: runs of 2^that many amplitudes are contiguous in memory.
std::uint32_t contiguous_qubits(const DistributedState& state) {
  std::uint32_t count = 0;
  while (count < state.local_bits() && state.layout.bit_of[count] == count) ++count;
  return count;
}

void write_shard(DistributedState& state, const FileHandle& file, std::uint64_t header_bytes) {
  const std::uint64_t unit = amplitude_bytes(state.precision);
  const Index first = state.layout.to_logical(state.base());
  const Index local = low_mask(state.local_bits());
  const std::uint32_t contiguous = contiguous_qubits(state);
  const bool direct = contiguous >= std::min(state.local_bits(), 10u);
  const std::uint32_t block_bits = direct ? std::min(contiguous, kBlockBits) : std::min(state.local_bits(), kBlockBits);
  const Index block = Index{1} << block_bits;
  std::vector<std::byte> bytes(block * unit);
  std::vector<Index> indices(direct ? 0 : block);
  std::vector<Complex> values(direct ? 0 : block);
  for (Index begin = 0; begin < state.local_amplitudes(); begin += block) {
    if (direct) {
      state.backend.copy_out(state.layout.to_physical(first + begin) & local, block, bytes.data());
    } else {
      for (Index i = 0; i < block; ++i) indices[i] = state.layout.to_physical(first + begin + i) & local;
      state.backend.read_amplitudes(indices, values);
      if (state.precision == Precision::kDouble) {
        std::memcpy(bytes.data(), values.data(), bytes.size());
      } else {
        for (Index i = 0; i < block; ++i) {
          const std::complex<float> narrow(values[i]);
          std::memcpy(bytes.data() + i * unit, &narrow, unit);
        }
      }
    }
    file.write(bytes.data(), bytes.size(), header_bytes + (first + begin) * unit);
  }
}

void require_regular(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    throw FileError("cannot write the state to " + path + ": it is not a regular file");
  }
}

}  // namespace

OutputFile write_state_file(DistributedState& state, ExchangePipeline& exchanges, const std::string& path) {
  raise_global_qubits(state, exchanges, state.rank_bits);
  const std::uint64_t count = std::uint64_t{1} << state.qubits;
  const std::string header = npy_header(count, state.precision);
  const std::string partial = path + ".part";
  const bool root = state.communicator.rank() == 0;
  try {
    together(state.communicator, [&] {
      if (!root) return;
      require_regular(path);
      FileHandle file(partial, O_WRONLY | O_CREAT | O_TRUNC);
      file.reserve(header.size() + count * amplitude_bytes(state.precision));
      file.write(header.data(), header.size(), 0);
      file.close();
    });
    together(state.communicator, [&] {
      FileHandle file(partial, O_WRONLY);
      write_shard(state, file, header.size());
      file.close();
    });
    together(state.communicator, [&] {
      if (root && ::rename(partial.c_str(), path.c_str()) != 0) fail(path, "rename the finished file to", errno);
    });
  } catch (const Error&) {
    if (root) ::unlink(partial.c_str());
    throw;
  }
  return {"statevector", path, state.precision == Precision::kDouble ? "complex128" : "complex64", {count}};
}

}  // namespace qsim
