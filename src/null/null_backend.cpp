// Order checks and counts of the null backend.
#include "null/null_backend.h"

#include <algorithm>
#include <string>

#include "base/bits.h"
#include "base/layout.h"
#include "plan/cost/cost.h"
#include "plan/cost/pool_layout.h"
#include "plan/plan.h"
#include "qsim/error.h"

namespace qsim {
namespace {

class NullTransport : public Transport {
 public:
  explicit NullTransport(NullBackend& backend) : backend_(backend) {}
  std::string_view name() const override { return "null"; }
  std::uint64_t max_trade_bytes(std::uint64_t slot_bytes) const override { return slot_bytes; }
  void trade(ChunkView mine, ChunkView, int, std::uint32_t slot, int lane) override {
    backend_.note_trade(mine, slot, lane);
  }
  void finish() override {}

 private:
  NullBackend& backend_;
};

}  // namespace

BackendInfo NullBackend::info() const {
  BackendInfo info;
  info.name = "null";
  info.device = "no device";
  info.free_bytes = ~std::uint64_t{0};
  return info;
}

void NullBackend::reserve(const PoolLayout& layout, std::uint32_t local_bits) {
  if (layout.state_bytes < amplitude_bytes(precision_) << local_bits) {
    throw Error("null backend: the pool's state of " + std::to_string(layout.state_bytes) + " bytes cannot hold 2^" +
                std::to_string(local_bits) + " amplitudes");
  }
  layout_ = layout;
  local_bits_ = local_bits;
  reserved_ = true;
  unborn_ = 0;
  snapshots_.clear();
  clear_sweeps();
}

MemoryRegion NullBackend::slot(std::uint32_t slot) {
  if (slot >= layout_.chunk_slots) throw Error("null backend: ring slot " + std::to_string(slot) + " is not there");
  return {nullptr, layout_.chunk_bytes, false};
}

void NullBackend::save_state(std::uint32_t snapshot) {
  require_complete();
  snapshots_[snapshot] = unborn_;
}

void NullBackend::restore_state(std::uint32_t snapshot) {
  const auto found = snapshots_.find(snapshot);
  if (found == snapshots_.end()) throw Error("null backend: snapshot " + std::to_string(snapshot) + " was never saved");
  require_complete();
  unborn_ = found->second;
}

void NullBackend::exchange_state(std::uint32_t snapshot) {
  const Index unborn = unborn_;
  restore_state(snapshot);
  snapshots_[snapshot] = unborn;
}

std::uint32_t NullBackend::prepare(std::span<const Sweep> sweeps, Summing) {
  if (!reserved_) throw Error("null backend: prepare before reserve");
  const auto first = static_cast<std::uint32_t>(sweeps_.size());
  for (const Sweep& sweep : sweeps) {
    Prepared prepared;
    for (const Bit bit : sweep.active) prepared.active |= bit_mask(bit);
    for (const Birth& birth : sweep.births) prepared.births |= bit_mask(birth.bit);
    Index mentioned = prepared.active | prepared.births | sweep.unborn;
    for (const Index mask : sweep.reach) mentioned |= mask;
    for (const PlanOp& op : sweep.ops) {
      mentioned |= op.control_mask;
      if (sweep.permutes() && op.form == Form::kFlip) mentioned |= bit_mask(op.targets[0]);
    }
    if (sweep.permutes()) prepared.active = low_mask(local_bits_);  // no chunk of the state is done alone
    for (const PhaseTerm& term : sweep.phases) mentioned |= term.mask;
    // A first write that permutes may have every bit of the state.
    const bool everywhere = sweep.permutes() && !sweep.reads;
    prepared.births &= low_mask(local_bits_);
    if (!everywhere && (mentioned & ~low_mask(local_bits_)) != 0)
      throw Error("null backend: a sweep mentions bits that are not local");
    prepared.unborn = sweep.unborn;
    prepared.reads = sweep.reads;
    prepared.bytes = swept_bytes(sweep, local_bits_, precision_);
    sweeps_.push_back(prepared);
  }
  return first;
}

void NullBackend::clear_sweeps() {
  sweeps_.clear();
  under_way_.clear();
}

void NullBackend::check_view(const ChunkView& view, int lane) const {
  if (!reserved_) throw Error("null backend: work before reserve");
  if (lane < 0 || lane >= kLanes) throw Error("null backend: lane " + std::to_string(lane) + " is not there");
  if ((view.value & ~view.mask) != 0 || (view.mask & ~low_mask(local_bits_)) != 0) {
    throw Error("null backend: a chunk view names bits outside its mask or the shard");
  }
}

bool NullBackend::finished(const UnderWay& sweep, const ChunkView& view) {
  return (sweep.mask & ~view.mask) == 0 && sweep.done[extract_bits(view.value & sweep.mask, sweep.mask)];
}

void NullBackend::begin(std::uint32_t handle, Index mask) {
  const Prepared& prepared = sweeps_[handle];
  if ((mask & prepared.active) != 0) throw Error("null backend: a chunk is cut by an active bit");
  if (prepared.reads && prepared.unborn != unborn_) {
    throw Error("null backend: prepared sweep " + std::to_string(handle) + " expects other unborn bits");
  }
  unborn_ = prepared.unborn & ~prepared.births;
  counts_.sweeps += 1;
  counts_.bytes_swept += prepared.bytes;
  const std::size_t chunks = std::size_t{1} << count_bits(mask);
  under_way_.push_back({handle, mask, std::vector<bool>(chunks, false), chunks});
}

void NullBackend::sweep(std::uint32_t handle, ChunkView chunk, int lane, bool) {
  check_view(chunk, lane);
  if (handle >= sweeps_.size()) throw Error("null backend: sweep " + std::to_string(handle) + " was not prepared");
  const auto running = std::find_if(under_way_.begin(), under_way_.end(),
                                    [&](const UnderWay& u) { return u.handle == handle && u.mask == chunk.mask; });
  const auto at = static_cast<std::size_t>(running - under_way_.begin());
  for (std::size_t i = 0; i < at; ++i) {
    if (finished(under_way_[i], chunk)) continue;
    throw Error("null backend: a sweep touches amplitudes that prepared sweep " + std::to_string(under_way_[i].handle) +
                " has not finished");
  }
  if (running == under_way_.end()) begin(handle, chunk.mask);
  UnderWay& current = under_way_[at];
  const Index value = extract_bits(chunk.value, chunk.mask);
  if (current.done[value]) throw Error("null backend: a sweep runs twice on one chunk");
  current.done[value] = true;
  ++counts_.sweep_calls;
  if (--current.left == 0) under_way_.erase(under_way_.begin() + static_cast<std::ptrdiff_t>(at));
}

void NullBackend::note_trade(const ChunkView& mine, std::uint32_t slot_number, int lane) {
  check_view(mine, lane);
  slot(slot_number);
  for (UnderWay& sweep : under_way_) {
    using Side = UnderWay::Side;
    const Side side = finished(sweep, mine) ? Side::kBefore : Side::kAfter;
    if (sweep.side == Side::kUnknown) sweep.side = side;
    if (sweep.side == side && (sweep.mask & ~mine.mask) == 0) continue;
    throw Error("null backend: prepared sweep " + std::to_string(sweep.handle) +
                " runs before the trades of some chunks and after those of others");
  }
  ++counts_.trades;
  counts_.bytes_sent += std::uint64_t{amplitude_bytes(precision_)} << (local_bits_ - count_bits(mine.mask));
}

void NullBackend::require_complete() const {
  if (under_way_.empty()) return;
  throw Error("null backend: prepared sweep " + std::to_string(under_way_.front().handle) +
              " has not run on all of its chunks");
}

void NullBackend::pack(ChunkView view, std::uint32_t slot_number, int lane) {
  check_view(view, lane);
  slot(slot_number);
}

void NullBackend::unpack(ChunkView view, std::uint32_t slot_number, int lane) { pack(view, slot_number, lane); }

void NullBackend::fill_random(const Layout&, std::uint32_t, std::uint64_t, double) {
  require_complete();
  unborn_ = 0;
}

void NullBackend::bit_probabilities(std::span<double> out) { std::fill(out.begin(), out.end(), 0.0); }
void NullBackend::histogram(std::span<const Bit>, std::span<double> out) { std::fill(out.begin(), out.end(), 0.0); }
void NullBackend::unit_histogram(ChunkView, std::span<const Bit>, std::span<std::uint64_t> out) {
  std::fill(out.begin(), out.end(), 0u);
}
void NullBackend::locate(std::span<const Bit>, std::span<const Bit>, std::span<const UnitDraw>, std::span<Index> out) {
  std::fill(out.begin(), out.end(), Index{0});
}
void NullBackend::pauli_sums(std::span<const PauliGroup>, std::span<const Index>, std::span<Complex> out) {
  std::fill(out.begin(), out.end(), Complex(0));
}
void NullBackend::pauli_sums_remote(std::span<const PauliGroup>, std::span<const Index>, ChunkView, std::uint32_t,
                                    std::span<Complex> out) {
  std::fill(out.begin(), out.end(), Complex(0));
}
void NullBackend::read_amplitudes(std::span<const Index>, std::span<Complex> out) {
  std::fill(out.begin(), out.end(), Complex(0));
}
void NullBackend::copy_out(Index, Index count, std::byte* host) {
  std::fill_n(host, count * amplitude_bytes(precision_), std::byte{0});
}

std::unique_ptr<Backend> make_null_backend(const BackendOptions& options) {
  return std::make_unique<NullBackend>(options);
}

std::unique_ptr<Transport> make_null_transport(NullBackend& backend) {
  return std::make_unique<NullTransport>(backend);
}

}  // namespace qsim
