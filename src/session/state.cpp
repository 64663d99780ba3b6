// States: what is asked of them is asked of every rank.
#include "qsim/state.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "base/bits.h"
#include "base/ranks/agreement.h"
#include "plan/make/make_plan.h"
#include "qsim/error.h"
#include "runtime/accuracy.h"
#include "runtime/check/answer_check.h"
#include "runtime/check/question_check.h"
#include "runtime/read_out/observables.h"
#include "runtime/read_out/sampling.h"
#include "runtime/read_out/state_file.h"
#include "session/program_impl.h"
#include "session/session_impl.h"

namespace qsim {
namespace {

/// The plan of `circuit` from |0...0>, for the ranks of `rank`.
ShapedPlan plan_from_zero(const Circuit& circuit, const RankSession& rank, Start start) {
  PlanOptions options;
  options.rank_bits = rank.settled().rank_bits;
  options.precision = rank.settled().target.precision;
  options.start = start;
  options.initial_layout = Layout::identity(static_cast<int>(circuit.qubits()));
  return {std::make_shared<const Plan>(make_plan(circuit, rank.settled().machine, options))};
}

}  // namespace

void require_qubits(std::uint32_t qubits) {
  if (qubits == 0 || qubits > static_cast<std::uint32_t>(kMaxQubits)) {
    throw UsageError("a state of " + std::to_string(qubits) + " qubits: 1 to " + std::to_string(kMaxQubits) +
                     " can be addressed");
  }
}

State::Impl::Impl(std::shared_ptr<Session::Impl> of, std::uint32_t of_qubits, bool is_split)
    : session(std::move(of)), qubits(of_qubits), split(is_split) {
  require_qubits(qubits);
  for (std::size_t i = 0; i < session->shards(split); ++i) {
    shards.push_back(std::make_unique<Shard>());
    shards.back()->qubits = qubits;
  }
}

State::Impl::~Impl() { session->end(std::move(shards), split); }

void State::Impl::require_value() const {
  if (!defined) throw UsageError("this state has no value: its last run failed; set it again");
}

void State::Impl::read(const Call& call, const Work& work, const std::function<void()>& agreed) {
  const auto on_rank = [&](RankSession& rank, std::size_t index) {
    rank.enter(*shards[index]);
    alone(rank.rank().communicator(), [&] { work(rank, *shards[index], index == 0); });
  };
  session->each(split, of_value(call), on_rank, agreed);
}

State::Impl::Call State::Impl::of_value(const Call& call) const {
  Call of = call;
  of.check = [this, check = call.check] {
    require_value();
    if (check) check();
  };
  return of;
}

void State::Impl::write(const Call& call, const Work& work) {
  const auto on_rank = [&](RankSession& rank, std::size_t index) { work(rank, *shards[index], index == 0); };
  session->each(split, call, on_rank, [&] { defined = false; });
  defined = true;
}

void State::Impl::run(const Call& call, const std::function<ShapedPlan(RankSession&, Shard&)>& plan_of,
                      std::uint64_t start_seed) {
  write(call, [&](RankSession& rank, Shard& shard, bool) {
    ShapedPlan plan;
    together(rank.rank().communicator(), [&] { plan = plan_of(rank, shard); });
    rank.run(shard, plan, start_seed);
  });
}

State Session::Impl::adopt(const std::shared_ptr<Impl>& session, const Plan& ran, bool split) {
  State state(std::make_unique<State::Impl>(session, ran.qubits, split));
  state.impl().write("adopt", [&](RankSession& rank, Shard& shard, bool) { rank.adopt(shard, ran); });
  return state;
}

State::Impl& Session::Impl::impl_of(State& state) { return state.impl(); }

State::State(std::unique_ptr<Impl> impl) : impl_(std::move(impl)), callers_(impl_->session->callers) {}
State::State(State&& other) noexcept : impl_(std::move(other.impl_)), callers_(other.callers_) {}
State& State::operator=(State&& other) noexcept {
  impl_ = std::move(other.impl_);
  callers_ = other.callers_;
  return *this;
}
State::~State() = default;

namespace {

UsageError moved() { return UsageError("this state was moved from"); }

}  // namespace

/// The first thing that every call does: where one rank's state was moved from, all say so.
State::Impl& State::impl() const {
  if (impl_) return *impl_;
  auto& callers = *std::static_pointer_cast<Callers>(callers_);
  const Callers::Turn turn(callers);
  turn.require();
  callers.agree({"a call of a state that was moved from", 0, [] { throw moved(); }});
  throw moved();
}

std::uint32_t State::qubits() const {
  if (!impl_) throw moved();
  return impl_->qubits;
}

void State::Impl::run(Program::Impl& program, std::span<const double> values, bool from_zero) {
  const auto check = [&] {
    if (program.dynamic) {
      throw UnsupportedError(
          "the circuit measures, resets or branches before its end, so it has no single final state");
    }
    if (program.circuit->qubits() != qubits) {
      throw UsageError("a program of " + std::to_string(program.circuit->qubits()) + " qubits for a state of " +
                       std::to_string(qubits));
    }
    session->require_target(program);
    if (program.is_split() != split) {
      throw UsageError("the program has a gate on more qubits than a rank of this state holds",
                       "Session::run() makes a state for it; fewer ranks hold more qubits each");
    }
    program.circuit->require_values(values);
    if (!from_zero) require_value();
  };
  const std::uint64_t arguments = session->digest_of(
      {session->digest_of(values), program.circuit->qubits(), program.circuit->operations().size(), from_zero});
  run({"run", arguments, check}, [&](RankSession& rank, Shard& shard) {
    return program.plan(values, from_zero ? nullptr : &rank.layout_of(shard));
  });
}

void State::run(const Program& program, std::span<const double> values) { impl().run(program.impl(), values, false); }

void State::set(Index index) {
  Circuit flips(impl().qubits);
  const auto check = [&] {
    if (index >> qubits() != 0) {
      throw UsageError("basis state " + std::to_string(index) + " of " + std::to_string(qubits()) + " qubits");
    }
    for (Qubit qubit = 0; qubit < qubits(); ++qubit) {
      if ((index >> qubit & 1) != 0) flips.x(qubit);
    }
  };
  impl().run({"set", impl().session->digest_of({index, qubits()}), check},
             [&](RankSession& rank, Shard&) { return plan_from_zero(flips, rank, Start::kZero); });
}

void State::set_product(std::span<const std::array<Complex, 2>> of_qubits) {
  Circuit turns(impl().qubits);
  const auto check = [&] {
    if (of_qubits.size() != qubits()) {
      throw UsageError(std::to_string(of_qubits.size()) + " pairs of amplitudes for " + std::to_string(qubits()) +
                       " qubits");
    }
    for (Qubit qubit = 0; qubit < qubits(); ++qubit) {
      const auto& [a, b] = of_qubits[qubit];
      const double norm = std::norm(a) + std::norm(b);
      if (!(std::abs(norm - 1) <= 1e-6)) {
        throw UsageError("the squares of qubit " + std::to_string(qubit) + "'s amplitudes add up to " +
                         std::to_string(norm));
      }
      const double scale = 1 / std::sqrt(norm);
      const std::array<Complex, 4> matrix{a * scale, -std::conj(b) * scale, b * scale, std::conj(a) * scale};
      turns.add_unitary(matrix, {}, {&qubit, 1});
    }
  };
  impl().run({"set_product", impl().session->digest_of(of_qubits), check},
             [&](RankSession& rank, Shard&) { return plan_from_zero(turns, rank, Start::kZero); });
}

void State::set_random(std::uint64_t seed) {
  const Circuit nothing(impl().qubits);
  impl().run(
      {"set_random", impl().session->digest_of({seed})},
      [&](RankSession& rank, Shard&) { return plan_from_zero(nothing, rank, Start::kRandom); }, seed);
}

void State::set(std::span<const Complex> amplitudes) {
  Impl& own = impl();
  const auto check = [&] {
    if (own.qubits >= 48 || amplitudes.size() != std::size_t{1} << own.qubits) {
      throw UsageError(std::to_string(amplitudes.size()) + " amplitudes for a state of " + std::to_string(own.qubits) +
                       " qubits");
    }
    double norm = 0;
    for (const Complex& amplitude : amplitudes) norm += std::norm(amplitude);
    if (!(std::abs(norm - 1) <= 1e-6)) {
      throw UsageError("the squares of the amplitudes add up to " + std::to_string(norm) + ", not to 1");
    }
  };
  own.write({"set", own.session->digest_of(amplitudes), check}, [&](RankSession& rank, Shard& shard, bool) {
    rank.fill(shard, [&](Index first, std::span<Complex> values) {
      std::copy_n(amplitudes.begin() + static_cast<std::ptrdiff_t>(first), values.size(), values.begin());
    });
  });
}

void State::load(const std::string& path) {
  impl().write("load", [&](RankSession& rank, Shard& shard, bool) {
    std::unique_ptr<StateFile> file;
    together(rank.rank().communicator(), [&] { file = std::make_unique<StateFile>(path, shard.qubits); });
    rank.fill(shard, [&](Index first, std::span<Complex> values) { file->read(first, values); });
  });
  const double found = norm();
  if (std::abs(found - 1) <= 1e-5) return;
  impl().defined = false;
  throw FileError("'" + path + "' holds no state: the squares of its amplitudes add up to " + std::to_string(found));
}

void State::save(const std::string& path) {
  Impl& own = impl();
  const bool writes = own.split || own.session->is_root();
  own.read("save", [&](RankSession& rank, Shard&, bool) {
    if (writes) write_state_file(rank.state(), rank.rank().exchanges(), path);
  });
}

State State::copy() {
  Impl& own = impl();
  const Impl::Call call = own.of_value("copy");
  State other(std::make_unique<Impl>(own.session, own.qubits, own.split));
  own.session->each(own.split, call, [&](RankSession& rank, std::size_t index) {
    rank.copy(*own.shards[index], *other.impl().shards[index]);
  });
  other.impl().defined = true;
  return other;
}

double State::norm() {
  const double answer = impl().ask("norm", [](RankSession& rank) {
    double sum = rank.rank().backend().reader().norm();
    rank.rank().communicator().sum({&sum, 1});
    return sum;
  });
  if (!std::isfinite(answer)) throw VerificationError("the norm is not a number: the result is wrong and is not shown");
  return answer;
}

std::vector<double> State::marginals() {
  return impl().ask("marginals", [&](RankSession& rank) { return qsim::marginals(rank.state()); });
}

std::vector<double> State::probabilities(std::span<const Qubit> list) {
  const auto check = [&] { require_probabilities(list, qubits()); };
  return impl().ask({"probabilities", impl().session->digest_of(list), check},
                    [&](RankSession& rank) { return qubit_probabilities(rank.state(), list); });
}

std::vector<Complex> State::amplitudes(std::span<const Index> indices) {
  const auto check = [&] {
    for (const Index index : indices) require_amplitude(index, qubits());
  };
  std::vector<Complex> answer;
  impl().read({"amplitudes", impl().session->digest_of(indices), check}, [&](RankSession& rank, Shard&, bool first) {
    const std::vector<AmplitudeEntry> mine = qsim::amplitudes(rank.state(), indices);
    if (!first) return;
    for (const AmplitudeEntry& entry : mine) answer.push_back(entry.value);
  });
  return answer;
}

std::vector<Complex> State::amplitudes(Index first, Index count) {
  const auto check = [&] {
    const Index size = Index{1} << qubits();
    if (first > size || count > size - first) {
      throw UsageError("amplitudes " + std::to_string(first) + " to " + std::to_string(first) + " + " +
                       std::to_string(count) + " - 1 of 2^" + std::to_string(qubits()));
    }
  };
  return impl().ask({"amplitudes", impl().session->digest_of({first, count}), check}, [&](RankSession& rank) {
    std::vector<Complex> values(count);
    qsim::amplitudes(rank.state(), first, values);
    return values;
  });
}

std::vector<AmplitudeEntry> State::top(std::size_t count) {
  return impl().ask({"top", impl().session->digest_of({count})}, [&](RankSession& rank) {
    return qsim::amplitudes(rank.state(), top_indices(rank.state(), count));
  });
}

std::vector<double> State::Impl::expectations(std::span<const PauliString> strings,
                                              const std::function<void()>& check) {
  return ask({"expectations", session->digest_of(strings), check},
             [&](RankSession& rank) { return pauli_expectations(rank.state(), rank.rank().exchanges(), strings); });
}

std::vector<double> State::expectations(std::span<const PauliString> strings) {
  return impl().expectations(strings, [&] {
    for (const PauliString& pauli : strings) require_expectation(pauli, qubits());
  });
}

double State::expectation(const PauliSum& sum) {
  std::vector<PauliString> strings;
  for (const PauliTerm& term : sum.terms) strings.push_back(term.pauli);
  const std::vector<double> values = impl().expectations(strings, [&] { require_expectation(sum, qubits()); });
  double total = 0;
  for (std::size_t i = 0; i < values.size(); ++i) total += sum.terms[i].coefficient * values[i];
  return total;
}

Complex State::inner_product(State& other) {
  Impl &own = impl(), &its = other.impl();
  const auto check = [&] {
    if (own.session != its.session) throw UsageError("states of two sessions have no inner product here");
    if (own.qubits != its.qubits || own.split != its.split) {
      throw UsageError("states of " + std::to_string(own.qubits) + " and of " + std::to_string(its.qubits) +
                       " qubits have no inner product");
    }
    if (!its.defined) throw UsageError("the other state has no value: its last run failed; set it again");
  };
  Complex answer;
  own.session->each(own.split, own.of_value({"inner_product", 0, check}), [&](RankSession& rank, std::size_t index) {
    const Complex mine = rank.inner_product(*own.shards[index], *its.shards[index]);
    if (index == 0) answer = mine;
  });
  if (!std::isfinite(answer.real()) || !std::isfinite(answer.imag())) {
    throw VerificationError("an inner product is not a number: the result is wrong and is not shown");
  }
  return answer;
}

std::vector<std::pair<Index, std::uint64_t>> State::sample(std::uint64_t shots, std::optional<std::uint64_t> seed) {
  Impl& own = impl();
  const std::uint64_t arguments = own.session->digest_of({shots, seed.has_value(), seed.value_or(0)});
  std::vector<std::pair<Index, std::uint64_t>> answer;
  const auto work = [&](RankSession& rank, Shard& shard, bool first) {
    Sampler sampler(rank.state(), rank.rank().exchanges(), shots);
    const double drift = norm_tolerance(rank.state().precision, shard.gates, shard.defect);
    require_drawable(sampler.total(), 1, drift, own.qubits);
    const Index all = own.qubits < 64 ? (Index{1} << own.qubits) - 1 : ~Index{0};
    OutcomeCounts mine = sampler.sample(shots, {}, *seed, 0, all);
    if (first) answer = std::move(mine);
  };
  own.read({"sample", arguments}, work, [&] {
    if (!seed) seed = own.session->draw_seed();
  });
  return answer;
}

StateMemory State::memory() {
  Impl& own = impl();
  if (own.split) throw UnsupportedError("the state is shared by ranks: no memory holds all of it");
  StateMemory memory;
  own.session->each(false, own.of_value("memory"), [&](RankSession& rank, std::size_t index) {
    Shard& shard = *own.shards[index];
    rank.straighten(shard);
    rank.enter(shard);
    Backend& backend = rank.rank().backend();
    backend.synchronize();
    const MemoryRegion region = backend.state();
    memory = {region.data, Index{1} << own.qubits, rank.state().precision, -1};
    if (region.on_device) memory.gpu = backend.info().device_id;
  });
  return memory;
}

}  // namespace qsim
