// Lowering happens once a sweep (and once more where a chunk view fixes bits that the tile had been filled up with).
#include "cuda/run/sweep_runner.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/bits.h"
#include "base/threads/thread_team.h"
#include "cuda/device.h"
#include "cuda/generate/generate.h"
#include "cuda/program/lower.h"
#include "cuda/run/encode.h"
#include "cuda/run/jit.h"
#include "cuda/run/permutation.h"
#include "cuda/tile/addresses.h"
#include "cuda/tile/split_sweep.h"
#include "device/gpu_parts.h"
#include "plan/plan.h"
#include "qsim/error.h"

namespace qsim::cuda {
namespace {

constexpr std::size_t kKeptSweeps = 256;  // more are lowered again each time they run
// From this size on, compiling pays within a few runs (the cache on disk keeps it); smaller sweeps are compiled when
// they come back often, so that a single short run never waits for a compiler at its end.
constexpr std::uint32_t kCompileBits = 30;
constexpr std::uint32_t kCompileUses = 16;
constexpr std::uint32_t kTrials = 8;  // of a schedule, 0.3 ms each, where sweeps take 8 ms

template <class Real>
class Runner final : public SweepRunner {
 public:
  explicit Runner(const BackendOptions& options) : mode_(options.jit) {
    if (mode_ == Jit::kOff) return;
    const DeviceFacts facts = device_facts(options.device_id);
    lanes_ = sizeof(Real) == 8 && facts.major >= kLaneBlocksMajor;
    try {
      jit_ = std::make_unique<JitCompiler>(facts.major * 10 + facts.minor, kernel_cache_folder(options.kernel_cache));
    } catch (const DeviceError&) {
      if (mode_ == Jit::kOnly) throw;  // auto: the interpreter does it all
    }
  }

  void set_memory(const SweepMemory& memory) override {
    memory_ = memory;
    clear();
  }

  std::byte* state() const override { return memory_.state; }

  std::uint32_t prepare(std::span<const Sweep> sweeps, Summing summing, cudaStream_t stream) override {
    const auto first = static_cast<std::uint32_t>(prepared_.size());
    for (const Sweep& sweep : sweeps) {
      Prepared& prepared = prepared_.emplace_back();
      prepared.sweep = sweep;
      if (sweep.permutes()) prepare_permutation(prepared);
    }
    if (!sweeps.empty()) prepared_.back().sums_bits = summing == Summing::kBits;
    std::vector<std::byte> staged;
    const std::uint64_t start = table_used_;
    const std::size_t end = std::min<std::size_t>(prepared_.size(), kKeptSweeps);
    std::vector<Variant> variants(end > first ? end - first : 0);
    on_threads(variants.size(), compiles_at_once(), [&](std::uint64_t i, int) {
      if (!prepared_[first + i].permutation) variants[i] = lowered(prepared_[first + i], 0);
    });
    for (std::size_t i = first; i < end; ++i) {
      Variant& variant = prepared_[i].variants.emplace_back(std::move(variants[i - first]));
      ask_for_kernels(variant);
      if (start + staged.size() + variant.bytes() > memory_.table_bytes) continue;
      place_tables(variant, start + staged.size());
      for (const Part& part : variant.parts) append(staged, part);
    }
    upload(staged.data(), start, staged.size(), stream);
    table_used_ = start + staged.size();
    return first;
  }

  void renew(std::uint32_t handle, std::span<const Sweep> sweeps, cudaStream_t stream) override {
    for (std::size_t i = 0; i < sweeps.size(); ++i) {
      Prepared& prepared = prepared_.at(handle + i);
      prepared.sweep = sweeps[i];
      if (prepared.permutation) prepare_permutation(prepared);
    }
    std::vector<std::vector<Variant>> fresh(sweeps.size());
    on_threads(sweeps.size(), true, [&](std::uint64_t i, int) {
      const Prepared& prepared = prepared_[handle + i];
      for (const Variant& before : prepared.variants) fresh[i].push_back(lowered(prepared, before.outside, &before));
    });
    // What is under way may still read the tables.
    for (const Stream& lane : memory_.lanes) wait_for(lane.get());
    for (std::size_t i = 0; i < sweeps.size(); ++i) {
      for (std::size_t v = 0; v < fresh[i].size(); ++v) replace(prepared_[handle + i].variants[v], fresh[i][v], stream);
    }
  }

