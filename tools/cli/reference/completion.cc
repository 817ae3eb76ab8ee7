// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/reference/completion.h"

#include <sstream>

namespace bulkhead::cli::reference {
namespace {

constexpr char kOrigin[] = "# Made by `bulkhead completion`; do not edit.\n";

using Offer = OptionReference::Offer;

// Returns `text` as one word of a shell, in single quotes.
std::string Quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    c == '\'' ? out += "'\\''" : out += c;
  }
  return out + "'";
}

std::string Joined(const std::vector<std::string>& words,
                   const char* separator = " ") {
  std::string out;
  for (const std::string& word : words) {
    out += (out.empty() ? "" : separator) + word;
  }
  return out;
}

std::vector<std::string> NamesOf(const std::vector<OptionReference>& options) {
  std::vector<std::string> names;
  for (const OptionReference& option : options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

std::vector<std::string> NamesOf(
    const std::vector<CommandReference>& commands) {
  std::vector<std::string> names;
  for (const CommandReference& command : commands) {
    names.push_back(command.name);
  }
  return names;
}

// Writes the branch of `case $command:$previous` that completes the value of an
// option. `command` is the subcommand that has the option, or "*" for all.
void WriteBashValue(const std::string& command, const OptionReference& option,
                    std::ostream& out) {
  if (option.value.empty()) return;
  std::vector<std::string> patterns;
  for (const std::string& name : option.names) {
    patterns.push_back(command + ":" + name);
  }
  out << "    " << Joined(patterns, " | ") << ")\n      ";
  if (!option.choices.empty()) {
    out << "COMPREPLY=($(compgen -W " << Quoted(Joined(option.choices))
        << " -- \"$word\"))";
  } else if (option.offer() == Offer::kDirectories) {
    out << "compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "
           "\"$word\")";
  } else if (option.offer() == Offer::kFiles) {
    out << "compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "
           "\"$word\")";
  } else {
    out << ":";
  }
  out << "\n      return\n      ;;\n";
}

bool TakesFiles(const CommandReference& command) {
  for (const OptionReference& positional : command.positionals) {
    if (positional.offer() != Offer::kNothing) return true;
  }
  return false;
}

// Writes the command that completes an option while `condition` holds.
void WriteFishOption(const std::string& condition,
                     const OptionReference& option, std::ostream& out) {
  out << "complete -c bulkhead -n " << Quoted(condition);
  for (const std::string& name : option.names) {
    out << (name.starts_with("--") ? " -l " + name.substr(2)
                                   : " -s " + name.substr(1));
  }
  if (!option.value.empty()) {
    out << " -r";
    if (!option.choices.empty()) {
      out << " -f -a " << Quoted(Joined(option.choices));
    } else if (option.offer() == Offer::kDirectories) {
      out << " -f -a '(__fish_complete_directories)'";
    } else {
      out << (option.offer() == Offer::kFiles ? " -F" : " -f");
    }
  }
  out << " -d " << Quoted(option.help) << '\n';
}

// Escapes the characters that would end a part of a specification of zsh's
// _arguments.
std::string ZshText(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string ZshAction(const OptionReference& option) {
  if (!option.choices.empty()) return "(" + Joined(option.choices) + ")";
  if (option.offer() == Offer::kDirectories) return "_files -/";
  return option.offer() == Offer::kFiles ? "_files" : "";
}

// Writes a specification of zsh's _arguments for each name of the option. "*"
// before it allows repetition; "(names)" makes the names exclude each other.
void WriteZshOption(const OptionReference& option, std::ostream& out) {
  for (const std::string& name : option.names) {
    std::string specification;
    if (option.repeated) {
      specification = "*";
    } else if (option.names.size() > 1) {
      specification = "(" + Joined(option.names) + ")";
    }
    specification += name + "[" + ZshText(option.help) + "]";
    if (!option.value.empty()) {
      specification += ":" + ZshText(option.value) + ":" + ZshAction(option);
    }
    out << " \\\n        " << Quoted(specification);
  }
}

}  // namespace

std::string BashCompletion(const CommandReference& reference) {
  std::ostringstream out;
  const std::string global = Joined(NamesOf(reference.options));
  out << kOrigin << R"(
_bulkhead() {
  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local command='' i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case ${COMP_WORDS[i]} in
      )"
      << Joined(NamesOf(reference.subcommands), " | ")
      << R"() command=${COMP_WORDS[i]}; break ;;
    esac
  done
  # An option of all subcommands may stand before and after the subcommand.
  case $command:$previous in
)";
  for (const CommandReference& command : reference.subcommands) {
    for (const OptionReference& option : command.options) {
      WriteBashValue(command.name, option, out);
    }
  }
  for (const OptionReference& option : reference.options) {
    WriteBashValue("*", option, out);
  }
  out << R"(  esac
  case $command in
    '') COMPREPLY=($(compgen -W )"
      << Quoted(Joined(NamesOf(reference.subcommands)) + " " + global)
      << R"( -- "$word")) ;;
)";
  // After a subcommand: options if the word begins with "-", else the
  // subcommands of the subcommand, or files.
  for (const CommandReference& command : reference.subcommands) {
    out << "    " << command.name << ")\n      if [[ $word == -* ]]; then\n"
        << "        COMPREPLY=($(compgen -W "
        << Quoted(Joined(NamesOf(command.options)) + " " + global)
        << " -- \"$word\"))\n";
    if (!command.subcommands.empty()) {
      out << "      elif [[ $previous == " << command.name
          << " ]]; then\n        COMPREPLY=($(compgen -W "
          << Quoted(Joined(NamesOf(command.subcommands)))
          << " -- \"$word\"))\n";
    } else if (TakesFiles(command)) {
      out << "      else\n        compopt -o filenames\n"
             "        mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n";
    }
    out << "      fi\n      ;;\n";
  }
  out << "  esac\n}\ncomplete -F _bulkhead bulkhead\n";
  return out.str();
}

