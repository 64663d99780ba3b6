// Machine descriptions as JSON (qsim.machine/1): built in by name, or from a file.
#include "plan/cost/machine.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/file/files.h"
#include "base/text.h"
#include "plan/cost/gpu_pace.h"
#include "qsim/error.h"

namespace qsim {
namespace {

using Json = nlohmann::json;

// Reads keys of one object and complains about those that it does not know.
class ObjectReader {
 public:
  ObjectReader(const Json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is_object()) throw UsageError(where_ + " is not a JSON object");
  }

  const Json& get(const std::string& key) const {
    const auto found = object_.find(key);
    if (found == object_.end()) throw UsageError(where_ + ": key \"" + key + "\" is missing");
    return *found;
  }
  double number(const std::string& key, bool positive) const {
    const Json& value = get(key);
    if (!value.is_number() || value.get<double>() < 0 || (positive && value.get<double>() == 0)) {
      throw UsageError(where_ + ": key \"" + key + "\" must be a " + (positive ? "positive" : "non-negative") +
                       " number");
    }
    return value.get<double>();
  }
  template <typename Integer>
  void integer(const std::string& key, Integer least, Integer most, Integer& out) const {
    const Json& value = get(key);
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() < least || value.get<std::uint64_t>() > most) {
      throw UsageError(where_ + ": key \"" + key + "\" must be an integer from " + std::to_string(least) + " to " +
                       std::to_string(most));
    }
    out = value.get<Integer>();
  }
  std::string text(const std::string& key) const {
    const Json& value = get(key);
    if (!value.is_string()) throw UsageError(where_ + ": key \"" + key + "\" must be a string");
    return value.get<std::string>();
  }
  void numbers(const std::string& key, double* out, std::size_t count) const {
    const Json& value = get(key);
    bool good = value.is_array() && value.size() == count;
    for (std::size_t i = 0; good && i < count; ++i) {
      good = value[i].is_number() && value[i].get<double>() >= 0;
      if (good) out[i] = value[i].get<double>();
    }
    if (!good) {
      throw UsageError(where_ + ": key \"" + key + "\" must be " + std::to_string(count) + " non-negative numbers");
    }
  }
  bool has(const std::string& key) const { return object_.contains(key); }
  double number_or_zero(const std::string& key) const { return has(key) ? number(key, false) : 0; }
  void finish(std::initializer_list<const char*> known) const {
    for (const auto& [key, value] : object_.items()) {
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        throw UsageError(where_ + ": a key that is not known");
      }
    }
  }

 private:
  const Json& object_;
  std::string where_;
};

void parse_forms(const ObjectReader& reader, FormCosts& costs) {
  costs.matrix1_general = reader.number("matrix1_general", false);
  costs.matrix1_real = reader.number("matrix1_real", false);
  costs.butterfly = reader.number("butterfly", false);
  costs.flip = reader.number("flip", false);
  costs.phases = reader.number("phases", false);
  costs.phase_term = reader.number("phase_term", false);
  costs.regroup = reader.number("regroup", false);
  costs.flip_outside = reader.number_or_zero("flip_outside");
  costs.flip_inside = reader.number_or_zero("flip_inside");
  costs.flip_in_a_row = reader.number_or_zero("flip_in_a_row");
  costs.phase_part = reader.number_or_zero("phase_part");
  reader.numbers("matrix_dense", costs.matrix_dense, kMaxMatrixTargets + 1);
  costs.pair_entry = reader.number_or_zero("pair_entry");
  costs.pair_base = reader.number_or_zero("pair_base");
  costs.by_parity = reader.has("parity_entry") || reader.has("parity_base");
  if (costs.by_parity) {
    costs.pair_entry = reader.number("parity_entry", true);
    costs.pair_base = reader.number("parity_base", true);
  }
  costs.controlled_entry = reader.number_or_zero("controlled_entry");
}

void parse_lanes(const ObjectReader& reader, CostTable& cost) {
  const double rest = reader.number("rest", true);
  cost.lanes = cost;
  cost.lanes->scale(rest, rest);
  cost.lanes->matrix_dense[2] = reader.number("pair", true);
  cost.lanes_instructions = cost.instructions;
  cost.lanes_instructions->matrix_dense[2] = reader.number("pair_instructions", false);
  reader.finish({"rest", "pair", "pair_instructions"});
}

