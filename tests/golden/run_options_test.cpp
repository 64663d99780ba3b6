// Every flag of `qsim run` at random, in combinations that are valid: the document's answers equal the branching
// reference's. The flags are those that --help lists, so a new one fails here until it takes part. QSIM_CAMPAIGN and
// QSIM_CAMPAIGN_FIRST as in the campaign of random circuits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <regex>
#include <set>
#include <string>

#include "golden/cli_program.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "qsim/pauli.h"
#include "qsim/qasm.h"
#include "simulator/simulator.h"
#include "support/branching.h"
#include "support/campaign.h"
#include "support/chi_square.h"
#include "support/json_schema.h"
#include "support/random_circuit.h"
#include "support/random_dynamic.h"
#include "support/tolerance.h"

namespace qsim::test {
namespace {

using nlohmann::json;

/// Flags that need a GPU, several ranks' devices, a launcher or a program with inputs; their own tests have them.
const std::set<std::string> kElsewhere = {
    "--gpus",  "--gpu-ids", "--oversubscribe-gpus", "--pool",  "--jit",     "--kernel-cache",
    "--param", "--params",  "--max-iterations",     "--quiet", "--verbose", "--unitary"};

Circuit random_of(std::uint64_t seed) {
  if (seed % 2 == 0) return random_dynamic({.seed = seed, .max_operations = 20, .negated = false});
  RandomCircuitOptions random;
  random.qubits = 1 + static_cast<unsigned>(seed / 2 % 6);
  random.operations = 5 + static_cast<unsigned>(seed % 31);
  random.seed = seed;
  random.max_controls = 2;
  random.max_unitary_targets = 0;
  random.pauli_rotations = false;
  random.terminal_measurements = seed % 3 != 0;
  return random_circuit(random);
}

/// A circuit that OpenQASM 2 can say; empty where it cannot say that of `seed`.
std::string text_of(std::uint64_t seed) {
  try {
    return write_qasm(random_of(seed));
  } catch (const UnsupportedError&) {
    return "";
  }
}

/// One command line, and what it asks for.
class Case {
 public:
  Case(std::uint64_t seed, const std::string& text)
      : seed_(seed), random_(seed), text_(text), circuit_(parse_qasm(text).circuit) {
    for (const Operation& op : circuit_.operations()) measures_ = measures_ || op.kind == OpKind::kMeasure;
    dynamic_ = !circuit_.measurements_are_terminal();
    shots_ = measures_ ? 1024 : 0;
  }

  /// By flag: its values (one empty text: it takes none), or nothing where it is left out. In the order in which later
  /// ones depend on earlier ones.
  using Values = std::optional<std::vector<std::string>>;
  using Table = std::vector<std::pair<std::string, Values (Case::*)()>>;
  static const Table& table();

  void check() {
    SCOPED_TRACE("seed " + std::to_string(seed_));
    std::vector<std::string> arguments = {"run", "-"};
    for (const auto& [flag, make] : table()) {
      const Values values = (this->*make)();
      if (!values) continue;
      for (const std::string& value : *values) {
        arguments.push_back(flag);
        if (!value.empty()) arguments.push_back(value);
      }
    }
    std::string line;
    for (const std::string& argument : arguments) line += " " + argument;
    SCOPED_TRACE(line);
    const ProgramRun run = run_qsim(arguments, text_);
    ASSERT_EQ(run.exit_code, 0) << run.err << "\n" << text_;
    EXPECT_EQ(run.err, "");
    const std::string document = output_.empty() ? run.out : read_text(output_);
    for (const std::string& violation : schema_violations(document, "qsim.result.1.json")) ADD_FAILURE() << violation;
    compare(json::parse(document));
  }

 private:
  unsigned below(unsigned bound) { return static_cast<unsigned>(random_() % bound); }
  bool coin() { return below(2) == 0; }
  static Values none() { return std::nullopt; }
  static Values given() { return std::vector<std::string>{""}; }

