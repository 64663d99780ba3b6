// Holds the tree to the table of docs/architecture.md: who may include whom, and where vendors' headers may be.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using Strings = std::vector<std::string>;

/// Folders in the order of the table; those on one line are siblings and do not see each other.
const std::vector<Strings> kLevels{{"include/qsim"},
                                   {"src/base"},
                                   {"src/classical"},
                                   {"src/document"},
                                   {"src/circuit"},
                                   {"src/picture"},
                                   {"src/qasm"},
                                   {"src/qasm3/syntax"},
                                   {"src/qasm3/types"},
                                   {"src/qasm3/lower"},
                                   {"src/qasm3"},
                                   {"src/optimizer"},
                                   {"src/plan"},
                                   {"src/device"},
                                   {"kernels/cpu", "kernels/cuda"},
                                   {"src/comm"},
                                   {"src/cpu", "src/cuda", "src/null"},
                                   {"src/absent"},
                                   {"src/runtime"},
                                   {"src/session"},
                                   {"src/simulator"},
                                   {"src/batch"},
                                   {"src/bench"},
                                   {"src/cli"},
                                   {"python/src"}};

/// Folders that see less than everything above them.
const std::map<std::string, std::set<std::string>> kForbidden{
    {"src/runtime", {"src/cpu", "src/cuda", "src/null", "src/comm", "src/absent", "kernels/cpu", "kernels/cuda"}},
    {"src/cli",
     {"src/classical", "src/qasm", "src/qasm3/syntax", "src/qasm3/types", "src/qasm3/lower", "src/qasm3",
      "src/optimizer", "src/device", "kernels/cpu", "kernels/cuda", "src/comm", "src/cpu", "src/cuda", "src/null",
      "src/absent", "src/runtime"}},
    {"src/batch", {"src/cpu", "src/cuda", "src/null", "src/comm", "src/absent", "kernels/cpu", "kernels/cuda"}},
    {"src/bench", {"src/cpu", "src/cuda", "src/null", "src/comm", "src/absent", "kernels/cpu", "kernels/cuda"}},
    {"python/src",
     {"src/base",         "src/classical",   "src/document",    "src/circuit", "src/picture",   "src/qasm",
      "src/qasm3/syntax", "src/qasm3/types", "src/qasm3/lower", "src/qasm3",   "src/optimizer", "src/plan",
      "src/device",       "kernels/cpu",     "kernels/cuda",    "src/comm",    "src/cpu",       "src/cuda",
      "src/null",         "src/absent",      "src/runtime",     "src/session", "src/simulator", "src/batch",
      "src/bench",        "src/cli"}},
    {"src/comm", {"kernels/cpu"}},
    {"src/cpu", {"kernels/cuda"}},
    {"src/cuda", {"kernels/cpu"}},
    {"src/null", {"kernels/cpu", "kernels/cuda"}},
    {"src/simulator", {"kernels/cpu", "kernels/cuda"}}};

/// The rooms of a folder, each of which includes only those before it; "" is the folder itself.
const std::map<std::string, Strings> kRooms{
    {"src/base", {"", "numbers", "names", "file", "ranks", "threads"}},
    {"src/document", {"", "show"}},
    {"src/picture", {"", "circuit"}},
    {"src/qasm", {"text", "", "write"}},
    {"src/optimizer", {"", "open", "sums", "paths", "flips", "pairs", "axes", "strings", "passes"}},
    {"src/plan",
     {"", "cost", "lower", "timeline", "search", "element", "dense", "sweep", "build", "make", "program", "show"}},
    {"src/circuit", {"", "generate"}},
    {"src/device", {"numbers", "permutation", "", "batch"}},
    {"src/comm", {"", "gpu", "gpu/peer", "nccl", "transports", "mpi"}},
    {"src/cpu", {"", "items", "tile", "direct", "read_out", "backend"}},
    {"src/cuda", {"", "tile", "factor", "program", "generate", "run", "read_out", "backend"}},
    {"src/runtime", {"", "exchange", "read_out", "execute", "check", "answer", "branch"}},
    {"src/session", {"choose", "rank", ""}},
    {"src/simulator", {"", "memory", "run"}},
    {"src/bench", {"", "report"}},
    {"src/cli", {"io/terminal", "io", "io/input", "io/result", "page", "manual", ""}}};

