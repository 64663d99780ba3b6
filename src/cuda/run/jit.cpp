// A queue of sources, worker threads that start when there is work, and the disk cache.
#include "cuda/run/jit.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>
#include <vector>

#include "device/gpu_parts.h"
#include "qsim/error.h"

namespace qsim::cuda {
namespace {

constexpr unsigned kMostWorkers = 32;

}  // namespace

KernelCache::KernelCache(const std::string& folder, int architecture, int compiler_version)
    : files_(folder, kMostCachedKernelBytes),
      salt_(std::to_string(architecture) + "/" + std::to_string(compiler_version) + "/") {}

std::vector<char> KernelCache::read(const std::string& source) const {
  const std::string cubin = files_.read(salt_ + source);
  return {cubin.begin(), cubin.end()};
}

void KernelCache::write(const std::string& source, const std::vector<char>& cubin) const {
  files_.write(salt_ + source, {cubin.data(), cubin.size()});
}

/// Compiles each source once for all devices of a process, on as many host threads as there is work for.
class CompileQueue {
 public:
  struct Kernel {
    std::string source;
    CompiledKernel compiled;  // set when `done`
    bool done = false, queued = false;
  };

  CompileQueue(int architecture, const std::string& folder)
      : compiler_(RuntimeCompiler::load()),
        architecture_(architecture),
        folder_(folder),
        cache_(folder, architecture, compiler_.version()) {}

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

  bool lock() const { return cache_.lock(); }
  LateKernels late() {
    const std::lock_guard lock(mutex_);
    LateKernels late{architecture_, folder_, {}};
    for (const auto& [source, kernel] : kernels_) {
      if (kernel.queued && !kernel.done) late.sources.push_back(source);
    }
    return late;
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
  std::string folder_;
  KernelCache cache_;
  std::mutex mutex_;  // guards all below
  std::map<std::string, Kernel, std::less<>> kernels_;
  std::condition_variable_any wake_, finished_;
  std::deque<Kernel*> waiting_;
  std::vector<std::jthread> workers_;  // last: they end before what they use
};

namespace {

/// The process's queues; each ends with its last user, or where they are kept with end_compilers().
class CompileQueues {
 public:
  /// Never destroyed: threads of kept queues may be at work when the process ends.
  static CompileQueues& all() {
    static auto* const queues = new CompileQueues;
    return *queues;
  }

  std::shared_ptr<CompileQueue> shared(int architecture, const std::string& folder) {
    const std::lock_guard lock(mutex_);
    std::weak_ptr<CompileQueue>& place = queues_[{architecture, folder}];
    std::shared_ptr<CompileQueue> queue = place.lock();
    if (queue == nullptr) {
      place = queue = std::make_shared<CompileQueue>(architecture, folder);
      if (keeps_) kept_.push_back(queue);
    }
    return queue;
  }
  void keep() {
    const std::lock_guard lock(mutex_);
    keeps_ = true;
  }
  std::vector<LateKernels> late() {
    const std::lock_guard lock(mutex_);
    std::vector<LateKernels> all;
    for (const auto& queue : kept_) {
      LateKernels late = queue->late();
      if (!late.sources.empty()) all.push_back(std::move(late));
    }
    return all;
  }
  void end() {
    const std::lock_guard lock(mutex_);
    keeps_ = false;
    kept_.clear();
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<int, std::string>, std::weak_ptr<CompileQueue>> queues_;
  std::vector<std::shared_ptr<CompileQueue>> kept_;
  bool keeps_ = false;
};

}  // namespace

struct JitCompiler::State {
  struct Entry {
    const CompileQueue::Kernel* source = nullptr;
    std::uint32_t shared_bytes = 0;
    std::unique_ptr<DriverKernel> kernel;
    std::string failure;
  };
  int architecture = 0;
  std::shared_ptr<CompileQueue> queue;
  std::deque<Entry> entries;
  std::map<const CompileQueue::Kernel*, Ticket> tickets;
};

JitCompiler::JitCompiler(int architecture, const std::string& cache_folder) : state_(std::make_unique<State>()) {
  state_->architecture = architecture;
  state_->queue = CompileQueues::all().shared(architecture, cache_folder);
}

JitCompiler::~JitCompiler() = default;

JitCompiler::Ticket JitCompiler::request(const std::string& source, std::uint32_t shared_bytes, bool cached_only) {
  const CompileQueue::Kernel& kernel = state_->queue->request(source, cached_only);
  const auto [found, is_new] = state_->tickets.try_emplace(&kernel, state_->entries.size());
  if (is_new) state_->entries.push_back({&kernel, shared_bytes, nullptr, {}});
  return found->second;
}

const DriverKernel* JitCompiler::find(Ticket ticket, bool may_load) {
  State::Entry& entry = state_->entries.at(ticket);
  if (entry.kernel != nullptr) return entry.kernel.get();
  if (!may_load || !entry.failure.empty() || !state_->queue->done(*entry.source)) return nullptr;
  const CompiledKernel& compiled = entry.source->compiled;
  if (compiled.cubin.empty()) {
    entry.failure = "a generated kernel does not compile: " + compiled.log;
    return nullptr;
  }
  try {
    entry.kernel = std::make_unique<DriverKernel>(compiled.cubin, entry.shared_bytes, state_->architecture);
  } catch (const DeviceError& error) {
    entry.failure = error.what();
  }
  return entry.kernel.get();
}

const DriverKernel& JitCompiler::wait(Ticket ticket) {
  const State::Entry& entry = state_->entries.at(ticket);
  state_->queue->wait(*entry.source);
  const DriverKernel* const kernel = find(ticket);
  if (kernel == nullptr) throw DeviceError(entry.failure.empty() ? "a kernel was not compiled" : entry.failure);
  return *kernel;
}

}  // namespace qsim::cuda

namespace qsim {

void keep_compilers() { cuda::CompileQueues::all().keep(); }

std::vector<LateKernels> late_kernels() { return cuda::CompileQueues::all().late(); }

void end_compilers() { cuda::CompileQueues::all().end(); }

void compile_kernels(const LateKernels& kernels) {
  cuda::CompileQueue queue(kernels.architecture, kernels.folder);
  if (!queue.lock()) return;
  std::vector<const cuda::CompileQueue::Kernel*> asked;
  for (const std::string& source : kernels.sources) asked.push_back(&queue.request(source, false));
  for (const cuda::CompileQueue::Kernel* const kernel : asked) queue.wait(*kernel);
}

}  // namespace qsim
