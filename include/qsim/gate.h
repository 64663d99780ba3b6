// The gates. Controlled gates are a base gate plus control qubits.
#pragma once

#include <cstdint>
#include <vector>

#include "qsim/types.h"

namespace qsim {

/// Base gates. `cx`, `ccx`, `c3x`, `c4x` are kX with 1..4 controls; `cu3` is kU with one control; and so on.
enum class Gate : std::uint8_t {
  kId,
  kX,
  kY,
  kZ,
  kH,
  kS,
  kSdg,
  kT,
  kTdg,
  kSx,
  kSxdg,
  kRx,
  kRy,
  kRz,
  kPhase,
  kU2,
  kU,
  kU0,
  kUPhase,  // e^{i gamma} U(theta, phi, lambda): the base of OpenQASM's cu(theta, phi, lambda, gamma)
  kSwap,
  kRxx,
  kRyy,
  kRzz,
  kRccx,
  kRc3x,
  kRc3xdg,  // inverse of kRc3x; OpenQASM has no name for it
};

/// Square matrix of order 2^targets, row-major. Bit j of a row or column index is the gate's j-th target.
using Matrix = std::vector<Complex>;

}  // namespace qsim