/// A vendor's header (by how its name begins) and the paths that may include it.
const std::vector<std::pair<std::string, Strings>> kVendors{
    {"mpi", {"src/comm/mpi/"}},
    {"nccl", {"src/comm/nccl/"}},
    {"cuda", {"src/cuda/", "kernels/cuda/", "src/comm/nccl/", "src/comm/gpu/"}},
    {"cublas", {"src/cuda/"}},
    {"nvrtc", {"src/cuda/"}},
    {"nvtx", {"src/cuda/", "src/comm/gpu/"}},
    {"cub/", {"src/cuda/", "kernels/cuda/"}},
    {"thrust/", {"src/cuda/", "kernels/cuda/"}},
    {"cooperative_groups", {"kernels/cuda/"}},
    {"CLI/", {"src/cli/io/flags.cpp"}},
    {"nanobind/", {"python/src/"}},
    {"nlohmann/",
     {"src/batch/gram_document.cpp", "src/bench/report/json.cpp", "src/circuit/pauli_formats.cpp",
      "src/cli/io/result/json.cpp", "src/cli/io/input/parameters.cpp", "src/document/show/answers.cpp",
      "src/plan/cost/machine.cpp", "src/plan/show/json.cpp"}}};

const Strings kThirdParty{"fmt/", "nlohmann/", "CLI/", "xxhash", "Random123/", "gtest/", "benchmark/"};

bool starts_with(const std::string& text, const std::string& prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}
bool ends_with(const std::string& text, const std::string& suffix) {
  return text.size() >= suffix.size() && text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
}

/// The folder of the table that `path` is in, and its place there; -1 when it is in none.
std::pair<std::string, int> folder_of(const std::string& path) {
  for (std::size_t level = 0; level < kLevels.size(); ++level) {
    for (const std::string& folder : kLevels[level]) {
      if (starts_with(path, folder + "/")) return {folder, static_cast<int>(level)};
    }
  }
  return {"", -1};
}

/// The place of the room of `path` in its folder's list; -1 when it is in none, 0 where the folder has no rooms.
int room_of(const std::string& folder, const std::string& path) {
  const std::string inside = path.substr(folder.size() + 1);
  const std::size_t slash = inside.rfind('/');
  const std::string room = slash == std::string::npos ? "" : inside.substr(0, slash);
  const auto rooms = kRooms.find(folder);
  if (rooms == kRooms.end()) return room.empty() ? 0 : -1;
  const auto found = std::find(rooms->second.begin(), rooms->second.end(), room);
  return found == rooms->second.end() ? -1 : static_cast<int>(found - rooms->second.begin());
}

/// Path, from the top of the project, of what `#include "name"` in `file` means.
std::string target_of(const std::string& file, const std::string& name) {
  if (starts_with(name, "qsim/")) return "include/" + name;
  if (starts_with(name, "kernels/")) return name;
  if (name.find('/') == std::string::npos) return file.substr(0, file.rfind('/') + 1) + name;
  return "src/" + name;
}

/// `text` without what is in comments, strings and character literals; lines stay lines.
std::string code_of(const std::string& text) {
  std::string code;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto skip_to = [&](const std::string& end, std::size_t from) {
      const std::size_t stop = std::min(text.find(end, from), text.size());
      for (; i < stop; ++i) {
        if (text[i] == '\n') code += '\n';
      }
      i += end.size() - 1;
    };
    if (text.compare(i, 2, "//") == 0) {
      skip_to("\n", i);
      code += '\n';
    } else if (text.compare(i, 2, "/*") == 0) {
      skip_to("*/", i + 2);
    } else if (text.compare(i, 2, "R\"") == 0) {
      const std::size_t open = text.find('(', i);
      skip_to(")" + text.substr(i + 2, open - i - 2) + "\"", open);
    } else if (text[i] == '"' ||
               (text[i] == '\'' && (i == 0 || !std::isalnum(static_cast<unsigned char>(text[i - 1]))))) {
      const char quote = text[i];
      for (++i; i < text.size() && text[i] != quote && text[i] != '\n'; ++i) {
        if (text[i] == '\\') ++i;
      }
    } else {
      code += text[i];
    }
  }
  return code;
}

