// Conditions, terminal measurements and variables.
#include "runtime/read_out/classical_bits.h"

#include <bit>
#include <map>

#include "qsim/error.h"

namespace qsim {

ClassicalBits initial_bits(const Circuit& circuit) {
  ClassicalBits bits(circuit.clbits());
  for (Clbit bit = 0; bit < circuit.clbits(); ++bit) bits.set(bit, circuit.initial(bit));
  return bits;
}

bool condition_holds(const Condition& condition, const ClassicalBits& bits, std::span<const Register> registers) {
  const Register& creg = registers[condition.creg];
  bool equal = true;
  for (std::uint32_t bit = 0; bit < creg.size; ++bit) {
    const std::size_t word = bit / 64;
    const Index bits_of_word = word == 0                       ? condition.value
                               : word <= condition.high.size() ? condition.high[word - 1]
                                                               : 0;
    const bool wanted = test_bit(bits_of_word, bit % 64);
    equal = equal && bits[creg.first + bit] == wanted;
  }
  if (creg.size < 64 && condition.value >> creg.size != 0) equal = false;
  // A number wider than its register never holds.
  for (std::size_t word = 0; word < condition.high.size(); ++word) {
    const std::size_t first = 64 * (word + 1);
    const Index beyond = first >= creg.size       ? condition.high[word]
                         : creg.size - first < 64 ? condition.high[word] >> (creg.size - first)
                                                  : 0;
    equal = equal && beyond == 0;
  }
  return equal != condition.negated;
}

TerminalMeasurements::TerminalMeasurements(std::span<const std::pair<Qubit, Clbit>> measures, std::size_t clbits) {
  std::vector<std::int64_t> qubit_of(clbits, -1);
  for (const auto& [qubit, clbit] : measures) qubit_of[clbit] = qubit;
  for (std::size_t clbit = 0; clbit < clbits; ++clbit) {
    if (qubit_of[clbit] < 0) continue;
    const auto qubit = static_cast<Qubit>(qubit_of[clbit]);
    kept_.emplace_back(qubit, static_cast<Clbit>(clbit));
    mask_ |= bit_mask(qubit);
  }
  std::map<std::pair<std::size_t, int>, std::uint64_t> bits_of;  // by word and turn
  for (const auto& [qubit, clbit] : kept_) {
    const int turn = static_cast<int>((clbit + 64 - qubit) % 64);
    bits_of[{clbit / 64, turn}] |= bit_mask(clbit % 64);
  }
  for (const auto& [place, bits] : bits_of) moves_.push_back({place.first, place.second, bits});
}

void TerminalMeasurements::write(Index logical, ClassicalBits& bits) const {
  for (const Move& move : moves_) {
    std::uint64_t& word = bits.words()[move.word];
    word = (word & ~move.bits) | (std::rotl(logical, move.turn) & move.bits);
  }
}

std::size_t do_classical(const Control& control, const FlowStep& step, std::size_t place, Variables& variables) {
  try {
    return run_classical(control, step, place, variables);
  } catch (const ArithmeticFault& fault) {
    throw ParseError("line " + std::to_string(step.line) + ": " + fault.what(), {"", step.line, 0});
  }
}

VariableValues VariableReader::read(const ClassicalBits& bits, const Variables& memory) const {
  const Variables variables = circuit_.control() != nullptr ? memory : finished(bits);
  VariableValues values;
  for (const FlowOutput& output : outputs_) {
    for (const Scalar& value : output_values(output, variables)) values.push_back(value);
  }
  return values;
}

/// The variables once the circuit's classical end has run.
Variables VariableReader::finished(const ClassicalBits& bits) const {
  const Finish& finish = *circuit_.finish();
  const Control& control = finish.control;
  Variables variables(control.variables);
  for (std::uint32_t i = 0; i < control.variables.size(); ++i) {
    const std::optional<Clbit> bit = finish.bit_of[i];
    if (bit) variables.set(i, make_bit(bits[*bit]));
  }
  std::uint64_t taken = 0;
  for (std::size_t place = 0; place < control.steps.size();) {
    const FlowStep& step = control.steps[place];
    place = do_classical(control, step, place, variables);
    if (++taken <= kMaxClassicalSteps) continue;
    throw UnsupportedError("line " + std::to_string(step.line) + ": more than " + std::to_string(kMaxClassicalSteps) +
                               " classical steps behind the last operation",
                           {"", step.line, 0});
  }
  return variables;
}

}  // namespace qsim