  void expect_chunks(std::uint32_t handle, Index mask, Index arrivals, cudaStream_t stream) override {
    Variant& variant = variant_for(prepared_.at(handle), mask);
    make_resident(variant, stream);
    if (arrivals != 0) ask_for_arrivals(variant.parts.front(), arrivals);
  }

  bool loads_arrived(std::uint32_t handle, Index mask, Index arrivals) override {
    Part& part = variant_for(prepared_.at(handle), mask).parts.front();
    return part.program.arrivals == arrivals && kernel_of(part.arrived) != nullptr;
  }

  void finish_preparing() override {
    if (mode_ != Jit::kOnly) return;
    for (const Prepared& prepared : prepared_) {
      if (prepared.permuting.ticket) (void)jit_->wait(*prepared.permuting.ticket);
      for (const Variant& variant : prepared.variants) {
        for (const Part& part : variant.parts) {
          (void)jit_->wait(*part.kernel.ticket);
          if (part.arrived.ticket) (void)jit_->wait(*part.arrived.ticket);
        }
      }
    }
  }

  void hold_loading(bool held) override { loading_held_ = held; }

  void clear() override {
    prepared_.clear();
    table_used_ = 0;
    ++generation_;
  }

  void run(std::uint32_t handle, ChunkView chunk, cudaStream_t stream, bool accumulate_norm) override {
    run_parts(handle, chunk, 0, {}, stream, accumulate_norm);
  }

  void run_arrived(std::uint32_t handle, ChunkView chunk, Index arrivals, std::span<const Arrival> arrived,
                   cudaStream_t stream, bool accumulate_norm) override {
    run_parts(handle, chunk, arrivals, arrived, stream, accumulate_norm);
  }

  const SweptBits* swept_bits() const override { return swept_ ? &*swept_ : nullptr; }

 private:
  struct Kernel {
    GeneratedSweep generated;
    std::optional<JitCompiler::Ticket> ticket;
    std::uint32_t uses = 0;
  };
  struct Part {
    EncodedSweep<Real> encoded;
    TileProgram program;       // of the kernels, with the arrivals that are expected, if any
    TableBytes kernel_tables;  // of the kernels, after the interpreter's, whose program is another; or none
    std::uint64_t table_at = 0;
    Kernel kernel;   // of the program without arrivals
    Kernel arrived;  // of the program with them: loads them from where they are
    std::uint64_t bytes() const { return padded(encoded.tables.bytes.size()) + padded(kernel_tables.bytes.size()); }
  };
  struct Variant {
    Index outside = 0;  // bits that were not to be active
    Index inside = 0;   // active index bits: a chunk view must not fix them
    std::uint64_t generation = 0;
    std::vector<Part> parts;
    std::uint64_t bytes() const {
      std::uint64_t sum = 0;
      for (const Part& part : parts) sum += part.bytes();
      return sum;
    }
  };
  struct Prepared {
    Sweep sweep;
    bool sums_bits = false;
    std::optional<Permutation> permutation;  // then there are no variants
    Kernel permuting;                        // its own, if any
    std::vector<Variant> variants;
  };

  static std::uint64_t padded(std::uint64_t bytes) { return (bytes + 255) / 256 * 256; }
  static void append(std::vector<std::byte>& staged, const Part& part) {
    for (const TableBytes* const tables : {&part.encoded.tables, &part.kernel_tables}) {
      staged.insert(staged.end(), tables->bytes.begin(), tables->bytes.end());
      staged.resize(padded(staged.size()));
    }
  }

