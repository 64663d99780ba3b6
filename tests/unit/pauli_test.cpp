// Pauli sums as text.
#include "qsim/pauli.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "qsim/error.h"

namespace qsim {
namespace {

TEST(PauliSum, ReadsSparseStringsWithCoefficients) {
  const PauliSum sum = parse_pauli_sum("0.5 Z0 Z1 + -1 X2 - 2 Y3", 4);
  ASSERT_EQ(sum.terms.size(), 3u);
  EXPECT_EQ(sum.terms[0].coefficient, 0.5);
  EXPECT_EQ(sum.terms[0].pauli, (PauliString{0, 3}));
  EXPECT_EQ(sum.terms[1].coefficient, -1);
  EXPECT_EQ(sum.terms[1].pauli, (PauliString{4, 0}));
  EXPECT_EQ(sum.terms[2].coefficient, -2);
  EXPECT_EQ(sum.terms[2].pauli, (PauliString{8, 8}));
}

TEST(PauliSum, ReadsDenseStringsWithQubitZeroRightmost) {
  EXPECT_EQ(parse_pauli_sum("IZX", 3).terms[0].pauli, (PauliString{1, 2}));
  EXPECT_EQ(parse_pauli_sum("3 YII", 3).terms[0].pauli, (PauliString{4, 4}));
  EXPECT_EQ(parse_pauli_sum("I", 5).terms[0].pauli, (PauliString{0, 0}));
  EXPECT_EQ(parse_pauli_sum("X", 1).terms[0].pauli, (PauliString{1, 0}));
}

TEST(PauliSum, RefusesWhatItCannotMean) {
  for (const char* text : {"", "Z", "ZZZZ", "Z4", "Z0 X0", "Q1", "0.5", "Z0 +", "+ Z0", "Z0 + + Z1", "nan Z0",
                           "1e999 Z0", "Z-1", "Z0.5", "Z99999999999999999999", "Z0X1"}) {
    EXPECT_THROW(parse_pauli_sum(text, 3), UsageError) << '"' << text << '"';
  }
}

TEST(PauliSum, IsWrittenAsItIsRead) {
  for (const char* text : {"Z0 X3", "Y1", "I", "X0 Y1 Z2"}) {
    EXPECT_EQ(pauli_text(parse_pauli_sum(text, 4).terms[0].pauli), text);
  }
}

TEST(PauliFile, NamesTheLineOfAnError) {
  const std::filesystem::path path = std::filesystem::temp_directory_path() / "qsim_paulis.txt";
  std::ofstream(path) << "# energy\n0.5  Z0 Z1\n\n-1.5 XII  # dense\n";
  const PauliSum sum = read_pauli_file(path.string(), 3);
  ASSERT_EQ(sum.terms.size(), 2u);
  EXPECT_EQ(sum.terms[1].coefficient, -1.5);
  EXPECT_EQ(sum.terms[1].pauli, (PauliString{4, 0}));
  std::ofstream(path) << "1 Z0\n2 Z9\n";
  try {
    read_pauli_file(path.string(), 3);
    FAIL() << "no error";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find(":2:"), std::string::npos) << error.what();
  }
  std::filesystem::remove(path);
  EXPECT_THROW(read_pauli_file(path.string(), 3), FileError);
}

}  // namespace
}  // namespace qsim
