#include "cli/io/flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/file/files.h"
#include "base/ranks/communicator.h"
#include "base/ranks/launcher_process.h"
#include "base/text.h"
#include "qsim/error.h"

namespace qsim::cli {

struct Flags::Impl {
  CLI::App app;
  std::string command, group = "Options";
  CommandManual manual;

  struct Value {
    std::string name;
    Role role;
    std::string* one;
    std::vector<std::string>* many;
    CLI::Option* option;
  };
  std::vector<Value> values;

  /// Calls action(flag, value) for every value of these roles that was typed.
  template <typename Action>
  void each(std::initializer_list<Role> roles, Action&& action) const {
    for (const Value& value : values) {
      if (value.option->count() == 0 || std::find(roles.begin(), roles.end(), value.role) == roles.end()) continue;
      if (value.one != nullptr) action(value, *value.one);
      for (std::size_t i = 0; value.many != nullptr && i < value.many->size(); ++i) action(value, (*value.many)[i]);
    }
  }
  void check_values() const;
};

void Flags::Impl::check_values() const {
  each({Role::kWord, Role::kInput, Role::kOutput, Role::kOutputStream},
       [](const Value& value, const std::string& text) {
         if (text.empty()) throw UsageError(value.name + ": an empty value means nothing");
       });
  std::vector<std::pair<std::string, std::string>> made;  // flag and path
  each({Role::kOutput, Role::kOutputStream}, [&](const Value& value, const std::string& path) {
    for (const auto& [other, taken] : made) {
      if (is_same_file(path, taken)) throw UsageError(value.name + " and " + other + " name one file");
    }
    made.emplace_back(value.name, path);
  });
  each({Role::kInput}, [&](const Value&, const std::string& typed) {
    const std::string path = typed == "-" && !made.empty() ? standard_input_path(launched_by_mpi()) : typed;
    for (const auto& [other, taken] : made) {
      if (is_regular_file(path) && is_same_file(path, taken)) {
        throw UsageError(other + " would overwrite " + (typed == "-" ? "standard input" : "'" + typed + "'") +
                         ", which is read");
      }
    }
  });
}

namespace {

/// Layout of --help: a line a flag, so that it can be read without a manual beside it.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(30); }
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string name = option->get_type_name();
    return name.empty() ? "" : " " + name;
  }
};

/// What no flag took, in the order in which it was typed.
std::string unexpected(const CLI::App& app, std::span<const std::string> arguments) {
  std::vector<std::string> left = app.remaining();
  std::string text;
  for (const std::string& argument : arguments) {
    const auto found = std::find(left.begin(), left.end(), argument);
    if (found == left.end()) continue;
    left.erase(found);
    text += (text.empty() ? "" : " ") + argument;
  }
  // What was taken apart is in none of the arguments.
  for (const std::string& part : left) text += (text.empty() ? "" : " ") + part;
  return text;
}

std::string nearest_flag(const CLI::App& app, std::span<const std::string> arguments) {
  for (const std::string& argument : arguments) {
    if (argument.size() < 3 || argument.compare(0, 2, "--") != 0) continue;
    const std::string word = argument.substr(0, argument.find('='));
    std::string best;
    std::size_t best_distance = 3;
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& name : option->get_lnames()) {
        const std::size_t distance = edit_distance(word, "--" + name);
        if (distance == 0) best.clear(), best_distance = 0;
        if (distance < best_distance) best = "--" + name, best_distance = distance;
      }
    }
    if (!best.empty()) return "did you mean '" + best + "'?";
  }
  return "";
}

}  // namespace

Flags::Flags(const std::string& command, const std::string& summary, const std::string& footer)
    : impl_(std::make_unique<Impl>()) {
  impl_->command = command;
  impl_->manual = {command, summary, footer, {}};
  impl_->app.name(command);
  impl_->app.description(summary);
  impl_->app.footer(footer);
  impl_->app.formatter(std::make_shared<HelpFormatter>());
  impl_->app.set_help_flag("-h,--help", "this text");
}

Flags::~Flags() = default;

void Flags::group(const std::string& title) { impl_->group = title; }