/// Lines with an #if between the braces of anything but a namespace.
Strings conditionals_in_bodies(const std::string& file, const std::string& text) {
  Strings found;
  std::istringstream lines(code_of(text));
  int depth = 0, number = 0;
  std::vector<bool> counts;  // of each open brace: is it a body's
  bool names_namespace = false;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (starts_with(line, "#")) {
      if (starts_with(line, "#if") && depth > 0) {
        found.push_back(file + ":" + std::to_string(number) + ": #if inside a body: let CMake pick files");
      }
      continue;
    }
    if (line.find("namespace") != std::string::npos || line.find("extern ") != std::string::npos)
      names_namespace = true;
    for (const char c : line) {
      if (c == '{') {
        counts.push_back(!names_namespace);
        depth += names_namespace ? 0 : 1;
        names_namespace = false;
      } else if (c == '}' && !counts.empty()) {
        depth -= counts.back() ? 1 : 0;
        counts.pop_back();
      } else if (c == ';') {
        names_namespace = false;
      }
    }
  }
  return found;
}

void check_project_include(const std::string& file, const std::string& where, const std::string& name, Strings& found) {
  const std::string target = target_of(file, name);
  const auto [from, from_level] = folder_of(file);
  const auto [to, to_level] = folder_of(target);
  if (to_level < 0) {
    found.push_back(where + "\"" + name + "\" is in no folder of the table");
  } else if (from != to && to_level >= from_level) {
    found.push_back(where + from + " includes " + to + ", which is not above it");
  } else if (const auto rule = kForbidden.find(from); rule != kForbidden.end() && rule->second.count(to) != 0) {
    found.push_back(where + from + " may not include " + to);
  } else if (from == to && room_of(from, target) > room_of(from, file)) {
    found.push_back(where + target + " is in a later room of " + from);
  }
}

void check_vendor_include(const std::string& file, const std::string& where, const std::string& name, Strings& found) {
  for (const auto& [vendor, places] : kVendors) {
    if (!starts_with(name, vendor)) continue;
    bool allowed = false;
    for (const std::string& place : places) allowed = allowed || starts_with(file, place);
    if (!allowed) found.push_back(where + "<" + name + "> is kept to " + places.front());
  }
  const bool device_code = ends_with(file, ".cu") || ends_with(file, ".cuh") || ends_with(file, ".h");
  for (const std::string& library : kThirdParty) {
    if (device_code && starts_with(name, library)) {
      found.push_back(where + "<" + name + "> in a header or a .cu file: it belongs in a .cpp file");
    }
  }
}

/// Everything in `text`, the contents of `file` (a path from the top), that breaks a rule.
Strings violations(const std::string& file, const std::string& text) {
  Strings found = conditionals_in_bodies(file, text);
  const auto [folder, level] = folder_of(file);
  if (level < 0) {
    found.push_back(file + ": is in no folder of the table");
  } else if (room_of(folder, file) < 0) {
    found.push_back(file + ": is in no room of " + folder);
  }
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (!starts_with(line, "#include ") || line.size() < 12) continue;
    const std::string where = file + ":" + std::to_string(number) + ": ";
    const std::string name = line.substr(10, line.find_first_of("\">", 10) - 10);
    if (line[9] == '"') {
      check_project_include(file, where, name, found);
    } else {
      check_vendor_include(file, where, name, found);
    }
  }
  return found;
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Layering, HoldsForEverySourceFile) {
  const fs::path top = QSIM_SOURCE_DIR;
  std::size_t files = 0;
  for (const char* folder : {"include", "src", "kernels", "python/src"}) {
    if (!fs::exists(top / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(top / folder)) {
      const std::string extension = entry.path().extension();
      if (extension != ".h" && extension != ".cpp" && extension != ".cu" && extension != ".cuh") continue;
      ++files;
      for (const std::string& violation : violations(entry.path().lexically_relative(top), read_file(entry.path()))) {
        ADD_FAILURE() << violation;
      }
    }
  }
  EXPECT_GT(files, 50u);
}

TEST(Layering, FoldersAndFilesOfSourcesStaySmall) {
  const fs::path top = QSIM_SOURCE_DIR;
  std::map<std::string, int> files_in;
  for (const auto& entry : fs::recursive_directory_iterator(top / "src")) {
    if (!entry.is_regular_file()) continue;
    const fs::path file = entry.path().lexically_relative(top);
    if (file.extension() != ".json") ++files_in[file.parent_path()];
    const std::string text = read_file(entry.path());
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 500) << file;
  }
  for (const auto& [folder, files] : files_in) EXPECT_LE(files, 12) << folder;
}

TEST(Layering, ThePublicHeadersStayShort) {
  std::ptrdiff_t lines = 0;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(QSIM_SOURCE_DIR) / "include")) {
    if (!entry.is_regular_file()) continue;
    const std::string text = read_file(entry.path());
    lines += std::count(text.begin(), text.end(), '\n');
  }
  EXPECT_GT(lines, 500);
  EXPECT_LE(lines, 900) << "documentation included";
}

