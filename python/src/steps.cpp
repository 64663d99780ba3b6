// Operations as values, and circuits as bytes.
#include <cstring>

#include "common.h"

namespace qsim::python {
namespace {

constexpr char kHead[] = "qsim circuit 1\n";

class Writer {
 public:
  template <typename T>
  void number(T value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <typename Range>
  void numbers(const Range& values) {
    number(static_cast<std::uint64_t>(values.size()));
    for (const auto value : values) number(value);
  }
  void registers(const std::vector<Register>& all) {
    number(static_cast<std::uint64_t>(all.size()));
    for (const Register& one : all) {
      numbers(one.name);
      number(one.size);
    }
  }
  std::string bytes = kHead;
};

class Reader {
 public:
  explicit Reader(const std::string& bytes) : bytes_(bytes) {
    if (bytes.rfind(kHead, 0) != 0) throw UsageError("these bytes are no circuit, or one of another version");
  }
  template <typename T>
  T number() {
    T value;
    need(sizeof value);
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  template <typename T>
  std::vector<T> numbers() {
    const auto count = number<std::uint64_t>();
    if (count > bytes_.size()) need(count);
    need(count * sizeof(T));
    std::vector<T> values(count);
    for (T& value : values) value = number<T>();
    return values;
  }
  std::string text() {
    const std::vector<char> letters = numbers<char>();
    return {letters.begin(), letters.end()};
  }
  bool done() const { return at_ == bytes_.size(); }

 private:
  void need(std::uint64_t count) const {
    if (count > bytes_.size() - at_) throw UsageError("the bytes of a circuit end too early");
  }
  const std::string& bytes_;
  std::size_t at_ = sizeof kHead - 1;
};

void write_step(Writer& out, const Step& step) {
  out.number(static_cast<std::uint8_t>(step.kind));
  out.number(static_cast<std::uint8_t>(step.gate));
  out.numbers(step.controls);
  out.numbers(step.targets);
  out.numbers(step.letters);
  out.number(step.clbit);
  out.number(static_cast<std::uint64_t>(step.angles.size()));
  for (const Angle& angle : step.angles) {
    out.number(angle.constant);
    out.number(static_cast<std::uint64_t>(angle.terms.size()));
    for (const auto& [name, factor] : angle.terms) {
      out.numbers(name);
      out.number(factor);
    }
  }
  out.number(static_cast<std::uint64_t>(step.matrix.size()));
  for (const Complex entry : step.matrix) {
    out.number(entry.real());
    out.number(entry.imag());
  }
}

Step read_step(Reader& in) {
  Step step;
  const auto kind = in.number<std::uint8_t>(), gate = in.number<std::uint8_t>();
  if (kind > static_cast<std::uint8_t>(OpKind::kBarrier) || gate > static_cast<std::uint8_t>(kLastGate)) {
    throw UsageError("the bytes of a circuit name an operation that is not known here");
  }
  step.kind = static_cast<OpKind>(kind);
  step.gate = static_cast<Gate>(gate);
  step.controls = in.numbers<Qubit>();
  step.targets = in.numbers<Qubit>();
  step.letters = in.text();
  step.clbit = in.number<Clbit>();
  for (auto angles = in.number<std::uint64_t>(); angles > 0; --angles) {
    Angle angle = in.number<double>();
    for (auto terms = in.number<std::uint64_t>(); terms > 0; --terms) {
      std::string name = in.text();
      const auto factor = in.number<double>();
      angle.terms.emplace_back(std::move(name), factor);
    }
    step.angles.push_back(std::move(angle));
  }
  for (auto entries = in.number<std::uint64_t>(); entries > 0; --entries) {
    const auto re = in.number<double>(), im = in.number<double>();
    step.matrix.emplace_back(re, im);
  }
  return step;
}

}  // namespace

Step step_of(const Circuit& circuit, const Operation& op) {
  Step step;
  step.kind = op.kind;
  step.gate = op.kind == OpKind::kGate ? op.gate : Gate::kId;
  const auto controls = circuit.controls(op), targets = circuit.targets(op);
  step.controls.assign(controls.begin(), controls.end());
  step.targets.assign(targets.begin(), targets.end());
  for (const std::uint32_t letter : circuit.letters(op)) step.letters += static_cast<char>('X' + letter - 1);
  if (op.kind == OpKind::kMeasure) step.clbit = circuit.clbit(op);
  const auto params = circuit.params(op);
  if (op.kind == OpKind::kUnitary) {
    for (std::size_t i = 0; i < params.size(); i += 2) step.matrix.emplace_back(params[i], params[i + 1]);
    return step;
  }
  for (std::size_t i = 0; i < params.size(); ++i) {
    Angle angle = params[i];
    for (const Circuit::OpenTerm& term : circuit.open_terms(op.param_begin + i)) {
      angle.terms.emplace_back(circuit.parameters()[term.parameter], term.factor);
    }
    step.angles.push_back(std::move(angle));
  }
  return step;
}

void add_step(Circuit& circuit, const Step& step) {
  const std::vector<ControlQubit> controls(step.controls.begin(), step.controls.end());
  switch (step.kind) {
    case OpKind::kGate:
      circuit.apply(step.gate, controls, step.targets, step.angles);
      return;
    case OpKind::kUnitary:
      circuit.add_unitary(step.matrix, step.controls, step.targets, false);
      return;
    case OpKind::kPauliRotation:
      if (step.angles.size() != 1) throw UsageError("a Pauli rotation has one angle");
      circuit.add_pauli_rotation(step.angles[0], step.letters, step.targets, step.controls);
      return;
    case OpKind::kMeasure:
    case OpKind::kReset:
      if (step.targets.size() != 1) throw UsageError("a measurement or reset has one qubit");
      step.kind == OpKind::kReset ? circuit.add_reset(step.targets[0])
                                  : circuit.add_measure(step.targets[0], step.clbit);
      return;
    case OpKind::kBarrier:
      circuit.add_barrier(step.targets);
      return;
  }
  throw Error("an operation of a kind that is not known");
}

std::string circuit_bytes(const Circuit& circuit) {
  if (circuit.control() != nullptr || circuit.finish() != nullptr) {
    throw UnsupportedError("a program with classical control is held by its text alone: to_qasm(3)");
  }
  Writer out;
  out.registers(circuit.qregs());
  out.registers(circuit.cregs());
  std::vector<Clbit> initial;
  for (Clbit bit = 0; bit < circuit.clbits(); ++bit) {
    if (circuit.initial(bit)) initial.push_back(bit);
  }
  out.numbers(initial);
  out.number(static_cast<std::uint64_t>(circuit.operations().size()));
  for (const Operation& op : circuit.operations()) {
    write_step(out, step_of(circuit, op));
    out.number(static_cast<std::uint8_t>(op.condition >= 0));
    if (op.condition < 0) continue;
    const Condition& condition = circuit.conditions()[static_cast<std::size_t>(op.condition)];
    out.number(condition.creg);
    out.number(condition.value);
    out.number(static_cast<std::uint8_t>(condition.negated));
    out.numbers(condition.high);
  }
  return out.bytes;
}

Circuit circuit_from_bytes(const std::string& bytes) {
  Reader in(bytes);
  Circuit circuit;
  const auto registers = [&](bool quantum) {
    for (auto count = in.number<std::uint64_t>(); count > 0; --count) {
      const std::string name = in.text();
      const auto size = in.number<std::uint32_t>();
      quantum ? circuit.add_qreg(name, size) : circuit.add_creg(name, size);
    }
  };
  registers(true);
  registers(false);
  for (const Clbit bit : in.numbers<Clbit>()) circuit.set_initial(bit, true);
  for (auto count = in.number<std::uint64_t>(); count > 0; --count) {
    const Step step = read_step(in);
    if (in.number<std::uint8_t>() == 0) {
      add_step(circuit, step);
      continue;
    }
    Condition condition;
    condition.creg = in.number<std::uint32_t>();
    condition.value = in.number<Index>();
    condition.negated = in.number<std::uint8_t>() != 0;
    condition.high = in.numbers<Index>();
    const auto scope = circuit.when(condition);
    add_step(circuit, step);
  }
  if (!in.done()) throw UsageError("there is more behind the bytes of a circuit");
  return circuit;
}

}  // namespace qsim::python
