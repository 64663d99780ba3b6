#include "circuit/pauli_formats.h"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "qsim/error.h"

namespace qsim {
namespace {

using Terms = std::vector<ForeignTerm>;
using Json = nlohmann::json;

constexpr char kSpaces[] = " \t\r\n";

[[noreturn]] void refuse(const std::string& what, const std::string& hint = "") { throw UsageError(what, hint); }

/// Walks over a text; what is expected and not there is a failure in the words of `format`.
class Scanner {
 public:
  Scanner(std::string_view text, std::string format) : text_(text), format_(std::move(format)) {}

  void skip_spaces() { at_ = std::min(text_.find_first_not_of(kSpaces, at_), text_.size()); }
  bool at_end() {
    skip_spaces();
    return at_ == text_.size();
  }
  bool take(std::string_view word) {
    skip_spaces();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  void expect(std::string_view word) {
    if (!take(word)) fail("'" + std::string(word) + "' is missing");
  }
  /// What stands before the first of `ends`, which is left.
  std::string_view until(std::string_view ends) {
    const std::size_t end = text_.find_first_of(ends, at_);
    if (end == std::string_view::npos) fail("it ends too early");
    const std::string_view part = text_.substr(at_, end - at_);
    at_ = end;
    return part;
  }
  std::string quoted() {
    skip_spaces();
    const char quote = at_ < text_.size() ? text_[at_] : ' ';
    if (quote != '\'' && quote != '"') fail("a label is not in quotes");
    ++at_;
    std::string label(until({&quote, 1}));
    ++at_;
    return label;
  }
  std::pair<double, double> number(std::string_view text) {
    const auto value = parse_python_complex(text);
    if (!value) fail("a coefficient is no number");
    return *value;
  }
  [[noreturn]] void fail(const std::string& what) const {
    refuse(format_ + ": " + what +
           (text_.find("...") == std::string_view::npos
                ? ""
                : "; its middle is left out (\"...\"): numpy prints long lists in part"));
  }

 private:
  std::string_view text_;
  std::string format_;
  std::size_t at_ = 0;
};

/// (-0.8+0j) [] +
/// 0.17 [Z0 X3]
Terms openfermion_terms(std::string_view text) {
  Scanner scanner(text, "OpenFermion's text of a QubitOperator");
  Terms terms;
  do {
    scanner.skip_spaces();
    const std::pair<double, double> coefficient = scanner.number(scanner.until("["));
    scanner.expect("[");
    terms.push_back({coefficient, std::string(scanner.until("]"))});
    scanner.expect("]");
  } while (scanner.take("+"));
  if (!scanner.at_end()) scanner.fail("a term is not followed by +");
  return terms;
}

/// SparsePauliOp(['IZ', 'XX'], coeffs=[0.5+0.j, 0.25+0.j])
Terms qiskit_terms(std::string_view text) {
  Scanner scanner(text, "Qiskit's text of a SparsePauliOp");
  scanner.expect("SparsePauliOp(");
  scanner.expect("[");
  Terms terms;
  do {
    terms.push_back({{0, 0}, scanner.quoted()});
  } while (scanner.take(","));
  scanner.expect("]");
  scanner.expect(",");
  scanner.expect("coeffs=");
  scanner.expect("[");
  std::size_t numbers = 0;
  do {
    const std::string_view number = scanner.until(",]");
    if (numbers == terms.size()) scanner.fail("there are more coefficients than labels");
    terms[numbers++].coefficient = scanner.number(number);
  } while (scanner.take(","));
  scanner.expect("]");
  scanner.expect(")");
  if (numbers != terms.size()) scanner.fail("there are fewer coefficients than labels");
  if (!scanner.at_end()) scanner.fail("more stands behind it");
  return terms;
}

/// [('IZ', (0.5+0j)), ('XX', 0.25)], as to_list() is printed.
Terms listed_terms(std::string_view text) {
  Scanner scanner(text, "a list of Pauli terms");
  scanner.expect("[");
  Terms terms;
  do {
    scanner.expect("(");
    std::string label = scanner.quoted();
    scanner.expect(",");
    scanner.skip_spaces();
    for (const char* type : {"np.complex128", "np.float64", "complex"}) {
      if (scanner.take(type)) break;
    }
    const bool in_brackets = scanner.take("(");
    terms.push_back({scanner.number(scanner.until(")")), std::move(label)});
    if (in_brackets) scanner.expect(")");
    scanner.expect(")");
  } while (scanner.take(","));
  scanner.expect("]");
  if (!scanner.at_end()) scanner.fail("more stands behind it");
  return terms;
}

// ---- JSON

[[noreturn]] void refuse_json(const std::string& what) {
  refuse("Pauli terms in JSON: " + what,
         R"(write [["IZ", 0.5], ["XX", [0.25, 0]]], {"IZ": 0.5} or {"paulis": ["IZ"], "coeffs": [0.5]})");
}

/// 0.5, [0.5, 0], "0.5+0j" or {"real": 0.5, "imag": 0}, the first three also as Qiskit's {"__type__": "complex",
/// "__value__": [0.5, 0]}.
std::pair<double, double> json_number(const Json& given) {
  const Json& value = given.is_object() && given.contains("__value__") ? given["__value__"] : given;
  if (value.is_number()) return {value.get<double>(), 0};
  if (value.is_string()) {
    if (const auto number = parse_python_complex(value.get_ref<const std::string&>())) return *number;
  }
  const auto pair_of = [](const Json& real, const Json& imaginary) -> std::pair<double, double> {
    if (!real.is_number() || !imaginary.is_number()) refuse_json("a coefficient is no number");
    return {real.get<double>(), imaginary.get<double>()};
  };
  if (value.is_array() && value.size() == 2) return pair_of(value[0], value[1]);
  if (value.is_object() && value.contains("real")) return pair_of(value["real"], value.value("imag", Json(0)));
  refuse_json("a coefficient is no number");
}

const Json* member(const Json& object, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const auto found = object.find(name); found != object.end()) return &*found;
  }
  return nullptr;
}

std::string json_label(const Json& value) {
  if (!value.is_string()) refuse_json("a label is no text");
  return value.get<std::string>();
}

ForeignTerm json_term(const Json& value) {
  if (value.is_array() && value.size() == 2) return {json_number(value[1]), json_label(value[0])};
  if (value.is_object()) {
    const Json* const label = member(value, {"pauli", "label"});
    const Json* const number = member(value, {"coeff", "coefficient"});
    if (label != nullptr && number != nullptr) return {json_number(*number), json_label(*label)};
  }
  refuse_json("a term is no pair of a label and a coefficient");
}

Terms json_terms(const Json& document) {
  Terms terms;
  const Json* const inside = document.is_object() ? member(document, {"terms"}) : nullptr;
  const Json& list = inside != nullptr ? *inside : document;
  if (list.is_array()) {
    for (const Json& one : list) terms.push_back(json_term(one));
    return terms;
  }
  if (!document.is_object() || inside != nullptr) refuse_json("there is neither a list nor an object of terms");
  const Json* const labels = member(document, {"paulis", "labels"});
  const Json* const numbers = member(document, {"coeffs", "coefficients"});
  if (labels == nullptr && numbers == nullptr) {
    for (const auto& [label, number] : document.items()) terms.push_back({json_number(number), label});
    return terms;
  }
  if (labels == nullptr || numbers == nullptr || !labels->is_array() || !numbers->is_array() ||
      labels->size() != numbers->size()) {
    refuse_json("there is not one coefficient for each label");
  }
  for (std::size_t i = 0; i < labels->size(); ++i) {
    terms.push_back({json_number((*numbers)[i]), json_label((*labels)[i])});
  }
  return terms;
}

/// A name that stands twice in an object has two values, of which one would be lost.
Json parse_json(std::string_view text) {
  std::vector<std::set<std::string>> names;
  bool twice = false;
  const auto see = [&](int, Json::parse_event_t event, const Json& value) {
    if (event == Json::parse_event_t::object_start) names.emplace_back();
    if (event == Json::parse_event_t::object_end) names.pop_back();
    if (event == Json::parse_event_t::key) twice |= !names.back().insert(value.get<std::string>()).second;
    return true;
  };
  Json document = Json::parse(text.begin(), text.end(), see, false);
  if (document.is_discarded()) refuse_json("the text is not JSON");
  if (twice) refuse_json("a name stands twice in an object");
  return document;
}

std::string without_comments(const std::string& text) {
  std::string kept;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    kept.append(text, begin, std::min(text.find('#', begin), end) - begin);
    kept += '\n';
    begin = end + 1;
  }
  return kept;
}

}  // namespace

