// Scopes: which symbol a name means where, and the names that the language and stdgates.inc bring.
#include <algorithm>
#include <numbers>

#include "circuit/gate_table.h"
#include "qasm3/types/checker.h"

namespace qsim::qasm3 {
namespace {

// Of stdgates.inc; those with these names in the gate table are the same.
constexpr std::string_view kTableGates[] = {"p",  "x",    "y",   "z",     "h",  "s",  "sdg", "t",   "tdg", "sx",
                                            "rx", "ry",   "rz",  "cx",    "cy", "cz", "cp",  "crx", "cry", "crz",
                                            "ch", "swap", "ccx", "cswap", "cu", "CX", "id",  "u1"};

}  // namespace

using qasm::NearestName;
using qasm::quoted;

Checker::Checker(Model& model) : model_(model), tree_(model.tree), scopes_(1) { add_builtins(); }

void Checker::open_scope() { scopes_.push_back({{}, frame_}); }

void Checker::close_scope() {
  const Scope& scope = scopes_.back();
  for (auto hidden = scope.hidden.rbegin(); hidden != scope.hidden.rend(); ++hidden) {
    meaning_[hidden->first] = hidden->second;
  }
  frame_ = scope.frame;
  scopes_.pop_back();
}

// A function has a frame of its own; global names that are no constants cannot be seen in it.
void Checker::enter_function(Context context) {
  context_ = context;
  outer_frames_.emplace_back(frame_, frame_high_);
  frame_ = frame_high_ = 0;
  open_scope();
}

std::uint32_t Checker::leave_function() {
  const std::uint32_t size = frame_high_;
  close_scope();
  std::tie(frame_, frame_high_) = outer_frames_.back();
  outer_frames_.pop_back();
  context_ = Context::kGlobal;
  return size;
}

SymbolId Checker::find(Name name) const { return name < meaning_.size() ? meaning_[name] : 0; }

SymbolId Checker::declare(const Symbol& symbol) {
  if (meaning_.size() < model_.names.size()) {
    meaning_.resize(model_.names.size());
    poisoned_.resize(model_.names.size());
  }
  const SymbolId before = meaning_[symbol.name];
  const bool same_scope = [&] {
    if (before == 0) return false;
    if (at_global_scope()) return model_.symbols[before].global;
    for (const auto& [name, hidden] : scopes_.back().hidden) {
      if (name == symbol.name) return true;
    }
    return false;
  }();
  const std::string_view text = model_.names.text(symbol.name);
  if (same_scope) {
    const std::uint32_t at = model_.symbols[before].at;
    if (at == kUnknownSize) throw Failure{symbol.at, quoted(text) + " is a built-in name", ""};
    const auto [source, offset] = model_.sources.find(at);
    const auto lines = std::ranges::count(source->text.substr(0, offset), '\n');
    throw Failure{symbol.at, quoted(text) + " is already declared",
                  "by line " + std::to_string(lines + 1) + " of " + qasm::printable(source->name)};
  }
  const auto id = static_cast<SymbolId>(model_.symbols.size());
  Symbol& added = model_.symbols.emplace_back(symbol);
  added.global = at_global_scope();
  const bool has_place = symbol.kind != SymbolKind::kGate && symbol.kind != SymbolKind::kSubroutine;
  if (has_place) {
    added.index = frame_++;
    frame_high_ = std::max(frame_high_, frame_);
    if (context_ == Context::kGlobal) model_.global_frame = std::max(model_.global_frame, frame_);
  }
  if (!at_global_scope()) scopes_.back().hidden.emplace_back(symbol.name, before);
  meaning_[symbol.name] = id;
  return id;
}

SymbolId Checker::resolve(Name name, std::uint32_t at) {
  const SymbolId id = find(name);
  const std::string_view text = model_.names.text(name);
  if (id != 0) {
    const Symbol& symbol = model_.symbols[id];
    const bool fixed =
        symbol.kind == SymbolKind::kGate || symbol.kind == SymbolKind::kSubroutine || (symbol.flags & kConst) != 0;
    if (context_ == Context::kGlobal || !symbol.global || fixed) return id;
    throw Failure{at, quoted(text) + " is not declared here",
                  "a gate or subroutine sees its arguments and global constants alone"};
  }
  if (name < poisoned_.size() && poisoned_[name]) {
    throw Failure{at, "", "", ExitCode::kCircuit, false, true};
  }
  NearestName nearest(text);
  for (Name known = 0; known < meaning_.size(); ++known) {
    if (meaning_[known] != 0) nearest.offer(model_.names.text(known));
  }
  throw Failure{at, quoted(text) + " is not declared", nearest.hint()};
}

SymbolId Checker::resolve_gate(Name name, std::uint32_t at) {
  const SymbolId id = find(name);
  const std::string_view text = model_.names.text(name);
  if (id != 0) {
    const SymbolKind kind = model_.symbols[id].kind;
    if (kind == SymbolKind::kGate || kind == SymbolKind::kSubroutine) return id;
    throw Failure{at, quoted(text) + " is not a gate", ""};
  }
  if (name < poisoned_.size() && poisoned_[name]) throw Failure{at, "", "", ExitCode::kCircuit, false, true};
  if (has_standard_gates_) {
    // Standard gates elsewhere: a program that gives the name a meaning of its own has done so above. Controlled ones
    // are written with ctrl @ in this language.
    std::optional<GateName> further = find_gate(text);
    if (!further) further = find_further_gate(text);
    if (further && further->controls == 0) {
      add_table_gate(text, *further, at);
      return find(name);
    }
  }
  NearestName nearest(text);
  for (const Symbol& symbol : model_.symbols) {
    if (symbol.kind == SymbolKind::kGate) nearest.offer(model_.names.text(symbol.name));
  }
  const bool standard = !has_standard_gates_ && std::ranges::count(kTableGates, text) > 0;
  const std::string hint = standard ? "it comes with include \"stdgates.inc\";" : nearest.hint();
  throw Failure{at, "gate " + quoted(text) + " is not defined", hint};
}

void Checker::add_constant_name(std::string_view name, double value) {
  Symbol symbol;
  symbol.flags = kConst;
  symbol.name = model_.names.intern(name);
  symbol.type = scalar_type(ScalarKind::kFloat, 64);
  symbol.constant = model_.add_constant(make_real(symbol.type.scalar, value));
  symbol.at = kUnknownSize;
  declare(symbol);
}

void Checker::add_gate(std::string_view name, const GateDefinition& gate, std::uint32_t at) {
  Symbol symbol;
  symbol.kind = SymbolKind::kGate;
  symbol.name = model_.names.intern(name);
  symbol.index = static_cast<std::uint32_t>(model_.gates.size());
  symbol.at = at;
  declare(symbol);
  model_.gates.push_back(gate);
}

void Checker::add_table_gate(std::string_view name, GateName row, std::uint32_t at) {
  const GateInfo& info = gate_info(row.gate);
  GateDefinition gate;
  gate.gate = row.gate;
  gate.controls = static_cast<std::uint16_t>(row.controls);
  gate.parameters = static_cast<std::uint32_t>(info.params);
  gate.qubits = static_cast<std::uint32_t>(info.targets + row.controls);
  add_gate(name, gate, at);
}

void Checker::add_builtins() {
  for (const std::string_view name : {"pi", "\xcf\x80"}) add_constant_name(name, std::numbers::pi);
  for (const std::string_view name : {"tau", "\xcf\x84"}) add_constant_name(name, 2 * std::numbers::pi);
  for (const std::string_view name : {"euler", "\xe2\x84\x87"}) add_constant_name(name, std::numbers::e);
  GateDefinition gate;
  gate.kind = GateKind::kU;
  gate.parameters = 3;
  gate.qubits = 1;
  add_gate("U", gate, kUnknownSize);
  gate.kind = GateKind::kGlobalPhase;
  gate.parameters = 1;
  gate.qubits = 0;
  model_.gates.push_back(gate);  // gphase is a reserved word: no symbol names it
}

void Checker::add_standard_gates(std::uint32_t at) {
  if (has_standard_gates_) return;
  has_standard_gates_ = true;
  for (const std::string_view name : kTableGates) add_table_gate(name, *find_gate(name), at);
  for (const std::string_view name : {"phase", "cphase"}) add_table_gate(name, *find_further_gate(name), at);
  GateDefinition gate;
  gate.kind = GateKind::kU3;
  gate.qubits = 1;
  gate.parameters = 2;
  add_gate("u2", gate, at);
  gate.parameters = 3;
  add_gate("u3", gate, at);
}

}  // namespace qsim::qasm3