  Values precision() {
    if (below(3) == 0) return none();
    single_ = coin();
    return {{single_ ? "single" : "double"}};
  }
  Values backend() { return coin() ? none() : Values({coin() ? "cpu" : "auto"}); }
  Values threads() { return coin() ? none() : Values({std::to_string(1 + below(3))}); }
  Values ranks() {
    if (coin()) return none();
    unsigned ranks = 1u << below(3);
    while (ranks > 1u << circuit_.qubits()) ranks /= 2;
    return {{std::to_string(ranks)}};
  }
  Values exchange() { return below(8) == 0 ? Values({"auto"}) : none(); }
  Values from() {
    if (coin()) return none();
    random_start_ = coin();
    return {{random_start_ ? "random" : "zero"}};
  }
  Values max_memory() { return below(4) == 0 ? Values({"1G"}) : none(); }
  Values verify() { return coin() ? none() : Values({std::vector<std::string>{"off", "norm", "full"}[below(3)]}); }
  Values reproducible() { return below(4) == 0 ? given() : none(); }
  Values shots() {
    if (!measures_) return below(4) == 0 ? Values({"0"}) : none();
    if (coin()) return none();
    shots_ = std::vector<unsigned>{0, 1, 7, 3000}[below(4)];
    return {{std::to_string(shots_)}};
  }
  /// Whatever may be drawn at random is drawn from a seed that is known.
  Values seed() { return shots_ > 0 || random_start_ || dynamic_ ? Values({std::to_string(seed_)}) : none(); }
  Values counts() { return shots_ > 0 && coin() ? given() : none(); }
  Values distribution() { return asked("distribution", circuit_.clbits() > 0 && coin()) ? given() : none(); }
  Values marginals() { return asked("marginals", coin()) ? given() : none(); }
  Values probabilities() {
    if (!asked("probabilities", coin())) return none();
    std::vector<std::string> lists;
    for (unsigned i = 0; i <= below(2); ++i) {
      std::vector<Qubit> order(circuit_.qubits());
      for (Qubit q = 0; q < order.size(); ++q) order[q] = q;
      std::shuffle(order.begin(), order.end(), random_);
      order.resize(1 + below(circuit_.qubits()));
      std::string text;
      for (const Qubit q : order) text += (text.empty() ? "" : ",") + std::to_string(q);
      lists.push_back(text);
      questions_.probabilities.push_back(order);
    }
    return lists;
  }
  Values amplitudes() {
    if (!asked("amplitudes", !dynamic_ && coin())) return none();
    const unsigned size = 1u << circuit_.qubits();
    if (coin()) {
      top_ = 1 + below(size + 2);
      return {{"top:" + std::to_string(top_)}};
    }
    std::string text;
    for (unsigned i = 0; i <= below(5); ++i) {
      indices_.push_back(below(size));
      text += (text.empty() ? "" : ",") + std::to_string(indices_.back());
    }
    return {{text}};
  }
  Values expectation() {
    if (!asked("expectation", coin())) return none();
    std::vector<std::string> strings;
    for (unsigned i = 0; i <= below(3); ++i) {
      PauliString pauli;
      std::string dense;
      for (Qubit q = 0; q < circuit_.qubits(); ++q) {
        const unsigned letter = below(4);
        pauli.x |= static_cast<Index>(letter & 1) << q;
        pauli.z |= static_cast<Index>(letter >> 1) << q;
        dense.insert(dense.begin(), "IXZY"[letter]);
      }
      questions_.paulis.push_back(pauli);
      strings.push_back(dense);
    }
    return strings;
  }
  Values statevector() {
    if (dynamic_ || below(4) != 0) return none();
    statevector_ = folder_.file("state.npy");
    return {{statevector_}};
  }
  Values as_json() { return given(); }
  Values output() {
    if (below(4) != 0) return none();
    output_ = folder_.file("result.json");
    return {{output_}};
  }
  Values histogram() {
    const bool any = shots_ > 0 || asked_.contains("distribution");
    return any && below(6) == 0 ? Values({folder_.file("bars.svg")}) : none();
  }
  Values report() { return below(6) == 0 ? Values({folder_.file("page.html")}) : none(); }
  Values profile() { return below(6) == 0 ? Values({folder_.file(coin() ? "time.json" : "time.svg")}) : none(); }

