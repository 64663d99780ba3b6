// First the highest qubits become the ranks' numbers, so that every rank owns long runs of the file; then all write.
#include "runtime/read_out/state_file.h"

#include <algorithm>
#include <array>
#include <complex>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/file/files.h"
#include "base/file/npy.h"
#include "base/numbers/finite.h"
#include "base/ranks/agreement.h"
#include "base/text.h"
#include "qsim/error.h"
#include "runtime/read_out/sampling.h"

namespace qsim {
namespace {

constexpr std::uint32_t kBlockBits = 16;

std::string_view npy_kind(Precision precision) { return precision == Precision::kDouble ? "<c16" : "<c8"; }

/// How many of the lowest qubits are at their own bits: runs of 2^that many amplitudes are contiguous in memory.
std::uint32_t contiguous_qubits(const DistributedState& state) {
  std::uint32_t count = 0;
  while (count < state.local_bits() && state.layout.bit_of[count] == count) ++count;
  return count;
}

using Place = NewFile::Place;

/// The place of rank 0's file, on every rank.
Place share(Communicator& communicator, const NewFile* file) {
  Place place = file == nullptr ? Place{} : file->place();
  std::array<std::uint64_t, 5> numbers{place.path.size(), place.host.size(), place.device, place.inode, place.named};
  communicator.broadcast(std::as_writable_bytes(std::span(numbers)), 0);
  place.path.resize(numbers[0]);
  place.host.resize(numbers[1]);
  for (std::string* text : {&place.path, &place.host}) {
    if (!text->empty()) communicator.broadcast(std::as_writable_bytes(std::span(*text)), 0);
  }
  place.device = numbers[2];
  place.inode = numbers[3];
  place.named = numbers[4] != 0;
  return place;
}

/// The file as this rank writes it: rank 0's own handle, or another one of the same file.
class PartFile {
 public:
  PartFile(const std::string& path, NewFile* own, const Place& place) : own_(own) {
    if (own == nullptr) shared_.emplace(path, place);
  }
  void write_at(const void* data, std::uint64_t bytes, std::uint64_t offset) const {
    own_ != nullptr ? own_->write_at(data, bytes, offset) : shared_->write_at(data, bytes, offset);
  }
  void close() {
    if (shared_) shared_->close();
  }

 private:
  NewFile* own_;
  std::optional<SharedFile> shared_;
};

void write_shard(DistributedState& state, const PartFile& file, std::uint64_t header_bytes) {
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
      state.backend.reader().copy_out(state.layout.to_physical(first + begin) & local, block, bytes.data());
    } else {
      for (Index i = 0; i < block; ++i) indices[i] = state.layout.to_physical(first + begin + i) & local;
      state.backend.reader().read_amplitudes(indices, values);
      if (state.precision == Precision::kDouble) {
        std::memcpy(bytes.data(), values.data(), bytes.size());
      } else {
        for (Index i = 0; i < block; ++i) {
          const std::complex<float> narrow(values[i]);
          std::memcpy(bytes.data() + i * unit, &narrow, unit);
        }
      }
    }
    const bool finite = state.precision == Precision::kDouble
                            ? all_finite(std::span(reinterpret_cast<const double*>(bytes.data()), 2 * block))
                            : all_finite(std::span(reinterpret_cast<const float*>(bytes.data()), 2 * block));
    if (!finite) throw VerificationError("an amplitude is not a number: the result is wrong and is not written");
    file.write_at(bytes.data(), bytes.size(), header_bytes + (first + begin) * unit);
  }
}

/// A file without a name is found through rank 0's process, which not every rank may look into (another host, another
/// container): then it gets a random name. Collective.
std::unique_ptr<PartFile> open_on_all(Communicator& communicator, const std::string& path,
                                      std::unique_ptr<NewFile>& file) {
  const bool root = communicator.rank() == 0;
  for (const bool named : {false, true}) {
    together(communicator, [&] {
      if (root) file.reset(), file = std::make_unique<NewFile>(path, OutputKind::kFile, named);
    });
    const Place place = share(communicator, file.get());
    std::unique_ptr<PartFile> part;
    std::int64_t lost = 0;
    if (place.named) {
      together(communicator, [&] { part = std::make_unique<PartFile>(path, file.get(), place); });
      return part;
    }
    try {
      part = std::make_unique<PartFile>(path, file.get(), place);
    } catch (const FileError&) {
      lost = 1;
    }
    communicator.max({&lost, 1});
    if (lost == 0) return part;
  }
  throw Error("a state file with a name was not opened");
}

}  // namespace

OutputFile write_state_file(DistributedState& state, ExchangePipeline& exchanges, const std::string& path) {
  raise_global_qubits(state, exchanges, state.rank_bits);
  const std::uint64_t count = std::uint64_t{1} << state.qubits;
  const std::string header = make_npy_header(npy_kind(state.precision), {&count, 1});
  std::unique_ptr<NewFile> file;
  const std::unique_ptr<PartFile> part = open_on_all(state.communicator, path, file);
  together(state.communicator, [&] {
    if (!file) return;
    file->reserve(header.size() + count * amplitude_bytes(state.precision));
    file->write_at(header.data(), header.size(), 0);
  });
  together(state.communicator, [&] {
    write_shard(state, *part, header.size());
    part->close();
  });
  together(state.communicator, [&] {
    if (file) file->commit();
  });
  return {"statevector", path, state.precision == Precision::kDouble ? "complex128" : "complex64", {count}};
}

StateFile::StateFile(const std::string& path, std::uint32_t qubits) : file_(path) {
  const auto refuse = [&](const std::string& why) {
    throw FileError("'" + escape_text(path) + "' is no state of " + std::to_string(qubits) + " qubits: " + why);
  };
  std::string head(std::min<std::uint64_t>(kNpyPrefix, file_.size()), '\0');
  file_.read_at(head.data(), head.size(), 0);
  head.resize(std::min<std::uint64_t>(npy_header_bytes(head), file_.size()));
  file_.read_at(head.data(), head.size(), 0);
  const NpyHeader header = read_npy_header(head);
  if (!header.fault.empty()) refuse(header.fault);
  is_double_ = header.kind == npy_kind(Precision::kDouble);
  if (!is_double_ && header.kind != npy_kind(Precision::kSingle)) {
    refuse("its numbers are neither complex64 nor complex128");
  }
  header_bytes_ = header.bytes;
  const std::uint64_t count = std::uint64_t{1} << qubits;
  if (header.shape != std::vector{count}) refuse("its shape is another");
  if (file_.size() != header_bytes_ + count * (is_double_ ? 16 : 8)) refuse("its size is another");
}

void StateFile::read(Index first, std::span<Complex> values) const {
  if (is_double_) {
    file_.read_at(values.data(), values.size_bytes(), header_bytes_ + first * sizeof(Complex));
  } else {
    std::vector<std::complex<float>> narrow(values.size());
    file_.read_at(narrow.data(), narrow.size() * sizeof narrow[0], header_bytes_ + first * sizeof narrow[0]);
    std::copy(narrow.begin(), narrow.end(), values.begin());
  }
  if (!all_finite(std::span(reinterpret_cast<const double*>(values.data()), 2 * values.size()))) {
    throw FileError("an amplitude of the state file is not a number");
  }
}

}  // namespace qsim
