// Reading: stat, open without waiting, look again. Writing: an unnamed file and linkat, or O_EXCL and rename.
#include "base/file/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>

#include "base/file/read_files.h"
#include "base/text.h"
#include "qsim/error.h"

namespace qsim {
namespace {

std::string shown(const std::string& path) { return "'" + escape_text(path) + "'"; }

[[noreturn]] void fail(const std::string& what, const std::string& path, int code) {
  throw FileError("cannot " + what + " " + shown(path) + ": " + std::strerror(code));
}
[[noreturn]] void refuse(const std::string& what, const std::string& path, const std::string& why) {
  throw FileError("cannot " + what + " " + shown(path) + ": " + why);
}

std::string kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  if (S_ISSOCK(mode)) return "a socket";
  return S_ISLNK(mode) ? "a symbolic link" : "no regular file";
}

std::string too_large(const std::string& name, std::uint64_t limit) {
  return name + " is larger than the limit of " + format_bytes(limit);
}

/// Everything behind `descriptor`, up to `limit` bytes; an unset value when there is more. Errors by number.
std::optional<std::string> read_all(int descriptor, std::uint64_t expected, std::uint64_t limit, int& error) {
  constexpr std::size_t kBlock = 65536;
  std::string text;
  const std::uint64_t first = std::min(expected, limit) + 1;  // the end is then seen without growing
  std::size_t filled = 0;
  error = 0;
  while (true) {
    if (filled == text.size()) {
      if (filled > limit) return std::nullopt;
      const std::uint64_t wanted = filled == 0 ? std::max<std::uint64_t>(first, expected == 0 ? kBlock : 1)
                                               : filled + std::max<std::uint64_t>(kBlock, filled / 2);
      text.resize(static_cast<std::size_t>(std::min(wanted, limit + 1)));
    }
    const ssize_t got = ::read(descriptor, text.data() + filled, text.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      error = errno;
      return std::string();
    }
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  if (filled > limit) return std::nullopt;
  text.resize(filled);
  if (text.capacity() > filled + kBlock) text.shrink_to_fit();
  return text;
}

int write_all(int descriptor, const void* data, std::uint64_t bytes, std::optional<std::uint64_t> offset) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const std::size_t part = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, std::uint64_t{1} << 30));
    const ssize_t written =
        offset ? ::pwrite(descriptor, from, part, static_cast<off_t>(*offset)) : ::write(descriptor, from, part);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : EIO;
    from += written;
    bytes -= static_cast<std::uint64_t>(written);
    if (offset) *offset += static_cast<std::uint64_t>(written);
  }
  return 0;
}

struct Split {
  std::string folder, name;
};
Split split(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

std::string host_of_kernel() {
  std::string id = read_system_file("/proc/sys/kernel/random/boot_id");
  return id.substr(0, id.find('\n'));
}

/// Names that a signal handler removes. A fixed table of atomic pointers is all that such a handler may touch; an
/// entry's text is owned by whoever swaps it out.
constinit std::array<std::atomic<const std::string*>, 64> unfinished_names{};  // NOLINT: see above

void write_checked(int descriptor, const std::string& path, const void* data, std::uint64_t bytes,
                   std::optional<std::uint64_t> offset) {
  if (const int code = write_all(descriptor, data, bytes, offset); code != 0) fail("write", path, code);
}

/// What `path` is as the place of a result: true for a stream, false for a file; FileError for what may not be written.
bool is_stream_target(const std::string& path, OutputKind target) {
  struct stat status {};
  if (path.empty()) refuse("write", path, "it is no name");
  if (::lstat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) fail("write", path, errno);
    if (path.back() == '/') refuse("write", path, "it names a folder");
    return false;
  }
  const bool link = S_ISLNK(status.st_mode);
  if (link && (::stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode))) {
    refuse("write", path, "it is a symbolic link: name the file itself");
  }
  if (S_ISREG(status.st_mode)) {
    if (was_read(path)) refuse("write", path, "this run has read it");
    return false;
  }
  if (target == OutputKind::kFileOrStream && (S_ISCHR(status.st_mode) || S_ISFIFO(status.st_mode))) return true;
  refuse("write", path, "it is " + kind_of(status.st_mode));
}

}  // namespace

