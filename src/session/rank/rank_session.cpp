// A change of the pool empties it first: whoever is in it or beside it waits on the host meanwhile.
#include "session/rank/rank_session.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <utility>

#include "base/bits.h"
#include "base/ranks/agreement.h"
#include "plan/make/make_plan.h"
#include "plan/program/layout.h"
#include "qsim/error.h"
#include "runtime/accuracy.h"
#include "runtime/read_out/sampling.h"
#include "session/rank/capacity.h"
#include "session/rank/same_plans.h"

namespace qsim {
namespace {

constexpr std::size_t kMostPreparedSweeps = 16'384;

PoolLayout larger(const PoolLayout& a, const PoolLayout& b) {
  PoolLayout both = joined(a, b);
  both.table_bytes = std::max(a.table_bytes, b.table_bytes);
  return both;
}

bool covers(const PoolLayout& pool, const PoolLayout& needed) {
  PoolLayout both = larger(pool, needed);
  both.snapshot_bytes = pool.snapshot_bytes;
  return both == pool;
}

/// Sum of conj(a) b of amplitudes in host memory.
template <typename T>
Complex host_product(const std::byte* a, const std::byte* b, std::uint64_t bytes) {
  Complex sum = 0;
  for (std::uint64_t at = 0; at < bytes; at += sizeof(std::complex<T>)) {
    std::complex<T> left, right;
    std::memcpy(&left, a + at, sizeof left);
    std::memcpy(&right, b + at, sizeof right);
    sum += std::conj(Complex(left)) * Complex(right);
  }
  return sum;
}

void give_back(std::vector<std::byte>& memory) { std::vector<std::byte>().swap(memory); }

}  // namespace

RankSession::RankSession(Settled settled, Communicator& communicator, Verify verify)
    : communicator_(communicator),
      // What has no amplitudes has no norm.
      verify_(settled.target.backend == BackendKind::kNull && verify == Verify::kNorm ? Verify::kOff : verify),
      settled_(std::move(settled)) {}

PoolLayout RankSession::basic_pool(std::uint32_t qubits) const {
  Plan plan;
  plan.qubits = qubits;
  plan.rank_bits = settled_.rank_bits;
  plan.precision = settled_.target.precision;
  return pool_layout(plan, settled_.machine);
}

void RankSession::enter(Shard& shard, const PoolLayout& needed, bool keep) {
  if (qubits_ != shard.qubits || !covers(rank_.pool(), needed)) make_room(shard.qubits, needed);
  if (current_ == &shard) return;
  if (keep) return alone(communicator_, [&] { bring(shard); });
  alone(communicator_, [&] {
    if (shard.place) places_[*std::exchange(shard.place, std::nullopt)] = nullptr;
    give_back(shard.host);
    put_aside();
    current_ = &shard;
  });
}

void RankSession::make_room(std::uint32_t qubits, const PoolLayout& needed, std::uint64_t places) {
  PoolLayout pool = qubits == qubits_ ? larger(rank_.pool(), needed) : needed;
  pool.snapshot_bytes = 0;
  const CapacityQuestion question = settled_.capacity_question(qubits, pool.total_bytes() + places * pool.state_bytes);
  require_capacity(question, settled_.machine);
  const std::uint64_t spare = question.usable_bytes - question.needed_bytes;
  const std::uint64_t wanted = std::max(settled_.target.states, 1u) - 1;
  const std::uint64_t more = wanted > places ? std::min(wanted - places, spare / pool.state_bytes) : 0;
  pool.snapshot_bytes = (places + more) * pool.state_bytes;
  all_to_host();
  prepared_.clear();
  prepared_sweeps_ = 0;
  qubits_ = 0;
  together(communicator_, [&] { rank_.reserve(pool, qubits); });
  rank_.connect(verify_);
  rank_.executor().on_progress = on_progress;
  places_.assign(pool.snapshot_bytes / pool.state_bytes, nullptr);
  qubits_ = qubits;
}

void RankSession::all_to_host() {
  const auto waits = [](const Shard* shard) { return shard != nullptr; };
  if (current_ == nullptr && std::ranges::none_of(places_, waits)) return;
  together(communicator_, [&] {
    if (current_ != nullptr) current_to_host();
    places_to_host();
  });
}

void RankSession::current_to_host() {
  current_->layout = state().layout;
  current_->host.resize(shard_bytes());
  rank_.backend().reader().copy_out(0, state().local_amplitudes(), current_->host.data());
  current_ = nullptr;
}

void RankSession::places_to_host() {
  for (std::uint32_t place = 0; place < places_.size(); ++place) {
    if (places_[place] == nullptr) continue;
    current_ = places_[place];
    rank_.backend().restore_state(place);
    state().layout = current_->layout;
    current_->place.reset();
    current_to_host();
    places_[place] = nullptr;
  }
}

void RankSession::put_aside() {
  if (current_ == nullptr) return;
  const auto free = std::find(places_.begin(), places_.end(), nullptr);
  if (free == places_.end()) return current_to_host();
  const auto place = static_cast<std::uint32_t>(free - places_.begin());
  rank_.backend().save_state(place);
  current_->layout = state().layout;
  current_->place = place;
  *free = std::exchange(current_, nullptr);
}

void RankSession::bring(Shard& shard) {
  if (shard.place && current_ != nullptr) {
    const std::uint32_t place = *std::exchange(shard.place, std::nullopt);
    rank_.backend().exchange_state(place);
    current_->layout = state().layout;
    current_->place = place;
    places_[place] = current_;
  } else if (shard.place) {
    const std::uint32_t place = *std::exchange(shard.place, std::nullopt);
    rank_.backend().restore_state(place);
    places_[place] = nullptr;
  } else {
    put_aside();
    if (shard.host.size() != shard_bytes()) throw Error("a state is neither on the device nor on the host");
    rank_.backend().copy_in(0, state().local_amplitudes(), shard.host.data());
    give_back(shard.host);
  }
  current_ = &shard;
  state().layout = shard.layout;
  state().moves.clear();
  state().bit_probabilities.clear();
}

void RankSession::forget(const Shard& shard) noexcept {
  if (current_ == &shard) current_ = nullptr;
  if (shard.place) places_[*shard.place] = nullptr;
}

// The shape was compared between the ranks when it was prepared.
void RankSession::renew(Prepared& prepared, const ShapedPlan& shaped) {
  if (prepared.shaped.plan == shaped.plan) return;
  prepared.shaped = {nullptr, shaped.shape};  // what a failure leaves is no plan's
  together(communicator_, [&] { rank_.executor().renew(prepared.number, *shaped.plan); });
  prepared.shaped = shaped;
}

void RankSession::clear_prepared() {
  prepared_.clear();
  prepared_sweeps_ = 0;
  rank_.executor().clear_plans();
}

std::size_t RankSession::prepare(const ShapedPlan& shaped) {
  const Plan& plan = *shaped.plan;
  const bool by_shape = shaped.shape && rank_.backend().abilities().renewal != nullptr;
  const Plan* const key = by_shape ? shaped.shape.get() : &plan;
  if (const auto found = prepared_.find(key); found != prepared_.end()) {
    renew(found->second, shaped);
    return found->second.number;
  }
  require_same_plans(plan, communicator_);
  std::size_t sweeps = 0;
  for (const Stage& stage : plan.stages) sweeps += stage.sweeps.size();
  if (prepared_sweeps_ + sweeps > kMostPreparedSweeps) clear_prepared();
  std::size_t number = 0;
  together(communicator_, [&] {
    number = rank_.executor().prepare(plan);
    rank_.backend().finish_preparing();
  });
  prepared_sweeps_ += sweeps;
  prepared_.emplace(key, Prepared{shaped, number});
  return number;
}

void RankSession::run(Shard& shard, const ShapedPlan& shaped, std::uint64_t start_seed) {
  const std::shared_ptr<const Plan>& plan = shaped.plan;
  const bool goes_on = plan->start == Start::kState;
  enter(shard, pool_layout(*plan, settled_.machine), goes_on);
  const std::size_t number = prepare(shaped);
  if (!goes_on) {
    shard.gates = 0;
    shard.defect = 0;
  }
  alone(communicator_, [&] {
    if (goes_on && state().layout != plan->initial_layout) undo_moves(state(), rank_.exchanges());
    rank_.executor().before = {shard.gates, shard.defect};
    rank_.executor().run(number, 1, start_seed);
  });
  rank_.require_intact();
  shard.gates += plan->gates;
  shard.defect += plan->unitarity_defect;
}

const Layout& RankSession::layout_of(Shard& shard) {
  enter(shard);
  alone(communicator_, [&] { undo_moves(state(), rank_.exchanges()); });
  return state().layout;
}

void RankSession::fill(Shard& shard, const std::function<void(Index, std::span<Complex>)>& source) {
  enter(shard, basic_pool(shard.qubits), false);
  state().layout = Layout::identity(static_cast<int>(shard.qubits));
  state().moves.clear();
  state().bit_probabilities.clear();
  shard.gates = 0;
  shard.defect = 0;
  const Index size = state().local_amplitudes(), piece = std::min(size, Index{1} << 16);
  const bool is_double = settled_.target.precision == Precision::kDouble;
  std::vector<Complex> values(piece);
  std::vector<std::complex<float>> narrow(is_double ? 0 : piece);
  together(communicator_, [&] {
    for (Index first = 0; first < size; first += piece) {
      source(state().base() + first, values);
      if (!is_double) std::copy(values.begin(), values.end(), narrow.begin());
      const void* const data = is_double ? static_cast<const void*>(values.data()) : narrow.data();
      rank_.backend().copy_in(first, piece, static_cast<const std::byte*>(data));
    }
  });
}

void RankSession::copy(Shard& from, Shard& to) {
  enter(from);
  alone(communicator_, [&] {
    to.layout = state().layout;
    to.gates = from.gates;
    to.defect = from.defect;
    if (const auto free = std::find(places_.begin(), places_.end(), nullptr); free != places_.end()) {
      to.place = static_cast<std::uint32_t>(free - places_.begin());
      rank_.backend().save_state(*to.place);
      *free = &to;
    } else {
      to.host.resize(shard_bytes());
      rank_.backend().reader().copy_out(0, state().local_amplitudes(), to.host.data());
    }
  });
}

void RankSession::vacate(std::uint32_t qubits, const PoolLayout& needed,
                         std::span<const PlannedCircuit* const> programs) {
  PoolLayout basic = needed;
  basic.snapshot_bytes = 0;
  const std::uint64_t places = needed.snapshot_bytes / needed.state_bytes;
  for (const PlannedCircuit* program : programs) {
    require_same_plans(*program, static_cast<std::uint32_t>(places), communicator_);
  }
  if (qubits_ != qubits || !covers(rank_.pool(), basic) || places_.size() < places) make_room(qubits, basic, places);
  all_to_host();
  clear_prepared();
}

WalkRoom RankSession::lend(const PlannedCircuit& planned, std::uint64_t usable_bytes) {
  return helpers_.lend(settled_, planned, rank_.pool(), qubits_, usable_bytes, verify_);
}

std::unique_ptr<ProgramRun> RankSession::stage(const Circuit& circuit, const PlannedCircuit& planned, bool marginals,
                                               WalkRoom room) {
  auto run = std::make_unique<ProgramRun>(planned, circuit, state(), rank_.exchanges(), rank_.executor(),
                                          static_cast<std::uint32_t>(places_.size()), std::move(room));
  alone(communicator_, [&] { run->prepare(marginals); });
  return run;
}

void RankSession::unstage() {
  rank_.executor().on_progress = on_progress;
  clear_prepared();
  helpers_.clear();
}

void RankSession::adopt(Shard& shard, const Plan& ran) {
  unstage();
  shard.qubits = qubits_;
  shard.layout = state().layout;
  shard.gates = ran.gates;
  shard.defect = ran.unitarity_defect;
  current_ = &shard;
}

Answers RankSession::answer(const Circuit& circuit, const PlannedCircuit& planned, const ReadOuts& read_outs) {
  PoolLayout needed = program_layout(planned, settled_.machine, settled_.rank_bits);
  add_snapshots(needed, planned, settled_.memory.least_bytes);
  const PlannedCircuit* const program = &planned;
  vacate(circuit.qubits(), needed, {&program, 1});
  Answers answers;
  try {
    const auto run = stage(circuit, planned, read_outs.marginals, lend(planned, settled_.memory.least_bytes));
    run->on_progress = on_progress;
    alone(communicator_, [&] { answers = run->run(read_outs); });
    rank_.require_intact();
  } catch (...) {
    unstage();
    throw;
  }
  unstage();
  return answers;
}

void RankSession::straighten(Shard& shard) {
  const Layout straight = Layout::identity(static_cast<int>(shard.qubits));
  if ((current_ == &shard ? state().layout : shard.layout) == straight) return;
  enter(shard);
  // With the layout kept, swaps of qubits move data: so many as sort the layout, the last one first, bring the data of
  // qubit q to bit q.
  std::vector<std::pair<Qubit, Qubit>> sorting;
  Layout layout = state().layout;
  for (Qubit qubit = 0; qubit < shard.qubits; ++qubit) {
    const Qubit there = layout.qubit_at()[qubit];  // who is at this qubit's bit
    if (there == qubit) continue;
    sorting.emplace_back(qubit, there);
    std::swap(layout.bit_of[qubit], layout.bit_of[there]);
  }
  Circuit swaps(shard.qubits);
  for (auto swap = sorting.rbegin(); swap != sorting.rend(); ++swap) swaps.swap(swap->first, swap->second);
  PlanOptions options;
  options.rank_bits = settled_.rank_bits;
  options.precision = settled_.target.precision;
  options.start = Start::kState;
  options.known_zeros = false;
  options.initial_layout = state().layout;
  options.preserve_layout = true;
  const auto plan = std::make_shared<const Plan>(make_plan(swaps, settled_.machine, options));
  run(shard, {plan}, 0);
  state().layout = straight;
  state().bit_probabilities.clear();
}

Complex RankSession::inner_product(Shard& shard, Shard& other) {
  straighten(other);
  straighten(shard);
  enter(shard);
  Complex product = 0;
  alone(communicator_, [&] {
    if (&shard == &other) {
      product = rank_.backend().reader().norm();
    } else if (other.place) {
      product = rank_.backend().reader().inner_product(*other.place);
    } else {
      const std::uint64_t bytes = shard_bytes(), unit = amplitude_bytes(settled_.target.precision);
      constexpr std::uint64_t kPiece = std::uint64_t{1} << 20;
      std::vector<std::byte> piece(std::min(bytes, kPiece));
      for (std::uint64_t at = 0; at < bytes; at += piece.size()) {
        rank_.backend().reader().copy_out(at / unit, piece.size() / unit, piece.data());
        product += settled_.target.precision == Precision::kDouble
                       ? host_product<double>(other.host.data() + at, piece.data(), piece.size())
                       : host_product<float>(other.host.data() + at, piece.data(), piece.size());
      }
    }
    double parts[2] = {product.real(), product.imag()};
    communicator_.sum(parts);
    product = {parts[0], parts[1]};
  });
  return product;
}

}  // namespace qsim
