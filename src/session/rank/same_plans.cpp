// Numbers may differ by rounding: hosts whose mathematical libraries differ round them differently.
#include "session/rank/same_plans.h"

#include <span>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/ranks/agreement.h"

namespace qsim {
namespace {

/// The words of what a program does, in the order of execution.
class Shape {
 public:
  void add(std::uint64_t word) { words_.push_back(word); }
  void add(const std::vector<Bit>& bits) {
    add(bits.size());
    for (const Bit bit : bits) add(bit);
  }
  void add(const Sweep& sweep) {
    add(sweep.active);
    add(sweep.store);
    add(sweep.reach.size());
    for (const Index mask : sweep.reach) add(mask);
    add(sweep.reads ? 1u : 0u);
    add(sweep.bundle);
    add(sweep.unborn);
    for (const Birth& birth : sweep.births) add(birth.bit);
    for (const PlanOp& op : sweep.ops) {
      add(static_cast<std::uint64_t>(op.form));
      for (int i = 0; i < op.target_count; ++i) add(op.targets[static_cast<std::size_t>(i)]);
      add(op.control_mask);
      add(op.control_value);
      add(op.data_count);
    }
    for (const PhaseTerm& term : sweep.phases) add(term.mask);
  }
  void add(const Plan& plan) {
    add(plan.rank_bits);
    add(plan.stages.size());
    for (const Stage& stage : plan.stages) {
      if (stage.exchange) {
        for (const auto& [local, global] : stage.exchange->swaps) add(local), add(global);
        add(stage.exchange->chunk_mask);
        add(stage.exchange->overlap_before);
        add(stage.exchange->overlap_after);
      }
      add(stage.layout.bit_of);
      for (const Sweep& sweep : stage.sweeps) add(sweep);
    }
  }
  std::uint64_t hash() const {
    return xxh3({reinterpret_cast<const char*>(words_.data()), words_.size() * sizeof(words_[0])});
  }

 private:
  std::vector<std::uint64_t> words_;
};

/// Angles as what they mean: pi and -pi are one.
void add_numbers(const Plan& plan, std::vector<double>& numbers) {
  const auto add = [&](Complex value) { numbers.insert(numbers.end(), {value.real(), value.imag()}); };
  for (const Complex amplitude : plan.global_start) add(amplitude);
  for (const Stage& stage : plan.stages) {
    for (const Sweep& sweep : stage.sweeps) {
      if (!sweep.reads) add(sweep.start_scale);
      for (const Complex entry : sweep.matrices) add(entry);
      for (const PhaseTerm& term : sweep.phases) add(std::polar(1.0, term.angle));
      for (const Birth& birth : sweep.births) add(birth.factor[0]), add(birth.factor[1]);
    }
  }
}

/// `shape`: of what these plans are.
void require_same(const Shape& shape, std::span<const Plan> plans, Communicator& communicator) {
  const Fact plan{"a plan with the digest", std::to_string(shape.hash())};
  require_same(communicator, {&plan, 1});
  std::vector<double> numbers;
  for (const Plan& each : plans) add_numbers(each, numbers);
  require_same_numbers(communicator, numbers, "the plan's angles and matrices");
}

}  // namespace

void require_same_plans(const Plan& plan, Communicator& communicator) {
  if (communicator.size() == 1) return;
  Shape shape;
  shape.add(plan);
  require_same(shape, {&plan, 1}, communicator);
}

void require_same_plans(const PlannedCircuit& program, std::uint32_t snapshots, Communicator& communicator) {
  if (communicator.size() == 1) return;
  Shape shape;
  shape.add(snapshots);
  for (const Plan& plan : program.plans) shape.add(plan);
  for (const Instrument& instrument : program.instruments) shape.add(instrument.operators.size());
  for (const Step& step : program.steps) {
    shape.add(static_cast<std::uint64_t>(step.kind));
    shape.add(static_cast<std::uint64_t>(step.condition) + 1);
    shape.add(step.plan);
    shape.add(step.instrument);
    shape.add(step.qubit);
    shape.add(step.clbit);
    shape.add(static_cast<std::uint64_t>(step.flow.kind));
    shape.add(step.flow.a);
    shape.add(step.flow.b);
  }
  require_same(shape, program.plans, communicator);
}

}  // namespace qsim