TemporaryName::TemporaryName(const std::string& name) : text_(name) {
  auto* const copy = new std::string(name);  // NOLINT(cppcoreguidelines-owning-memory): handed through an atomic
  for (auto& entry : unfinished_names) {
    const std::string* empty = nullptr;
    if (entry.compare_exchange_strong(empty, copy)) {
      listed_ = copy;
      return;
    }
  }
  delete copy;  // NOLINT(cppcoreguidelines-owning-memory): the table is full, and the destructors still remove files
}

TemporaryName::~TemporaryName() {
  if (listed_ == nullptr) return;
  for (auto& entry : unfinished_names) {
    const std::string* held = listed_;
    if (!entry.compare_exchange_strong(held, nullptr)) continue;
    delete listed_;  // NOLINT(cppcoreguidelines-owning-memory)
    return;
  }
}

InputFile::InputFile(std::string path, Links links) : path_(std::move(path)), descriptor_(-1) {
  struct stat status {};
  const bool follow = links == Links::kFollow;
  // Looked at before it is opened: opening some devices does something, and a pipe would wait.
  if ((follow ? ::stat(path_.c_str(), &status) : ::lstat(path_.c_str(), &status)) != 0) fail("open", path_, errno);
  const auto require_regular = [&] {
    if (S_ISREG(status.st_mode)) return;
    refuse("read", path_,
           "it is " + kind_of(status.st_mode) + ", and only regular files are read (- is standard input)");
  };
  require_regular();
  descriptor_ =
      OwnedDescriptor(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (follow ? 0 : O_NOFOLLOW)));
  if (*descriptor_ < 0) fail("open", path_, errno);
  if (::fstat(*descriptor_, &status) != 0) fail("open", path_, errno);
  require_regular();
  size_ = static_cast<std::uint64_t>(status.st_size);
  note_read_file(status);
}

void InputFile::read_at(void* data, std::uint64_t bytes, std::uint64_t offset) const {
  auto* to = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t got = ::pread(*descriptor_, to, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("read", path_, errno);
    if (got == 0) refuse("read", path_, "it ends too early");
    to += got;
    bytes -= static_cast<std::uint64_t>(got);
    offset += static_cast<std::uint64_t>(got);
  }
}

std::string read_file(const std::string& path, std::uint64_t limit, Links links) {
  const InputFile file(path, links);
  if (file.size() > limit) throw FileError(too_large(shown(path), limit));
  int error = 0;
  std::optional<std::string> text = read_all(file.descriptor(), file.size(), limit, error);
  if (error != 0) fail("read", path, error);
  if (!text) throw FileError(too_large(shown(path), limit));
  return std::move(*text);
}

std::string read_standard_input(std::uint64_t limit) {
  struct stat status {};
  if (::fstat(0, &status) == 0) note_read_file(status);
  int error = 0;
  std::optional<std::string> text = read_all(0, 0, limit, error);
  if (error != 0) throw FileError(std::string("cannot read standard input: ") + std::strerror(error));
  if (!text) throw FileError(too_large("standard input", limit));
  return std::move(*text);
}

