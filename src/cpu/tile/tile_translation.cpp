// The translation proper: geometry to offsets, items to passes and micro-operations.
#include "cpu/tile/tile_translation.h"

#include <algorithm>
#include <cmath>

#include "base/numbers/rounding.h"
#include "cpu/items/waiting_phases.h"
#include "cpu/tile/tile_micro.h"
#include "cpu/tile/tile_schedule.h"
#include "plan/plan.h"

namespace qsim::cpu {
namespace {

template <typename T>
class SweepTranslator {
 public:
  SweepTranslator(const Sweep& sweep, std::uint32_t local_bits, int lane_bits, int register_bits)
      : sweep_(sweep),
        local_bits_(local_bits),
        program_(TileGeometry(sweep, local_bits), lane_bits, register_bits),
        writer_(program_, placement_),
        micro_(program_, placement_),
        items_(tile_items(sweep, program_.geometry.tile_mask)) {
    int most_targets = 0;
    for (const TileItem& item : items_) {
      if (const auto* matrix = std::get_if<MatrixItem>(&item)) {
        most_targets = std::max(most_targets, static_cast<int>(matrix->targets.size()));
      }
    }
    const int tile_bits = program_.geometry.tile_bits;
    program_.position_bits = std::max(tile_bits, lane_bits + std::max(register_bits, most_targets));
    program_.pieces = std::max(1, (static_cast<int>(count_bits(program_.geometry.tile_mask)) + 5) / 6);
    placement_.lane_bits = lane_bits;
    placement_.register_bits = register_bits;
    placement_.position_bits = program_.position_bits;
    for (int bit = 0; bit < program_.position_bits; ++bit) placement_.position.push_back(bit);
  }

  TileProgram<T> run(const TileProgram<T>* like) {
    if (like != nullptr) program_.reserve_as(*like);
    make_loads();
    Index wanted = 0;
    if (program_.store_units) {
      for (int lane = 0; lane + 1 < program_.lane_bits; ++lane) wanted |= bit_mask(home(lane));
    }
    for (const TileItem& item : items_) program_.items.push_back(shape_of(item));
    const bool alike = like != nullptr && like->items == program_.items;
    PassScheduler scheduler(items_, wanted, alike ? &like->schedule : nullptr);
    while (!scheduler.finished()) {
      const PassPlan plan = scheduler.next(placement_);
      if (plan.dense) {
        add_dense(plan);
      } else {
        add_pass(plan);
      }
    }
    program_.schedule = scheduler.take_passes();
    restore_lanes();
    flush_rest();
    for (const Term& term : waiting_.take_whole()) writer_.emit_scalar(term);
    make_stores();
    return std::move(program_);
  }

 private:
  // ---- geometry

  std::size_t places() const { return std::size_t{1} << program_.position_bits; }
  bool phantom(Index place) const { return place >> program_.geometry.tile_bits != 0; }

  /// True when the lowest bits of memory are the lowest active ones, so that half a vector is consecutive amplitudes.
  bool units_in_memory() const {
    if (program_.position_bits != program_.geometry.tile_bits) return false;
    return lowest_bits_are_apart(sweep_, static_cast<unsigned>(program_.lane_bits - 1));
  }

  /// Tile bit whose place at the store is memory bit `lane`.
  unsigned home(int lane) const {
    const auto at = std::find(sweep_.store.begin(), sweep_.store.end(), static_cast<Bit>(lane));
    return static_cast<unsigned>(at - sweep_.store.begin());
  }