TEST(Layering, IsTheOrderThatTheDocumentationNames) {
  const std::string text = read_file(fs::path(QSIM_SOURCE_DIR) / "docs/architecture.md");
  std::size_t last = 0;
  for (const Strings& level : kLevels) {
    std::string row = "\n| ";
    for (const std::string& folder : level) row += (&folder == &level.front() ? "" : ", ") + folder;
    const std::size_t place = text.find(row + " |");
    ASSERT_NE(place, std::string::npos) << "docs/architecture.md has no row" << row;
    for (const std::string& folder : level) {
      const auto rooms = kRooms.find(folder);
      if (rooms == kRooms.end()) continue;
      std::size_t after = place;
      for (const std::string& room : rooms->second) {
        if (room.empty()) continue;
        after = text.find(room + "/", after);
        EXPECT_LT(after, text.find('\n', place + 1)) << row << " does not name the room " << room << " in its place";
      }
    }
    EXPECT_GT(place, last) << row << " is at another place of the table";
    last = place;
  }
}

TEST(Layering, FindsAnIncludeThatPointsDown) {
  EXPECT_EQ(violations("src/plan/x.h", "#include \"runtime/executor.h\"\n").size(), 1u);
  EXPECT_EQ(violations("src/cpu/x.h", "#include \"cuda/backend.h\"\n").size(), 1u);
  EXPECT_EQ(violations("src/runtime/x.h", "#include \"comm/launcher.h\"\n").size(), 1u);
  EXPECT_EQ(violations("src/cli/x.h", "#include \"qasm/parser.h\"\n").size(), 1u);
  EXPECT_EQ(violations("python/src/x.cpp", "#include \"session/session_impl.h\"\n").size(), 1u);
  EXPECT_EQ(violations("src/plan/search/x.h", "#include \"plan/sweep/sweep_program.h\"\n").size(), 1u);
  EXPECT_EQ(violations("src/plan/new_room/x.h", "").size(), 1u);
  EXPECT_TRUE(violations("src/runtime/x.h", "#include \"plan/plan.h\"\n#include \"qsim/state.h\"\n").empty());
}

TEST(Layering, FindsAVendorsHeaderOutOfItsPlace) {
  EXPECT_EQ(violations("src/comm/threads.cpp", "#include <mpi.h>\n").size(), 1u);
  EXPECT_EQ(violations("src/runtime/x.cpp", "#include <cuda_runtime_api.h>\n").size(), 1u);
  EXPECT_EQ(violations("kernels/cuda/x.cu", "#include <fmt/format.h>\n").size(), 1u);
  EXPECT_TRUE(violations("src/comm/mpi/x.cpp", "#include <mpi.h>\n").empty());
}

/// Lines of `text` that open, make, rename or remove files by themselves.
Strings opens_files(const std::string& file, const std::string& text) {
  Strings found;
  if (starts_with(file, "src/base/file/")) return found;
  std::istringstream lines(code_of(text));
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    for (const char* call : {"::open(", "::openat(", "fopen(", "fstream", "::rename(", "::unlink(", "::mkstemp(",
                             "filesystem::rename", "filesystem::remove", "::creat("}) {
      if (line.find(call) != std::string::npos && line.find("bench::open(") == std::string::npos) {
        found.push_back(file + ":" + std::to_string(number) + ": files are opened in src/base/file");
      }
    }
  }
  return found;
}

TEST(Layering, FilesAreOpenedInOnePlace) {
  const fs::path top = QSIM_SOURCE_DIR;
  for (const auto& entry : fs::recursive_directory_iterator(top / "src")) {
    if (entry.path().extension() != ".cpp" && entry.path().extension() != ".h") continue;
    for (const std::string& line : opens_files(entry.path().lexically_relative(top), read_file(entry.path()))) {
      ADD_FAILURE() << line;
    }
  }
  EXPECT_EQ(opens_files("src/cli/x.cpp", "std::ifstream file(path);\n::unlink(path);\n").size(), 2u);
}

TEST(Layering, FindsAConditionalInsideABody) {
  EXPECT_EQ(violations("src/base/x.cpp", "void f() {\n#ifdef A\n  g();\n#endif\n}\n").size(), 1u);
  EXPECT_TRUE(violations("src/base/x.cpp", "namespace qsim {\nconst char* s = \"{\";\n#ifdef A\n#endif\n}\n").empty());
}

}  // namespace