std::string read_start(const std::string& path, std::size_t bytes) {
  std::string text(bytes, '\0');
  const OwnedDescriptor file(is_regular_file(path) ? ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1);
  const ssize_t got = *file < 0 ? 0 : ::pread(*file, text.data(), bytes, 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

std::string read_system_file(const std::string& path) {
  const OwnedDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (*file < 0) return {};
  int error = 0;
  return read_all(*file, 0, 1u << 20, error).value_or("");
}

std::string system_value(const std::string& path, std::string_view key) {
  constexpr const char* kBlanks = " \t";
  std::istringstream lines(read_system_file(path));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t colon = line.find_first_not_of(kBlanks, key.size());
    if (colon == std::string::npos || line[colon] != ':') continue;
    const std::size_t begin = line.find_first_not_of(kBlanks, colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin, line.find_last_not_of(kBlanks) + 1 - begin);
  }
  return {};
}

std::uint64_t system_bytes(const std::string& path, std::string_view key) {
  const std::string text = system_value(path, key);
  std::uint64_t kibibytes = 0;
  std::from_chars(text.data(), text.data() + text.size(), kibibytes);
  return kibibytes * 1024;
}

bool write_system_file(const std::string& path, std::string_view text) {
  const OwnedDescriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return *file >= 0 && write_all(*file, text.data(), text.size(), std::nullopt) == 0;
}

std::optional<std::vector<std::string>> system_folder(const std::string& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(path.c_str()), ::closedir);
  if (!entries) return std::nullopt;
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool is_regular_file(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

bool is_same_file(const std::string& a, const std::string& b) {
  if (a == "-" || b == "-" || a.empty() || b.empty()) return false;
  struct stat of_a {
  }, of_b{};
  const bool a_is_there = ::stat(a.c_str(), &of_a) == 0, b_is_there = ::stat(b.c_str(), &of_b) == 0;
  if (a_is_there != b_is_there) return false;
  const auto same = [&] { return of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino; };
  if (a_is_there) return S_ISREG(of_a.st_mode) && same();
  const Split parts_a = split(a), parts_b = split(b);
  return parts_a.name == parts_b.name && ::stat(parts_a.folder.c_str(), &of_a) == 0 &&
         ::stat(parts_b.folder.c_str(), &of_b) == 0 && same();
}

void require_writable(const std::string& path, OutputKind target) {
  if (is_stream_target(path, target) || is_regular_file(path)) {
    if (::access(path.c_str(), W_OK) != 0) fail("write", path, errno);
  }
  if (is_stream_target(path, target)) return;
  if (const Split parts = split(path); ::access(parts.folder.c_str(), W_OK | X_OK) != 0) fail("write", path, errno);
}

OwnedDescriptor::~OwnedDescriptor() {
  if (number_ >= 0) ::close(number_);
}

OwnedDescriptor open_stream(const std::string& path) {
  // A pipe that nobody reads would be waited for without end.
  OwnedDescriptor stream(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (*stream < 0) return stream;
  struct stat status {};
  if (::fstat(*stream, &status) != 0 || !(S_ISCHR(status.st_mode) || S_ISFIFO(status.st_mode))) {
    ::close(stream.release());
    errno = ENXIO;  // no longer the stream that it was
    return stream;
  }
  ::fcntl(*stream, F_SETFL, ::fcntl(*stream, F_GETFL) & ~O_NONBLOCK);
  return stream;
}

NewFile::NewFile(std::string path, OutputKind target, bool named)
    : path_(std::move(path)), folder_(split(path_).folder) {
  require_writable(path_, target);
  stream_ = is_stream_target(path_, target);
  if (stream_) {
    descriptor_ = open_stream(path_).release();
    if (descriptor_ < 0) fail("write", path_, errno);
  } else if (named || !open_unnamed()) {
    open_named();
  }
}

NewFile::~NewFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!committed_ && !temporary_.text().empty()) ::unlink(temporary_.text().c_str());
}

bool NewFile::open_unnamed() {
  descriptor_ = ::open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  if (descriptor_ < 0) return false;
  // Its name is given through /proc, which may be absent.
  if (::access(("/proc/self/fd/" + std::to_string(descriptor_)).c_str(), F_OK) == 0) return true;
  ::close(std::exchange(descriptor_, -1));
  return false;
}

void NewFile::open_named() {
  TemporaryName name(random_name(folder_));
  descriptor_ = ::open(name.text().c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail("write", path_, errno);
  temporary_ = std::move(name);
}

void NewFile::reserve(std::uint64_t bytes) const {
  if (bytes > static_cast<std::uint64_t>(std::numeric_limits<off_t>::max())) fail("write", path_, EFBIG);
  if (const int code = ::posix_fallocate(descriptor_, 0, static_cast<off_t>(bytes)); code != 0) {
    throw FileError("cannot reserve " + format_bytes(bytes) + " for " + shown(path_) + ": " + std::strerror(code));
  }
}

void NewFile::write(const void* data, std::uint64_t bytes) const {
  write_checked(descriptor_, path_, data, bytes, std::nullopt);
}

void NewFile::write_at(const void* data, std::uint64_t bytes, std::uint64_t offset) const {
  write_checked(descriptor_, path_, data, bytes, offset);
}

// linkat does not replace: where there is a predecessor, the file gets a random name first, then takes its place.
void NewFile::give_name() {
  const std::string unnamed = "/proc/self/fd/" + std::to_string(descriptor_);
  if (::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, path_.c_str(), AT_SYMLINK_FOLLOW) == 0) {
    committed_ = true;
    return;
  }
  if (errno != EEXIST) fail("write", path_, errno);
  TemporaryName name(random_name(folder_));
  if (::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, name.text().c_str(), AT_SYMLINK_FOLLOW) != 0) {
    fail("write", path_, errno);
  }
  temporary_ = std::move(name);
}

