// Where text goes: standard output or a file, checked to the last byte; and which stream is a person's terminal.
#pragma once

#include <functional>
#include <string>

#include "base/text.h"

namespace qsim::cli {

/// Gives a text part by part.
using TextSource = std::function<void(const TextSink&)>;

/// Makes SIGPIPE and SIGXFSZ errors of the write that meets them, fills closed descriptors and remembers whether
/// standard output was one.
class Streams {
 public:
  Streams();
  /// FileError when standard output is closed, UsageError when it is one of the files that are to be made: said before
  /// a long run rather than after it.
  void require_stdout(const std::vector<std::string>& outputs = {}) const;
  /// Writes `text` to standard output; FileError when it is closed or full.
  void write_stdout(const TextSource& source) const;
  void write_stdout(const std::string& text) const;

 private:
  bool stdout_closed_ = false;
};

/// Writes what `source` gives as the file `path`, or into the stream that is there; FileError.
void write_file_of(const std::string& path, const TextSource& source);

/// Whether the document of a failure may be written there: a stream, no file yet, an empty one or an earlier document.
bool may_take_failure(const std::string& path);

/// From now on a signal that ends the process removes unfinished files first. After MPI has started, which complains of
/// handlers that it finds.
void remove_files_on_signals();

/// Prints `line` on standard error (a newline is added), with what could steer a terminal escaped; failures there have
/// nowhere to be told.
void print_error(const std::string& line);

/// True when a person sees standard error at once. Under a launcher, stderr is a pipe to it: its own stderr decides.
bool stderr_is_terminal(bool launched);

}  // namespace qsim::cli
