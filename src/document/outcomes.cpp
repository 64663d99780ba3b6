#include "document/outcomes.h"

namespace qsim {

std::uint32_t shown_bits(std::span<const Register> registers) {
  std::uint32_t bits = 0;
  for (const Register& each : registers) bits += each.name.empty() ? 0 : each.size;
  return bits;
}

void append_bits(std::string& text, OutcomeWords words, std::span<const Register> registers) {
  bool first = true;
  for (std::size_t r = registers.size(); r-- > 0;) {
    const Register& each = registers[r];
    if (each.name.empty() || each.size == 0) continue;
    if (!first) text += ' ';
    first = false;
    text.resize(text.size() + each.size);
    char* const end = text.data() + text.size();
    for (std::uint32_t bit = 0; bit < each.size; ++bit) {
      const std::uint32_t place = each.first + bit;
      end[-1 - static_cast<std::ptrdiff_t>(bit)] = static_cast<char>('0' + (words[place / 64] >> place % 64 & 1));
    }
  }
}

std::string bits_text(OutcomeWords words, std::span<const Register> registers) {
  std::string text;
  append_bits(text, words, registers);
  return text;
}

std::string bit_string(Index index, std::uint32_t qubits) {
  const Register all{"q", 0, qubits};
  return bits_text({&index, 1}, {&all, 1});
}

}  // namespace qsim
