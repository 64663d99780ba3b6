// What bash, zsh and fish complete after `qsim`.
#include <algorithm>

#include "base/names/choices.h"
#include "cli/manual/manual.h"
#include "qsim/error.h"

namespace qsim::cli {
namespace {

std::string joined(const std::vector<std::string>& words, const std::string& between = " ") {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

std::vector<std::string> command_names(const ProgramManual& program) {
  std::vector<std::string> names;
  for (const ProgramManual::Command& command : program.commands) names.push_back(command.name);
  return names;
}

/// `text` with a backslash before each of `marks`.
std::string marked(const std::string& text, const std::string& marks) {
  std::string made;
  for (const char c : text) made += (marks.find(c) != std::string::npos ? "\\" : "") + std::string(1, c);
  return made;
}

/// `text` in single quotes, for bash and zsh.
std::string quoted(const std::string& text) {
  std::string made = "'";
  for (const char c : text) made += c == '\'' ? "'\\''" : std::string(1, c);
  return made + "'";
}

/// The same for fish, which reads backslashes there.
std::string fish_quoted(const std::string& text) { return "'" + marked(text, "\\'") + "'"; }

std::string bash_script(const ProgramManual& program) {
  std::string flags, values;
  for (const ProgramManual::Command& command : program.commands) {
    std::vector<std::string> names{"-h", "--help"};
    for (const FlagManual& flag : command.manual.flags) {
      if (flag.positional) continue;
      const std::vector<std::string> own = names_of(flag);
      names.insert(names.end(), own.begin(), own.end());
      if (flag.placeholder.empty()) continue;
      std::string cases;
      for (const std::string& name : own) cases += (cases.empty() ? "" : "|") + command.name + ":" + name;
      values += "    " + cases + ") words='" + joined(flag.choices) + "' files=" + (takes_file(flag) ? "1" : "") +
                " flags= ;;\n";
    }
    flags += "    " + command.name + ") flags='" + joined(names) + "' ;;\n";
  }
  const std::string all = joined(command_names(program));
  return "# bash completion of qsim, made by 'qsim completion bash'.\n"
         "_qsim() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=" +
         program.commands.front().name + " commands='" + all +
         "' flags= words= files=1\n"
         "  [[ \" $commands \" == *\" ${COMP_WORDS[1]} \"* && $COMP_CWORD -gt 1 ]] && command=${COMP_WORDS[1]}\n"
         "  case $command in\n" +
         flags +
         "  esac\n"
         "  case $command:$before in\n" +
         values +
         "  esac\n"
         "  [[ $COMP_CWORD == 1 ]] && words=\"$commands\" flags=\"$flags --version\"\n"
         "  [[ $current == -* ]] && words=$flags files=\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "  if [[ $files ]]; then\n"
         "    compopt -o filenames 2> /dev/null\n"
         "    local IFS=$'\\n'\n"
         "    COMPREPLY+=($(compgen -f -- \"$current\"))\n"
         "  fi\n"
         "  return 0\n"
         "}\n"
         "complete -F _qsim qsim\n";
}

std::string zsh_value(const FlagManual& flag) {
  if (flag.placeholder.empty() && !flag.positional) return "";
  const std::string files = takes_file(flag) ? "_files" : "";
  return ":" + marked(flag.positional ? flag.names : flag.placeholder, ":") + ":" +
         (flag.choices.empty() ? files : "(" + joined(flag.choices) + ")");
}

std::string zsh_spec(const FlagManual& flag) {
  if (flag.positional) return quoted((flag.repeatable ? "*" : "1") + zsh_value(flag));
  const std::vector<std::string> names = names_of(flag);
  const std::string once = names.size() > 1 ? quoted("(" + joined(names) + ")") : "";
  return (flag.repeatable ? "'*'" : once) + (names.size() > 1 ? "{" + joined(names, ",") + "}" : names.front()) +
         quoted("[" + marked(flag.help, "[]:") + "]" + zsh_value(flag));
}

std::string zsh_script(const ProgramManual& program) {
  std::string commands, cases;
  for (const ProgramManual::Command& command : program.commands) {
    commands += "    " + quoted(command.name + ":" + command.summary) + "\n";
    cases += "    " + command.name + ")\n      _arguments -s '(-h --help)'{-h,--help}'[this text]'";
    for (const FlagManual& flag : command.manual.flags) cases += " \\\n        " + zsh_spec(flag);
    cases += "\n      ;;\n";
  }
  const std::string& first = program.commands.front().name;
  return "#compdef qsim\n"
         "# zsh completion of qsim, made by 'qsim completion zsh'.\n"
         "_qsim() {\n"
         "  local command=" +
         first +
         "\n"
         "  local -a commands\n"
         "  commands=(\n" +
         commands +
         "  )\n"
         "  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n"
         "    _describe command commands\n"
         "    _files\n"
         "    return\n"
         "  fi\n"
         "  if (( ${commands[(I)$words[2]:*]} )); then\n"
         "    command=$words[2]\n"
         "    shift words\n"
         "    (( CURRENT-- ))\n"
         "  fi\n"
         "  case $command in\n" +
         cases +
         "  esac\n"
         "}\n"
         "_qsim \"$@\"\n";
}

std::string fish_script(const ProgramManual& program) {
  const std::vector<std::string> names = command_names(program);
  std::string text =
      "# fish completion of qsim, made by 'qsim completion fish'.\n"
      "complete -c qsim -s h -l help -d 'this text'\n"
      "complete -c qsim -n __fish_use_subcommand -l version -d 'version and commit'\n";
  for (const ProgramManual::Command& command : program.commands) {
    text +=
        "complete -c qsim -n __fish_use_subcommand -a " + command.name + " -d " + fish_quoted(command.summary) + "\n";
  }
  for (const ProgramManual::Command& command : program.commands) {
    // A circuit without a command's name is run.
    std::vector<std::string> others = names;
    others.erase(std::find(others.begin(), others.end(), command.name));
    const bool first = &command == &program.commands.front();
    const std::string where = first ? "'not __fish_seen_subcommand_from " + joined(others) + "'"
                                    : "'__fish_seen_subcommand_from " + command.name + "'";
    for (const FlagManual& flag : command.manual.flags) {
      text += "complete -c qsim -n " + where;
      if (flag.positional) {
        text += takes_file(flag) ? " -F" : " -f";
      } else {
        for (const std::string& name : names_of(flag)) {
          text += name.compare(0, 2, "--") == 0 ? " -l " + name.substr(2) : " -s " + name.substr(1);
        }
        if (!flag.placeholder.empty()) text += takes_file(flag) ? " -r -F" : " -x";
        if (!flag.choices.empty()) text += " -a " + fish_quoted(joined(flag.choices));
      }
      text += " -d " + fish_quoted(flag.help) + "\n";
    }
  }
  return text;
}

}  // namespace

std::string completion_script(Shell shell, const ProgramManual& program) {
  switch (shell) {
    case Shell::kBash:
      return bash_script(program);
    case Shell::kZsh:
      return zsh_script(program);
    case Shell::kFish:
      return fish_script(program);
  }
  throw Error("a shell without a script");
}

}  // namespace qsim::cli

namespace qsim {

template <>
struct NamesOf<cli::Shell> {
  static constexpr Named<cli::Shell> kAll[] = {
      {cli::Shell::kBash, "bash"}, {cli::Shell::kZsh, "zsh"}, {cli::Shell::kFish, "fish"}};
};
template std::span<const Named<cli::Shell>> choices();
template cli::Shell choice_of(std::string_view);

}  // namespace qsim
