// Where text goes: standard output or a file, checked to the last byte; and which stream is a person's terminal.
#pragma once

#include <string>

namespace qsim::cli {

/// Ignores SIGPIPE and fills closed descriptors 0..2 with /dev/null, so that no file opened later is taken for one of
/// them. Remembers whether standard output was closed.
class Streams {
 public:
  Streams();
  /// FileError when standard output is closed: said before a long run rather than after it.
  void require_stdout() const;
  /// FileError when `path` cannot be written as things stand, for the same reason.
  void require_writable(const std::string& path) const;
  /// Writes `text` to standard output; FileError when it is closed or full.
  void write_stdout(const std::string& text) const;
  /// Writes `text` to `path` through a temporary file beside it, or directly where `path` is a device; FileError.
  void write_file(const std::string& path, const std::string& text) const;

 private:
  bool stdout_closed_ = false;
};

/// Prints `line` on standard error (a newline is added); failures there have nowhere to be told.
void print_error(const std::string& line);

/// True when a person sees standard error at once. Under a launcher, stderr is a pipe to it: its own stderr decides.
bool stderr_is_terminal(bool launched);

}  // namespace qsim::cli