  bool asked(const std::string& key, bool yes) {
    if (yes) asked_.insert(key);
    return yes;
  }

  void compare(const json& document) const {
    const Precision precision = single_ ? Precision::kSingle : Precision::kDouble;
    const branching::State start = random_start_ ? branching::random_start(circuit_.qubits(), seed_, precision)
                                                 : branching::zero_state(circuit_.qubits());
    const branching::Answers wanted = branching::walk(circuit_, start, questions_);
    const branching::Allowance allowed(circuit_, precision, wanted);
    const json& results = document["results"];
    for (const char* key : {"distribution", "marginals", "probabilities", "amplitudes", "expectation"}) {
      EXPECT_EQ(results[key].is_null(), !asked_.contains(key)) << key;
    }
    EXPECT_EQ(results["counts"].is_null(), shots_ == 0);
    if (!results["counts"].is_null()) compare_counts(results["counts"], wanted);
    if (asked_.contains("distribution")) compare_distribution(results["distribution"], wanted, allowed);
    if (asked_.contains("marginals")) compare_list(results["marginals"], wanted.marginals, allowed);
    for (std::size_t i = 0; i < questions_.probabilities.size(); ++i) {
      EXPECT_EQ(results["probabilities"][i]["qubits"], json(questions_.probabilities[i]));
      compare_list(results["probabilities"][i]["values"], wanted.probabilities[i], allowed);
    }
    for (std::size_t i = 0; i < questions_.paulis.size(); ++i) {
      EXPECT_NEAR(results["expectation"][i]["value"].get<double>(), wanted.paulis[i], allowed.of(1));
    }
    if (asked_.contains("amplitudes")) compare_amplitudes(results["amplitudes"], wanted, allowed);
    if (!statevector_.empty()) compare_file(wanted, allowed);
  }

  void compare_counts(const json& counts, const branching::Answers& wanted) const {
    const auto drawn = counts.get<std::map<std::string, std::uint64_t>>();
    std::uint64_t total = 0;
    for (const auto& [bits, times] : drawn) total += times;
    EXPECT_EQ(total, shots_);
    const ChiSquare fit = chi_square(drawn, wanted.distribution, shots_);
    EXPECT_EQ(fit.impossible, "");
    EXPECT_LT(fit.deviation(), 5.5);
  }

  static void compare_distribution(const json& found, const branching::Answers& wanted,
                                   const branching::Allowance& allowed) {
    for (const auto& [bits, p] : wanted.distribution) EXPECT_NEAR(found.value(bits, 0.0), p, allowed.of(p)) << bits;
    for (const auto& [bits, p] : found.items()) {
      if (wanted.distribution.contains(bits)) continue;
      EXPECT_LE(p.get<double>(), allowed.of(0)) << bits;
    }
  }

  static void compare_list(const json& found, const std::vector<double>& wanted, const branching::Allowance& allowed) {
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_NEAR(found[i].get<double>(), wanted[i], allowed.of(wanted[i])) << i;
    }
  }

  void compare_amplitudes(const json& found, const branching::Answers& wanted,
                          const branching::Allowance& allowed) const {
    const std::size_t size = wanted.state.size();
    ASSERT_EQ(found.size(), top_ > 0 ? std::min<std::size_t>(top_, size) : indices_.size());
    std::vector<double> falling;
    for (const auto& amplitude : wanted.state) falling.push_back(static_cast<double>(std::norm(amplitude)));
    std::sort(falling.rbegin(), falling.rend());
    for (std::size_t i = 0; i < found.size(); ++i) {
      const Index index = std::stoull(found[i]["index"].get<std::string>());
      const branching::Amplitude value(found[i]["re"].get<double>(), found[i]["im"].get<double>());
      EXPECT_LE(std::abs(value - wanted.state.at(index)), allowed.amplitude) << index;
      const double p = found[i]["probability"].get<double>();
      if (top_ == 0) {
        EXPECT_EQ(index, indices_[i]);
        continue;
      }
      EXPECT_NEAR(p, falling[i], allowed.of(falling[i]));
      if (i == 0) continue;
      const double before = found[i - 1]["probability"].get<double>();
      EXPECT_TRUE(p < before || (p == before && index > std::stoull(found[i - 1]["index"].get<std::string>())))
          << "place " << i << " of the most probable: " << before << ", " << p;
    }
  }

