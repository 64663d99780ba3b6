// Files on the command line: what is read, what is written where, and what is never touched or shown.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "golden/cli_program.h"

namespace qsim::test {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

const std::string kHead = "OPENQASM 2.0;\ninclude \"qelib1.inc\";\n";
const std::string kCircuit = kHead + "include \"part.inc\";\nqreg q[2];\nmine q[0];\n";
const std::string kPart = "gate mine a { h a; }\n";

/// The program under a limit of the shell's ulimit.
ProgramRun run_limited(const std::string& limit, Words arguments) {
  Words command{"sh", "-c", "ulimit " + limit + "; exec \"$0\" \"$@\"", QSIM_PROGRAM};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run_command(command);
}

TEST(OutputFiles, NeverLandOnAnInputOrOnEachOther) {
  const TemporaryFolder folder;
  const std::string circuit = folder.file("c.qasm", kCircuit), part = folder.file("part.inc", kPart);
  const std::string paulis = folder.file("h.txt", "1 Z0\n");
  const std::string link = folder.file("link"), hard = folder.file("hard"), fresh = folder.file("new");
  fs::create_symlink(circuit, link);
  fs::create_hard_link(circuit, hard);
  const std::string around = folder.path() + "/../" + fs::path(folder.path()).filename().string() + "/c.qasm";
  const std::vector<Words> cases{{circuit, "--output", circuit},
                                 {circuit, "--output", link},
                                 {circuit, "--output", hard},
                                 {circuit, "--output", around},
                                 {circuit, "--statevector", circuit},
                                 {circuit, "--profile", circuit},
                                 {circuit, "--output", part},
                                 {circuit, "--output", part, "--json"},
                                 {circuit, "--expectation", paulis, "--output", paulis},
                                 {circuit, "--output", fresh, "--profile", fresh},
                                 {circuit, "--output", fresh, "--statevector", folder.path() + "/./new"},
                                 {"plan", circuit, "--output", circuit},
                                 {"plan", circuit, "--output", part},
                                 {"plan", circuit, "--device", paulis, "--output", paulis},
                                 {"gram", circuit, circuit, "--output", circuit},
                                 {"bench", circuit, "--output", circuit},
                                 {"bench", circuit, "--svg", circuit},
                                 {"bench", circuit, "--svg", fresh, "--output", fresh},
                                 {"bench", circuit, "--compare", paulis, "--output", paulis}};
  const std::size_t before = folder.count();
  for (const Words& words : cases) {
    const ProgramRun run = run_qsim(words);
    EXPECT_EQ(run.exit_code, 2) << testing::PrintToString(words) << run.err;
    EXPECT_EQ(read_text(circuit), kCircuit) << testing::PrintToString(words);
    EXPECT_EQ(read_text(part), kPart) << testing::PrintToString(words);
    EXPECT_EQ(read_text(paulis), "1 Z0\n") << testing::PrintToString(words);
    EXPECT_EQ(folder.count(), before) << testing::PrintToString(words);
  }
}

/// What is wrong with the circuit that includes part.inc, and the code that it ends with.
const std::vector<std::pair<std::string, int>> kFailing{
    {kCircuit + "nonsense;\n", 3},                      // after the include
    {kHead + "nonsense;\ninclude \"part.inc\";\n", 3},  // before it
    {"OPENQASM 9.0;\ninclude \"part.inc\";\n", 3},      // never reads it
    {kHead + "include \"absent.inc\";\ninclude \"part.inc\";\n", 3},
    {kHead + "opaque o a;\ninclude \"part.inc\";\nqreg q[2];\no q[0];\n", 4},
    {kHead + "qreg q[60];\ninclude \"part.inc\";\nmine q[0];\n", 5}};

TEST(OutputFiles, OfFailedRunsReplaceNothingThatTheCircuitMayInclude) {
  const TemporaryFolder folder;
  const std::string part = folder.file("part.inc", kPart), good = folder.file("good.qasm", kCircuit);
  for (const auto& [text, code] : kFailing) {
    const std::string circuit = folder.file("c.qasm", text);
    std::vector<Words> commands{{circuit}, {circuit, "--ranks", "4", "--precision", "single"}, {"gram", good, circuit}};
    if (code != 5) commands.insert(commands.end(), {Words{"plan", circuit}, Words{"bench", circuit}});
    for (const Words& command : commands) {
      for (const Words& flags : {Words{"--json", "--output", part}, Words{"--output", part},
                                 Words{"--statevector", part}, Words{"--profile", part}, Words{"--svg", part}}) {
        Words words = command;
        words.insert(words.end(), flags.begin(), flags.end());
        const ProgramRun run = run_qsim(words);
        EXPECT_NE(run.exit_code, 0) << testing::PrintToString(words);
        EXPECT_EQ(read_text(part), kPart) << testing::PrintToString(words) << run.err;
      }
    }
    if (!mpi_is_here() || code == 3) continue;  // a job of mpirun takes seconds
    EXPECT_NE(run_mpi(2, {circuit, "--json", "--output", part}).exit_code, 0) << text;
    EXPECT_EQ(read_text(part), kPart) << text;
  }
  // Nor those of a command line that is wrong.
  for (const Words& wrong :
       {Words{"--threads", "0"}, Words{"--ranks", "3"}, Words{"--gpus", "0"}, Words{"--nonsense"}}) {
    Words words{good, "--json", "--output", part};
    words.insert(words.end(), wrong.begin(), wrong.end());
    EXPECT_EQ(run_qsim(words).exit_code, 2) << testing::PrintToString(words);
    EXPECT_EQ(read_text(part), kPart) << testing::PrintToString(words);
  }
}

TEST(OutputFiles, OfFailedRunsTakeThePlaceOfEarlierDocuments) {
  const TemporaryFolder folder;
  const std::string circuit = folder.file("c.qasm", kHead + "nonsense;\n"), out = folder.file("out");
  const std::string good = folder.file("good.qasm", kHead + "qreg q[1];\nh q;\n");
  for (const std::string& before : {std::string("absent"), std::string(), run_qsim({good, "--json"}).out,
                                    run_qsim({"plan", good, "--json"}).out, std::string("{\"mine\": 1}\n")}) {
    fs::remove(out);
    if (before != "absent") folder.file("out", before);
    if (before.empty()) std::ofstream{out};
    EXPECT_EQ(run_qsim({circuit, "--json", "--output", out}).exit_code, 3);
    const bool kept = before.find("mine") != std::string::npos;
    EXPECT_EQ(read_text(out) == before, kept) << before;
  }
}

TEST(OutputFiles, NeverLandOnWhatABenchmarkReadsOrOnTheStreams) {
  const TemporaryFolder folder;
  const std::string circuit = folder.file("c.qasm", kCircuit), part = folder.file("part.inc", kPart);
  const std::string gates = folder.file("x.gates", "h 0\n"), values = folder.file("x_probs.expected", "0: 0.5\n");
  const std::string plain = folder.file("plain.qasm", kHead + "qreg q[2];\nh q;\n"), shown = read_text(plain);
  for (const Words& words : {Words{"bench", circuit, "--repeats", "1", "--output", part},
                             Words{"bench", circuit, "--repeats", "1", "--svg", part},
                             Words{"bench", "--gates", gates, "--repeats", "1", "--json", "--output", values}}) {
    const ProgramRun run = run_qsim(words);
    EXPECT_EQ(run.exit_code, 9) << testing::PrintToString(words) << run.err;
    EXPECT_EQ(read_text(part), kPart);
    EXPECT_EQ(read_text(values), "0: 0.5\n");
  }
  const auto shell = [&](const std::string& line) {
    return run_command({"sh", "-c", "exec \"$0\" " + line, QSIM_PROGRAM, plain, folder.path() + "/out"});
  };
  EXPECT_EQ(shell("- --output \"$1\" < \"$1\"").exit_code, 2);
  EXPECT_EQ(shell("plan - --output \"$1\" < \"$1\"").exit_code, 2);
  EXPECT_EQ(shell("/dev/stdin --statevector \"$1\" < \"$1\"").exit_code, 2);
  EXPECT_EQ(shell("\"$1\" >> \"$1\"").exit_code, 9);
  EXPECT_EQ(shell("\"$1\" --statevector \"$2\" > \"$2\"").exit_code, 2);
  EXPECT_EQ(read_text(plain), shown);
}

TEST(OutputFiles, LeaveTheUsersOwnFilesAlone) {
  const TemporaryFolder folder;
  const std::string circuit = folder.file("c.qasm", kHead + "qreg q[3];\nh q;\n");
  const std::string own = folder.file("x.npy.part", "precious"), victim = folder.file("victim", "precious");
  const std::string state = folder.file("x.npy"), planted = folder.file("y.npy.part"), link = folder.file("link");
  fs::create_symlink(victim, planted);
  fs::create_symlink(victim, link);
  EXPECT_EQ(run_qsim({circuit, "--statevector", state}).exit_code, 0);
  EXPECT_EQ(run_qsim({circuit, "--statevector", folder.file("y.npy")}).exit_code, 0);
  for (const char* flag : {"--statevector", "--output", "--profile"}) {
    const ProgramRun run = run_qsim({circuit, flag, link});
    EXPECT_EQ(run.exit_code, 9) << flag;
    EXPECT_NE(run.err.find("symbolic link"), std::string::npos) << run.err;
  }
  EXPECT_EQ(read_text(own), "precious");
  EXPECT_EQ(read_text(victim), "precious");
  EXPECT_EQ(read_text(state).size(), 64 + 64 + 8 * 16u);
}

TEST(OutputFiles, OfFourRanksAreWholeAndAlone) {
  const TemporaryFolder folder;
  const std::string circuit = folder.file("c.qasm", kHead + "qreg q[6];\nh q;\n"), state = folder.file("x.npy");
  EXPECT_EQ(run_qsim({circuit, "--ranks", "4", "--statevector", state}).exit_code, 0);
  const std::string threads = read_text(state);
  EXPECT_EQ(threads.size(), 128 + 64 * 16u);
  if (mpi_is_here()) {
    EXPECT_EQ(run_mpi(4, {circuit, "--statevector", state}).exit_code, 0);
    EXPECT_EQ(read_text(state), threads);
  }
  EXPECT_EQ(folder.count(), 2u);
}

TEST(OutputFiles, BeyondTheLimitOfTheirSizeAreAFileError) {
  const TemporaryFolder folder;
  const std::string circuit = folder.file("c.qasm", kHead + "qreg q[12];\nh q;\n");
  for (const char* flag : {"--statevector", "--output"}) {
    Words words = std::string(flag) == "--output" ? Words{"gen", "random", "-n", "20"} : Words{circuit};
    words.insert(words.end(), {flag, folder.file("big")});
    const ProgramRun run = run_limited("-f 1", words);
    EXPECT_EQ(run.exit_code, 9) << flag << run.err;
    EXPECT_NE(run.err.find("too large"), std::string::npos) << run.err;
  }
  EXPECT_EQ(folder.count(), 1u);
}

TEST(InputFiles, AreRegularFiles) {
  const TemporaryFolder folder;
  const std::string circuit = folder.file("c.qasm", kHead + "qreg q[2];\nh q;\n"), pipe = folder.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {std::string("/dev/zero"), pipe, folder.path()}) {
    for (const Words& words :
         {Words{path}, Words{"plan", path}, Words{"gram", circuit, path}, Words{"bench", path + "/../" + path},
          Words{circuit, "--expectation", path}, Words{"bench", "--gates", path}, Words{"bench", path},
          Words{"plan", circuit, "--device", path}, Words{"bench", circuit, "--compare", path, "--repeats", "1"}}) {
      const ProgramRun run = run_qsim(words);
      EXPECT_TRUE(run.exit_code == 9 || run.exit_code == 2) << run.exit_code << testing::PrintToString(words);
    }
  }
}