  void prepare_permutation(Prepared& prepared) const {
    prepared.permutation.emplace(prepared.sweep, memory_.local_bits);
    if (!jit_ || !prepared.permutation->wants_kernel()) return;
    Kernel kernel{generate_permutation(prepared.sweep, memory_.local_bits, kPrecision), {}, 0};
    keep_or_ask(prepared.permuting, kernel);
    prepared.permuting = std::move(kernel);
  }

  /// The kernel of the same text, which `before` may have. A text that came with new numbers may not come again.
  void keep_or_ask(const Kernel& before, Kernel& kernel) const {
    if (!jit_) return;
    if (!before.ticket || before.generated.source != kernel.generated.source)
      return ask_for_kernel(kernel, (before.ticket && mode_ != Jit::kOnly) || !compiles_at_once());
    kernel.ticket = before.ticket;
    kernel.uses = before.uses;
  }

  /// `variant` of a renewed sweep becomes `fresh`, at its place among the tables if it has one.
  void replace(Variant& variant, Variant& fresh, cudaStream_t stream) {
    static const Kernel kNone;
    const bool alike = fresh.parts.size() == variant.parts.size();
    for (std::size_t p = 0; p < fresh.parts.size(); ++p) {
      Part& part = fresh.parts[p];
      keep_or_ask(alike ? variant.parts[p].kernel : kNone, part.kernel);
      if (!alike || variant.parts[p].program.arrivals == 0 || !jit_) continue;
      part.program.arrivals = variant.parts[p].program.arrivals;
      part.arrived = {generate(part.program), {}, 0};
      keep_or_ask(variant.parts[p].arrived, part.arrived);
    }
    const std::uint64_t at = variant.parts.front().table_at;
    const bool placed = variant.generation == generation_ && at != kNotPlaced && fresh.bytes() <= variant.bytes();
    variant = std::move(fresh);
    if (!placed) return;
    place_tables(variant, at);
    for (const Part& part : variant.parts) upload(part, part.table_at, stream);
  }

  /// Does work(0, ...), ..., work(count - 1, ...), on several threads where it is long.
  static void on_threads(std::size_t count, bool is_long, const std::function<void(std::uint64_t, int)>& work) {
    const std::size_t threads = std::min<std::size_t>({count, std::thread::hardware_concurrency(), 8});
    if (is_long && threads > 1) {
      ThreadTeam(static_cast<int>(threads)).run(count, work);
    } else {
      for (std::size_t i = 0; i < count; ++i) work(i, 0);
    }
  }

  /// `before`: of the same sweep with other numbers.
  Variant lowered(const Prepared& prepared, Index outside, const Variant* before = nullptr) const {
    Variant variant;
    variant.outside = outside;
    std::optional<LowerChoice> choice;
    if (before != nullptr && before->parts.size() == 1) choice = before->parts.front().program.choice;
    add_parts(prepared.sweep, prepared.sums_bits, choice, variant);
    return variant;
  }

  void add_parts(const Sweep& sweep, bool sums_bits, const std::optional<LowerChoice>& choice, Variant& variant) const {
    const bool compile = compiles_at_once();  // the interpreter does whole blocks faster
    LowerOptions options = (compile ? kernel_options : lower_options)(memory_.local_bits, kPrecision);
    options.sums_bits = sums_bits;
    options.outside = variant.outside;
    options.choice = choice;
    options.lanes = options.lanes && lanes_;
    if (compile) options.trials = kTrials;
    TileProgram program = lower_sweep(sweep, options);
    if (options.precision == Precision::kSingle) round_tangents(program);
    std::optional<EncodedSweep<Real>> encoded = encode<Real>(program);
    TableBytes kernel_tables;
    if (encoded && (uses_lanes(program) || program.light || program.wide || !program.lookups.empty())) {
      kernel_tables = std::move(encoded->tables);
      options.canonical = options.lanes = options.lookups = false;
      options.trials = 1;
      options.choice.reset();
      encoded = encode<Real>(lower_sweep(sweep, options));  // of blocks in registers: what interprets faster
    }
    if (!encoded || padded(encoded->tables.bytes.size()) + padded(kernel_tables.bytes.size()) > memory_.table_bytes) {
      const auto [first, second] = split_sweep(sweep);
      add_parts(first, false, {}, variant);
      add_parts(second, sums_bits, {}, variant);
      return;
    }
    for (const Bit bit : program.active) {
      if (bit != kPhantom) variant.inside |= bit_mask(bit);
    }
    Part part{std::move(*encoded), std::move(program), std::move(kernel_tables), 0, {}, {}};
    if (jit_) part.kernel.generated = generate(part.program);
    variant.parts.push_back(std::move(part));
  }

