// The translation proper: geometry to offsets, items to passes and micro-operations.
#include "cpu/tile_translation.h"

#include <algorithm>
#include <cmath>

#include "cpu/tile_schedule.h"

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

  TileProgram<T> run() {
    make_loads();
    Index wanted = 0;
    if (program_.store_units) {
      for (int lane = 0; lane + 1 < program_.lane_bits; ++lane) wanted |= bit_mask(home(lane));
    }
    PassScheduler scheduler(items_, wanted);
    while (!scheduler.finished()) {
      const PassPlan plan = scheduler.next(placement_);
      if (plan.dense) {
        add_dense(plan);
      } else {
        add_pass(plan);
      }
    }
    restore_lanes();
    flush_rest();
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
    for (int lane = 0; lane + 1 < program_.lane_bits; ++lane) {
      if (sweep_.active[static_cast<std::size_t>(lane)] != lane) return false;
    }
    return true;
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
    if (program_.load != Load::kUnits || crowd <= 8) return;
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
    const Index step = program_.store_units ? Index{1} << (program_.lane_bits - 1) : 1;
    for (Index position = 0; position < places(); position += step) {
      Index offset = 0;
      for (std::size_t bit = 0; bit < placement_.position.size(); ++bit) {
        if ((position >> placement_.position[bit] & 1) == 0) continue;
        offset = bit < sweep_.store.size() && offset != kNowhere ? offset | bit_mask(sweep_.store[bit]) : kNowhere;
      }
      program_.store_offsets.push_back(offset);
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
      for (const std::size_t number : plan.items) defer(std::get<Term>(items_[number]));
      return;
    }
    begin_pass(plan.registers);
    const std::vector<Step> steps = pass_steps(plan);
    Index later = 0;  // targets of the pass's matrices: phases on them are flushed together
    for (const Step& step : steps) later |= step.item != nullptr ? step.item->target_mask() : 0;
    for (const Step& step : steps) {
      if (step.item == nullptr) {
        defer(*step.term);
        continue;
      }
      defer_phases(step.item->targets[0], step.form.before);
      flush(step.item->target_mask(), later);
      if (step.item->targets.size() == 2) {
        add_four_by_four(*step.item);
      } else if (placement_.is_lane(step.item->targets[0])) {
        add_on_lane(*step.item, step.form);
      } else {
        add_on_register(*step.item, step.form);
      }
      defer_phases(step.item->targets[0], step.form.after);
    }
    end_pass();
  }

  /// A phase waits until a matrix changes one of its bits.
  void defer(const Term& term) {
    if (term.exponent == Complex(0)) return;
    if (term.mask == 0) {
      writer_.emit_scalar(term);
      return;
    }
    for (Term& other : pending_) {
      if (other.mask == term.mask && other.condition == term.condition) {
        other.exponent += term.exponent;
        return;
      }
    }
    pending_.push_back(term);
  }

  /// Applies the phases on `targets` that wait, and with them those on `later`.
  void flush(Index targets, Index later) {
    std::erase_if(pending_, [](const Term& term) { return term.exponent == Complex(0); });
    if (std::none_of(pending_.begin(), pending_.end(), [&](const Term& t) { return (t.mask & targets) != 0; })) return;
    std::vector<Term> now;
    std::erase_if(pending_, [&](const Term& term) {
      if ((term.mask & (targets | later)) == 0) return false;
      now.push_back(term);
      return true;
    });
    writer_.emit(now, false);
  }

  // ---- micro-operations

  /// Where the item's controls let it act: vectors with bit 0 of `targets` (register bits) in a group, lanes, groups.
  MicroOp conditioned(const MatrixItem& item, unsigned target_registers) const {
    MicroOp op;
    op.vectors = 0;
    op.lanes = 0;
    op.tile_mask = item.condition.mask;
    op.tile_value = item.condition.value;
    unsigned register_mask = 0, register_value = 0, lane_mask = 0, lane_value = 0;
    for_each_bit(item.control_mask, [&](unsigned bit) {
      const auto tile_bit = static_cast<Bit>(bit);
      const unsigned value = item.control_value >> bit & 1;
      const int position = placement_.position[bit], b = placement_.register_of(tile_bit);
      if (position < program_.lane_bits) {
        lane_mask |= 1u << position;
        lane_value |= value << position;
      } else if (b >= 0) {
        register_mask |= 1u << b;
        register_value |= value << b;
      } else {
        op.group_mask |= 1u << (position - program_.lane_bits);
        op.group_value |= value << (position - program_.lane_bits);
      }
    });
    for (unsigned i = 0; i < 1u << program_.register_bits; ++i) {
      const bool on = (i & target_registers) == 0 && (i & register_mask) == register_value;
      op.vectors = static_cast<std::uint8_t>(op.vectors | (on ? 1u << i : 0u));
    }
    for (unsigned lane = 0; lane < 1u << program_.lane_bits; ++lane) {
      op.lanes = static_cast<std::uint16_t>(op.lanes | ((lane & lane_mask) == lane_value ? 1u << lane : 0u));
    }
    return op;
  }
  bool all_lanes(const MicroOp& op) const { return op.lanes == (1u << (1u << program_.lane_bits)) - 1; }

  /// Appends scalars, and starts them at a boundary that vectors could have too.
  std::uint64_t write(const std::vector<T>& values) {
    LineVector<T>& all = program_.coefficients;
    const std::size_t lanes = std::size_t{1} << program_.lane_bits;
    all.resize((all.size() + lanes - 1) / lanes * lanes);
    const std::uint64_t begin = all.size();
    all.insert(all.end(), values.begin(), values.end());
    all.resize((all.size() + lanes - 1) / lanes * lanes);
    return begin;
  }
  static T re(Complex c) { return static_cast<T>(c.real()); }
  static T im(Complex c) { return static_cast<T>(c.imag()); }
  static std::vector<T> interleaved(const std::vector<Complex>& values) {
    std::vector<T> out;
    for (const Complex& c : values) {
      out.push_back(re(c));
      out.push_back(im(c));
    }
    return out;
  }

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
    Index changed = 0;
    for (const std::size_t number : plan.items) {
      Step& step = steps.emplace_back();
      step.term = std::get_if<Term>(&items_[number]);
      step.item = std::get_if<MatrixItem>(&items_[number]);
      if (step.item == nullptr) continue;
      if (step.item->targets.size() == 1) {
        const bool plain = step.item->control_mask == 0 && step.item->condition.always();
        step.form = plain ? factor_matrix(step.item->matrix) : controlled_form(step.item->matrix);
        if (plain) program_.scale *= step.form.scale;
        if ((step.item->target_mask() & changed) == 0) {
          defer_phases(step.item->targets[0], step.form.before);
          step.form.before[0] = step.form.before[1] = 0;
        }
      }
      changed |= step.item->target_mask();
    }
    return steps;
  }

  /// Puts off phases on a bit at 0 and at 1.
  void defer_phases(Bit target, const double* angles) {
    Term term;
    term.exponent = Complex(0, angles[0]);
    defer(term);
    term.mask = bit_mask(target);
    term.exponent = Complex(0, angles[1] - angles[0]);
    defer(term);
  }

  /// With controls no scale and no phase may be put off: the cheapest exact form.
  static Factored controlled_form(const std::vector<Complex>& m) {
    Factored form;
    constexpr double kTiny = 1e-15;
    auto real = [&](Complex c) { return std::abs(c.imag()) < kTiny; };
    auto imaginary = [&](Complex c) { return std::abs(c.real()) < kTiny; };
    form.coefficients = m;
    if (m.empty()) {
      form.form = Factored::Form::kFlip;
    } else if (real(m[0]) && real(m[1]) && real(m[2]) && real(m[3])) {
      form.form = Factored::Form::kReal;
    } else if (real(m[0]) && imaginary(m[1]) && imaginary(m[2]) && real(m[3])) {
      form.form = Factored::Form::kCross;
    }
    return form;
  }

  void add_on_register(const MatrixItem& item, const Factored& form) {
    const int bit = placement_.register_of(item.targets[0]);
    MicroOp op = conditioned(item, 1u << bit);
    op.bit = static_cast<std::uint8_t>(bit);
    const std::vector<Complex>& c = form.coefficients;
    using Form = Factored::Form;
    if (!all_lanes(op) && form.form != Form::kFlip) {
      op.kind = Micro::kGeneralMasked;
      op.data = write(interleaved(item.matrix));
      program_.ops.push_back(op);
      return;
    }
    std::vector<T> values;
    switch (form.form) {
      case Form::kShearA:
        op.kind = Micro::kShearA;
        break;
      case Form::kShearB:
        op.kind = Micro::kShearB;
        break;
      case Form::kShearC:
        op.kind = Micro::kShearC;
        break;
      case Form::kCrossA:
        op.kind = Micro::kCrossA;
        break;
      case Form::kCrossB:
        op.kind = Micro::kCrossB;
        break;
      case Form::kReal:
        op.kind = Micro::kReal;
        break;
      case Form::kCross:
        op.kind = Micro::kCross;
        values = {re(c[0]), im(c[1]), im(c[2]), re(c[3])};
        break;
      case Form::kGeneral:
        op.kind = Micro::kGeneral;
        values = interleaved(c);
        break;
      case Form::kFlip:
        op.kind = all_lanes(op) ? Micro::kFlip : Micro::kFlipMasked;
        break;
    }
    if (values.empty()) {
      for (const Complex& one : c) values.push_back(re(one));
    }
    op.data = write(values);
    program_.ops.push_back(op);
  }

  /// Lane coefficients: own[v] multiplies an amplitude whose lane bit is v, other[v] its partner.
  void add_on_lane(const MatrixItem& item, const Factored& form) {
    MicroOp op = conditioned(item, 0);
    const int lane_bit = placement_.position[item.targets[0]];
    op.bit = static_cast<std::uint8_t>(lane_bit);
    const std::vector<Complex>& c = form.coefficients;
    using Form = Factored::Form;
    const Complex i(0, 1);
    Complex own[2], other[2];
    switch (form.form) {
      case Form::kShearA:
        op.kind = Micro::kLaneShearA;
        other[0] = c[0], other[1] = c[1];
        break;
      case Form::kShearB:
        op.kind = Micro::kLaneShearB;
        own[0] = c[0], own[1] = c[1];
        break;
      case Form::kShearC:
        op.kind = Micro::kLaneReal;
        own[0] = c[0], own[1] = c[1];
        other[0] = -1, other[1] = 1;
        break;
      case Form::kCrossA:
        op.kind = Micro::kLaneCrossA;
        other[0] = c[0], other[1] = c[1];
        break;
      case Form::kCrossB:
        op.kind = Micro::kLaneCrossB;
        own[0] = c[0], own[1] = c[1];
        break;
      case Form::kReal:
      case Form::kGeneral:
        op.kind = form.form == Form::kReal ? Micro::kLaneReal : Micro::kLaneGeneral;
        own[0] = c[0], own[1] = c[3];
        other[0] = c[1], other[1] = c[2];
        break;
      case Form::kCross:
        op.kind = Micro::kLaneCross;
        own[0] = c[0], own[1] = c[3];
        other[0] = c[1] / i, other[1] = c[2] / i;
        break;
      case Form::kFlip:
        op.kind = Micro::kLaneFlip;
        program_.ops.push_back(op);
        return;
    }
    write_lanes(op, own, other);
    program_.ops.push_back(op);
  }

  void write_lanes(MicroOp& op, const Complex* own, const Complex* other) {
    const unsigned lanes = 1u << program_.lane_bits;
    std::vector<T> own_re(lanes), own_im(lanes), other_re(lanes), other_im(lanes);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const bool on = (op.lanes >> lane & 1) != 0, one = (lane >> op.bit & 1) != 0;
      own_re[lane] = on ? re(own[one]) : T(1);
      own_im[lane] = on ? im(own[one]) : T(0);
      other_re[lane] = on ? re(other[one]) : T(0);
      other_im[lane] = on ? im(other[one]) : T(0);
    }
    const bool other_alone = op.kind == Micro::kLaneShearA || op.kind == Micro::kLaneCrossA;
    const bool complex = op.kind == Micro::kLaneGeneral;
    op.data = write(other_alone ? other_re : own_re);
    if (complex) write(own_im);
    if (!other_alone) write(other_re);
    if (complex) write(other_im);
  }

  void exchange(int lane, int register_bit) {
    MicroOp op;
    op.kind = Micro::kExchange;
    op.bit = static_cast<std::uint8_t>(register_bit);
    op.other = static_cast<std::uint8_t>(lane);
    program_.ops.push_back(op);
    const int vector_position = program_.lane_bits + placement_.registers[register_bit];
    for (int& position : placement_.position) {
      if (position == lane) {
        position = vector_position;
      } else if (position == vector_position) {
        position = lane;
      }
    }
  }

  void add_four_by_four(const MatrixItem& item) {
    for (const Bit target : item.targets) {
      if (!placement_.is_lane(target)) continue;
      int free = 0;
      while (placement_.register_of(item.targets[0]) == free || placement_.register_of(item.targets[1]) == free) ++free;
      exchange(placement_.position[target], free);
    }
    int low = placement_.register_of(item.targets[0]), high = placement_.register_of(item.targets[1]);
    std::vector<Complex> matrix = item.matrix;
    if (low > high) {
      std::swap(low, high);
      auto swapped = [](std::size_t v) { return (v & 1) << 1 | v >> 1; };
      for (std::size_t row = 0; row < 4; ++row) {
        for (std::size_t column = 0; column < 4; ++column) {
          matrix[row * 4 + column] = item.matrix[swapped(row) * 4 + swapped(column)];
        }
      }
    }
    MicroOp op = conditioned(item, 1u << low | 1u << high);
    op.kind = all_lanes(op) ? Micro::kMatrix4 : Micro::kMatrix4Masked;
    op.bit = static_cast<std::uint8_t>(low);
    op.other = static_cast<std::uint8_t>(high);
    op.data = write(interleaved(matrix));
    program_.ops.push_back(op);
  }

  /// A matrix on three or more targets: passes that bring the targets out of the lanes, then a pass of its own.
  void add_dense(const PassPlan& plan) {
    for (const std::size_t number : plan.items) {
      if (const auto* term = std::get_if<Term>(&items_[number])) defer(*term);
    }
    const auto& item = std::get<MatrixItem>(items_[plan.items.back()]);
    const Index targets = item.target_mask();
    auto in_lanes = [&] {
      return std::any_of(item.targets.begin(), item.targets.end(), [&](Bit bit) { return placement_.is_lane(bit); });
    };
    const bool waiting =
        std::any_of(pending_.begin(), pending_.end(), [&](const Term& term) { return (term.mask & targets) != 0; });
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
          exchange(placement_.position[target], b);
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
    // All controls are conditions on groups or lanes: no register holds anything here.
    Placement none = placement_;
    none.register_bits = 0;
    std::swap(none, placement_);
    MicroOp op = conditioned(item, 0);
    std::swap(none, placement_);
    op.data = write(interleaved(item.matrix));
    program_.ops.push_back(op);
    end_pass();
  }

  // ---- the end

  void flush_everything() {
    std::erase_if(pending_, [](const Term& term) { return term.exponent == Complex(0); });
    if (!pending_.empty()) writer_.emit(pending_, true);
    pending_.clear();
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
        if (placement_.is_lane(bit)) exchange(placement_.position[bit], 0);
        if (placement_.register_of(bit) >= 0) exchange(lane, placement_.register_of(bit));
      }
      end_pass();
    }
  }

  void flush_rest() {
    if (pending_.empty()) return;
    if (program_.passes.empty() || program_.passes.back().dense) begin_pass(any_registers({}, 0));
    flush_everything();
    end_pass();
  }

  const Sweep& sweep_;
  const std::uint32_t local_bits_;
  TileProgram<T> program_;
  Placement placement_;
  DiagonalWriter<T> writer_;
  std::vector<TileItem> items_;
  std::vector<Term> pending_;
};

}  // namespace

template <typename T>
TileProgram<T> translate_sweep(const Sweep& sweep, std::uint32_t local_bits, int lane_bits, int register_bits) {
  return SweepTranslator<T>(sweep, local_bits, lane_bits, register_bits).run();
}
template TileProgram<float> translate_sweep(const Sweep&, std::uint32_t, int, int);
template TileProgram<double> translate_sweep(const Sweep&, std::uint32_t, int, int);

template <typename T>
TileProgramView<T> TileProgram<T>::view() const {
  TileProgramView<T> v;
  v.position_bits = position_bits;
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
  v.op_count = static_cast<std::uint32_t>(ops.size());
  v.coefficients = coefficients.data();
  v.tile_diagonals = tile_diagonals.data();
  v.tile_diagonal_count = static_cast<std::uint32_t>(tile_diagonals.size());
  v.table_reals = table_reals();
  v.pieces = pieces;
  v.scalar_pieces = scalar_pieces.empty() ? nullptr : scalar_pieces.data();
  v.tile_scales = tile_scales.data();
  v.tile_scale_count = static_cast<std::uint32_t>(tile_scales.size());
  v.scale = scale;
  return v;
}
template struct TileProgram<float>;
template struct TileProgram<double>;

}  // namespace qsim::cpu