TEST(InputFiles, OfOtherKindsAreNotShown) {
  const TemporaryFolder folder;
  const std::string circuit = folder.file("c.qasm", kHead + "qreg q[2];\nh q;\n");
  for (const char* text : {"topsecret:x:0:0\n", "{\"topsecret\": 1}\n", "{\"schema\": \"topsecret\"}\n",
                           "1 topsecret\n", "h topsecret\n", "rz 0 topsecret\n", "1 Z0 X0topsecret\n", "topsecret\n"}) {
    const std::string secret = folder.file("secret.txt", text);
    for (const Words& words : {Words{circuit, "--expectation", secret}, Words{"plan", circuit, "--device", secret},
                               Words{"bench", "--gates", secret},
                               Words{"bench", circuit, "-n", "2", "--compare", secret, "--repeats", "1"}}) {
      const ProgramRun run = run_qsim(words);
      EXPECT_NE(run.exit_code, 0) << testing::PrintToString(words) << text;
      EXPECT_EQ((run.err + run.out).find("topsecret"), std::string::npos) << run.err;
    }
  }
}

TEST(Includes, TakeMemoryAndTimeInProportionToTheirText) {
  const TemporaryFolder folder;
  folder.file("empty.inc", "// nothing\n");
  std::string many = kHead;
  for (int i = 0; i < 1000; ++i) many += "include \"empty.inc\";\n";
  const std::string some = folder.file("some.qasm", many + "qreg q[1];\nh q;\n");
  EXPECT_EQ(run_limited("-v 400000", {some}).exit_code, 0);  // KiB; each include used to keep 1 MiB
  const ProgramRun more = run_qsim({folder.file("more.qasm", many + many.substr(kHead.size()) + "qreg q[1];\n")});
  EXPECT_EQ(more.exit_code, 3);
  EXPECT_NE(more.err.find("more than 1024 includes"), std::string::npos) << more.err;
  // A tree: four includes in each file, 14 files deep.
  for (int level = 0; level < 14; ++level) {
    std::string text;
    for (int i = 0; i < 4; ++i) text += "include \"l" + std::to_string(level + 1) + ".inc\";\n";
    folder.file("l" + std::to_string(level) + ".inc", text);
  }
  folder.file("l14.inc", "// leaf\n");
  const ProgramRun tree =
      run_limited("-v 400000", {folder.file("tree.qasm", kHead + "include \"l0.inc\";\nqreg q[1];\n")});
  EXPECT_EQ(tree.exit_code, 3) << tree.err.substr(0, 500);
}