  bool compiles_at_once() const { return jit_ && (mode_ == Jit::kOnly || memory_.local_bits >= kCompileBits); }

  void ask_for_kernels(Variant& variant) const {
    if (!jit_) return;
    for (Part& part : variant.parts) ask_for_kernel(part.kernel, !compiles_at_once());
  }

  void ask_for_kernel(Kernel& kernel, bool cached_only) const {
    kernel.ticket = jit_->request(kernel.generated.source, kernel.generated.shared_bytes, cached_only);
  }

  void ask_for_arrivals(Part& part, Index arrivals) const {
    if (!jit_ || part.program.arrivals == arrivals) return;
    part.program.arrivals = arrivals;
    part.arrived = {generate(part.program), {}, 0};
    ask_for_kernel(part.arrived, !compiles_at_once());
  }

  void run_parts(std::uint32_t handle, ChunkView chunk, Index arrivals, std::span<const Arrival> arrived,
                 cudaStream_t stream, bool accumulate_norm) {
    Prepared& prepared = prepared_.at(handle);
    swept_.reset();
    if (prepared.permutation) {
      NormCell* const norm = accumulate_norm ? memory_.norm : nullptr;
      const std::uint64_t bytes = sizeof(Amplitude<Real>) << memory_.local_bits;
      const DriverKernel* const kernel = kernel_of(prepared.permuting);
      if (prepared.permutation->template run<Real>(memory_.state, memory_.spare, memory_.steps, norm, kernel, stream))
        memory_.spare = {std::exchange(memory_.state, memory_.spare.data()), bytes};
      return;
    }
    Variant& variant = variant_for(prepared, chunk.mask);
    make_resident(variant, stream);
    for (std::size_t i = 0; i < variant.parts.size(); ++i) {
      const bool first = i == 0, last = i + 1 == variant.parts.size();
      launch(variant.parts[i], chunk, first ? arrivals : 0, arrived, stream, accumulate_norm && last);
    }
    if (handle >= kKeptSweeps) prepared.variants.clear();
  }

  /// The program whose tiles leave `chunk_mask` outside; made when there is none yet.
  Variant& variant_for(Prepared& prepared, Index chunk_mask) {
    for (Variant& variant : prepared.variants) {
      if ((variant.inside & chunk_mask) == 0) return variant;
    }
    Variant& variant = prepared.variants.emplace_back(lowered(prepared, chunk_mask));
    ask_for_kernels(variant);
    return variant;
  }

  void place_tables(Variant& variant, std::uint64_t at) {
    for (Part& part : variant.parts) {
      part.table_at = at;
      at += part.bytes();
    }
    variant.generation = generation_;
  }

  void make_resident(Variant& variant, cudaStream_t stream) {
    if (variant.generation == generation_) return;
    const std::uint64_t bytes = variant.bytes();
    if (table_used_ + bytes > memory_.table_bytes) {
      // Every table may still be read by a kernel under way; all are forgotten and come back when they are needed.
      for (const Stream& lane : memory_.lanes) wait_for(lane.get());
      table_used_ = 0;
      ++generation_;
    }
    if (bytes > memory_.table_bytes) {  // its parts fit one at a time: launch() uploads them
      for (Part& part : variant.parts) part.table_at = kNotPlaced;
      return;
    }
    place_tables(variant, table_used_);
    for (const Part& part : variant.parts) upload(part, part.table_at, stream);
    table_used_ += bytes;
  }

