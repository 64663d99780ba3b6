// The documents' promises: links lead somewhere; flags, files and exit codes that they name are there.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "golden/cli_program.h"
#include "golden/docs_blocks.h"

namespace qsim::test {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = QSIM_SOURCE_DIR;

/// The name that a heading is linked by: small letters, dashes for spaces, no other marks.
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const char c : heading) {
    if (c == ' ') anchor += '-';
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_') {
      anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return anchor;
}

bool has_heading(const std::string& page, const std::string& anchor) {
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t marks = line.find_first_not_of('#');
    if (marks == 0 || marks == std::string::npos || line[marks] != ' ') continue;
    if (anchor_of(line.substr(marks + 1)) == anchor) return true;
  }
  return false;
}

/// What stands under a heading, down to the next one of its rank or above.
std::string section_of(const std::string& page, const std::string& anchor) {
  std::string section;
  std::size_t rank = 0;
  for (const std::string& line : lines_of(page)) {
    const std::size_t marks = line.find_first_not_of('#');
    const bool heading = marks != 0 && marks != std::string::npos && line[marks] == ' ';
    if (rank != 0 && heading && marks <= rank) break;
    if (rank != 0) section += line + "\n";
    if (rank == 0 && heading && anchor_of(line.substr(marks + 1)) == anchor) rank = marks;
  }
  return section;
}

TEST(Documents, QuoteFiguresOfTheLogAsTheyStandThere) {
  const std::regex link(R"(\[([^\]\[\n]*)\]\(([^)\s#]*log/[^)\s#]+)#([^)\s]+)\))"), number(R"(\d[\d.]*)");
  std::size_t quoted = 0;
  for (const fs::path& page : documents()) {
    const std::string text = read_text(page.string());
    for (std::sregex_iterator match(text.begin(), text.end(), link), end; match != end; ++match) {
      const std::string words = (*match)[1];
      const std::string section = section_of(read_text((page.parent_path() / (*match)[2].str()).string()), (*match)[3]);
      for (std::sregex_iterator figure(words.begin(), words.end(), number); figure != end; ++figure) {
        ++quoted;
        const std::regex there("(^|[^\\d.])" + figure->str() + "($|[^\\d.]|\\.[^\\d])");
        EXPECT_TRUE(std::regex_search(section, there)) << page << ": " << figure->str() << " in " << match->str();
      }
    }
  }
  EXPECT_GT(quoted, 10u);
}

TEST(Documents, LinksLeadSomewhere) {
  const std::regex link(R"(\]\(([^)\s]+)\))"), code("`[^`\n]*`");
  std::size_t links = 0;
  for (const fs::path& page : documents()) {
    const std::string text = std::regex_replace(read_text(page.string()), code, "");
    for (std::sregex_iterator match(text.begin(), text.end(), link), end; match != end; ++match) {
      const std::string target = (*match)[1];
      if (target.find("://") != std::string::npos) continue;
      ++links;
      const std::size_t hash = target.find('#');
      const std::string file = target.substr(0, hash);
      const fs::path path = file.empty() ? page : page.parent_path() / file;
      ASSERT_TRUE(fs::exists(path)) << page << " links to " << target;
      if (hash == std::string::npos) continue;
      EXPECT_TRUE(has_heading(read_text(path.string()), target.substr(hash + 1))) << page << " links to " << target;
    }
  }
  EXPECT_GT(links, 20u);
}

/// What is between backticks on a line of its own text, and commands of blocks, page by page.
std::vector<std::string> code_of(const fs::path& page) {
  const std::string text = read_text(page.string());
  const std::regex span("`([^`\n]+)`");
  std::vector<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), span), end; match != end; ++match)
    found.push_back((*match)[1]);
  for (const Block& block : blocks_of(text)) {
    for (const ShownCommand& shown : commands_of(block)) found.push_back(shown.command);
    if (block.language == "bash") found.insert(found.end(), block.lines.begin(), block.lines.end());
  }
  return found;
}

/// The flags of all commands, as their help has them.
std::set<std::string> known_flags() {
  const std::regex flag("--[a-z][a-z-]*");
  std::set<std::string> flags{"--version", "--help"};
  for (const char* command : {"run", "plan", "draw", "bench", "gen", "gram", "convert", "info"}) {
    const std::string help = run_qsim({"help", command}).out;
    for (std::sregex_iterator match(help.begin(), help.end(), flag), end; match != end; ++match)
      flags.insert(match->str());
  }
  return flags;
}

