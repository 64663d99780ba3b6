// Conditions as they are written in OpenQASM, against the classical bits that they are asked about.
#include <gtest/gtest.h>

#include "qsim/circuit.h"
#include "qsim/qasm.h"
#include "runtime/read_out/classical_bits.h"

namespace qsim {
namespace {

// Whether if(c==number) holds for a register of `size` bits in which `ones` are 1.
bool holds(std::uint32_t size, const std::string& number, const std::vector<std::uint32_t>& ones) {
  const Circuit circuit = parse_qasm("qreg q[1]; creg before[3]; creg c[" + std::to_string(size) +
                                     "]; if(c==" + number + ") U(0,0,0) q[0];")
                              .circuit;
  ClassicalBits bits(circuit.clbits());
  for (const std::uint32_t one : ones) bits.set(3 + one, true);
  return condition_holds(circuit.conditions().at(0), bits, circuit.cregs());
}

TEST(QasmConditions, CompareTheRegisterAsAnUnsignedNumber) {
  EXPECT_TRUE(holds(3, "5", {0, 2}));
  EXPECT_FALSE(holds(3, "5", {0}));
  EXPECT_FALSE(holds(3, "13", {0, 2}));
  EXPECT_TRUE(holds(64, "9223372036854775809", {0, 63}));
  EXPECT_TRUE(holds(65, "18446744073709551617", {0, 64}));
  EXPECT_FALSE(holds(65, "1", {0, 64}));
  EXPECT_FALSE(holds(65, "18446744073709551617", {0}));
  EXPECT_TRUE(holds(151, "1427247692705959881058285969449495136382746624", {150}));
}

TEST(QasmConditions, ANumberWiderThanTheRegisterNeverHolds) {
  EXPECT_FALSE(holds(1, "18446744073709551617", {0}));
  EXPECT_FALSE(holds(63, "18446744073709551617", {0}));
  EXPECT_FALSE(holds(64, "18446744073709551617", {0}));                     // 2^64 + 1
  EXPECT_FALSE(holds(65, "36893488147419103233", {0}));                     // 2^65 + 1
  EXPECT_FALSE(holds(65, "340282366920938463463374607431768211457", {0}));  // 2^128 + 1
  EXPECT_FALSE(holds(128, "340282366920938463463374607431768211457", {0}));
}

}  // namespace
}  // namespace qsim