std::string FishCompletion(const CommandReference& reference) {
  std::ostringstream out;
  out << kOrigin << "complete -c bulkhead -f\n";
  for (const OptionReference& option : reference.options) {
    WriteFishOption("true", option, out);
  }
  for (const CommandReference& command : reference.subcommands) {
    out << "complete -c bulkhead -n __fish_use_subcommand -a " << command.name
        << " -d " << Quoted(command.purpose) << '\n';
    const std::string chosen = "__fish_seen_subcommand_from " + command.name;
    for (const OptionReference& option : command.options) {
      WriteFishOption(chosen, option, out);
    }
    for (const CommandReference& subcommand : command.subcommands) {
      // True after `command`, until one of its subcommands was typed.
      const std::string none = chosen +
                               "; and not __fish_seen_subcommand_from " +
                               Joined(NamesOf(command.subcommands));
      out << "complete -c bulkhead -n " << Quoted(none) << " -a "
          << subcommand.name << " -d " << Quoted(subcommand.purpose) << '\n';
    }
    if (TakesFiles(command)) {
      out << "complete -c bulkhead -n " << Quoted(chosen) << " -F\n";
    }
  }
  return out.str();
}

std::string ZshCompletion(const CommandReference& reference) {
  std::ostringstream out;
  out << "#compdef bulkhead\n"
      << kOrigin << R"(
_bulkhead() {
  local line state
  local -a global
  global=()";
  for (const OptionReference& option : reference.options) {
    WriteZshOption(option, out);
  }
  out << R"(
  )
  _arguments -C -S $global '1:subcommand:->subcommands' '*::argument:->arguments'
  case $state in
    subcommands)
      local -a subcommands
      subcommands=()";
  for (const CommandReference& command : reference.subcommands) {
    out << " \\\n        "
        << Quoted(command.name + ":" + ZshText(command.purpose));
  }
  out << R"(
      )
      _describe subcommand subcommands
      ;;
    arguments)
      case $line[1] in
)";
  for (const CommandReference& command : reference.subcommands) {
    out << "      " << command.name << ")\n        _arguments -S $global";
    for (const OptionReference& option : command.options) {
      WriteZshOption(option, out);
    }
    if (!command.subcommands.empty()) {
      out << " \\\n        "
          << Quoted("1:subcommand:(" + Joined(NamesOf(command.subcommands)) +
                    ")");
    }
    int position = 0;
    for (const OptionReference& positional : command.positionals) {
      ++position;
      out << " \\\n        "
          << Quoted((positional.repeated ? "*" : std::to_string(position)) +
                    ":" + ZshText(positional.names.front()) + ":" +
                    ZshAction(positional));
    }
    out << "\n        ;;\n";
  }
  out << "      esac\n      ;;\n  esac\n}\n_bulkhead \"$@\"\n";
  return out.str();
}

}  // namespace bulkhead::cli::reference
