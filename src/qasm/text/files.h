// The texts that a program includes, and the rules of includes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "qasm/text/source.h"

namespace qsim::qasm {

constexpr std::uint64_t kMaxSourceBytes = 256ull << 20;  // the program and its includes together
constexpr int kMaxIncludes = 16;                         // one inside the other
constexpr std::size_t kMaxIncludeStatements = 1024;      // of files, in all; the built-in library is none

/// The source of a text that is no include. `text` must outlive it.
Source make_source(std::string_view text, const QasmOptions& options);

/// Where an include statement stands in its source.
struct IncludePlace {
  std::uint32_t offset = 0, line = 0;
};

class IncludedFiles {
 public:
  /// `root`: folder that includes may not leave; empty = that of the including file. `program_bytes` count, too.
  IncludedFiles(std::string root, std::uint64_t program_bytes) : root_(std::move(root)), bytes_read_(program_bytes) {}

  /// Fills `source` with the file `name` that `from` includes; it is looked for beside that one. Failure.
  void add(Source& source, const Source& from, std::string_view name, const IncludePlace& at);
  /// Canonical paths of what was read.
  std::vector<std::string> paths() const;

 private:
  std::string_view text_of(const std::string& path);

  std::string root_;
  std::uint64_t bytes_read_;
  std::size_t statements_ = 0;
  std::unordered_map<std::string, std::string> texts_;  // by canonical path; nodes stay where they are
};

}  // namespace qsim::qasm
