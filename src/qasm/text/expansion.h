// What a program may expand to, for readers to compare with before any of it is made.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bits.h"
#include "qasm/text/source.h"
#include "qsim/types.h"

namespace qsim::qasm {

/// Qubits that may be declared: far beyond any state, and still few enough to keep track of. Classical bits of OpenQASM
/// 2 as well.
constexpr std::uint64_t kMaxDeclared = std::uint64_t{1} << 20;

inline Failure too_many_qubits(std::uint32_t offset) {
  return {offset,
          "more than " + std::to_string(kMaxDeclared) + " qubits in all: no machine holds such a state, at most " +
              std::to_string(kMaxQubits) + " qubits can be addressed",
          "", ExitCode::kCapacity};
}

/// Operations, and steps on the way to them.
class Expansion {
 public:
  /// Of a program of so many qubits that may have `limit` operations. One that no machine can hold is read to say what
  /// is wrong with it, not to be kept.
  Expansion(std::uint64_t limit, std::uint64_t qubits)
      : limit_(limit), qubits_(qubits), most_(too_large() ? std::min(kMostWhereTooLarge, limit) : limit) {}

  bool holds(std::uint64_t operations, std::uint64_t steps) const {
    return operations <= most_ && steps <= std::min(kMaxSteps, saturating_multiply(most_, 8));
  }
  /// Of a program that it does not hold. `work` is what else takes steps.
  Failure failure(std::uint32_t offset, std::string_view work) const {
    if (too_large()) {
      return {offset,
              std::to_string(qubits_) + " qubits do not fit any machine: at most " + std::to_string(kMaxQubits) +
                  " can be addressed",
              "", ExitCode::kCapacity, true};
    }
    return {offset,
            "the program expands to more than " + std::to_string(limit_) + " operations (or to " + std::string(work) +
                " of that much work)",
            "", ExitCode::kUnsupported, true};
  }

 private:
  static constexpr std::uint64_t kMaxSteps = 0xf0000000u;  // also bounds the 32-bit positions of operands
  static constexpr std::uint64_t kMostWhereTooLarge = std::uint64_t{1} << 22;

  bool too_large() const { return qubits_ > static_cast<std::uint64_t>(kMaxQubits); }

  std::uint64_t limit_, qubits_, most_;
};

}  // namespace qsim::qasm
