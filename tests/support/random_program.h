// Texts that look like programs and documents: most are valid, the others nearly.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace qsim::test {

/// Random choices; the same seed makes the same ones on every machine.
class Choices {
 public:
  explicit Choices(std::uint64_t seed) : random_(seed) {}
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  bool one_in(std::uint64_t bound) { return below(bound) == 0; }
  std::string of(const std::vector<std::string>& list) { return list[below(list.size())]; }

 private:
  std::mt19937_64 random_;
};

/// An OpenQASM 2 program of few qubits over the grammar: registers, gates of the library and defined ones, expressions,
/// broadcasts, measurements, resets, conditions; one in ten has a register of an odd size or includes `include`.
std::string random_program(Choices& choices, const std::string& include);
/// An OpenQASM 3 program of 3 qubits with ifs, loops and blocks that measurements decide; it always ends.
std::string random_branching_program(std::uint64_t seed);
/// `text` with a few bytes, numbers or words of it changed, doubled, moved or cut off.
std::string damaged(std::string text, Choices& choices);

}  // namespace qsim::test
