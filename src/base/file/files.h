// The one place where files are opened. What is read is a regular file of bounded size; what is written has no name, or
// one that nobody can guess, until it is complete.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace qsim {

/// Whether the last part of a path may be a symbolic link.
enum class Links : std::uint8_t { kFollow, kRefuse };

/// The bytes of the regular file `path`. FileError where it is anything else (a folder, a device, a pipe), cannot be
/// read or holds more than `limit` bytes.
std::string read_file(const std::string& path, std::uint64_t limit, Links links = Links::kFollow);
/// Standard input to its end, whatever it is; FileError beyond `limit` bytes.
std::string read_standard_input(std::uint64_t limit);
/// The first `bytes` of the regular file `path`, or fewer; empty where it cannot be read. Does not count as an input.
std::string read_start(const std::string& path, std::size_t bytes);
/// A file that the kernel makes (/proc, /sys), at most 1 MiB of it; empty where it cannot be read.
std::string read_system_file(const std::string& path);
/// Of such a file, what stands behind `key` and a colon on the first line that begins so, without blanks around it;
/// empty where there is none.
std::string system_value(const std::string& path, std::string_view key);
/// The same as bytes, where it is a number of kB; 0 where there is none.
std::uint64_t system_bytes(const std::string& path, std::string_view key);

/// Writes to a file of the kernel; false where it cannot be.
bool write_system_file(const std::string& path, std::string_view text);

/// Links are followed.
bool is_regular_file(const std::string& path);
/// Whether both names mean one file, there or still to be made; "-" and devices are no files.
bool is_same_file(const std::string& a, const std::string& b);

/// An open descriptor, below 0 for none, that closes itself.
class OwnedDescriptor {
 public:
  explicit OwnedDescriptor(int number) : number_(number) {}
  OwnedDescriptor(OwnedDescriptor&& other) noexcept : number_(other.release()) {}
  OwnedDescriptor& operator=(OwnedDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~OwnedDescriptor();
  int operator*() const { return number_; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};
/// A regular file that is read in pieces.
class InputFile {
 public:
  /// FileError where `path` is anything else (a folder, a device, a pipe) or cannot be read.
  explicit InputFile(std::string path, Links links = Links::kFollow);
  std::uint64_t size() const { return size_; }
  int descriptor() const { return *descriptor_; }
  /// FileError where it holds less.
  void read_at(void* data, std::uint64_t bytes, std::uint64_t offset) const;

 private:
  std::string path_;
  OwnedDescriptor descriptor_;
  std::uint64_t size_ = 0;
};

/// The names in a folder of the system's (/proc, /sys), sorted; none where it cannot be read. The standard library's
/// iterators end the program where memory runs out.
std::optional<std::vector<std::string>> system_folder(const std::string& path);

/// The pipe or character device `path`, opened for writing; none, with errno set, where it cannot be or is neither.
OwnedDescriptor open_stream(const std::string& path);

/// What may be named as the place of a result.
enum class OutputKind : std::uint8_t {
  kFile,          // a regular file, or none yet
  kFileOrStream,  // or a pipe or a character device, which are written as they are
};
/// FileError where `path` could not be made or replaced as things stand: no folder, no permission, a folder, a link to
/// a file, a block device.
void require_writable(const std::string& path, OutputKind target);

/// A name that remove_unfinished_files removes, while this lives.
class TemporaryName {
 public:
  TemporaryName() = default;
  explicit TemporaryName(const std::string& name);
  TemporaryName(TemporaryName&& other) noexcept { *this = std::move(other); }
  TemporaryName& operator=(TemporaryName&& other) noexcept {
    std::swap(text_, other.text_);
    std::swap(listed_, other.listed_);
    return *this;
  }
  ~TemporaryName();
  const std::string& text() const { return text_; }  // empty: none

 private:
  std::string text_;
  const std::string* listed_ = nullptr;
};

/// A file that appears under its name when it is complete, with its predecessor until then. Until `commit` it has no
/// name (O_TMPFILE) or, where the file system cannot do that, a random one that is removed by the destructor and by
/// remove_unfinished_files.
class NewFile {
 public:
  /// `named`: under a random name even where the file system could do without. FileError as require_writable.
  NewFile(std::string path, OutputKind target, bool named = false);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  /// Takes room for `bytes` on the disk, so that a full one is seen now.
  void reserve(std::uint64_t bytes) const;
  void write(const void* data, std::uint64_t bytes) const;
  void write_at(const void* data, std::uint64_t bytes, std::uint64_t offset) const;
  /// Closes the file and gives it its name.
  void commit();

  /// How other processes find the file before it has its name.
  struct Place {
    std::string path, host;
    std::uint64_t device = 0, inode = 0;
    bool named = false;
  };
  Place place() const;

 private:
  bool open_unnamed();
  void open_named();
  void give_name();

  std::string path_, folder_;
  TemporaryName temporary_;
  int descriptor_ = -1;
  bool stream_ = false, committed_ = false;
};

/// Writes `text` as the file `path`, or into the stream that is there.
void write_file(const std::string& path, std::string_view text);

/// A file that another process is making (NewFile::place), opened to write parts of it.
class SharedFile {
 public:
  /// FileError where `place` cannot be reached from here or is another file.
  SharedFile(std::string path, NewFile::Place place);
  ~SharedFile();
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;
  void write_at(const void* data, std::uint64_t bytes, std::uint64_t offset) const;
  void close();

 private:
  std::string path_;
  TemporaryName temporary_;
  int descriptor_ = -1;
};

/// Removes every temporary file that has a name. Safe in a signal handler, and meant for it: nothing else of the
/// process must be relied on afterwards.
void remove_unfinished_files() noexcept;

/// Fills closed descriptors 0..2 with /dev/null, so that no file opened later is taken for one of them. True when
/// standard output was closed.
bool fill_standard_descriptors();

/// `count` bytes that nobody can guess, and a name of such in `folder`.
std::string random_bytes(std::size_t count);
std::string random_name(const std::string& folder);

}  // namespace qsim