  void upload(const Part& part, std::uint64_t at, cudaStream_t stream) {
    std::vector<std::byte> staged;
    append(staged, part);
    upload(staged.data(), at, staged.size(), stream);
  }

  void upload(const std::byte* data, std::uint64_t at, std::uint64_t bytes, cudaStream_t stream) {
    if (bytes == 0) return;
    wait_for(stream);  // a copy from pageable memory would block in the driver until the stream gets there
    check(cudaMemcpyAsync(memory_.tables + at, data, bytes, cudaMemcpyHostToDevice, stream),
          "cudaMemcpyAsync of sweep tables");
    wait_for(stream);  // other lanes read the tables too
  }

  void launch(Part& part, ChunkView chunk, Index arrivals, std::span<const Arrival> arrived, cudaStream_t stream,
              bool accumulate_norm) {
    std::uint64_t at = part.table_at;
    if (at == kNotPlaced) {
      for (const Stream& lane : memory_.lanes) wait_for(lane.get());
      at = 0;
      upload(part, 0, stream);
      table_used_ = memory_.table_bytes;
    }
    NormCell* const norm = accumulate_norm ? memory_.norm : nullptr;
    if (arrivals != 0) {
      place_origins(part.arrived.generated, chunk, arrivals, arrived);
      return launch_generated(part, part.arrived.generated, *kernel_of(part.arrived), at, chunk, stream, norm);
    }
    if (const DriverKernel* const kernel = kernel_of(part.kernel))
      return launch_generated(part, part.kernel.generated, *kernel, at, chunk, stream, norm);
    SweepParams<Real>& params = part.encoded.params;
    const TableBytes& tables = part.encoded.tables;
    std::byte* const base = memory_.tables + at;
    params.state = reinterpret_cast<Amplitude<Real>*>(memory_.state);
    params.tables = reinterpret_cast<const Amplitude<Real>*>(base + tables.tables);
    params.dense = reinterpret_cast<const Amplitude<Real>*>(base + tables.dense);
    params.addresses = reinterpret_cast<const std::uint32_t*>(base + tables.addresses);
    params.angles = reinterpret_cast<const TileAngle*>(base + tables.angles);
    params.angle_begin = reinterpret_cast<const std::uint32_t*>(base + tables.angle_begin);
    params.norm = norm;
    const std::uint64_t tiles = set_tiles(params, part.program.tile_bits, chunk.mask, chunk.value);
    check(launch_sweep(params, tiles, stream), "launch of a sweep");
  }

  const DriverKernel* kernel_of(Kernel& kernel) {
    if (!jit_ || !kernel.ticket) return nullptr;
    if (mode_ == Jit::kOnly) return &jit_->wait(*kernel.ticket);
    // A small sweep that keeps coming back deserves its kernel too.
    if (++kernel.uses == kCompileUses) ask_for_kernel(kernel, false);
    return jit_->find(*kernel.ticket, !loading_held_);
  }

  /// What has not arrived but stayed is in place.
  void place_origins(GeneratedSweep& generated, ChunkView chunk, Index arrivals,
                     std::span<const Arrival> arrived) const {
    std::uint64_t* const origins = generated.ints.data() + generated.origins;
    std::fill_n(origins, bit_mask(count_bits(arrivals)), std::uint64_t{0});
    for (const Arrival& one : arrived) {
      if ((one.first & ~arrivals) != chunk.value) throw Error("an arrival of another chunk");
      const std::byte* const place = memory_.state + one.first * sizeof(Amplitude<Real>);
      origins[extract_bits(one.first, arrivals)] =
          reinterpret_cast<std::uintptr_t>(one.data) - reinterpret_cast<std::uintptr_t>(place);
    }
  }

