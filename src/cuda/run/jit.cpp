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
#include <tuple>
#include <vector>

#include "base/hash.h"
#include "qsim/error.h"

namespace qsim::cuda {
namespace {

constexpr char kMagic[8] = {'Q', 'S', 'I', 'M', 'J', 'I', 'T', '1'};
constexpr unsigned kMostWorkers = 32;

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

/// Compiles each source once for all devices of a process, on as many host threads as there is work for.
class CompileQueue {
 public:
  struct Kernel {
    std::string source;
    CompiledKernel compiled;  // set when `done`
    bool done = false, queued = false;
  };

  /// The process's queue for this architecture and folder; it ends with its last user.
  static std::shared_ptr<CompileQueue> shared(int architecture, const std::string& folder) {
    static std::mutex mutex;
    static std::map<std::pair<int, std::string>, std::weak_ptr<CompileQueue>> queues;
    const std::lock_guard lock(mutex);
    std::weak_ptr<CompileQueue>& place = queues[{architecture, folder}];
    std::shared_ptr<CompileQueue> queue = place.lock();
    if (queue == nullptr) place = queue = std::make_shared<CompileQueue>(architecture, folder);
    return queue;
  }

  CompileQueue(int architecture, std::string folder)
      : compiler_(RuntimeCompiler::load()),
        architecture_(architecture),
        cache_(std::move(folder), architecture, compiler_.version()) {}

  /// The kernel of `source`: from the cache, else queued unless `cached_only`. It stays where it is.
  const Kernel& request(const std::string& source, bool cached_only) {
    std::unique_lock lock(mutex_);
    auto found = kernels_.find(source);
    if (found == kernels_.end()) {
      lock.unlock();
      CompiledKernel compiled;
      compiled.cubin = cache_.read(source);
      lock.lock();
      bool is_new = false;
      std::tie(found, is_new) = kernels_.try_emplace(source);
      if (is_new) {
        found->second = {source, std::move(compiled), false, false};
        found->second.done = !found->second.compiled.cubin.empty();
      }
    }
    Kernel& kernel = found->second;
    if (kernel.done || kernel.queued || cached_only) return kernel;
    kernel.queued = true;
    waiting_.push_back(&kernel);
    const unsigned most = std::clamp(std::thread::hardware_concurrency(), 1u, kMostWorkers);
    if (workers_.size() < most) {
      workers_.emplace_back([this](const std::stop_token& stop) { work(stop); });
    }
    wake_.notify_one();
    return kernel;
  }

  bool done(const Kernel& kernel) {
    const std::lock_guard lock(mutex_);
    return kernel.done;
  }
  /// Returns when the kernel is done, or at once when nobody compiles it.
  void wait(const Kernel& kernel) {
    std::unique_lock lock(mutex_);
    finished_.wait(lock, [&] { return kernel.done || !kernel.queued; });
  }

 private:
  void work(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (wake_.wait(lock, stop, [&] { return !waiting_.empty(); }) && !stop.stop_requested()) {
      Kernel& kernel = *waiting_.front();
      waiting_.pop_front();
      lock.unlock();
      CompiledKernel compiled = compiler_.compile(kernel.source, architecture_);
      if (!compiled.cubin.empty()) cache_.write(kernel.source, compiled.cubin);
      lock.lock();
      kernel.compiled = std::move(compiled);
      kernel.done = true;
      finished_.notify_all();
      if (stop.stop_requested()) return;
    }
  }

  RuntimeCompiler compiler_;
  int architecture_;
  KernelCache cache_;
  std::mutex mutex_;  // guards all below
  std::map<std::string, Kernel, std::less<>> kernels_;
  std::condition_variable_any wake_, finished_;
  std::deque<Kernel*> waiting_;
  std::vector<std::jthread> workers_;  // last: they end before what they use
};

struct Jit::State {
  struct Entry {
    const CompileQueue::Kernel* source = nullptr;
    std::uint32_t shared_bytes = 0;
    std::unique_ptr<DriverKernel> kernel;
    std::string failure;
  };
  std::shared_ptr<CompileQueue> queue;
  std::deque<Entry> entries;
  std::map<const CompileQueue::Kernel*, Ticket> tickets;
};

Jit::Jit(int architecture, const std::string& cache_folder) : state_(std::make_unique<State>()) {
  state_->queue = CompileQueue::shared(architecture, cache_folder);
}

Jit::~Jit() = default;

Jit::Ticket Jit::request(const std::string& source, std::uint32_t shared_bytes, bool cached_only) {
  const CompileQueue::Kernel& kernel = state_->queue->request(source, cached_only);
  const auto [found, is_new] = state_->tickets.try_emplace(&kernel, state_->entries.size());
  if (is_new) state_->entries.push_back({&kernel, shared_bytes, nullptr, {}});
  return found->second;
}

const DriverKernel* Jit::find(Ticket ticket, bool may_load) {
  State::Entry& entry = state_->entries.at(ticket);
  if (entry.kernel != nullptr) return entry.kernel.get();
  if (!may_load || !entry.failure.empty() || !state_->queue->done(*entry.source)) return nullptr;
  const CompiledKernel& compiled = entry.source->compiled;
  if (compiled.cubin.empty()) {
    entry.failure = "a generated kernel does not compile: " + compiled.log;
    return nullptr;
  }
  try {
    entry.kernel = std::make_unique<DriverKernel>(compiled.cubin, entry.shared_bytes);
  } catch (const DeviceError& error) {
    entry.failure = error.what();
  }
  return entry.kernel.get();
}

const DriverKernel& Jit::wait(Ticket ticket) {
  const State::Entry& entry = state_->entries.at(ticket);
  state_->queue->wait(*entry.source);
  const DriverKernel* const kernel = find(ticket);
  if (kernel == nullptr) throw DeviceError(entry.failure.empty() ? "a kernel was not compiled" : entry.failure);
  return *kernel;
}

}  // namespace qsim::cuda
