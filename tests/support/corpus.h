// The shared OpenQASM programs and the independently computed answers that belong to them.
#pragma once

#include <complex>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace qsim::test {

/// Folder of the shared material: $QSIM_SHARED, else `shared` beside this project (or one folder further up); empty
/// when there is none, and then a test that needs it is skipped.
std::string shared_folder();

enum class CorpusVerdict { kAccept, kReject, kUnspecified };
enum class CorpusClass { kNone, kUnitary, kBranching };  // kNone: no numerical answer

struct CorpusAmplitude {
  std::string bits;  // right-most character = qubit 0
  double probability = 0;
  std::complex<double> value;  // up to the state's global phase
};

/// A value with the mask or string that it belongs to.
struct CorpusMask {
  std::uint64_t mask = 0;
  double value = 0;
};
struct CorpusPauli {
  std::string letters;  // right-most letter acts on qubit 0
  double value = 0;
};

struct CorpusState {
  double norm = 0;
  std::uint64_t nonzero = 0;
  std::vector<CorpusAmplitude> top;
  std::vector<double> x1, y1, z1;  // expectations by qubit
  std::vector<CorpusMask> zmask;   // sum of p_i (-1)^popcount(i & mask)
  std::vector<CorpusPauli> pauli;
};

struct CorpusClassical {
  unsigned bits = 0;
  std::uint64_t outcomes = 0;
  bool complete = false;                            // `top` holds every outcome
  std::vector<std::pair<std::string, double>> top;  // last register's highest bit first, no spaces
  std::vector<double> p1;
  std::vector<CorpusMask> zmask;
  double total = 0;
};

/// Values of variables that are no registers, as text; joint.
struct CorpusVariables {
  double probability = 0;
  std::map<std::string, std::vector<std::string>> values;  // numbers as JSON has them; arrays element by element
};

struct CorpusAnswer {
  unsigned qubits = 0;
  std::uint64_t gates = 0;
  std::optional<CorpusState> state;  // class unitary: before the terminal measurements
  std::vector<std::pair<unsigned, unsigned>> measured;
  std::optional<CorpusClassical> classical;
  std::vector<CorpusVariables> variables;     // OpenQASM 3
  std::map<std::string, std::string> inputs;  // OpenQASM 3: values of input variables
};

struct CorpusProgram {
  std::string path;      // as in the manifest: category/source/name
  std::string category;  // qasm2_valid, qasm2_invalid, qasm2_unspecified, qasm3_valid, qasm3_invalid
  std::string file;      // to open
  std::string features;
  CorpusVerdict verdict = CorpusVerdict::kUnspecified;
  CorpusClass kind = CorpusClass::kNone;
  std::optional<unsigned> error_line;  // where the reference noticed it
  std::string no_result;               // why there are no numbers
  std::optional<CorpusAnswer> answer;
  std::optional<CorpusAnswer> paper_cu3;  // with the cu3 of 2017
  double tolerance = 1e-10;
  bool may_refuse = false;  // external functions, calibrations, timing
};

/// Every program of the corpus in the manifest's order; empty when the material is absent. Read once.
const std::vector<CorpusProgram>& corpus_programs();

/// The same of the corpus of OpenQASM 3.
const std::vector<CorpusProgram>& corpus3_programs();

/// The file's bytes.
std::string read_file(const std::string& path);

}  // namespace qsim::test