  void launch_generated(const Part& part, GeneratedSweep& generated, const DriverKernel& kernel, std::uint64_t at,
                        ChunkView chunk, cudaStream_t stream, NormCell* norm) {
    std::vector<std::uint64_t>& ints = generated.ints;
    const Index free = part.program.tile_bits & ~chunk.mask;
    const std::vector<BitRun> runs = runs_of(free);
    if (runs.size() > kGeneratedRuns) throw Error("tile bits are in too many runs");
    ints[0] = runs.size();
    for (std::size_t r = 0; r < runs.size(); ++r) {
      ints[1 + 2 * r] = runs[r].shift;
      ints[2 + 2 * r] = runs[r].mask << runs[r].shift;
    }
    const bool own_tables = !part.kernel_tables.bytes.empty();
    const TableBytes& tables = own_tables ? part.kernel_tables : part.encoded.tables;
    std::byte* const base = memory_.tables + at + (own_tables ? padded(part.encoded.tables.bytes.size()) : 0);
    const std::uint64_t tiles = bit_mask(count_bits(free));
    const bool sums = !generated.summed.empty() && chunk.mask == 0 && memory_.sums.holds(tiles);
    if (sums) {
      check(cudaMemsetAsync(memory_.sums.cells(), 0, kCellWords * sizeof(std::uint64_t), stream),
            "cudaMemsetAsync of sums");
      swept_ = {part.program.tile_bits, generated.summed};
    }
    const void* const pointers[kGeneratedPointers] = {memory_.state,
                                                      base + tables.tables,
                                                      base + tables.angles,
                                                      base + tables.angle_begin,
                                                      base + tables.dense,
                                                      norm,
                                                      sums ? memory_.sums.cells() : nullptr,
                                                      sums ? memory_.sums.totals() : nullptr};
    arguments_.assign(
        sizeof pointers + ints.size() * 8 + std::max<std::size_t>(generated.reals.size(), 1) * sizeof(Real) + 8,
        std::byte{0});
    std::memcpy(arguments_.data(), pointers, sizeof pointers);
    std::memcpy(arguments_.data() + sizeof pointers, ints.data(), ints.size() * 8);
    std::byte* real = arguments_.data() + sizeof pointers + ints.size() * 8;
    for (const double value : generated.reals) {
      const Real narrow = static_cast<Real>(value);
      std::memcpy(real, &narrow, sizeof narrow);
      real += sizeof narrow;
    }
    constexpr std::uint64_t kMostBlocks = std::uint64_t{1} << 30;
    for (std::uint64_t first = 0; first < tiles; first += kMostBlocks) {
      std::uint64_t base_index = chunk.value, first_tile = first;
      void* words[] = {arguments_.data(), &base_index, &first_tile};
      kernel.launch(static_cast<std::uint32_t>(std::min(tiles - first, kMostBlocks)),
                    1u << part.encoded.params.thread_bits, stream, words, grows(part.program));
    }
  }

  /// Waits by asking: a blocking call would keep other ranks' threads from giving this device the copies it waits for.
  static void wait_for(cudaStream_t stream) {
    cudaError_t status = cudaStreamQuery(stream);
    for (; status == cudaErrorNotReady; status = cudaStreamQuery(stream)) std::this_thread::yield();
    check(status, "cudaStreamQuery while sweep tables are in use");
  }

  static constexpr std::uint64_t kNotPlaced = ~std::uint64_t{0};
  static constexpr Precision kPrecision = sizeof(Real) == 8 ? Precision::kDouble : Precision::kSingle;

  const Jit mode_;
  bool lanes_ = false;  // generated kernels may do blocks on lanes
  std::unique_ptr<JitCompiler> jit_;
  bool loading_held_ = false;
  std::vector<std::byte> arguments_;
  SweepMemory memory_;
  std::vector<Prepared> prepared_;
  std::optional<SweptBits> swept_;
  std::uint64_t table_used_ = 0, generation_ = 1;
};

}  // namespace

std::unique_ptr<SweepRunner> make_sweep_runner(const BackendOptions& options) {
  if (options.precision == Precision::kDouble) return std::make_unique<Runner<double>>(options);
  return std::make_unique<Runner<float>>(options);
}

}  // namespace qsim::cuda
