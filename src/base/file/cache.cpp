// Everything is opened relative to one descriptor of the folder, without following links and without waiting.
#include "base/file/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/file/files.h"
#include "base/hash.h"
#include "qsim/error.h"

namespace qsim {
namespace {

constexpr char kMagic[8] = {'Q', 'S', 'I', 'M', 'K', 'E', 'P', '1'};
constexpr const char* kKeyName = "key";
constexpr std::string_view kUnfinished = ".qsim-";  // as random_name begins
constexpr std::uint64_t kMostOfOne = std::uint64_t{64} << 20;

struct Head {
  char magic[8];
  std::uint64_t bytes;
  std::array<std::uint64_t, 2> digest;  // of the label's length, the label and the content
};

std::string authenticated(std::string_view label, std::string_view content) {
  std::string text = std::to_string(label.size()) + ":";
  text.reserve(text.size() + label.size() + content.size());
  return text.append(label).append(content);
}

/// What keeps `status` from being a file or folder of this user alone; empty when it is.
std::string not_private(const struct stat& status) {
  if (status.st_uid != ::geteuid()) return "it is another user's";
  if ((status.st_mode & 077) != 0) return "others may read or write it (chmod go= makes it private)";
  return {};
}

/// The bytes of an own regular file in the folder, at most `limit`.
std::optional<std::string> read_own(int folder, const char* name, std::uint64_t limit, bool touch) {
  const int file = ::openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  struct stat status {};
  std::optional<std::string> text;
  if (::fstat(file, &status) == 0 && S_ISREG(status.st_mode) && not_private(status).empty() && status.st_size >= 0 &&
      static_cast<std::uint64_t>(status.st_size) <= limit) {
    text.emplace(static_cast<std::size_t>(status.st_size), '\0');
    std::size_t done = 0;
    while (done < text->size()) {
      const ssize_t got = ::pread(file, text->data() + done, text->size() - done, static_cast<off_t>(done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      done += static_cast<std::size_t>(got);
    }
    if (done != text->size()) text.reset();
    if (text && touch) ::futimens(file, nullptr);  // what is used stays
  }
  ::close(file);
  return text;
}

/// A new own file of the folder with a random name and `text` in it; empty name: not written.
TemporaryName write_own(int folder, const std::string& path, std::string& name, std::string_view text) {
  name = random_name("");
  name.erase(0, name.rfind('/') + 1);
  TemporaryName listed(path + "/" + name);
  const int file = ::openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) {
    name.clear();
    return listed;
  }
  bool whole = true;
  while (whole && !text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    whole = written > 0;
    if (whole) text.remove_prefix(static_cast<std::size_t>(written));
  }
  whole = ::close(file) == 0 && whole;
  if (whole) return listed;
  ::unlinkat(folder, name.c_str(), 0);
  name.clear();
  return listed;
}

/// Makes `folder` and what is missing above it, closed to others.
void make_folders(const std::string& folder) {
  for (std::size_t slash = folder.find('/', 1);; slash = folder.find('/', slash + 1)) {
    ::mkdir(folder.substr(0, slash).c_str(), 0700);
    if (slash == std::string::npos) return;
  }
}

/// Whether the cache made a file of that name: in a folder that was named to it, others are somebody's own.
bool is_own_name(std::string_view name) {
  constexpr std::size_t kDigits = 32;
  if (name.starts_with(kUnfinished)) name.remove_prefix(kUnfinished.size());
  return name.size() == kDigits && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

struct Kept {
  std::string name;
  std::uint64_t bytes = 0;
  timespec used{};
};

std::vector<Kept> files_of(int folder) {
  std::vector<Kept> files;
  const int again = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(again < 0 ? nullptr : ::fdopendir(again), ::closedir);
  while (const dirent* entry = entries ? ::readdir(entries.get()) : nullptr) {
    struct stat status {};
    if (!is_own_name(entry->d_name) || ::fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(status.st_mode)) {
      continue;
    }
    files.push_back({entry->d_name, static_cast<std::uint64_t>(status.st_size), status.st_mtim});
  }
  return files;
}

}  // namespace

std::string user_cache_folder(const std::string& purpose) {
  for (const auto& [variable, inner] :
       {std::pair{"QSIM_CACHE_DIR", "/"}, {"XDG_CACHE_HOME", "/qsim/"}, {"HOME", "/.cache/qsim/"}}) {
    const char* const base = std::getenv(variable);
    if (base != nullptr && *base == '/') return base + std::string(inner) + purpose;
  }
  return "";
}

PrivateCache::PrivateCache(const std::string& folder, std::uint64_t most_bytes)
    : folder_(folder), most_bytes_(most_bytes) {
  if (folder_.empty()) {
    trouble_ = "no folder is named";
    return;
  }
  open_folder();
  if (trouble_.empty()) read_key();
}

PrivateCache::~PrivateCache() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void PrivateCache::open_folder() {
  make_folders(folder_);
  descriptor_ = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat status {};
  if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) {
    trouble_ = std::strerror(errno);
  } else {
    trouble_ = not_private(status);
  }
}

/// Another process may make the key at the same time: whoever links it first has made it for both.
bool PrivateCache::make_key() const {
  std::string name;
  const TemporaryName listed = write_own(descriptor_, folder_, name, random_bytes(sizeof key_));
  if (name.empty()) return false;
  const bool made = ::linkat(descriptor_, name.c_str(), descriptor_, kKeyName, 0) == 0 || errno == EEXIST;
  ::unlinkat(descriptor_, name.c_str(), 0);
  return made;
}

void PrivateCache::read_key() {
  std::optional<std::string> bytes = read_own(descriptor_, kKeyName, sizeof key_, false);
  if (!bytes && ::faccessat(descriptor_, kKeyName, F_OK, AT_SYMLINK_NOFOLLOW) != 0 && make_key()) {
    bytes = read_own(descriptor_, kKeyName, sizeof key_, false);
  }
  if (!bytes || bytes->size() != sizeof key_) {
    trouble_ = "its key cannot be read or made";
    return;
  }
  std::memcpy(key_.data(), bytes->data(), sizeof key_);
}

std::string PrivateCache::name_of(std::string_view label) const {
  const std::array<std::uint64_t, 2> digest = keyed_digest(key_, label);
  char name[40];
  std::snprintf(name, sizeof name, "%016llx%016llx", static_cast<unsigned long long>(digest[0]),
                static_cast<unsigned long long>(digest[1]));
  return name;
}

std::string PrivateCache::read(std::string_view label) const {
  if (!trouble_.empty()) return {};
  std::optional<std::string> bytes = read_own(descriptor_, name_of(label).c_str(), kMostOfOne, true);
  Head head{};
  if (!bytes || bytes->size() < sizeof head) return {};
  std::memcpy(&head, bytes->data(), sizeof head);
  bytes->erase(0, sizeof head);
  const bool good = std::memcmp(head.magic, kMagic, sizeof kMagic) == 0 && head.bytes == bytes->size() &&
                    head.digest == keyed_digest(key_, authenticated(label, *bytes));
  return good ? std::move(*bytes) : std::string();
}

void PrivateCache::write(std::string_view label, std::string_view content) const {
  if (!trouble_.empty() || content.size() + sizeof(Head) > std::min(kMostOfOne, most_bytes_)) return;
  Head head{};
  std::memcpy(head.magic, kMagic, sizeof kMagic);
  head.bytes = content.size();
  head.digest = keyed_digest(key_, authenticated(label, content));
  std::string bytes(reinterpret_cast<const char*>(&head), sizeof head);
  bytes += content;
  std::string name;
  const TemporaryName listed = write_own(descriptor_, folder_, name, bytes);
  if (name.empty()) return;
  if (::renameat(descriptor_, name.c_str(), descriptor_, name_of(label).c_str()) != 0) {
    ::unlinkat(descriptor_, name.c_str(), 0);
  }
  remove_oldest();
}

void PrivateCache::remove_oldest() const {
  std::vector<Kept> files = files_of(descriptor_);
  std::uint64_t bytes = 0;
  for (const Kept& file : files) bytes += file.bytes;
  if (bytes <= most_bytes_) return;
  std::sort(files.begin(), files.end(), [](const Kept& a, const Kept& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  for (const Kept& file : files) {
    if (bytes <= most_bytes_ / 4 * 3) return;  // with room for some more
    if (::unlinkat(descriptor_, file.name.c_str(), 0) == 0) bytes -= file.bytes;
  }
}

bool PrivateCache::lock() const { return trouble_.empty() && ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0; }

PrivateCache::Size PrivateCache::size() const {
  Size size;
  if (!trouble_.empty()) return size;
  for (const Kept& file : files_of(descriptor_)) {
    ++size.files;
    size.bytes += file.bytes;
  }
  return size;
}

}  // namespace qsim