TEST(Documents, NameFlagsThatExist) {
  const std::set<std::string> known = known_flags();
  ASSERT_GT(known.size(), 30u);
  // A flag alone, or those behind the program's name up to a pipe or comment.
  const std::regex alone(R"(^(--[a-z][a-z-]*)([ =].*)?$)"), program(R"((^|[ /;(])qsim( [^|#;]*))"),
      flag(R"( (--[a-z][a-z-]*))");
  // Of other programs, which stand alone in backticks.
  const std::set<std::string> others{"--without-mpi",   "--without-ucx", "--without-verbs", "--with-slurm", "--mpi",
                                     "--cpus-per-task", "--only",        "--pack",          "--jobs",       "--budget"};
  std::size_t named = 0;
  for (const fs::path& page : documents()) {
    for (const std::string& code : code_of(page)) {
      std::smatch match;
      std::vector<std::string> flags;
      if (std::regex_match(code, match, alone)) {
        if (others.count(match[1]) == 0) flags.push_back(match[1]);
      } else if (std::regex_search(code, match, program)) {
        const std::string words = match[2];
        for (std::sregex_iterator word(words.begin(), words.end(), flag), end; word != end; ++word)
          flags.push_back((*word)[1]);
      }
      named += flags.size();
      for (const std::string& name : flags) EXPECT_EQ(known.count(name), 1u) << page << ": " << name << " in " << code;
    }
  }
  EXPECT_GT(named, 50u);
}

/// Whether the path, or what begins with it, is there; `*` is anything within a folder.
bool is_there(std::string path) {
  if (const std::size_t star = path.find('*'); star != std::string::npos) path.resize(star);
  const fs::path whole = kSource / path;
  if (fs::exists(whole)) return true;
  if (!fs::is_directory(whole.parent_path())) return false;
  const std::string begin = whole.filename().string();
  return std::any_of(fs::directory_iterator(whole.parent_path()), fs::directory_iterator(), [&](const auto& entry) {
    return entry.path().filename().string().compare(0, begin.size(), begin) == 0;
  });
}

TEST(Documents, NameFilesThatExist) {
  const std::regex file(
      R"((^|[ '(=<])((src|include|kernels|tests|benchmarks|packaging|python|circuits|docs|cmake)/[A-Za-z0-9_./*-]+))");
  std::size_t named = 0;
  for (const fs::path& page : documents()) {
    for (const std::string& line : lines_of(read_text(page.string()))) {
      const std::string text = std::regex_replace(line, std::regex("[`|{},]"), " ");
      for (std::sregex_iterator match(text.begin(), text.end(), file), end; match != end; ++match) {
        std::string path = (*match)[2];
        while (path.back() == '.') path.pop_back();
        ++named;
        EXPECT_TRUE(is_there(path)) << page << ": " << path;
      }
    }
  }
  EXPECT_GT(named, 50u);
}

/// The sources that end with one of `endings`, one after the other.
std::string sources(const std::vector<std::string>& places, const std::vector<std::string>& endings) {
  std::string text;
  const auto take = [&](const fs::path& file) {
    const std::string name = file.filename().string();
    const auto ends = [&](const std::string& ending) {
      return name.size() >= ending.size() && name.compare(name.size() - ending.size(), ending.size(), ending) == 0;
    };
    if (std::any_of(endings.begin(), endings.end(), ends)) text += read_text(file.string());
  };
  for (const std::string& place : places) {
    if (!fs::is_directory(kSource / place)) {
      take(kSource / place);
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(kSource / place)) {
      if (entry.is_regular_file()) take(entry.path());
    }
  }
  return text;
}

