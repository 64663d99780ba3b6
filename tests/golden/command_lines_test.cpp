// Command lines of every command with flags from its own table and values of all kinds, over programs and documents
// that are nearly valid, inside this process, so that sanitizers see them. QSIM_CAMPAIGN and QSIM_CAMPAIGN_FIRST as in
// the campaign of random circuits; case.txt in the test's folder is what ran last.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <string>

#include "cli/io/context.h"
#include "golden/cli_program.h"
#include "support/campaign.h"
#include "support/random_program.h"

namespace qsim::test {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

/// One of the standard descriptors, taken to another file until this ends.
class Redirected {
 public:
  Redirected(int descriptor, const std::string& path, int flags) : descriptor_(descriptor), kept_(::dup(descriptor)) {
    const int file = ::open(path.c_str(), flags, 0600);
    ::dup2(file, descriptor_);
    ::close(file);
  }
  ~Redirected() {
    ::dup2(kept_, descriptor_);
    ::close(kept_);
  }
  Redirected(const Redirected&) = delete;
  Redirected& operator=(const Redirected&) = delete;

 private:
  const int descriptor_, kept_;
};

ProgramRun run_here(const Words& words, const TemporaryFolder& streams, const std::string& input) {
  const std::string in = streams.file("in", input.empty() ? "\n" : input), out = streams.file("out"),
                    err = streams.file("err");
  std::fflush(stdout);
  ProgramRun run;
  {
    const Redirected from(0, in, O_RDONLY), to(1, out, O_WRONLY | O_CREAT | O_TRUNC),
        errors(2, err, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND);
    run.exit_code = cli::run_command_line(words);
  }
  run.out = read_text(out);
  run.err = read_text(err);
  return run;
}

struct Flag {
  std::string name, value;
};

class CommandLines : public testing::Test {
 protected:
  CommandLines() {
    for (const char* command : {"run", "plan", "bench", "gram", "gen", "info"}) {
      std::istringstream lines(run_here({command, "--help"}, streams_, "").out);
      for (std::string line; std::getline(lines, line);) {
        const std::size_t names = line.find("--");
        if (line.compare(0, 3, "  -") != 0 || names == std::string::npos) continue;
        std::istringstream words(line.substr(names));
        Flag flag;
        words >> flag.name;
        if (line.compare(names + flag.name.size(), 2, "  ") != 0) words >> flag.value;
        if (flag.name != "--help") flags_[command].push_back(flag);
      }
    }
    bench_ = run_here({"bench", "ghz", "-n", "3", "--repeats", "1", "--warm-ups", "0", "--json"}, streams_, "").out;
  }

  std::string pauli_sum(Choices& choices) {
    std::string text;
    for (std::uint64_t i = 0; i < 1 + choices.below(3); ++i) {
      text += choices.of({"", "0.5 ", "-1e-3 ", "2"}) + choices.of({"Z0", "X1 Y0", "I", "ZZ", "XY0", "Z0 Z0"}) +
              choices.of({"\n", "\n", " + "});
    }
    return text;
  }
  std::string machine_text() { return read_text(std::string(QSIM_SOURCE_DIR) + "/src/plan/cost/machines/cpu.json"); }

  /// A value for a flag that takes `kind`; most are of the right kind.
  std::string value(const Flag& flag, Choices& choices, const TemporaryFolder& folder) {
    const std::string& kind = flag.value;
    if (choices.one_in(12)) {
      return choices.of({"", "-1", "0", "18446744073709551616", "1e308", "nan", "x", "\x1b[31m\x07", "%n%s",
                         "/dev/null", "/dev/full", "/nowhere/x", folder.path(), folder.path() + "/circuit.qasm",
                         "../../../etc/passwd"});
    }
    if (kind.find('|') != std::string::npos && kind[0] >= 'a') {
      std::istringstream parts(kind);
      Words choice;
      for (std::string part; std::getline(parts, part, '|');) choice.push_back(part);
      return choices.of(choice);
    }
    const auto number = [&](std::uint64_t bound) { return std::to_string(choices.below(bound)); };
    if (flag.name == "--shots") return number(3000);
    if (flag.name == "--threads") return number(5);
    if (flag.name == "--device") return choices.of({"h200", "h100", "a100", "cpu", folder.path() + "/machine.json"});
    if (flag.name == "--ranks") return choices.of({"1", "2", "4", "8", "3", "1,2", "256", "257"});
    if (flag.name == "--max-memory") return choices.of({"1G", "64M", "8M", "1K", "1", "16E", "1.5G"});
    if (flag.name == "--expectation") return choices.one_in(2) ? folder.path() + "/sum.txt" : pauli_sum(choices);
    if (flag.name == "--amplitudes") return choices.of({"top:3", "top:0", "0", "0,1,5", "top:4096", "7,7", "1024"});
    if (flag.name == "--gates") return folder.path() + "/list.gates";
    if (flag.name == "--compare") return folder.path() + "/bench.json";
    if (flag.name == "--qubits" || flag.name == "-n,--qubits") return choices.of({"3", "1", "0", "2..4", "5", "2,3"});
    if (kind == "FILE" || kind == "FILE.npy" || kind == "DIR" || kind == "FILE.json" || kind == "FILE.json|.svg") {
      return folder.path() + "/" +
             choices.of({"out.json", "out.svg", "out.npy", "part.inc", "pipe", "link", "sum.txt", "deep/er/x"});
    }
    if (kind == "DIR|off") return choices.of({"off", folder.path() + "/cache"});
    return choices.one_in(3) ? number(4) + "," + number(4) : number(6);
  }

