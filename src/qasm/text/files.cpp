#include "qasm/text/files.h"

#include <algorithm>
#include <filesystem>

#include "base/file/files.h"

namespace qsim::qasm {

Source make_source(std::string_view text, const QasmOptions& options) {
  Source source;
  source.name = options.file;
  source.text = text;
  if (source.text.starts_with("\xEF\xBB\xBF")) source.text.remove_prefix(3);
  if (!options.file.starts_with('<')) {
    const std::filesystem::path path(options.file);
    source.folder = path.has_parent_path() ? path.parent_path().string() : ".";
    std::error_code error;
    const std::filesystem::path canonical = std::filesystem::canonical(path, error);
    if (!error) source.path = canonical.string();
  } else {
    source.folder = options.include_root;
  }
  return source;
}

std::vector<std::string> IncludedFiles::paths() const {
  std::vector<std::string> paths;
  for (const auto& [path, text] : texts_) paths.push_back(path);
  return paths;
}

std::string_view IncludedFiles::text_of(const std::string& path) {
  const std::uint64_t left = kMaxSourceBytes - std::min(kMaxSourceBytes, bytes_read_);
  const auto known = texts_.find(path);
  if (known == texts_.end()) return texts_.emplace(path, read_file(path, left, Links::kRefuse)).first->second;
  if (known->second.size() > left) throw FileError("the program and its includes are larger than 256 MiB");
  return known->second;
}

void IncludedFiles::add(Source& source, const Source& from, std::string_view name, const IncludePlace& at) {
  namespace fs = std::filesystem;
  int depth = 0;
  for (const Source* open = &from; open->includer != nullptr; open = open->includer) ++depth;
  if (depth >= kMaxIncludes) {
    throw Failure{at.offset, "includes nested deeper than " + std::to_string(kMaxIncludes) + " files", ""};
  }
  const auto refuse = [&](const std::string& why) {
    throw Failure{at.offset, "include " + quoted(name, 80) + ": " + why, ""};
  };
  if (name.empty() || name.find('\0') != std::string_view::npos) refuse("not a file name");
  if (from.folder.empty()) refuse("the program is not a file, so there is no folder to look in");
  std::error_code error;
  const fs::path root = fs::canonical(root_.empty() ? from.folder : root_, error);
  if (error) refuse("the folder " + quoted(root_, 80) + " cannot be read");
  const fs::path path = fs::canonical(fs::path(from.folder) / fs::path(std::string(name)), error);
  if (error) refuse("no such file beside the including one");
  const auto [root_end, unused] = std::mismatch(root.begin(), root.end(), path.begin(), path.end());
  if (root_end != root.end()) refuse("outside of the folder that includes may come from");
  if (!fs::is_regular_file(path, error) || error) refuse("not a regular file");
  for (const Source* open = &from; open != nullptr; open = open->includer) {
    if (open->path == path.string()) refuse("the file includes itself");
  }
  if (statements_++ >= kMaxIncludeStatements) {
    refuse("more than " + std::to_string(kMaxIncludeStatements) + " includes in all");
  }
  try {
    source.text = text_of(path.string());
  } catch (const Error& problem) {
    refuse(problem.what());
  }
  bytes_read_ += source.text.size();
  if (source.text.starts_with("\xEF\xBB\xBF")) source.text.remove_prefix(3);
  source.name = (fs::path(from.name).parent_path() / fs::path(std::string(name))).string();
  source.folder = path.parent_path().string();
  source.path = path.string();
  source.includer = &from;
  source.include_line = from.include_line != 0 ? from.include_line : at.line;
}

}  // namespace qsim::qasm
