// Words shared by every layer: index, qubit, bit, precision; and what the shared library shows.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>

/// Of the namespace of the public headers; everything else is hidden.
#define QSIM_PUBLIC [[gnu::visibility("default")]]

namespace QSIM_PUBLIC qsim {

using Index = std::uint64_t;           // amplitude index, amplitude count or bit mask over an index
using Qubit = std::uint32_t;           // logical qubit of a circuit; qubit 0 is the least significant
using Clbit = std::uint32_t;           // classical bit; bit 0 of the first declared classical register is 0
using Bit = std::uint8_t;              // position in the physical amplitude index, 0 = least significant
using Complex = std::complex<double>;  // host-side amplitude or matrix entry, whatever the state's precision

constexpr int kMaxQubits = 62;  // largest state that an Index and signed byte counts can address

enum class Precision : std::uint8_t { kSingle, kDouble };

/// Bytes of one complex amplitude: 8 in single, 16 in double precision.
constexpr std::size_t amplitude_bytes(Precision precision) { return precision == Precision::kDouble ? 16 : 8; }

}  // namespace qsim