void Flags::positional(const std::string& name, std::string& value, const std::string& help, Role role) {
  CLI::Option* const option = impl_->app.add_option(name, value, help)->type_name("");
  impl_->values.push_back({name, role, &value, nullptr, option});
  impl_->manual.flags.push_back({name, "", help, "", {}, role, true, false});
}

void Flags::positionals(const std::string& name, std::vector<std::string>& values, const std::string& help, Role role) {
  CLI::Option* const option = impl_->app.add_option(name, values, help)->type_name("");
  impl_->values.push_back({name, role, nullptr, &values, option});
  impl_->manual.flags.push_back({name, "", help, "", {}, role, true, true});
}

void Flags::flag(const std::string& names, bool& value, const std::string& help) {
  impl_->app.add_flag(names, value, help)->group(impl_->group)->multi_option_policy(CLI::MultiOptionPolicy::Throw);
  impl_->manual.flags.push_back({names, "", help, impl_->group, {}, Role::kWord, false, false});
}

void Flags::text(const std::string& names, std::string& value, const std::string& placeholder, const std::string& help,
                 Role role) {
  CLI::Option* const option = impl_->app.add_option(names, value, help)->type_name(placeholder)->group(impl_->group);
  impl_->values.push_back({option->get_name(), role, &value, nullptr, option});
  impl_->manual.flags.push_back({names, placeholder, help, impl_->group, {}, role, false, false});
}

void Flags::list(const std::string& names, std::vector<std::string>& values, const std::string& placeholder,
                 const std::string& help, Role role) {
  CLI::Option* const option = impl_->app.add_option(names, values, help)
                                  ->type_name(placeholder)
                                  ->group(impl_->group)
                                  ->expected(1)
                                  ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
                                  ->allow_extra_args(false);
  impl_->values.push_back({option->get_name(), role, nullptr, &values, option});
  impl_->manual.flags.push_back({names, placeholder, help, impl_->group, {}, role, false, true});
}

void Flags::choice(const std::string& names, std::string& value, const std::vector<std::string>& choices,
                   const std::string& help) {
  std::string all;
  for (const std::string& choice : choices) all += (all.empty() ? "" : "|") + choice;
  impl_->app.add_option(names, value, help)
      ->group(impl_->group)
      ->type_name(all)
      ->check([choices, all](const std::string& given) {
        const bool known = std::find(choices.begin(), choices.end(), given) != choices.end();
        return known ? std::string() : "'" + given + "' is not one of " + all;
      });
  impl_->manual.flags.push_back({names, all, help, impl_->group, choices, Role::kWord, false, false});
}

void Flags::parse(std::span<const std::string> arguments) {
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    impl_->app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    throw TextRequested{impl_->app.help(), impl_->manual};
  } catch (const CLI::ExtrasError&) {
    const std::string words = unexpected(impl_->app, arguments);
    const std::string hint = nearest_flag(impl_->app, arguments);
    const bool one = impl_->app.remaining_size() == 1;
    throw UsageError("The following argument" + std::string(one ? " was" : "s were") + " not expected: " + words,
                     hint.empty() ? "'" + impl_->command + " --help' lists the flags" : hint);
  } catch (const CLI::ParseError& error) {
    std::string hint = nearest_flag(impl_->app, arguments);
    if (hint.empty()) hint = "'" + impl_->command + " --help' lists the flags";
    throw UsageError(error.what(), hint);
  }
  impl_->check_values();
}

void Flags::require_writable_outputs() const {
  impl_->each({Role::kOutput}, [](const auto&, const std::string& path) { require_writable(path, OutputKind::kFile); });
  impl_->each({Role::kOutputStream},
              [](const auto&, const std::string& path) { require_writable(path, OutputKind::kFileOrStream); });
}

std::vector<std::string> Flags::outputs() const {
  std::vector<std::string> paths;
  impl_->each({Role::kOutput, Role::kOutputStream},
              [&](const auto&, const std::string& path) { paths.push_back(path); });
  return paths;
}

bool Flags::given(const std::string& name) const { return impl_->app.count(name) > 0; }

void Flags::leave_to_launcher(std::initializer_list<const char*> names) const {
  for (const char* const name : names) {
    if (!given(name)) continue;
    throw UsageError(std::string(name) + " cannot be used under an MPI launcher",
                     "the launcher decides: one rank a process, one GPU a rank");
  }
}

}  // namespace qsim::cli