  void make_loads() {
    const TileGeometry& geometry = program_.geometry;
    const std::size_t lanes = std::size_t{1} << program_.lane_bits;
    program_.store_units = units_in_memory();
    const bool low_born = (sweep_.unborn & low_mask(static_cast<unsigned>(program_.lane_bits - 1))) == 0;
    program_.load = !geometry.reads ? Load::kStart : program_.store_units && low_born ? Load::kUnits : Load::kElements;
    if (!geometry.start.empty()) {
      program_.start.resize(2 * places());
      for (Index place = 0; place < places(); ++place) {
        const Complex c = phantom(place) ? Complex(0) : geometry.start[place];
        T* const vector = program_.start.data() + place / lanes * 2 * lanes + place % lanes;
        vector[0] = static_cast<T>(c.real());
        vector[lanes] = static_cast<T>(c.imag());
      }
    }
    if (program_.load == Load::kStart) return;
    const Index step = program_.load == Load::kUnits ? lanes / 2 : 1;
    for (Index place = 0; place < places(); place += step) {
      bool zero = phantom(place);
      if (!zero && !geometry.start.empty()) {
        zero = std::all_of(geometry.start.begin() + static_cast<std::ptrdiff_t>(place),
                           geometry.start.begin() + static_cast<std::ptrdiff_t>(place + step),
                           [](Complex c) { return c == Complex(0); });
      }
      program_.load_offsets.push_back(zero ? kNowhere : geometry.load[place]);
    }
  }

  /// Most lines of a tile that share one place of a second-level cache of 64 KiB a way.
  std::size_t crowding() const {
    constexpr Index kLine = 64 / sizeof(std::complex<T>);
    std::vector<std::size_t> lines(1024);
    for (const Index offset : program_.store_offsets) ++lines[offset / kLine % lines.size()];
    return *std::max_element(lines.begin(), lines.end());
  }

  /// A tile whose runs of memory are short and far apart is loaded and stored with its neighbours, and past the caches
  /// where its lines would push each other out before they are written: that spares a second read of every line.
  void choose_traffic() {
    const TileGeometry& geometry = program_.geometry;
    const std::size_t unit = sizeof(std::complex<T>) << (program_.lane_bits - 1);
    if (!program_.store_units || unit < 64) return;
    // A first write of what no cache holds needs no read before it.
    constexpr std::uint32_t kCacheBytesBits = 24;
    const bool large = local_bits_ + (sizeof(std::complex<T>) == 8 ? 3u : 4u) > kCacheBytesBits;
    const std::size_t crowd = crowding();
    program_.stream = crowd > 64 || (large && program_.load == Load::kStart);
    if (program_.load != Load::kUnits || crowd <= 8 || geometry.tile_mask == 0) return;
    const int run_bits = std::countr_zero(geometry.tile_mask),
              next_bits = std::countr_one(geometry.tile_mask >> run_bits);
    constexpr int kRunBytesBits = 9, kBatchBytesBits = 18;  // a run, and a batch of tiles
    const int amplitude_bits = sizeof(std::complex<T>) == 8 ? 3 : 4;
    program_.batch_bits = std::clamp(std::min({kRunBytesBits - amplitude_bits - run_bits,
                                               kBatchBytesBits - amplitude_bits - program_.position_bits, next_bits}),
                                     0, std::countr_zero(kMaxBatch));
    const Index batch_mask = low_mask(static_cast<unsigned>(program_.batch_bits)) << run_bits;
    if ((batch_mask & geometry.inactive_zero) != 0) program_.batch_bits = 0;
  }

  void make_stores() {
    std::vector<Index> offset_at(placement_.position.size(), kNowhere);  // by position
    for (std::size_t bit = 0; bit < sweep_.store.size(); ++bit) {
      offset_at[static_cast<std::size_t>(placement_.position[bit])] =
          sweep_.reach.empty() ? bit_mask(sweep_.store[bit]) : sweep_.reach[bit];
    }
    const int first = program_.store_units ? program_.lane_bits - 1 : 0;  // positions below are consecutive in memory
    std::vector<Index>& offsets = program_.store_offsets;
    offsets.reserve(places() >> first);
    offsets = {0};
    for (std::size_t position = static_cast<std::size_t>(first); position < offset_at.size(); ++position) {
      const std::size_t count = offsets.size();
      const Index here = offset_at[position];
      for (std::size_t i = 0; i < count; ++i) {
        offsets.push_back(here == kNowhere || offsets[i] == kNowhere ? kNowhere : offsets[i] ^ here);
      }
    }
    choose_traffic();
  }

