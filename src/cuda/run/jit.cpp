// A queue of sources, worker threads that start when there is work, and the disk cache.
#include "cuda/run/jit.h"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <thread>

#include "base/hash.h"
#include "qsim/error.h"

namespace qsim::cuda {
namespace {

constexpr char kMagic[8] = {'Q', 'S', 'I', 'M', 'J', 'I', 'T', '1'};
constexpr unsigned kMostWorkers = 16;

struct FileHead {
  char magic[8];
  std::uint64_t source_hash, bytes, checksum;
};

std::uint64_t hash_of(const char* data, std::size_t bytes) { return xxh3(std::string_view(data, bytes)); }

}  // namespace

std::string KernelCache::default_folder() {
  if (const char* const named = std::getenv("QSIM_CACHE_DIR")) return named;
  if (const char* const base = std::getenv("XDG_CACHE_HOME"); base != nullptr && *base != 0) {
    return std::string(base) + "/qsim";
  }
  if (const char* const home = std::getenv("HOME"); home != nullptr && *home != 0) {
    return std::string(home) + "/.cache/qsim";
  }
  return "";
}

KernelCache::KernelCache(std::string folder, int architecture, int compiler_version)
    : folder_(std::move(folder)), salt_(std::to_string(architecture) + "/" + std::to_string(compiler_version) + "/") {}

std::string KernelCache::path(const std::string& source) const {
  const std::string key = salt_ + source;
  char name[40];
  std::snprintf(name, sizeof name, "/%016llx.cubin", static_cast<unsigned long long>(hash_of(key.data(), key.size())));
  return folder_ + name;
}

std::vector<char> KernelCache::read(const std::string& source) const {
  if (folder_.empty()) return {};
  std::ifstream file(path(source), std::ios::binary);
  FileHead head{};
  if (!file.read(reinterpret_cast<char*>(&head), sizeof head)) return {};
  constexpr std::uint64_t kMostBytes = 64ull << 20;
  if (std::memcmp(head.magic, kMagic, sizeof kMagic) != 0 || head.bytes > kMostBytes ||
      head.source_hash != hash_of(source.data(), source.size())) {
    return {};
  }
  std::vector<char> cubin(head.bytes);
  if (!file.read(cubin.data(), static_cast<std::streamsize>(cubin.size()))) return {};
  if (head.checksum != hash_of(cubin.data(), cubin.size())) return {};
  return cubin;
}

void KernelCache::write(const std::string& source, const std::vector<char>& cubin) const {
  if (folder_.empty()) return;
  std::error_code trouble;
  std::filesystem::create_directories(folder_, trouble);
  const std::string final_path = path(source);
  const std::string temporary = final_path + "." + std::to_string(getpid()) + "." +
                                std::to_string(std::hash<std::thread::id>()(std::this_thread::get_id()));
  FileHead head{};
  std::memcpy(head.magic, kMagic, sizeof kMagic);
  head.source_hash = hash_of(source.data(), source.size());
  head.bytes = cubin.size();
  head.checksum = hash_of(cubin.data(), cubin.size());
  std::ofstream file(temporary, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&head), sizeof head);
  file.write(cubin.data(), static_cast<std::streamsize>(cubin.size()));
  file.close();
  if (file) std::filesystem::rename(temporary, final_path, trouble);
  if (!file || trouble) std::filesystem::remove(temporary, trouble);
}

struct Jit::State {
  struct Entry {
    std::string source;
    std::uint32_t shared_bytes = 0;
    bool done = false, queued = false;
    CompiledKernel compiled;
    std::unique_ptr<DriverKernel> kernel;  // touched by the device's thread only
    std::string failure;
  };

  State(int arch, std::string folder)
      : compiler(RuntimeCompiler::load()), architecture(arch), cache(std::move(folder), arch, compiler.version()) {}

  void work(const std::stop_token& stop) {
    std::unique_lock lock(mutex);
    while (wake.wait(lock, stop, [&] { return !queue.empty(); }) && !stop.stop_requested()) {
      Entry& entry = *queue.front();
      queue.pop_front();
      lock.unlock();
      CompiledKernel compiled = compiler.compile(entry.source, architecture);
      if (!compiled.cubin.empty()) cache.write(entry.source, compiled.cubin);
      lock.lock();
      entry.compiled = std::move(compiled);
      entry.done = true;
      finished.notify_all();
      if (stop.stop_requested()) return;
    }
  }

  RuntimeCompiler compiler;
  int architecture;
  KernelCache cache;
  std::deque<Entry> entries;
  std::map<std::string, Ticket, std::less<>> by_source;
  std::mutex mutex;  // guards queue and the entries' compiled, done
  std::condition_variable_any wake, finished;
  std::deque<Entry*> queue;
  std::vector<std::jthread> workers;  // last: they end before what they use
};

Jit::Jit(int architecture, std::string cache_folder)
    : state_(std::make_unique<State>(architecture, std::move(cache_folder))) {}

Jit::~Jit() = default;

Jit::Ticket Jit::request(const std::string& source, std::uint32_t shared_bytes, bool cached_only) {
  State& state = *state_;
  const auto [found, is_new] = state.by_source.try_emplace(source, state.entries.size());
  const Ticket ticket = found->second;
  if (is_new) {
    State::Entry& entry = state.entries.emplace_back();
    entry.source = source;
    entry.shared_bytes = shared_bytes;
    entry.compiled.cubin = state.cache.read(source);
    entry.done = !entry.compiled.cubin.empty();
  }
  State::Entry& entry = state.entries[ticket];
  const std::lock_guard lock(state.mutex);
  if (entry.done || entry.queued || cached_only) return ticket;
  entry.queued = true;
  state.queue.push_back(&entry);
  const unsigned most = std::clamp(std::thread::hardware_concurrency(), 1u, kMostWorkers);
  if (state.workers.size() < most) {
    state.workers.emplace_back([&state](const std::stop_token& stop) { state.work(stop); });
  }
  state.wake.notify_one();
  return ticket;
}

const DriverKernel* Jit::find(Ticket ticket, bool may_load) {
  State::Entry& entry = state_->entries.at(ticket);
  if (entry.kernel != nullptr) return entry.kernel.get();
  if (!may_load || !entry.failure.empty()) return nullptr;
  {
    const std::lock_guard lock(state_->mutex);
    if (!entry.done) return nullptr;
  }
  if (entry.compiled.cubin.empty()) {
    entry.failure = "a generated kernel does not compile: " + entry.compiled.log;
    return nullptr;
  }
  try {
    entry.kernel = std::make_unique<DriverKernel>(entry.compiled.cubin, entry.shared_bytes);
  } catch (const DeviceError& error) {
    entry.failure = error.what();
  }
  return entry.kernel.get();
}

const DriverKernel& Jit::wait(Ticket ticket) {
  State::Entry& entry = state_->entries.at(ticket);
  {
    std::unique_lock lock(state_->mutex);
    state_->finished.wait(lock, [&] { return entry.done || !entry.queued; });
  }
  const DriverKernel* const kernel = find(ticket);
  if (kernel == nullptr) throw DeviceError(entry.failure.empty() ? "a kernel was not compiled" : entry.failure);
  return *kernel;
}

}  // namespace qsim::cuda
