// The gate table and the look-up of names in it.
#include "qsim/gate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "circuit/gate_table.h"

namespace qsim {
namespace {

using Params = std::span<const double>;
using std::numbers::pi;
constexpr double kRootHalf = std::numbers::sqrt2 / 2;
constexpr Complex kI{0, 1};

// ---- Matrices

Matrix diagonal(std::initializer_list<Complex> entries) {
  Matrix matrix(entries.size() * entries.size());
  std::size_t row = 0;
  for (const Complex entry : entries) {
    matrix[row * entries.size() + row] = entry;
    ++row;
  }
  return matrix;
}

Matrix identity_matrix(Params) { return diagonal({1, 1}); }
Matrix x_matrix(Params) { return {0, 1, 1, 0}; }
Matrix y_matrix(Params) { return {0, -kI, kI, 0}; }
Matrix z_matrix(Params) { return diagonal({1, -1}); }
Matrix h_matrix(Params) { return {kRootHalf, kRootHalf, kRootHalf, -kRootHalf}; }
Matrix s_matrix(Params) { return diagonal({1, kI}); }
Matrix sdg_matrix(Params) { return diagonal({1, -kI}); }
Matrix t_matrix(Params) { return diagonal({1, {kRootHalf, kRootHalf}}); }
Matrix tdg_matrix(Params) { return diagonal({1, {kRootHalf, -kRootHalf}}); }
Matrix sx_matrix(Params) { return {{0.5, 0.5}, {0.5, -0.5}, {0.5, -0.5}, {0.5, 0.5}}; }
Matrix sxdg_matrix(Params) { return {{0.5, -0.5}, {0.5, 0.5}, {0.5, 0.5}, {0.5, -0.5}}; }

Complex phase(double angle) { return {std::cos(angle), std::sin(angle)}; }

Matrix rx_matrix(Params p) {
  const Complex c = std::cos(p[0] / 2), s = {0, -std::sin(p[0] / 2)};
  return {c, s, s, c};
}
Matrix ry_matrix(Params p) {
  const double c = std::cos(p[0] / 2), s = std::sin(p[0] / 2);
  return {c, -s, s, c};
}
Matrix rz_matrix(Params p) { return diagonal({phase(-p[0] / 2), phase(p[0] / 2)}); }
Matrix phase_matrix(Params p) { return diagonal({1, phase(p[0])}); }

// The lower right entry is the product of the other two's phases, as unitarity wants: rounded apart, the phase of a sum
// of large angles is not.
// OpenQASM's U in the form whose upper left entry is real: the form that controlled-U is built from.
Matrix u_entries(double theta, double phi, double lambda) {
  const double c = std::cos(theta / 2), s = std::sin(theta / 2);
  return {c, -phase(lambda) * s, phase(phi) * s, phase(phi) * phase(lambda) * c};
}
Matrix u_matrix(Params p) { return u_entries(p[0], p[1], p[2]); }
Matrix u2_matrix(Params p) {
  return {kRootHalf, -kRootHalf * phase(p[1]), kRootHalf * phase(p[0]), kRootHalf * phase(p[0]) * phase(p[1])};
}
Matrix uphase_matrix(Params p) {
  Matrix matrix = u_entries(p[0], p[1], p[2]);
  for (Complex& entry : matrix) entry *= phase(p[3]);
  return matrix;
}

Matrix swap_matrix(Params) { return {1, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1}; }
Matrix rxx_matrix(Params p) {
  const Complex c = std::cos(p[0] / 2), s = {0, -std::sin(p[0] / 2)};
  return {c, 0, 0, s, 0, c, s, 0, 0, s, c, 0, s, 0, 0, c};
}
Matrix ryy_matrix(Params p) {
  const Complex c = std::cos(p[0] / 2), s = {0, -std::sin(p[0] / 2)};
  return {c, 0, 0, -s, 0, c, s, 0, 0, s, c, 0, -s, 0, 0, c};
}
Matrix rzz_matrix(Params p) {
  const Complex even = phase(-p[0] / 2), odd = phase(p[0] / 2);
  return diagonal({even, odd, odd, even});
}

// Toffoli up to phases (Margolus): the target is bit 2.
Matrix rccx_matrix(Params) {
  Matrix matrix = diagonal({1, 1, 1, 0, 1, -1, 1, 0});
  matrix[3 * 8 + 7] = -kI;
  matrix[7 * 8 + 3] = kI;
  return matrix;
}
// Three-controlled X up to phases: the target is bit 3.
Matrix rc3x_matrix(Params) {
  Matrix matrix = diagonal({1, 1, 1, kI, 1, 1, 1, 0, 1, 1, 1, -kI, 1, 1, 1, 0});
  matrix[7 * 16 + 15] = 1;
  matrix[15 * 16 + 7] = -1;
  return matrix;
}
Matrix rc3xdg_matrix(Params) {
  Matrix matrix = diagonal({1, 1, 1, -kI, 1, 1, 1, 0, 1, 1, 1, kI, 1, 1, 1, 0});
  matrix[7 * 16 + 15] = -1;
  matrix[15 * 16 + 7] = 1;
  return matrix;
}

Matrix r_matrix(Params p) {
  const Complex c = std::cos(p[0] / 2), s = {0, -std::sin(p[0] / 2)};
  return {c, s * phase(-p[1]), s * phase(p[1]), c};
}
Matrix dcx_matrix(Params) { return {1, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0}; }
Matrix dcxdg_matrix(Params) { return {1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0}; }
Matrix iswap_matrix(Params) { return {1, 0, 0, 0, 0, 0, kI, 0, 0, kI, 0, 0, 0, 0, 0, 1}; }
Matrix ecr_matrix(Params) {
  const Complex r = kRootHalf, i = {0, kRootHalf};
  return {0, r, 0, i, r, 0, -i, 0, 0, i, 0, r, -i, 0, r, 0};
}
Matrix rzx_matrix(Params p) {
  const Complex c = std::cos(p[0] / 2), s = {0, -std::sin(p[0] / 2)};
  return {c, 0, s, 0, 0, c, 0, -s, s, 0, c, 0, 0, -s, 0, c};
}
Matrix xx_minus_yy_matrix(Params p) {
  const Complex c = std::cos(p[0] / 2), s = {0, -std::sin(p[0] / 2)};
  return {c, 0, 0, s * phase(-p[1]), 0, 1, 0, 0, 0, 0, 1, 0, s * phase(p[1]), 0, 0, c};
}
Matrix xx_plus_yy_matrix(Params p) {
  const Complex c = std::cos(p[0] / 2), s = {0, -std::sin(p[0] / 2)};
  return {1, 0, 0, 0, 0, c, s * phase(-p[1]), 0, 0, s * phase(p[1]), c, 0, 0, 0, 0, 1};
}

// ---- Inverses

template <Gate kGate>
GateCall becomes(Params) {
  return {kGate, {}};
}
template <Gate kGate>
GateCall negated(Params p) {
  return {kGate, {-p[0]}};
}
GateCall u2_inverse(Params p) { return {Gate::kU, {-pi / 2, -p[1], -p[0]}}; }
GateCall u_inverse(Params p) { return {Gate::kU, {-p[0], -p[2], -p[1]}}; }
template <Gate kGate>
GateCall turned_back(Params p) {
  return {kGate, {-p[0], p[1]}};
}
GateCall iswap_inverse(Params) { return {Gate::kXxPlusYy, {pi, 0}}; }
GateCall uphase_inverse(Params p) { return {Gate::kUPhase, {-p[0], -p[2], -p[1], -p[3]}}; }

// ---- The table

// gate, name, aliases, names with 1, 2, ... controls, aliases with one control, angles, targets, diagonal, permutation,
// real, matrix, inverse
const std::array<GateInfo, kGateCount>& table() {
  static const std::array<GateInfo, kGateCount> kTable = {{
      {Gate::kId, "id", {}, {}, {}, 0, 1, true, true, true, identity_matrix, becomes<Gate::kId>},
      {Gate::kX, "x", {}, {"cx", "ccx", "c3x", "c4x"}, {"CX"}, 0, 1, false, true, true, x_matrix, becomes<Gate::kX>},
      {Gate::kY, "y", {}, {"cy"}, {}, 0, 1, false, true, false, y_matrix, becomes<Gate::kY>},
      {Gate::kZ, "z", {}, {"cz"}, {}, 0, 1, true, true, true, z_matrix, becomes<Gate::kZ>},
      {Gate::kH, "h", {}, {"ch"}, {}, 0, 1, false, false, true, h_matrix, becomes<Gate::kH>},
      {Gate::kS, "s", {}, {}, {}, 0, 1, true, true, false, s_matrix, becomes<Gate::kSdg>},
      {Gate::kSdg, "sdg", {}, {}, {}, 0, 1, true, true, false, sdg_matrix, becomes<Gate::kS>},
      {Gate::kT, "t", {}, {}, {}, 0, 1, true, true, false, t_matrix, becomes<Gate::kTdg>},
      {Gate::kTdg, "tdg", {}, {}, {}, 0, 1, true, true, false, tdg_matrix, becomes<Gate::kT>},
      {Gate::kSx, "sx", {}, {"csx", "", "c3sqrtx"}, {}, 0, 1, false, false, false, sx_matrix, becomes<Gate::kSxdg>},
      {Gate::kSxdg, "sxdg", {}, {}, {}, 0, 1, false, false, false, sxdg_matrix, becomes<Gate::kSx>},
      {Gate::kRx, "rx", {}, {"crx"}, {}, 1, 1, false, false, false, rx_matrix, negated<Gate::kRx>},
      {Gate::kRy, "ry", {}, {"cry"}, {}, 1, 1, false, false, true, ry_matrix, negated<Gate::kRy>},
      {Gate::kRz, "rz", {}, {"crz"}, {}, 1, 1, true, true, false, rz_matrix, negated<Gate::kRz>},
      {Gate::kPhase, "p", {"u1"}, {"cp"}, {"cu1"}, 1, 1, true, true, false, phase_matrix, negated<Gate::kPhase>},
      {Gate::kU2, "u2", {}, {}, {}, 2, 1, false, false, false, u2_matrix, u2_inverse},
      {Gate::kU, "u", {"u3", "U"}, {"cu3"}, {}, 3, 1, false, false, false, u_matrix, u_inverse},
      {Gate::kU0, "u0", {}, {}, {}, 1, 1, true, true, true, identity_matrix, negated<Gate::kU0>},
      {Gate::kUPhase, "", {}, {"cu"}, {}, 4, 1, false, false, false, uphase_matrix, uphase_inverse},
      {Gate::kSwap, "swap", {}, {"cswap"}, {}, 0, 2, false, true, true, swap_matrix, becomes<Gate::kSwap>},
      {Gate::kRxx, "rxx", {}, {}, {}, 1, 2, false, false, false, rxx_matrix, negated<Gate::kRxx>},
      {Gate::kRyy, "", {}, {}, {}, 1, 2, false, false, false, ryy_matrix, negated<Gate::kRyy>},
      {Gate::kRzz, "rzz", {}, {}, {}, 1, 2, true, true, false, rzz_matrix, negated<Gate::kRzz>},
      {Gate::kRccx, "rccx", {}, {}, {}, 0, 3, false, true, false, rccx_matrix, becomes<Gate::kRccx>},
      {Gate::kRc3x, "rc3x", {}, {}, {}, 0, 4, false, true, false, rc3x_matrix, becomes<Gate::kRc3xdg>},
      {Gate::kRc3xdg, "", {}, {}, {}, 0, 4, false, true, false, rc3xdg_matrix, becomes<Gate::kRc3x>},
      {Gate::kR, "", {}, {}, {}, 2, 1, false, false, false, r_matrix, turned_back<Gate::kR>},
      {Gate::kDcx, "", {}, {}, {}, 0, 2, false, true, true, dcx_matrix, becomes<Gate::kDcxdg>},
      {Gate::kDcxdg, "", {}, {}, {}, 0, 2, false, true, true, dcxdg_matrix, becomes<Gate::kDcx>},
      {Gate::kIswap, "", {}, {}, {}, 0, 2, false, true, false, iswap_matrix, iswap_inverse},
      {Gate::kEcr, "", {}, {}, {}, 0, 2, false, false, false, ecr_matrix, becomes<Gate::kEcr>},
      {Gate::kRzx, "", {}, {}, {}, 1, 2, false, false, false, rzx_matrix, negated<Gate::kRzx>},
      {Gate::kXxMinusYy, "", {}, {}, {}, 2, 2, false, false, false, xx_minus_yy_matrix, turned_back<Gate::kXxMinusYy>},
      {Gate::kXxPlusYy, "", {}, {}, {}, 2, 2, false, false, false, xx_plus_yy_matrix, turned_back<Gate::kXxPlusYy>},
  }};
  return kTable;
}

struct NamedGate {
  std::string_view name;
  GateName meaning;
};

/// Names that qelib1.inc has not.
struct FurtherName {
  std::string_view name;
  GateName meaning;
  bool standard = true;  // Qiskit's or stdgates.inc's, not our own
};
constexpr FurtherName kFurtherNames[] = {
    {"phase", {Gate::kPhase, 0}},
    {"cphase", {Gate::kPhase, 1}},
    {"ccz", {Gate::kZ, 2}},
    {"cs", {Gate::kS, 1}},
    {"csdg", {Gate::kSdg, 1}},
    {"c3sx", {Gate::kSx, 3}},
    {"uphase", {Gate::kUPhase, 0}, false},
    {"ryy", {Gate::kRyy, 0}},
    {"rcccx", {Gate::kRc3x, 0}},
    {"rc3xdg", {Gate::kRc3xdg, 0}, false},
    {"r", {Gate::kR, 0}},
    {"dcx", {Gate::kDcx, 0}},
    {"dcxdg", {Gate::kDcxdg, 0}, false},
    {"iswap", {Gate::kIswap, 0}},
    {"ecr", {Gate::kEcr, 0}},
    {"rzx", {Gate::kRzx, 0}},
    {"xx_minus_yy", {Gate::kXxMinusYy, 0}},
    {"xx_plus_yy", {Gate::kXxPlusYy, 0}},
};

const FurtherName* further_name(std::string_view name) {
  const auto* const found = std::ranges::find(kFurtherNames, name, &FurtherName::name);
  return found == std::end(kFurtherNames) ? nullptr : found;
}

/// OpenQASM's names.
std::vector<NamedGate> sorted_names() {
  std::vector<NamedGate> names;
  for (const GateSpelling& one : gate_spellings()) {
    if (further_name(one.name) == nullptr) names.push_back({one.name, {one.gate, one.controls}});
  }
  std::sort(names.begin(), names.end(), [](const NamedGate& a, const NamedGate& b) { return a.name < b.name; });
  return names;
}

}  // namespace

std::span<const GateInfo> gate_table() { return table(); }

const GateInfo& gate_info(Gate gate) { return table()[static_cast<std::size_t>(gate)]; }

std::optional<GateName> find_gate(std::string_view name) {
  static const std::vector<NamedGate> kNames = sorted_names();
  const auto found = std::lower_bound(kNames.begin(), kNames.end(), name,
                                      [](const NamedGate& a, std::string_view wanted) { return a.name < wanted; });
  if (found == kNames.end() || found->name != name) return std::nullopt;
  return found->meaning;
}

std::string_view gate_name(Gate gate, int controls) {
  const GateInfo& info = gate_info(gate);
  if (controls == 0) return info.name;
  const auto index = static_cast<std::size_t>(controls - 1);
  return controls > 0 && index < info.controlled_names.size() ? info.controlled_names[index] : std::string_view();
}

std::string_view gate_spelling(Gate gate, int controls) {
  const std::string_view name = gate_name(gate, controls);
  if (!name.empty()) return name;
  for (const FurtherName& one : kFurtherNames) {
    if (one.meaning.gate == gate && one.meaning.controls == controls) return one.name;
  }
  return {};
}

std::vector<GateSpelling> gate_spellings() {
  std::vector<GateSpelling> spellings;
  for (const GateInfo& info : table()) {
    const auto add = [&](std::string_view name, std::size_t controls) {
      if (!name.empty()) spellings.push_back({name, info.gate, static_cast<int>(controls), info.targets, info.params});
    };
    const auto add_further = [&](bool controlled) {
      for (const FurtherName& one : kFurtherNames) {
        if (one.meaning.gate == info.gate && (one.meaning.controls > 0) == controlled) {
          add(one.name, static_cast<std::size_t>(one.meaning.controls));
        }
      }
    };
    add(gate_name(info.gate, 0), 0);
    for (const std::string_view alias : info.aliases) add(alias, 0);
    add_further(false);
    for (std::size_t i = 0; i < info.controlled_names.size(); ++i) add(info.controlled_names[i], i + 1);
    for (const std::string_view alias : info.controlled_aliases) add(alias, 1);
    add_further(true);
  }
  return spellings;
}

std::optional<GateName> find_further_gate(std::string_view name) {
  const FurtherName* const found = further_name(name);
  if (found == nullptr || !found->standard) return std::nullopt;
  return found->meaning;
}

std::vector<std::string_view> further_gates() {
  std::vector<std::string_view> names;
  for (const FurtherName& one : kFurtherNames) {
    if (one.standard) names.push_back(one.name);
  }
  return names;
}

std::optional<GateName> find_spelling(std::string_view name) {
  if (const std::optional<GateName> found = find_gate(name)) return found;
  const FurtherName* const found = further_name(name);
  if (found == nullptr) return std::nullopt;
  return found->meaning;
}

}  // namespace qsim
