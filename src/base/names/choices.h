// The names of choices (qsim/target.h), made from a table of each kind.
#pragma once

#include <string>

#include "qsim/error.h"
#include "qsim/target.h"

namespace qsim {

/// The table of a kind: `template <> struct NamesOf<Kind>` with an array `kAll`.
template <typename Choice>
struct NamesOf;

template <typename Choice>
std::span<const Named<Choice>> choices() {
  return NamesOf<Choice>::kAll;
}

template <typename Choice>
std::string_view name_of(Choice choice) {
  for (const Named<Choice>& one : choices<Choice>()) {
    if (one.choice == choice) return one.name;
  }
  throw Error("a choice without a name");
}

template <typename Choice>
Choice choice_of(std::string_view name) {
  std::string known;
  for (const Named<Choice>& one : choices<Choice>()) {
    if (one.name == name) return one.choice;
    known += (known.empty() ? "" : ", ") + std::string(one.name);
  }
  throw UsageError("'" + std::string(name) + "' is none of " + known);
}

}  // namespace qsim