BirthCosts parse_births(const ObjectReader& reader) {
  constexpr std::size_t kMostApart = 8;
  BirthCosts births;
  births.wait = reader.number("wait", false);
  if (reader.has("ahead")) reader.integer<std::uint32_t>("ahead", 1, kMaxQubits, births.ahead);
  const Json& apart = reader.get("apart");
  births.apart.resize(std::min(apart.is_array() ? apart.size() : 0, kMostApart));
  reader.numbers("apart", births.apart.data(), births.apart.size());
  reader.finish({"wait", "ahead", "apart"});
  return births;
}

CostTable parse_costs(const Json& json, const std::string& where) {
  const ObjectReader reader(json, where);
  CostTable cost;
  cost.sweep_overhead = reader.number("sweep_overhead_s", false);
  cost.read_bytes_per_second = reader.number("read_bytes_per_s", true);
  cost.write_bytes_per_second = reader.number("write_bytes_per_s", true);
  reader.numbers("narrow_run_factor", cost.narrow_run_factor, 4);
  cost.overlap_power = reader.number("overlap_power", true);
  parse_forms(reader, cost);
  cost.cached_instructions = reader.number("cached_instructions", false);
  if (cost.cached_instructions > 0) {
    const ObjectReader instructions(reader.get("instructions"), where + ".instructions");
    parse_forms(instructions, cost.instructions);
    cost.kernel_instructions = instructions.number("kernel", false);
    instructions.finish({"matrix1_general", "matrix1_real", "butterfly", "flip", "phases", "phase_term", "regroup",
                         "matrix_dense", "pair_base", "pair_entry", "controlled_entry", "kernel"});
  }
  if (reader.has("lanes")) parse_lanes(ObjectReader(reader.get("lanes"), where + ".lanes"), cost);
  if (reader.has("norm")) cost.norm = reader.number("norm", false);
  if (reader.has("births")) cost.births = parse_births(ObjectReader(reader.get("births"), where + ".births"));
  if (reader.has("permutation")) {
    const ObjectReader permutation(reader.get("permutation"), where + ".permutation");
    cost.permutation.emplace();
    cost.permutation->line_bytes = permutation.number("line_bytes", true);
    cost.permutation->place = permutation.number("place", false);
    cost.permutation->step = permutation.number("step", false);
    permutation.integer<std::uint32_t>("window_bits", 0, 62, cost.permutation->window_bits);
    cost.permutation->affine = permutation.number("affine", false);
    cost.permutation->product = permutation.number("product", false);
    cost.permutation->lookup = permutation.number("lookup", false);
    if (permutation.has("interpreted_step")) {
      cost.permutation->interpreted_step = permutation.number("interpreted_step", false);
    }
    if (permutation.has("again")) cost.permutation->again = permutation.number("again", false);
    if (permutation.has("near_again")) {
      cost.permutation->near_again = permutation.number("near_again", false);
      permutation.integer<std::uint32_t>("near_bits", 0, 62, cost.permutation->near_bits);
    }
    permutation.finish({"line_bytes", "window_bits", "place", "step", "affine", "product", "lookup", "interpreted_step",
                        "again", "near_again", "near_bits"});
  }
  cost.link_bytes_per_second = reader.number("link_bytes_per_s", true);
  cost.exchange_overhead = reader.number("exchange_overhead_s", false);
  reader.finish({"sweep_overhead_s",
                 "read_bytes_per_s",
                 "write_bytes_per_s",
                 "narrow_run_factor",
                 "overlap_power",
                 "matrix1_general",
                 "matrix1_real",
                 "butterfly",
                 "flip",
                 "phases",
                 "phase_term",
                 "regroup",
                 "flip_outside",
                 "flip_inside",
                 "flip_in_a_row",
                 "phase_part",
                 "matrix_dense",
                 "pair_entry",
                 "pair_base",
                 "parity_entry",
                 "parity_base",
                 "controlled_entry",
                 "cached_instructions",
                 "instructions",
                 "lanes",
                 "births",
                 "norm",
                 "permutation",
                 "link_bytes_per_s",
                 "exchange_overhead_s"});
  return cost;
}

/// Parsed when it is asked for first: every session does.
Machine parsed(const detail::BuiltInMachine& machine) {
  static std::mutex mutex;
  static std::map<std::string_view, Machine> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(machine.name);
  if (found != known.end()) return found->second;
  return known.emplace(machine.name, detail::parse_machine(machine.json, "cost table " + std::string(machine.name)))
      .first->second;
}

BackendKind parse_kind(const std::string& text, const std::string& where) {
  for (const Named<BackendKind>& kind : choices<BackendKind>()) {
    if (kind.choice != BackendKind::kAuto && kind.name == text) return kind.choice;
  }
  throw UsageError(where + ": key \"kind\" is none of cpu, cuda, null");
}

}  // namespace

