// What a run says that it will take of memory, against what its process took: every read-out, ranks and precisions.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "golden/cli_program.h"

namespace qsim::test {
namespace {

using Words = std::vector<std::string>;
constexpr double kMiB = 1 << 20;

struct Measured {
  int exit_code = -1;
  double bytes = 0;   // most that the process held
  std::string out{};  // the end of what it printed
};

/// Runs a command. Of a launcher the bytes are those of the largest process that it started: of one rank.
Measured run_measured(const Words& command) {
  const TemporaryFolder folder;
  const std::string peak = folder.file("peak");
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  const pid_t child = ::fork();
  if (child == 0) {
    std::vector<char*> words{const_cast<char*>(QSIM_MEASURE), const_cast<char*>(peak.c_str())};
    for (const std::string& word : command) words.push_back(const_cast<char*>(word.data()));
    words.push_back(nullptr);
    ::dup2(ends[1], 1);
    ::execvp(words[0], words.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  // The answers may be gigabytes; what is looked for comes behind them.
  constexpr std::size_t kKept = 65536;
  Measured measured{};
  std::vector<char> block(kKept);
  for (ssize_t got = 0; (got = ::read(ends[0], block.data(), block.size())) > 0;) {
    measured.out.append(block.data(), static_cast<std::size_t>(got));
    if (measured.out.size() > 2 * kKept) measured.out.erase(0, measured.out.size() - kKept);
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  measured.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  measured.bytes = std::atof(read_text(peak).c_str());
  return measured;
}

struct ReadOutCase {
  std::string name;
  Words (*flags)(int qubits);
  bool measures;
  int spread;  // qubits in superposition; 0 = all
};

std::string listed(int count) {
  std::string text = "0";
  for (int qubit = 1; qubit < count; ++qubit) text += "," + std::to_string(qubit);
  return text;
}
std::string power(int exponent) { return std::to_string(1ull << exponent); }

const std::vector<ReadOutCase> kCases{
    {"Marginals", [](int) { return Words{"--marginals"}; }, false, 0},
    {"Probabilities",
     [](int n) {
       return Words{"--probabilities", listed(n - 1)};
     },
     false, 0},
    {"SeveralProbabilities",
     [](int n) {
       return Words{"--probabilities", listed(n - 2), "--probabilities", listed(n - 3), "--marginals"};
     },
     false, 0},
    {"FewProbabilities",
     [](int) {
       return Words{"--probabilities", "3,1,2"};
     },
     false, 0},
    {"Top",
     [](int n) {
       return Words{"--amplitudes", "top:" + power(n - 2)};
     },
     false, 0},
    {"TopAll",
     [](int n) {
       return Words{"--amplitudes", "top:" + power(n)};
     },
     false, 0},
    {"FewShots",
     [](int n) {
       return Words{"--shots", power(n - 3), "--seed", "1"};
     },
     true, 0},
    {"ManyShots",
     [](int n) {
       return Words{"--shots", power(n - 1), "--seed", "1"};
     },
     true, 0},
    {"ShotsOnFewOutcomes",
     [](int n) {
       return Words{"--shots", power(n + 2), "--seed", "1"};
     },
     true, 10},
    {"Distribution",
     [](int) {
       return Words{"--distribution", "--shots", "0"};
     },
     true, 16},
    {"Statevector", [](int) { return Words{"--statevector"}; }, false, 0},
    {"Expectation", [](int) { return Words{"--expectation"}; }, false, 0},
    {"All",
     [](int n) {
       return Words{"--marginals",         "--probabilities", listed(n - 3), "--amplitudes",
                    "top:" + power(n - 4), "--verify",        "full"};
     },
     false, 0}};

class ReadOutMemory : public testing::TestWithParam<ReadOutCase> {};

/// The command that runs qsim on `ranks` ranks: threads of one process, or processes of their own.
Words on_ranks(int ranks, bool processes, Words arguments) {
  if (processes && ranks > 1) return mpi_command(ranks, arguments);
  if (ranks > 1) arguments.insert(arguments.end(), {"--ranks", std::to_string(ranks)});
  arguments.insert(arguments.begin(), QSIM_PROGRAM);
  return arguments;
}

/// Ranks x precisions of one read-out. QSIM_MEMORY_QUBITS: how many qubits. With 24 and more within 2 %, and each rank
/// by itself: those of one process need not hold their most at one moment.
TEST_P(ReadOutMemory, IsWhatWasPredicted) {
  const char* wanted = std::getenv("QSIM_MEMORY_QUBITS");
  const int qubits = wanted != nullptr ? std::atoi(wanted) : 18;
  const bool processes = qubits >= 24 && mpi_is_here();
  const ReadOutCase& one = GetParam();
  const TemporaryFolder folder;
  const auto circuit_of = [&](int n, const std::string& name) {
    std::string text = "OPENQASM 2.0;\ninclude \"qelib1.inc\";\nqreg q[" + std::to_string(n) + "];\n";
    const int spread = one.spread == 0 ? n : std::min(n, one.spread);
    if (one.measures) text += "creg c[" + std::to_string(spread) + "];\n";
    for (int q = 0; q < spread; ++q) text += "h q[" + std::to_string(q) + "];\n";
    for (int q = 0; q + 1 < n; ++q)
      text += "crz(0." + std::to_string(q + 1) + ") q[" + std::to_string(q) + "],q[" + std::to_string(q + 1) + "];\n";
    for (int q = 0; one.measures && q < spread; ++q)
      text += "measure q[" + std::to_string(q) + "] -> c[" + std::to_string(q) + "];\n";
    return folder.file(name, text);
  };
  std::string paulis;
  for (int i = 0; i < 3000; ++i)
    paulis += "0.5 Z" + std::to_string(i % 7) + " X" + std::to_string(7 + i % 3) + " Y10 Z" +
              std::to_string(11 + i % 5) + "\n";
  const std::string large = circuit_of(qubits, "large.qasm"), small = circuit_of(8, "small.qasm");
  for (const int ranks : {1, 2, 4}) {
    for (const char* precision : {"double", "single"}) {
      Words common{"--json", "--precision", precision, "--backend", "cpu"};
      Words words{large};
      words.insert(words.end(), common.begin(), common.end());
      for (const std::string& word : one.flags(qubits)) words.push_back(word);
      if (words.back() == "--statevector") words.push_back(folder.file("state.npy"));
      if (words.back() == "--expectation") words.push_back(folder.file("h.txt", paulis));
      Words base{small};
      base.insert(base.end(), common.begin(), common.end());
      const double before = run_measured(on_ranks(ranks, processes, base)).bytes;
      const Measured run = run_measured(on_ranks(ranks, processes, words));
      ASSERT_EQ(run.exit_code, 0) << one.name;
      const std::size_t begin = run.out.rfind("\"memory\": {");
      ASSERT_NE(begin, std::string::npos);
      const std::string object = run.out.substr(begin + 10, run.out.find('}', begin) - begin - 9);
      const auto memory = nlohmann::json::parse(object);
      const int counted = processes ? 1 : ranks;  // whose bytes are compared
      const double predicted = counted * std::stod(memory.at("predicted_bytes_per_rank").get<std::string>());
      double peak = 0;
      for (const auto& text : memory.at("peak_bytes_per_rank")) {
        const double bytes = std::stod(text.get<std::string>());
        peak = processes ? std::max(peak, bytes) : peak + bytes;
      }
      const double real = run.bytes - before;
      std::printf("%-22s %d qubits, %d ranks%s, %s: predicted %8.1f MiB, real %8.1f (%+.2f %%), reported %8.1f\n",
                  one.name.c_str(), qubits, ranks, processes ? " (of one)" : "", precision, predicted / kMiB,
                  real / kMiB, 100 * (real - predicted) / predicted, peak / kMiB);
      const double allowed = qubits >= 24 ? 0.02 * predicted : 8 * kMiB * counted;
      EXPECT_LE(real, predicted + allowed) << one.name << ", " << ranks << " ranks, " << precision;
      // Of answers below 4 MiB no peak is taken, and a library's own memory counts in one that is.
      const double allowed_peak = std::max(allowed, 4 * kMiB);
      EXPECT_LE(peak, predicted + allowed_peak) << one.name << ", " << ranks << " ranks, " << precision;
      if (one.spread == 10) continue;  // the outcomes of a state that is not uniform are fewer than can be foreseen
      EXPECT_GE(real, predicted - allowed) << one.name << ", " << ranks << " ranks, " << precision;
      EXPECT_GE(peak, predicted - allowed_peak) << one.name << ", " << ranks << " ranks, " << precision;
    }
  }
}

TEST(MemoryOfAChild, IsItsOwnWhateverTheTestsHold) {
  const std::vector<char> held(std::size_t{256} << 20, 1);
  const Measured run = run_measured({QSIM_PROGRAM, "--version"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_GT(run.bytes, kMiB);
  EXPECT_LT(run.bytes, 128 * kMiB) << "of " << held.size() << " held here";
}

INSTANTIATE_TEST_SUITE_P(All, ReadOutMemory, testing::ValuesIn(kCases), [](const auto& one) { return one.param.name; });

TEST(StateLimits, BeyondWhat64BitsCountAreSaidInPowersOfTwo) {
  const TemporaryFolder folder;
  for (const auto& [flags, said] : std::vector<std::pair<Words, std::string>>{
           {{}, "62 qubits in double need 2^66 bytes for the state, more than 2^64 bytes with all tables"},
           {{"--precision", "single"}, "62 qubits in single need 2^65 bytes for the state"},
           {{"--ranks", "4"}, "62 qubits in double need 2^66 bytes = 2^64 bytes on each of 4 ranks"},
           {{"--ranks", "4", "--precision", "single"}, "2^65 bytes = 8 EiB on each of 4 ranks"}}) {
    Words words{folder.file("c.qasm", "OPENQASM 2.0;\ninclude \"qelib1.inc\";\nqreg q[62];\nh q;\n")};
    words.insert(words.end(), flags.begin(), flags.end());
    const ProgramRun run = run_qsim(words);
    EXPECT_EQ(run.exit_code, 5) << run.err;
    EXPECT_NE(run.err.find(said), std::string::npos) << run.err;
  }
}

TEST(ReadOutLimits, AreSaidBeforeTheRun) {
  const TemporaryFolder folder;
  const std::string head = "OPENQASM 2.0;\ninclude \"qelib1.inc\";\nqreg q[20];\n";
  const std::string plain = folder.file("plain.qasm", head + "h q;\n");
  const std::string measured = folder.file("measured.qasm", head + "creg c[20];\nh q;\nmeasure q -> c;\n");
  const auto refused = [](const Words& words, const std::string& named) {
    const ProgramRun run = run_qsim(words);
    EXPECT_EQ(run.exit_code, 5) << run.err;
    EXPECT_NE(run.err.find(named), std::string::npos) << run.err;
  };
  refused({plain, "--max-memory", "32M", "--amplitudes", "top:1048576"}, "top:1048576");
  refused({plain, "--max-memory", "28M", "--probabilities", listed(20)}, "--probabilities of 20 qubits");
  refused({measured, "--max-memory", "32M", "--shots", "1000000"}, "1000000 shots");
  refused({measured, "--max-memory", "32M", "--distribution"}, "--distribution");
  EXPECT_EQ(run_qsim({plain, "--max-memory", "32M", "--amplitudes", "top:1000"}).exit_code, 0);
  const std::string branching =
      folder.file("branching.qasm", head + "creg c[1];\nh q[0];\nmeasure q[0] -> c[0];\nif (c == 1) x q[1];\n");
  refused({branching, "--shots", "1000000000000"}, "shots");
  EXPECT_EQ(run_qsim({branching, "--shots", "18446744073709551615"}).exit_code, 2);
}

}  // namespace
}  // namespace qsim::test
