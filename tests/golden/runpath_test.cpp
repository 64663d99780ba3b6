// Where built and installed programs look for libraries: never in a folder that is named relative to the current one.
#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "golden/cli_program.h"

namespace qsim::test {
namespace {

namespace fs = std::filesystem;

template <typename Part>
Part part_at(const std::string& bytes, std::uint64_t offset) {
  Part part{};
  if (offset <= bytes.size() && sizeof part <= bytes.size() - offset) {
    std::memcpy(&part, bytes.data() + offset, sizeof part);
  }
  return part;
}

/// The RPATH and RUNPATH entries of a 64-bit ELF file; empty for other files.
std::vector<std::string> search_paths(const std::string& bytes) {
  std::vector<std::string> found;
  if (bytes.compare(0, SELFMAG, ELFMAG) != 0 || bytes[EI_CLASS] != ELFCLASS64) return found;
  const auto head = part_at<Elf64_Ehdr>(bytes, 0);
  for (unsigned i = 0; i < head.e_shnum; ++i) {
    const auto section = part_at<Elf64_Shdr>(bytes, head.e_shoff + i * head.e_shentsize);
    if (section.sh_type != SHT_DYNAMIC) continue;
    const auto strings = part_at<Elf64_Shdr>(bytes, head.e_shoff + section.sh_link * head.e_shentsize);
    for (std::uint64_t at = 0; at < section.sh_size; at += sizeof(Elf64_Dyn)) {
      const auto entry = part_at<Elf64_Dyn>(bytes, section.sh_offset + at);
      if (entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH) {
        found.emplace_back(bytes.c_str() + strings.sh_offset + entry.d_un.d_val);
      }
    }
  }
  return found;
}

bool is_safe(const std::string& path) {
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const std::string element = path.substr(begin, end - begin);
    const bool beside = element == "$ORIGIN" || element.rfind("$ORIGIN/", 0) == 0;
    if (!beside && element.rfind('/', 0) != 0) return false;
    begin = end + 1;
  }
  return true;
}

std::size_t check_files_of(const fs::path& folder) {
  std::size_t programs = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const std::string bytes = read_text(entry.path());
    programs += bytes.compare(0, SELFMAG, ELFMAG) == 0 ? 1 : 0;
    for (const std::string& path : search_paths(bytes)) EXPECT_TRUE(is_safe(path)) << entry.path() << ": " << path;
  }
  return programs;
}

TEST(SearchPath, OfBuiltProgramsHasNoEmptyOrRelativeElement) {
  EXPECT_GE(check_files_of(fs::path(QSIM_PROGRAM).parent_path()), 2u);
}

TEST(SearchPath, OfInstalledProgramsHasNoEmptyOrRelativeElement) {
  const TemporaryFolder folder;
  const fs::path build = fs::path(QSIM_PROGRAM).parent_path().parent_path();
  const ProgramRun install = run_command({"cmake", "--install", build.string(), "--prefix", folder.path()});
  ASSERT_EQ(install.exit_code, 0) << install.err;
  EXPECT_GE(check_files_of(folder.path()), 1u);
}

TEST(SearchPath, IsReadAsTheLoaderReadsIt) {
  EXPECT_TRUE(is_safe("/usr/lib"));
  EXPECT_TRUE(is_safe("/usr/lib:$ORIGIN/../lib"));
  for (const char* path : {"", ":", "/usr/lib:", ":/usr/lib", "/a::/b", "lib", "./lib", "/a:lib"}) {
    EXPECT_FALSE(is_safe(path)) << path;
  }
}

}  // namespace
}  // namespace qsim::test