std::optional<std::pair<double, double>> parse_python_complex(std::string_view text) {
  std::string word;
  for (const char c : text) {
    if (std::string_view(kSpaces).find(c) == std::string_view::npos) word += c;
  }
  if (word.size() > 1 && word.front() == '(' && word.back() == ')') word = word.substr(1, word.size() - 2);
  if (word.empty() || word.find_first_not_of("0123456789+-.eEj") != std::string::npos) return std::nullopt;
  const char* const begin = word.c_str();
  char* end = nullptr;
  const double first = std::strtod(begin, &end);
  if (end == begin) return std::nullopt;
  const std::string_view rest(end);
  if (rest.empty()) return std::pair{first, 0.0};
  if (rest == "j") return std::pair{0.0, first};
  if (rest[0] != '+' && rest[0] != '-') return std::nullopt;
  char* stop = nullptr;
  const double second = std::strtod(end, &stop);
  if (stop == end || std::string_view(stop) != "j") return std::nullopt;
  return std::pair{first, second};
}

std::optional<Terms> foreign_pauli_terms(const std::string& given) {
  const std::string text = given.find('#') == std::string::npos ? given : without_comments(given);
  const std::size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string::npos) return std::nullopt;
  const std::string_view body = std::string_view(text).substr(begin);
  if (body.starts_with("SparsePauliOp(")) return qiskit_terms(body);
  if (body[0] == '[' || body[0] == '{') {
    const std::size_t next = body.find_first_not_of(kSpaces, 1);
    const bool python = body[0] == '[' && next != std::string_view::npos && body[next] == '(';
    return python ? listed_terms(body) : json_terms(parse_json(body));
  }
  if (body.find('[') == std::string_view::npos) return std::nullopt;
  return openfermion_terms(body);
}

}  // namespace qsim
