#include "support/random_program.h"

#include <algorithm>

namespace qsim::test {
namespace {

struct Library {
  const char* name;
  unsigned angles, qubits;
};
constexpr Library kGates[] = {{"h", 0, 1},   {"x", 0, 1},   {"sdg", 0, 1}, {"t", 0, 1},   {"id", 0, 1},
                              {"rx", 1, 1},  {"rz", 1, 1},  {"u1", 1, 1},  {"u2", 2, 1},  {"u3", 3, 1},
                              {"U", 3, 1},   {"cx", 0, 2},  {"CX", 0, 2},  {"cz", 0, 2},  {"swap", 0, 2},
                              {"rzz", 1, 2}, {"crz", 1, 2}, {"cu3", 3, 2}, {"ccx", 0, 3}, {"cswap", 0, 3},
                              {"c3x", 0, 4}, {"rccx", 0, 3}};

std::string expression(Choices& choices, const std::vector<std::string>& names, unsigned depth) {
  if (depth == 0 || choices.one_in(3)) {
    if (!names.empty() && choices.one_in(2)) return choices.of(names);
    return choices.of({"pi", "0", "1", "0.5", "-pi/2", "1e-17", "3.141592653589793", "1e15", "2", "0.1"});
  }
  const std::string left = expression(choices, names, depth - 1);
  if (choices.one_in(4)) return choices.of({"sin", "cos", "tan", "exp", "ln", "sqrt"}) + "(" + left + ")";
  if (choices.one_in(5)) return "-(" + left + ")";
  return "(" + left + choices.of({"+", "-", "*", "/", "^"}) + expression(choices, names, depth - 1) + ")";
}

class Writer {
 public:
  Writer(Choices& choices, const std::string& include) : choices_(choices), include_(include) {}

  std::string text() {
    text_ = choices_.one_in(20) ? "" : "OPENQASM 2.0;\n";
    text_ += choices_.one_in(20) ? "" : "include \"qelib1.inc\";\n";
    if (choices_.one_in(10)) text_ += "include \"" + include_ + "\";\n";
    registers();
    const std::uint64_t definitions = choices_.below(3), statements = choices_.below(12);
    for (std::uint64_t i = 0; i < definitions; ++i) definition(i);
    for (std::uint64_t i = 0; i < statements; ++i) statement();
    if (choices_.one_in(2)) text_ += "measure " + quantum_[0] + " -> c0;\n";
    return text_;
  }

 private:
  void registers() {
    const std::uint64_t count = 1 + choices_.below(2);
    for (std::uint64_t i = 0; i < count; ++i) {
      size_[i] = 1 + choices_.below(5);
      const std::string size =
          choices_.one_in(60) ? choices_.of({"0", "63", "1048576", "4294967296", "007"}) : std::to_string(size_[i]);
      quantum_.push_back("q" + std::to_string(i));
      text_ += "qreg " + quantum_.back() + "[" + size + "];\n";
    }
    text_ += "creg c0[" + std::to_string(size_[0]) + "];\ncreg c1[3];\n";
  }

  std::string angles(unsigned count, const std::vector<std::string>& names) {
    std::string list;
    for (unsigned i = 0; i < count; ++i) list += (i == 0 ? "" : ",") + expression(choices_, names, 3);
    return count == 0 ? "" : "(" + list + ")";
  }

  void definition(std::uint64_t number) {
    const std::string name = "g" + std::to_string(number);
    text_ += "gate " + name + "(a,b) x,y,z {";
    const std::uint64_t calls = choices_.below(4);
    for (std::uint64_t i = 0; i < calls; ++i) {
      const Library& gate = kGates[choices_.below(std::size(kGates))];
      if (gate.qubits > 3) continue;
      std::vector<std::string> qubits{"x", "y", "z"};
      std::rotate(qubits.begin(), qubits.begin() + static_cast<std::ptrdiff_t>(choices_.below(3)), qubits.end());
      std::string list;
      for (unsigned q = 0; q < gate.qubits; ++q) list += (q == 0 ? " " : ",") + qubits[q];
      text_ += " " + std::string(gate.name) + angles(gate.angles, {"a", "b"}) + list + ";";
    }
    if (number > 0 && choices_.one_in(2)) text_ += " g0(b,a) z,x,y;";
    text_ += " }\n";
    defined_ = true;
  }

  std::string operand() {
    const std::uint64_t which = choices_.below(quantum_.size());
    if (choices_.one_in(8)) return quantum_[which];
    const std::uint64_t beyond = choices_.one_in(60) ? 1 : 0;
    return quantum_[which] + "[" + std::to_string(choices_.below(size_[which] + beyond)) + "]";
  }
  std::string operands(unsigned count) {
    std::vector<std::string> used;
    for (int tries = 0; used.size() < count && tries < 20; ++tries) {
      const std::string next = operand();
      if (std::find(used.begin(), used.end(), next) == used.end()) used.push_back(next);
    }
    std::string list;
    for (const std::string& one : used) list += (list.empty() ? "" : ",") + one;
    return list;
  }

  void statement() {
    if (choices_.one_in(8)) text_ += "if(c1==" + std::to_string(choices_.below(9)) + ") ";
    switch (choices_.below(12)) {
      case 0:
        text_ += "measure " + quantum_[0] + "[0] -> c1[" + std::to_string(choices_.below(3)) + "];\n";
        return;
      case 1:
        text_ += "reset " + operand() + ";\n";
        return;
      case 2:
        text_ += "barrier " + operands(2) + ";\n";
        return;
      case 3:
        if (defined_) {
          text_ += "g0" + angles(2, {}) + " " + operands(3) + ";\n";
          return;
        }
        [[fallthrough]];
      default: {
        const Library& gate = kGates[choices_.below(std::size(kGates))];
        text_ += gate.name + angles(gate.angles, {}) + " " + operands(gate.qubits) + ";\n";
      }
    }
  }

