// docs/api.md shows the programs of docs/examples/api, and what they print; README.md shows the first of them.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>

#include "golden/cli_program.h"

namespace qsim::test {
namespace {

namespace fs = std::filesystem;

/// As Markdown has it: four spaces before every line that is not empty.
std::string indented(const std::string& text) {
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) result += "    " + text.substr(begin, end - begin);
    result += "\n";
    begin = end + 1;
  }
  return result;
}

std::string output_of(const fs::path& program) {
  FILE* const pipe = popen(("'" + program.string() + "' 2>&1").c_str(), "r");
  std::string text;
  std::array<char, 4096> piece{};
  for (std::size_t got = 1; got > 0;) {
    got = std::fread(piece.data(), 1, piece.size(), pipe);
    text.append(piece.data(), got);
  }
  EXPECT_EQ(pclose(pipe), 0) << program;
  return text;
}

TEST(ApiExamples, TheDocumentationShowsThemAndWhatTheyPrint) {
  const fs::path docs = fs::path(QSIM_SOURCE_DIR) / "docs";
  const std::string page = read_text((docs / "api.md").string());
  std::size_t examples = 0;
  for (const auto& entry : fs::directory_iterator(docs / "examples/api")) {
    ++examples;
    const std::string source = read_text(entry.path().string());
    EXPECT_NE(page.find(indented(source)), std::string::npos) << "docs/api.md does not show " << entry.path();
    const std::string printed =
        output_of(fs::path(QSIM_PROGRAM).parent_path() / ("qsim_example_" + entry.path().stem().string()));
    EXPECT_NE(page.find(indented(printed)), std::string::npos) << entry.path() << " prints\n" << printed;
    const std::ptrdiff_t most = entry.path().stem() == "feedback" ? 19 : 15;
    EXPECT_LE(std::count(source.begin(), source.end(), '\n'), most) << entry.path() << " is longer than an example";
  }
  EXPECT_GE(examples, 4u);
  const std::string readme = read_text(QSIM_SOURCE_DIR "/README.md");
  EXPECT_NE(readme.find("```cpp\n" + read_text((docs / "examples/api/bell.cpp").string()) + "```\n"), std::string::npos)
      << "README.md does not show docs/examples/api/bell.cpp";
}

}  // namespace
}  // namespace qsim::test