namespace detail {

Machine parse_machine(std::string_view text, const std::string& source) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) throw UsageError(source + " is not valid JSON");
  const ObjectReader reader(json, source);
  if (reader.text("schema") != "qsim.machine/1") {
    throw UsageError(source + ": the schema is not \"qsim.machine/1\"");
  }
  Machine machine;
  machine.name = reader.text("name");
  machine.kind = parse_kind(reader.text("kind"), source);
  reader.integer<std::uint64_t>("memory_bytes_per_rank", 0, 1ull << 60, machine.memory_bytes_per_rank);
  reader.integer<std::uint32_t>("max_tile_bits", 1, 30, machine.max_tile_bits);
  reader.integer<std::uint32_t>("min_tile_bits", 0, machine.max_tile_bits, machine.min_tile_bits);
  reader.integer<std::uint32_t>("low_bits", 0, machine.max_tile_bits, machine.low_bits);
  reader.integer<std::uint32_t>("register_bits", 1, 30, machine.register_bits);
  reader.integer<std::uint32_t>("threads", 1, 1u << 20, machine.threads);
  reader.integer<std::uint64_t>("chunk_bytes", 32, 1ull << 40, machine.chunk_bytes);
  reader.integer<std::uint32_t>("chunk_slots", 1, 1u << 16, machine.chunk_slots);
  const ObjectReader costs(reader.get("cost"), source + ", cost");
  machine.cost_single = parse_costs(costs.get("single"), source + ", cost.single");
  machine.cost_double = parse_costs(costs.get("double"), source + ", cost.double");
  costs.finish({"single", "double"});
  reader.finish({"schema", "name", "kind", "memory_bytes_per_rank", "max_tile_bits", "min_tile_bits", "low_bits",
                 "register_bits", "threads", "chunk_bytes", "chunk_slots", "cost"});
  return machine;
}

}  // namespace detail

void FormCosts::put_flips_in_a_row() {
  if (flip_in_a_row == 0) return;
  if (pair_base == 0) pair_base = 2 * flip;
  flip = flip_in_a_row;
}

std::optional<Machine> with_whole_lines(Machine machine, Precision precision) {
  const std::optional<BirthCosts>& births = machine.cost(precision).births;
  if (!births) return std::nullopt;
  machine.low_bits = std::min(std::max(machine.low_bits, births->whole_lines()), machine.max_tile_bits);
  return machine;
}

Machine without_births_and_norm(Machine machine) {
  machine.cost_single.births = machine.cost_double.births = std::nullopt;
  machine.cost_single.norm = machine.cost_double.norm = 0;
  return machine;
}

Machine with_flips_in_a_row(Machine machine) {
  for (CostTable* const cost : {&machine.cost_single, &machine.cost_double}) {
    cost->put_flips_in_a_row();
    if (cost->lanes) cost->lanes->put_flips_in_a_row();
  }
  return machine;
}

void FormCosts::scale(double arithmetic, double moves) {
  for (double* const form : {&matrix1_general, &matrix1_real, &butterfly, &flip, &phases, &phase_term, &flip_outside,
                             &flip_inside, &flip_in_a_row, &phase_part, &pair_entry, &pair_base, &controlled_entry}) {
    *form *= arithmetic;
  }
  for (double& dense : matrix_dense) dense *= arithmetic;
  regroup *= moves;
}

Machine find_machine(const std::string& name) {
  std::string known;
  for (const auto& machine : detail::built_in_machines()) {
    if (machine.name == name) return parsed(machine);
    known += (known.empty() ? "" : ", ") + std::string(machine.name);
  }
  for (const KnownGpu& gpu : known_gpus()) {
    if (gpu.name == name) {
      Machine machine = gpu_machine(pace_of(gpu.rates), name);
      machine.memory_bytes_per_rank = gpu.memory_bytes;
      return machine;
    }
    known += ", " + std::string(gpu.name);
  }
  if (!is_regular_file(name)) {
    throw UsageError("device \"" + escape_text(name) + "\" is neither a known one (" + known + ") nor a file",
                     "name one of them, or a qsim.machine/1 JSON file");
  }
  constexpr std::uint64_t kLargestFile = 1 << 20;  // a description takes a few KiB
  Machine machine = detail::parse_machine(read_file(name, kLargestFile), escape_text(name));
  machine.name = name;
  return machine;
}

}  // namespace qsim