  // ---- passes

  void begin_pass(const std::vector<std::uint8_t>& registers) {
    Pass pass;
    std::copy(registers.begin(), registers.end(), pass.register_bits);
    std::copy(registers.begin(), registers.end(), placement_.registers);
    pass.op_begin = pass.op_end = static_cast<std::uint32_t>(program_.ops.size());
    program_.passes.push_back(pass);
  }
  void end_pass() { program_.passes.back().op_end = static_cast<std::uint32_t>(program_.ops.size()); }

  /// A pass with whatever registers; `first`: tile bits that should be among them.
  std::vector<std::uint8_t> any_registers(const std::vector<Bit>& first, Index avoid) const {
    std::vector<std::uint8_t> registers;
    auto add = [&](int vector_bit) {
      const auto at = static_cast<std::uint8_t>(vector_bit);
      if (static_cast<int>(registers.size()) < program_.register_bits &&
          std::find(registers.begin(), registers.end(), at) == registers.end()) {
        registers.push_back(at);
      }
    };
    for (const Bit bit : first) {
      if (!placement_.is_lane(bit)) add(placement_.position[bit] - program_.lane_bits);
    }
    for (const bool any : {false, true}) {
      for (std::size_t bit = 0; bit < placement_.position.size(); ++bit) {
        const int at = placement_.position[bit] - program_.lane_bits;
        if (at >= 0 && (any || !test_bit(avoid, static_cast<unsigned>(bit)))) add(at);
      }
    }
    std::sort(registers.begin(), registers.end());
    return registers;
  }

  void add_pass(const PassPlan& plan) {
    if (std::none_of(plan.items.begin(), plan.items.end(),
                     [&](std::size_t number) { return std::holds_alternative<MatrixItem>(items_[number]); })) {
      for (const std::size_t number : plan.items) waiting_.add(std::get<Term>(items_[number]));
      return;
    }
    begin_pass(plan.registers);
    const std::vector<Step> steps = pass_steps(plan);
    Index later = 0;  // targets of the pass's matrices: phases on them are flushed together
    for (const Step& step : steps) later |= step.item != nullptr ? step.item->target_mask() : 0;
    PassOrder order(plan.items, program_.items);
    while (!order.finished()) {
      const Step& step = steps[order.next(placement_)];
      if (step.item == nullptr) {
        waiting_.add(*step.term);
        continue;
      }
      defer_phases(step.item->targets[0], step.form.before);
      if (!waiting_.pull_through(*step.item)) flush(step.item->target_mask(), later);
      if (step.item->targets.size() == 2) {
        micro_.add_four_by_four(*step.item, order);
      } else {
        micro_.add_two_by_two(*step.item, step.form);
      }
      defer_phases(step.item->targets[0], step.form.after);
    }
    end_pass();
  }

  /// Applies the phases on `targets` that wait, and with them those on `later`.
  void flush(Index targets, Index later) {
    const std::vector<Term> now = waiting_.take(targets, later);
    if (!now.empty()) writer_.emit(now, false);
  }

  // ---- matrices

  /// An item of a pass: a phase, or a matrix with its form.
  struct Step {
    const Term* term = nullptr;
    const MatrixItem* item = nullptr;
    Factored form;
  };

  /// Factors the pass's matrices. Phases before a bit's first matrix are put off at once, so that one diagonal at the
  /// pass's start has them all.
  std::vector<Step> pass_steps(const PassPlan& plan) {
    std::vector<Step> steps;
    steps.reserve(plan.items.size());
    Index changed = 0;
    for (const std::size_t number : plan.items) {
      Step& step = steps.emplace_back();
      step.term = std::get_if<Term>(&items_[number]);
      step.item = std::get_if<MatrixItem>(&items_[number]);
      if (step.item == nullptr) continue;
      if (step.item->targets.size() == 1) {
        const bool plain = step.item->control_mask == 0 && step.item->condition.always();
        step.form = !plain ? plain_form(step.item->matrix, 1) : next_form(step.item->matrix);
        if ((step.item->target_mask() & changed) == 0) {
          defer_phases(step.item->targets[0], step.form.before);
          step.form.before[0] = step.form.before[1] = 0;
        }
      }
      changed |= step.item->target_mask();
    }
    return steps;
  }