TEST(Documents, NameTestsThatExist) {
  const std::string tests = sources({"tests"}, {".cpp"});
  const std::regex declared(R"(TEST(?:_[FP])?\((\w+), (\w+)\))");
  std::vector<std::string> names;
  for (std::sregex_iterator match(tests.begin(), tests.end(), declared), end; match != end; ++match) {
    names.push_back((*match)[1].str() + "." + (*match)[2].str());
  }
  ASSERT_GT(names.size(), 500u);
  const auto known = [&](std::string pattern) {
    // A beginning of Suite.Name; what stands for anything before it is left away.
    pattern.erase(0, pattern.find_first_not_of('*'));
    std::string begin = pattern.substr(0, pattern.find('*'));
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& name) { return name.find(begin) != std::string::npos; });
  };
  const std::regex filter(R"(--gtest_filter='?([^' ]+))"), name(R"(`([A-Z]\w+\.(?:\*|[A-Z]\w+))`)");
  std::size_t named = 0;
  for (const fs::path& page : documents()) {
    const std::string text = read_text(page.string());
    for (const std::regex& form : {filter, name}) {
      for (std::sregex_iterator match(text.begin(), text.end(), form), end; match != end; ++match) {
        ++named;
        EXPECT_TRUE(known((*match)[1])) << page << ": " << match->str();
      }
    }
  }
  EXPECT_GT(named, 20u);
}

TEST(Documents, NameVariablesPresetsAndScriptsFlagsThatExist) {
  const std::string all =
      sources({"CMakeLists.txt", "cmake", "src", "tests", "benchmarks", "packaging", "python", "bootstrap"},
              {".txt", ".cmake", ".in", ".h", ".cpp", ".cu", ".py", ".sh", "bootstrap", ".Containerfile"});
  const std::string presets = read_text((kSource / "CMakePresets.json").string());
  const std::regex variable(R"(\bQSIM_[A-Z][A-Z_]*\b)"), preset(R"(--preset ([\w-]+))");
  const std::regex script(R"(^[^#|]*\b((tests|benchmarks)/[\w/.-]+\.(py|sh))([^#]*))"), flag(R"( (--[a-z][a-z-]*))");
  std::set<std::string> variables;
  for (const fs::path& page : documents()) {
    const std::string text = read_text(page.string());
    for (std::sregex_iterator match(text.begin(), text.end(), variable), end; match != end; ++match) {
      variables.insert(match->str());
    }
    for (std::sregex_iterator match(text.begin(), text.end(), preset), end; match != end; ++match) {
      const std::string entry = "\"name\": \"" + (*match)[1].str() + "\"";
      EXPECT_NE(presets.find(entry), std::string::npos) << page << ": " << match->str();
    }
    for (const std::string& code : code_of(page)) {
      std::smatch match;
      if (!std::regex_search(code, match, script)) continue;
      const std::string words = match[4], program = read_text((kSource / match[1].str()).string());
      for (std::sregex_iterator word(words.begin(), words.end(), flag), end; word != end; ++word) {
        EXPECT_NE(program.find((*word)[1].str()), std::string::npos) << page << ": " << code;
      }
    }
  }
  EXPECT_GT(variables.size(), 20u);
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (const std::string& name : variables) {
    std::size_t at = all.find(name);
    while (at != std::string::npos && is_word(all[std::min(at + name.size(), all.size() - 1)]))
      at = all.find(name, at + 1);
    EXPECT_NE(at, std::string::npos) << name;
  }
}

TEST(Documents, NameExitCodesThatExist) {
  const std::string help = run_qsim({"--help"}).out;
  const std::size_t begin = help.find("Exit codes:");
  ASSERT_NE(begin, std::string::npos);
  std::set<int> codes;
  const std::regex number(R"((\d+) [a-z])");
  for (std::sregex_iterator match(help.begin() + static_cast<std::ptrdiff_t>(begin), help.end(), number), end;
       match != end; ++match) {
    codes.insert(std::stoi((*match)[1]));
  }
  ASSERT_GE(codes.size(), 10u);
  const std::regex named(R"([Ee]xit(?:s with)?(?: codes?)? (\d+))"), row(R"(\n\| (\d+) \|)");
  for (const fs::path& page : documents()) {
    const std::string text = read_text(page.string());
    for (std::sregex_iterator match(text.begin(), text.end(), named), end; match != end; ++match) {
      const int code = std::stoi((*match)[1]);
      EXPECT_TRUE(codes.count(code) == 1 || code > 128)
          << page << ": " << match->str();  // above 128: ended by a signal
    }
  }
  const std::string conventions = read_text((kSource / "docs/conventions.md").string());
  std::set<int> listed;
  for (std::sregex_iterator match(conventions.begin(), conventions.end(), row), end; match != end; ++match) {
    listed.insert(std::stoi((*match)[1]));
  }
  EXPECT_EQ(listed, codes) << "the table of docs/conventions.md";
}

}  // namespace
}  // namespace qsim::test
