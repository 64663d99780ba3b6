// The table of names.
#include "qasm3/syntax/names.h"

#include <array>

namespace qsim::qasm3 {
namespace {

constexpr std::array<std::string_view, kReservedWords> kReserved = {
    "",        "OPENQASM", "include", "defcalgrammar", "def",     "cal",        "defcal",   "gate",    "extern",
    "box",     "let",      "break",   "continue",      "if",      "else",       "end",      "return",  "for",
    "while",   "in",       "switch",  "case",          "default", "nop",        "pragma",   "input",   "output",
    "const",   "readonly", "mutable", "qreg",          "qubit",   "creg",       "bool",     "bit",     "int",
    "uint",    "float",    "angle",   "complex",       "array",   "void",       "duration", "stretch", "gphase",
    "inv",     "pow",      "ctrl",    "negctrl",       "#dim",    "durationof", "delay",    "reset",   "measure",
    "barrier", "true",     "false"};

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash ^ hash >> 29;
}

}  // namespace

Names::Names() {
  table_.resize(256);
  texts_.push_back({});
  hashes_.push_back(0);
  for (Name word = 1; word < kReservedWords; ++word) intern(kReserved[word]);
}

Name Names::intern(std::string_view text) {
  const std::uint64_t hash = hash_of(text);
  const std::size_t mask = table_.size() - 1;
  std::size_t at = hash & mask;
  for (; table_[at] != 0; at = (at + 1) & mask) {
    const Name name = table_[at];
    if (hashes_[name] == hash && texts_[name] == text) return name;
  }
  const auto name = static_cast<Name>(texts_.size());
  table_[at] = name;
  texts_.push_back(text);
  hashes_.push_back(hash);
  if (2 * texts_.size() > table_.size()) grow();
  return name;
}

void Names::grow() {
  table_.assign(2 * table_.size(), 0);
  const std::size_t mask = table_.size() - 1;
  for (Name name = 1; name < texts_.size(); ++name) {
    std::size_t at = hashes_[name] & mask;
    while (table_[at] != 0) at = (at + 1) & mask;
    table_[at] = name;
  }
}

}  // namespace qsim::qasm3