  /// The form's scale; for a shear or cross beside its coefficients as they are rounded.
  static std::complex<long double> scale_of(const Factored& form) {
    if (form.coefficients.size() != 2) return std::complex<long double>(form.scale);
    const long double exact = form.coefficients[0].real(), rounded = static_cast<T>(form.coefficients[0].real());
    return scale_beside(form.scale, std::sqrt(1 + exact * exact), std::sqrt(1 + rounded * rounded));
  }

  /// Puts off phases on a bit at 0 and at 1.
  void defer_phases(Bit target, const double* angles) {
    Term term;
    term.angle = angles[0];
    waiting_.add(term);
    term.mask = bit_mask(target);
    term.angle = angles[1] - angles[0];
    waiting_.add(term);
  }

  /// A matrix without controls, its scale put off to the sweep's end. Each form divides by a pivot of at least 2^-1/2,
  /// so that amplitudes grow in the tile as the scale shrinks; once it is small, a matrix takes it in.
  Factored next_form(const std::vector<Complex>& matrix) {
    constexpr double kSmallestScale = 0x1p-60;  // amplitudes stay far inside the range of single precision
    if (!matrix.empty() && std::norm(program_.scale) < kSmallestScale * kSmallestScale) {
      const long double size = std::abs(program_.scale);
      program_.scale /= size;
      return plain_form(matrix, static_cast<double>(size));
    }
    Factored form = factor_matrix(matrix);
    program_.scale *= scale_of(form);
    return form;
  }

  /// The cheapest form that puts off neither a scale nor a phase; `factor` times the matrix. A matrix with controls, or
  /// in some tiles only, has no other.
  static Factored plain_form(const std::vector<Complex>& m, double factor) {
    Factored form;
    auto real = [](Complex c) { return is_tiny(c.imag()); };
    auto imaginary = [](Complex c) { return is_tiny(c.real()); };
    form.coefficients = FewNumbers(m);
    if (m.empty()) {
      form.form = Factored::Form::kFlip;
    } else if (real(m[0]) && real(m[1]) && real(m[2]) && real(m[3])) {
      form.form = Factored::Form::kReal;
    } else if (real(m[0]) && imaginary(m[1]) && imaginary(m[2]) && real(m[3])) {
      form.form = Factored::Form::kCross;
    }
    for (Complex& entry : form.coefficients) entry *= factor;
    return form;
  }

  /// A matrix on three or more targets: passes that bring the targets out of the lanes, then a pass of its own.
  void add_dense(const PassPlan& plan) {
    for (const std::size_t number : plan.items) {
      if (const auto* term = std::get_if<Term>(&items_[number])) waiting_.add(*term);
    }
    const auto& item = std::get<MatrixItem>(items_[plan.items.back()]);
    const Index targets = item.target_mask();
    auto in_lanes = [&] {
      return std::any_of(item.targets.begin(), item.targets.end(), [&](Bit bit) { return placement_.is_lane(bit); });
    };
    const bool waiting = waiting_.wait_on(targets);
    for (bool first = true; (first && waiting) || in_lanes(); first = false) {
      begin_pass(any_registers({}, targets));
      if (first) flush_everything();
      for (const Bit target : item.targets) {
        if (!placement_.is_lane(target)) continue;
        for (int b = 0; b < program_.register_bits; ++b) {
          const int here = program_.lane_bits + placement_.registers[b];
          const bool taken = std::any_of(item.targets.begin(), item.targets.end(),
                                         [&](Bit bit) { return placement_.position[bit] == here; });
          if (taken) continue;
          micro_.exchange(placement_.position[target], b);
          break;
        }
      }
      end_pass();
    }
    begin_pass({});
    Pass& pass = program_.passes.back();
    pass.dense = true;
    pass.target_count = static_cast<std::uint8_t>(item.targets.size());
    for (std::size_t j = 0; j < item.targets.size(); ++j) {
      pass.targets[j] = static_cast<std::uint8_t>(placement_.position[item.targets[j]] - program_.lane_bits);
    }
    micro_.add_dense(item);
    end_pass();
  }