  /// The .npy file: 10 bytes, a header as long as bytes 8 and 9 say, then the amplitudes.
  void compare_file(const branching::Answers& wanted, const branching::Allowance& allowed) const {
    const std::string bytes = read_text(statevector_);
    ASSERT_GT(bytes.size(), 10u);
    const std::size_t header = 10 + static_cast<unsigned char>(bytes[8]) + 256u * static_cast<unsigned char>(bytes[9]);
    const std::size_t part = single_ ? sizeof(float) : sizeof(double);
    ASSERT_EQ(bytes.size(), header + 2 * part * wanted.state.size());
    const auto number = [&](std::size_t i) {
      double as_double = 0;
      float as_single = 0;
      if (single_) {
        std::memcpy(&as_single, bytes.data() + header + part * i, part);
        return static_cast<double>(as_single);
      }
      std::memcpy(&as_double, bytes.data() + header + part * i, part);
      return as_double;
    };
    for (std::size_t i = 0; i < wanted.state.size(); ++i) {
      const branching::Amplitude value(number(2 * i), number(2 * i + 1));
      EXPECT_LE(std::abs(value - wanted.state[i]), allowed.amplitude) << i;
    }
  }

  const std::uint64_t seed_;
  std::mt19937_64 random_;
  const std::string text_;
  const Circuit circuit_;
  const TemporaryFolder folder_;
  bool measures_ = false, dynamic_ = false, single_ = false, random_start_ = false;
  std::uint64_t shots_ = 0;
  std::size_t top_ = 0;
  std::vector<Index> indices_;
  branching::Questions questions_;
  std::set<std::string> asked_;
  std::string output_, statevector_;
};

const Case::Table& Case::table() {
  static const Table flags = {
      {"--precision", &Case::precision},
      {"--backend", &Case::backend},
      {"--threads", &Case::threads},
      {"--ranks", &Case::ranks},
      {"--exchange", &Case::exchange},
      {"--from", &Case::from},
      {"--max-memory", &Case::max_memory},
      {"--verify", &Case::verify},
      {"--reproducible", &Case::reproducible},
      {"--shots", &Case::shots},
      {"--seed", &Case::seed},
      {"--counts", &Case::counts},
      {"--distribution", &Case::distribution},
      {"--marginals", &Case::marginals},
      {"--probabilities", &Case::probabilities},
      {"--amplitudes", &Case::amplitudes},
      {"--expectation", &Case::expectation},
      {"--statevector", &Case::statevector},
      {"--json", &Case::as_json},
      {"--output", &Case::output},
      {"--histogram", &Case::histogram},
      {"--report", &Case::report},
      {"--profile", &Case::profile},
  };
  return flags;
}

TEST(RunOptions, EveryFlagThatHelpListsTakesPart) {
  const ProgramRun help = run_qsim({"run", "--help"});
  std::set<std::string> listed, known = kElsewhere;
  const std::regex flag("\\n +(?:-[a-z],)?(--[a-z-]+)");
  for (std::sregex_iterator match(help.out.begin(), help.out.end(), flag), end; match != end; ++match) {
    if ((*match)[1] != "--help") listed.insert((*match)[1]);
  }
  for (const auto& [name, make] : Case::table()) known.insert(name);
  EXPECT_EQ(listed, known);
}

TEST(RunOptions, AnyValidCombinationGivesTheReferencesAnswers) {
  const Campaign campaign(150);
  std::uint64_t lines = 0;
  for (std::uint64_t seed = campaign.first; seed < campaign.first + campaign.count; ++seed) {
    const std::string text = text_of(seed);
    if (text.empty()) continue;
    Case(seed, text).check();
    ASSERT_FALSE(HasFailure());
    ++lines;
  }
  EXPECT_GT(lines, campaign.count * 3 / 4);
  std::printf("%llu command lines\n", static_cast<unsigned long long>(lines));
}

}  // namespace
}  // namespace qsim::test