void NewFile::commit() {
  if (!stream_ && was_read(path_)) refuse("write", path_, "this run has read it");
  if (!stream_ && temporary_.text().empty()) give_name();
  if (::close(std::exchange(descriptor_, -1)) != 0) fail("write", path_, errno);
  if (stream_ || committed_) return;
  if (::rename(temporary_.text().c_str(), path_.c_str()) != 0) fail("write", path_, errno);
  committed_ = true;
}

NewFile::Place NewFile::place() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) fail("write", path_, errno);
  Place place{temporary_.text(), host_of_kernel(), status.st_dev, status.st_ino, !temporary_.text().empty()};
  if (!place.named) place.path = "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(descriptor_);
  return place;
}

void write_file(const std::string& path, std::string_view text) {
  NewFile file(path, OutputKind::kFileOrStream);
  file.write(text.data(), text.size());
  file.commit();
}

SharedFile::SharedFile(std::string path, NewFile::Place place) : path_(std::move(path)) {
  if (!place.named && place.host != host_of_kernel()) refuse("share", path_, "it is on another host");
  // A killed process's file is removed by those that are told to end.
  if (place.named) temporary_ = TemporaryName(place.path);
  descriptor_ = ::open(place.path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK | (place.named ? O_NOFOLLOW : 0));
  struct stat status {};
  const bool found = descriptor_ >= 0 && ::fstat(descriptor_, &status) == 0;
  const int code = errno;
  const bool same = found && S_ISREG(status.st_mode) && status.st_ino == place.inode &&
                    (place.named || status.st_dev == place.device);
  if (same) return;
  if (descriptor_ >= 0) ::close(descriptor_);
  if (found) refuse("share", path_, "this rank finds another file in its place");
  fail("share", path_, code);
}

SharedFile::~SharedFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void SharedFile::write_at(const void* data, std::uint64_t bytes, std::uint64_t offset) const {
  write_checked(descriptor_, path_, data, bytes, offset);
}

void SharedFile::close() {
  if (::close(std::exchange(descriptor_, -1)) != 0) fail("write", path_, errno);
}

void remove_unfinished_files() noexcept {
  for (auto& entry : unfinished_names) {
    if (const std::string* name = entry.exchange(nullptr)) ::unlink(name->c_str());
  }
}

bool fill_standard_descriptors() {
  bool output_was_closed = false;
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
    output_was_closed = output_was_closed || descriptor == 1;
    // open() gives the lowest free number, which is this one.
    if (::open("/dev/null", descriptor == 0 ? O_RDONLY : O_WRONLY) != descriptor) break;
  }
  return output_was_closed;
}

std::string random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  std::size_t done = 0;
  while (done < count) {
    const ssize_t got = ::getrandom(bytes.data() + done, count - done, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw FileError(std::string("the system gives no random bytes: ") + std::strerror(errno));
    done += static_cast<std::size_t>(got);
  }
  return bytes;
}

std::string random_name(const std::string& folder) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string name = folder + "/.qsim-";
  for (const char byte : random_bytes(16)) {
    name += kDigits[static_cast<unsigned char>(byte) >> 4];
    name += kDigits[static_cast<unsigned char>(byte) & 15];
  }
  return name;
}

}  // namespace qsim
