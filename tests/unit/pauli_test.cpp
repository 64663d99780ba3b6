// Pauli sums as text.
#include "qsim/pauli.h"

#include <fmt/format.h>
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

/// "coefficient pauli" of every term, one a line.
std::string terms_text(const PauliSum& sum) {
  std::string text;
  for (const PauliTerm& term : sum.terms) text += fmt::format("{} {}\n", term.coefficient, pauli_text(term.pauli));
  return text;
}

TEST(PauliSum, ReadsConstantsAndComplexCoefficientsThatAreReal) {
  EXPECT_EQ(terms_text(parse_pauli_sum("0.5 Z0 - 2 + (0.25+0j) X1 + -1e-3-0j Y2 + 3", 3)),
            "0.5 Z0\n-2 I\n0.25 X1\n-0.001 Y2\n3 I\n");
  for (const char* text : {"(0.5+0.1j) Z0", "0.5j Z0", "1e999j Z0", "(0.5+0j Z0", "0.5+0i Z0", "3", "1 + 2", "* Z0"}) {
    EXPECT_THROW(parse_pauli_sum(text, 3), UsageError) << text;
  }
}

TEST(PauliSum, ReadsOpenFermionsText) {
  const std::string text =
      "(-0.8126100000000005+0j) [] +\n(0.17120125+0j) [Z0] +\n0.04532175 [X0 Y1 Y2 X3] +\n-1e-05 [Z3]";
  EXPECT_EQ(terms_text(parse_pauli_sum(text, 4)),
            "-0.8126100000000005 I\n0.17120125 Z0\n0.04532175 X0 Y1 Y2 X3\n-1e-05 Z3\n");
  EXPECT_EQ(terms_text(parse_pauli_sum("1.0 [X0]", 1)), "1 X0\n");
  for (const char* wrong : {"1j [X0]", "(1+0.5j) [X0]", "1.0 [X9]", "1.0 [X0", "1.0 [X0] 2.0 [Z0]", "[X0]", "x [X0]",
                            "1.0 [X0] +", "1.0 [X0 X0]", "nan [X0]", "1.0 [0^ 1]"}) {
    EXPECT_THROW(parse_pauli_sum(wrong, 4), UsageError) << wrong;
  }
}

TEST(PauliSum, ReadsQiskitsTexts) {
  const std::string text =
      "SparsePauliOp(['II', 'IZ', 'XY'],\n              coeffs=[-1.05237325+0.j,  0.3979374 +0.j, -0.01128010-0.j])";
  EXPECT_EQ(terms_text(parse_pauli_sum(text, 2)), "-1.05237325 I\n0.3979374 Z0\n-0.0112801 Y0 X1\n");
  EXPECT_EQ(terms_text(parse_pauli_sum("[('IZ', (0.5+0j)), ('XX', 0.25), ('II', np.complex128(1+0j))]", 2)),
            "0.5 Z0\n0.25 X0 X1\n1 I\n");
  for (const char* wrong :
       {"SparsePauliOp(['IZ'], coeffs=[1.+0.j, 2.+0.j])", "SparsePauliOp(['IZ', 'ZZ'], coeffs=[1.+0.j])",
        "SparsePauliOp(['IZ', ..., 'ZZ'], coeffs=[1.+0.j, ..., 1.+0.j])", "SparsePauliOp(['IZI'], coeffs=[1.+0.j])",
        "SparsePauliOp(['IZ'], coeffs=[1.+1.j])", "SparsePauliOp(['IZ'], coeffs=[ParameterExpression(a)])",
        "SparsePauliOp(['IZ'], coeffs=[1.+0.j]) x", "SparsePauliOp(['IZ'", "[('IZ', 1)", "[('IZ', 1) ('ZZ', 1)]"}) {
    EXPECT_THROW(parse_pauli_sum(wrong, 2), UsageError) << wrong;
  }
}

TEST(PauliSum, ReadsJson) {
  for (const char* text : {R"([["IZ", 0.5], ["XX", [0.25, 0]]])", R"({"IZ": 0.5, "XX": "0.25+0j"})",
                           R"({"paulis": ["IZ", "XX"], "coeffs": [0.5, {"real": 0.25, "imag": 0}]})",
                           R"([{"pauli": "IZ", "coefficient": 0.5},
            {"label": "XX", "coeff": {"__type__": "complex", "__value__": [0.25, 0]}}])",
                           R"({"terms": [["Z0", 0.5], ["X0 X1", 0.25]]})"}) {
    EXPECT_EQ(terms_text(parse_pauli_sum(text, 2)), "0.5 Z0\n0.25 X0 X1\n") << text;
  }
  for (const char* wrong : {R"([["IZ", [0.5, 0.1]]])", R"([["IZ"]])", R"([["IZQ", 1]])", R"({"IZ": 0.5, "IZ": 0.5})",
                            "[]", "{}", "[", R"({"paulis": ["IZ"], "coeffs": [1, 2]})", R"([["IZ", null]])",
                            R"({"terms": {"terms": []}})", R"([["IZ", 1e999]])"}) {
    EXPECT_THROW(parse_pauli_sum(wrong, 2), UsageError) << wrong;
  }
}

TEST(PauliFile, OfAnotherProgramIsNotShownInMessages) {
  const std::filesystem::path path = std::filesystem::temp_directory_path() / "qsim_foreign_paulis.txt";
  for (const char* text : {"[top secret]", R"({"top": secret})", R"({"secret": "secret"})", "SparsePauliOp(secret)",
                           "(secret) [X0]", "1 [secret]"}) {
    std::ofstream(path) << text;
    try {
      read_pauli_file(path.string(), 3);
      FAIL() << text;
    } catch (const UsageError& error) {
      EXPECT_EQ((error.what() + error.hint()).find("secret"), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("qsim_foreign_paulis.txt"), std::string::npos) << error.what();
    }
  }
  std::ofstream(path) << "# H2 [Hartree], constants in front\n-0.8126\n0.5  Z0 # [a comment]\n";
  EXPECT_EQ(terms_text(read_pauli_file(path.string(), 1)), "-0.8126 I\n0.5 Z0\n");
  std::ofstream(path) << "1\n2\n";
  EXPECT_THROW(read_pauli_file(path.string(), 1), UsageError);
  std::filesystem::remove(path);
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