  struct Case {
    Words words;
    std::string input;
  };

  Case make(std::uint64_t seed, const TemporaryFolder& folder) {
    Choices choices(seed);
    const auto text = [&](const std::string& whole) { return choices.one_in(3) ? damaged(whole, choices) : whole; };
    const std::string program = text(random_program(choices, "part.inc"));
    const std::string circuit = folder.file("circuit.qasm", program);
    folder.file("part.inc", text("gate mine a { h a; }\n"));
    folder.file("sum.txt", text(pauli_sum(choices)));
    folder.file("list.gates", text("h 0\nrz 1 0.5\ncx 0 1\n"));
    folder.file("machine.json", text(machine_text()));
    folder.file("bench.json", text(bench_));
    const std::string command = choices.of(
        {"run",  "run",  "run",  "run",  "run",  "run",  "run", "run", "plan", "plan",
         "plan", "plan", "plan", "gram", "gram", "gram", "gen", "gen", "info", choices.one_in(20) ? "bench" : "run"});
    Case made;
    made.input = program;
    made.words = {command};
    if (command == "run" || command == "plan") made.words.push_back(choices.one_in(8) ? "-" : circuit);
    if (command == "gram") made.words.insert(made.words.end(), {circuit, choices.one_in(8) ? "-" : circuit});
    if (command == "gen")
      made.words.push_back(choices.of({"ghz", "qft", "random", "qv", "supremacy", "ising", "nothing"}));
    if (command == "gen") made.words.push_back("-n=" + std::to_string(choices.below(9)));
    if (command == "bench") {
      made.words.push_back(choices.one_in(2) ? circuit : choices.of({"ghz", "qft", "random", "ising", "asc:nothing"}));
      made.words.insert(made.words.end(), {"--repeats", "1", "--warm-ups", "0"});
      if (made.words[1] != circuit) made.words.insert(made.words.end(), {"-n", "3"});
    }
    const std::vector<Flag>& table = flags_[command];
    for (std::uint64_t i = choices.below(5); i > 0 && !table.empty(); --i) {
      const Flag& flag = table[choices.below(table.size())];
      if (command == "bench" && (flag.name == "--repeats" || flag.name == "--warm-ups" || flag.name == "--budget"))
        continue;
      made.words.push_back(flag.value.empty() ? flag.name : flag.name + "=" + value(flag, choices, folder));
    }
    return made;
  }

  const TemporaryFolder streams_;
  std::map<std::string, std::vector<Flag>> flags_;
  std::string bench_;
};

TEST_F(CommandLines, OfEveryKindEndInOneOfTheDocumentedWays) {
  const Campaign campaign(300);
  const std::set<int> documented{0, 2, 3, 4, 5, 6, 7, 8, 9};
  std::map<int, std::uint64_t> codes;
  std::optional<TemporaryFolder> folder;
  for (std::uint64_t seed = campaign.first; seed < campaign.first + campaign.count; ++seed) {
    if (!folder || seed % 100 == 0) {
      folder.emplace();
      ASSERT_EQ(::mkfifo(folder->file("pipe").c_str(), 0600), 0);
      fs::create_symlink(folder->path() + "/absent", folder->path() + "/link");
    }
    const Case one = make(seed, *folder);
    std::string line = "seed " + std::to_string(seed) + ":";
    for (const std::string& word : one.words) line += " '" + word + "'";
    folder->file("case.txt", line + "\n" + one.input);
    const std::string circuit = read_text(folder->path() + "/circuit.qasm");
    const std::clock_t begin = std::clock();  // of this process: others may have the machine
    const InFolder inside(folder->path());
    const ProgramRun run = run_here(one.words, streams_, one.input);
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    ++codes[run.exit_code];
    const auto count = [&](const std::string& word) { return std::count(one.words.begin(), one.words.end(), word); };
    line += "\n" + run.err + one.input;
    EXPECT_TRUE(documented.contains(run.exit_code)) << run.exit_code << " " << line;
    EXPECT_LT(seconds, 20) << line;
    EXPECT_EQ((run.out + run.err).find('\x1b'), std::string::npos) << line;
    if (run.exit_code != 0 && one.words[0] != "bench") {  // whose table says what was skipped or failed
      EXPECT_NE(run.err, "") << line;
    }
    if (count("--json") == 1 && one.words[0] != "info" && one.words[0] != "gen" && !run.out.empty()) {
      EXPECT_TRUE(nlohmann::json::accept(run.out)) << line << run.out;
    }
    if (count(folder->path() + "/circuit.qasm") > 0) {  // it is read
      EXPECT_EQ(read_text(folder->path() + "/circuit.qasm"), circuit) << line;
    }
    for (const fs::directory_entry& entry : fs::directory_iterator(folder->path())) {
      EXPECT_NE(entry.path().filename().string().substr(0, 6), ".qsim-") << line;
    }
    if (HasFailure()) break;
  }
  for (const auto& [code, times] : codes) std::printf("exit code %d: %ld\n", code, static_cast<long>(times));
}

}  // namespace
}  // namespace qsim::test