  Choices& choices_;
  const std::string include_;
  std::string text_;
  std::vector<std::string> quantum_;
  std::uint64_t size_[2] = {1, 1};
  bool defined_ = false;
};

constexpr std::uint64_t kQubits = 3;

/// Writes programs of OpenQASM 3 with branches.
class BranchingProgram {
 public:
  explicit BranchingProgram(std::uint64_t seed) : choices_(seed) {}

  std::string text() {
    std::string text = "OPENQASM 3.0;\ninclude \"stdgates.inc\";\nqubit[3] q; bit[2] c; uint[3] n = 0; bit r;\n";
    const std::uint64_t rounds = 1 + choices_.below(4);
    text += "for int k in [1:" + std::to_string(rounds) + "] {\n" + block(3, 4) + "}\n";
    return text + block(2, 3) + (choices_.one_in(2) ? "r = measure q[0];\n" : "");
  }

 private:
  std::string qubit() { return "q[" + std::to_string(choices_.below(kQubits)) + "]"; }
  std::string angle() { return choices_.of({"0.3", "pi/2", "pi", "-0.7", "2.1", "1e-9"}); }

  std::string gate() {
    if (choices_.one_in(3)) {
      const std::uint64_t a = choices_.below(kQubits), b = (a + 1 + choices_.below(kQubits - 1)) % kQubits;
      return choices_.of({"cx", "cz", "swap"}) + " q[" + std::to_string(a) + "], q[" + std::to_string(b) + "];\n";
    }
    if (choices_.one_in(2)) return choices_.of({"rx", "ry", "rz"}) + "(" + angle() + ") " + qubit() + ";\n";
    return choices_.of({"h", "x", "z", "s", "t"}) + " " + qubit() + ";\n";
  }

  std::string condition() {
    return choices_.of({"c[0]", "c[1]", "c == 2", "c[0] ^ c[1]", "n > 1", "n == 3", "!c[0] && c[1]"});
  }

  std::string statement(std::uint64_t depth) {
    const std::uint64_t kind = choices_.below(depth == 0 ? 6 : 10);
    if (kind < 3) return gate();
    if (kind == 3) return "c[" + std::to_string(choices_.below(2)) + "] = measure " + qubit() + ";\n";
    if (kind == 4) return "reset " + qubit() + ";\n";
    if (kind == 5) return choices_.of({"n += 1;\n", "n = 0;\n", "c = 1;\n", "c[0] = c[1];\n"});
    if (kind == 6)
      return "if (" + condition() + ") {\n" + block(depth - 1, 2) + "} else {\n" + block(depth - 1, 2) + "}\n";
    if (kind == 7) {
      // A loop that ends for certain, since n counts on.
      return "n = 0; while (n < " + std::to_string(1 + choices_.below(3)) + ") {\n" + gate() +
             "n += 1; c[1] = measure " + qubit() + "; if (c[1]) " + choices_.of({"n += 2;", "break;", "continue;"}) +
             " }\n";
    }
    const std::string local = "m" + std::to_string(number_++), where = qubit();
    return "{ bit " + local + " = measure " + where + ";\n" + block(depth - 1, 2) + "if (" + local + ") { " + gate() +
           "}\n" + (choices_.one_in(2) ? "reset " + where + ";\n" : "") + "}\n";
  }

  std::string block(std::uint64_t depth, std::uint64_t most) {
    std::string text;
    const std::uint64_t statements = 1 + choices_.below(most);
    for (std::uint64_t i = 0; i < statements; ++i) text += statement(depth);
    return text;
  }

  Choices choices_;
  std::uint64_t number_ = 0;
};

}  // namespace

std::string random_program(Choices& choices, const std::string& include) { return Writer(choices, include).text(); }

std::string damaged(std::string text, Choices& choices) {
  const std::vector<std::string> pieces{
      "0",    "-1", "1e308", "1e999", "18446744073709551616", "null", "[]", "{}", "\"", "\n", ";", "((((", "\x1b[2J",
      "\xff", "/*", "nan",   "pi",    std::string(1, '\0')};
  const std::uint64_t changes = 1 + choices.below(3);
  for (std::uint64_t i = 0; i < changes && !text.empty(); ++i) {
    const std::size_t at = choices.below(text.size()),
                      length = std::min<std::size_t>(choices.below(12), text.size() - at);
    switch (choices.below(6)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, choices.of(pieces));
        break;
      case 2:
        text.insert(choices.below(text.size()), text.substr(at, length));
        break;
      case 3:
        text[at] = static_cast<char>(choices.below(256));
        break;
      case 4: {  // a number for another thing
        const std::size_t digit = text.find_first_of("0123456789", at);
        if (digit == std::string::npos) break;
        const std::size_t end = std::min(text.find_first_not_of("0123456789.eE+-", digit), text.size());
        text.replace(digit, end - digit, choices.of(pieces));
        break;
      }
      default:
        if (choices.one_in(4)) text.resize(at);
    }
  }
  return text;
}

std::string random_branching_program(std::uint64_t seed) { return BranchingProgram(seed).text(); }

}  // namespace qsim::test