  // ---- the end

  void flush_everything() {
    const std::vector<Term> all = waiting_.take_all();
    if (!all.empty()) writer_.emit(all, true);
  }

  /// Brings the tile bits that belong into memory's lowest bits back into the lanes.
  void restore_lanes() {
    if (!program_.store_units) return;
    auto misplaced = [&] {
      std::vector<Bit> bits;
      for (int lane = 0; lane + 1 < program_.lane_bits; ++lane) {
        if (placement_.position[home(lane)] != lane) bits.push_back(static_cast<Bit>(home(lane)));
      }
      return bits;
    };
    bool fresh = program_.passes.empty() || program_.passes.back().dense;
    for (std::vector<Bit> bits = misplaced(); !bits.empty(); bits = misplaced(), fresh = true) {
      if (fresh) begin_pass(any_registers(bits, 0));
      for (const Bit bit : bits) {
        const int lane = sweep_.store[bit];
        if (placement_.position[bit] == lane) continue;
        if (placement_.is_lane(bit)) micro_.exchange(placement_.position[bit], 0);
        if (placement_.register_of(bit) >= 0) micro_.exchange(lane, placement_.register_of(bit));
      }
      end_pass();
    }
  }

  void flush_rest() {
    if (waiting_.empty()) return;
    if (program_.passes.empty() || program_.passes.back().dense) begin_pass(any_registers({}, 0));
    flush_everything();
    end_pass();
  }

  const Sweep& sweep_;
  const std::uint32_t local_bits_;
  TileProgram<T> program_;
  Placement placement_;
  DiagonalWriter<T> writer_;
  MicroWriter<T> micro_;
  std::vector<TileItem> items_;
  WaitingPhases waiting_;
};

}  // namespace

template <typename T>
TileProgram<T> translate_sweep(const Sweep& sweep, std::uint32_t local_bits, int lane_bits, int register_bits,
                               const TileProgram<T>* like) {
  return SweepTranslator<T>(sweep, local_bits, lane_bits, register_bits).run(like);
}
template TileProgram<float> translate_sweep(const Sweep&, std::uint32_t, int, int, const TileProgram<float>*);
template TileProgram<double> translate_sweep(const Sweep&, std::uint32_t, int, int, const TileProgram<double>*);

template <typename T>
TileProgramView<T> TileProgram<T>::view() const {
  TileProgramView<T> v;
  v.vectors = vectors();
  v.load = load;
  v.store_units = store_units;
  v.stream = stream;
  v.ahead = load == Load::kUnits && !passes.empty();
  v.load_offsets = load_offsets.data();
  v.store_offsets = store_offsets.data();
  v.start = start.empty() ? nullptr : start.data();
  v.passes = passes.data();
  v.pass_count = static_cast<std::uint32_t>(passes.size());
  v.ops = ops.data();
  v.coefficients = coefficients.data();
  v.tile_diagonals = tile_diagonals.data();
  v.tile_diagonal_count = static_cast<std::uint32_t>(tile_diagonals.size());
  v.table_reals = table_reals();
  v.pieces = pieces;
  v.scalar_pieces = scalar_pieces.empty() ? nullptr : scalar_pieces.data();
  v.tile_scales = tile_scales.data();
  v.tile_scale_count = static_cast<std::uint32_t>(tile_scales.size());
  v.scale = std::complex<double>(scale);
  return v;
}
template struct TileProgram<float>;
template struct TileProgram<double>;

}  // namespace qsim::cpu