TEST(Terminals, AreNotSteeredByWhatWasTyped) {
  const TemporaryFolder folder;
  const std::string circuit = folder.file("c.qasm", kHead + "qreg q[2];\nh q;\n");
  const std::string evil = "\x1b]0;owned\x07\x1b[31m\xc2\x9b";
  const std::string named = folder.file("x" + evil + ".qasm", kHead + "qreg q[2];\nh q;\n");
  for (const Words& words :
       {Words{evil}, Words{named}, Words{circuit, "--" + evil}, Words{circuit, "--shots", evil},
        Words{circuit, "--precision", evil}, Words{circuit, "--expectation", evil},
        Words{circuit, "--output", folder.path() + "/" + evil + "/x"}, Words{"plan", named},
        Words{"plan", circuit, "--device", evil}, Words{"gen", evil, "-n", "3"}, Words{"bench", evil},
        Words{"gram", named, named}, Words{circuit, evil}, Words{"plan", circuit, "--tile", evil},
        Words{named, "--json"}, Words{circuit, "--max-memory", evil}}) {
    const ProgramRun run = run_qsim(words);
    for (const char* bytes : {"\x1b", "\x07", "\xc2\x9b"}) {
      EXPECT_EQ((run.out + run.err).find(bytes), std::string::npos) << testing::PrintToString(words) << run.err;
    }
  }
}

}  // namespace
}  // namespace qsim::test
