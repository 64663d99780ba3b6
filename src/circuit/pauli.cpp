// Pauli sums as text: sparse ("Z0 X3", with coefficients joined by +) or dense ("IZX", qubit 0 right-most).
#include "qsim/pauli.h"

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <sstream>

#include "base/bits.h"
#include "base/file/files.h"
#include "base/text.h"
#include "circuit/pauli_formats.h"
#include "qsim/error.h"

namespace qsim {
namespace {

using Words = std::vector<std::string>;

Words split_words(const std::string& text) {
  Words words;
  std::string word;
  for (const char c : text) {
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      if (!word.empty()) words.push_back(std::move(word));
      word.clear();
    } else {
      word += c;
    }
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

constexpr const char* kHint =
    "write \"Z0 X3\", \"0.5 Z0 Z1 + -1 X2\" or a dense string such as \"IZX\" (qubit 0 right-most)";

/// What is wrong, and the words that it is about: they are shown where they came from the command line, and not where
/// they came from a file, which may be one that nobody should read.
struct Misread {
  std::string what, words;
};
[[noreturn]] void fail(const std::string& what, const std::string& words = "") { throw Misread{what, words}; }

/// Observables have real coefficients.
double real_part(std::pair<double, double> number, const std::string& word = "") {
  if (!std::isfinite(number.first) || !std::isfinite(number.second)) fail("a coefficient is not finite", word);
  if (number.second != 0) fail("a coefficient has an imaginary part, and an observable has real ones", word);
  return number.first;
}

std::optional<double> parse_number(const std::string& word) {
  const std::optional<std::pair<double, double>> number = parse_python_complex(word);
  if (!number) return std::nullopt;
  return real_part(*number, word);
}

bool is_letter(char c) { return c == 'I' || c == 'X' || c == 'Y' || c == 'Z'; }

void place(PauliString& string, char letter, Qubit qubit) {
  const Index bit = bit_mask(qubit);
  if (letter == 'X' || letter == 'Y') string.x |= bit;
  if (letter == 'Z' || letter == 'Y') string.z |= bit;
}

bool is_dense(const std::string& word) { return word.find_first_not_of("IXYZ") == std::string::npos; }

PauliString parse_dense(const std::string& word, std::uint32_t qubits) {
  if (word.size() != qubits) {
    fail("a dense Pauli string has " + std::to_string(word.size()) + " letters for " + std::to_string(qubits) +
             " qubits",
         word);
  }
  PauliString string;
  for (std::size_t i = 0; i < word.size(); ++i) place(string, word[i], static_cast<Qubit>(word.size() - 1 - i));
  return string;
}

PauliString parse_sparse(const Words& words, std::uint32_t qubits) {
  PauliString string;
  Index seen = 0;
  for (const std::string& word : words) {
    const std::string digits = word.substr(1);
    if (!is_letter(word[0]) || digits.empty() || digits.size() > 9 ||
        digits.find_first_not_of("0123456789") != std::string::npos) {
      fail("not a Pauli letter with a qubit", word);
    }
    const unsigned long qubit = std::strtoul(digits.c_str(), nullptr, 10);
    if (qubit >= qubits) {
      fail("a qubit that is not there: the circuit has " + std::to_string(qubits), word);
    }
    if (test_bit(seen, static_cast<unsigned>(qubit))) fail("a qubit is named twice in one Pauli string", word);
    seen |= bit_mask(static_cast<unsigned>(qubit));
    place(string, word[0], static_cast<Qubit>(qubit));
  }
  return string;
}

PauliTerm parse_term(Words words, std::uint32_t qubits, double sign) {
  PauliTerm term;
  term.coefficient = sign;
  bool has_number = false;
  if (!words.empty()) {
    if (const std::optional<double> number = parse_number(words.front())) {
      term.coefficient *= *number;
      has_number = true;
      words.erase(words.begin());
      if (words.empty()) return term;  // a constant
    }
  }
  if (has_number && words.front() == "*") words.erase(words.begin());
  if (words.empty()) fail("a term without a Pauli string");
  if (words.size() == 1 && words[0] == "I") return term;  // the identity, on any number of qubits
  term.pauli = words.size() == 1 && is_dense(words[0]) ? parse_dense(words[0], qubits) : parse_sparse(words, qubits);
  return term;
}

/// A term of another program's text.
PauliTerm term_of(const ForeignTerm& foreign, std::uint32_t qubits) {
  PauliTerm term;
  term.coefficient = real_part(foreign.coefficient);
  const Words words = split_words(foreign.pauli);
  if (words.empty() || (words.size() == 1 && words[0] == "I")) return term;
  term.pauli = words.size() == 1 && is_dense(words[0]) ? parse_dense(words[0], qubits) : parse_sparse(words, qubits);
  return term;
}

/// The terms of a text that another program has written, empty where it is none.
std::vector<PauliTerm> foreign_terms(const std::string& text, std::uint32_t qubits) {
  std::vector<PauliTerm> terms;
  const auto foreign = foreign_pauli_terms(text);
  if (foreign) {
    if (foreign->empty()) fail("an empty Pauli sum");
    for (const ForeignTerm& one : *foreign) terms.push_back(term_of(one, qubits));
  }
  return terms;
}

/// A number alone is more likely a mistake than a sum.
bool has_letters(const std::string& text) { return text.find_first_of("IXYZ") != std::string::npos; }

std::vector<PauliTerm> parse_terms(const std::string& text, std::uint32_t qubits) {
  std::vector<PauliTerm> terms;
  Words words;
  double sign = 1;
  bool joined = false;
  for (std::string& word : split_words(text)) {
    const bool join = word == "+" || word == "-";
    if (!join) {
      words.push_back(std::move(word));
      continue;
    }
    if (words.empty() && (joined || word == "+")) fail("a \"" + word + "\" that joins nothing");
    if (!words.empty()) terms.push_back(parse_term(std::move(words), qubits, sign));
    words.clear();
    sign = word == "-" ? -1.0 : 1.0;
    joined = true;
  }
  terms.push_back(parse_term(std::move(words), qubits, sign));
  return terms;
}

}  // namespace

PauliSum parse_pauli_sum(const std::string& text, std::uint32_t qubits) {
  try {
    if (split_words(text).empty()) {
      if (qubits == 0) return {text, {PauliTerm{}}};  // the dense string of no letters
      fail("an empty Pauli sum");
    }
    std::vector<PauliTerm> terms = foreign_terms(text, qubits);
    if (!terms.empty()) return {text, std::move(terms)};
    if (!has_letters(text)) fail("a sum without a Pauli string");
    return {text, parse_terms(text, qubits)};
  } catch (const Misread& error) {
    throw UsageError(error.words.empty() ? error.what : "'" + escape_text(error.words) + "': " + error.what, kHint);
  }
}

PauliSum read_pauli_file(const std::string& path, std::uint32_t qubits) {
  constexpr std::uint64_t kLargestFile = std::uint64_t{256} << 20;
  const std::string text = read_file(path, kLargestFile);
  PauliSum sum{path, {}};
  try {
    sum.terms = foreign_terms(text, qubits);
  } catch (const Misread& error) {
    throw UsageError(escape_text(path) + ": " + error.what, kHint);
  } catch (const UsageError& error) {
    throw UsageError(escape_text(path) + ": " + error.what(), error.hint());
  }
  if (!sum.terms.empty()) return sum;
  std::istringstream file(text);
  std::size_t number = 0;
  bool letters = false;
  for (std::string line; std::getline(file, line);) {
    ++number;
    line = line.substr(0, line.find('#'));
    const Words words = split_words(line);
    if (words.empty()) continue;
    letters = letters || has_letters(line);
    try {
      sum.terms.push_back(parse_term(words, qubits, 1));
    } catch (const Misread& error) {
      throw UsageError(escape_text(path) + ":" + std::to_string(number) + ": " + error.what, kHint);
    }
  }
  if (sum.terms.empty() || !letters) throw UsageError(escape_text(path) + " has no Pauli terms");
  return sum;
}

std::string pauli_text(const PauliString& pauli) {
  std::string text;
  for_each_bit(pauli.x | pauli.z, [&](unsigned qubit) {
    if (!text.empty()) text += ' ';
    const bool x = test_bit(pauli.x, qubit), z = test_bit(pauli.z, qubit);
    text += x && z ? 'Y' : x ? 'X' : 'Z';
    text += std::to_string(qubit);
  });
  return text.empty() ? "I" : text;
}

}  // namespace qsim
