// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/reference/reference.h"

#include <CLI/CLI.hpp>
#include <regex>
#include <sstream>

#include "tools/cli/command_line.h"

namespace bulkhead::cli::reference {
namespace {

// CLI11 returns the placeholder of an option together with a description of its
// check: "HOW:{error,skip}" or "N:INT in [0 - 64]". kChecks matches all after
// the placeholder, kChoices the list of choices.
const std::regex kChecks(R"(:(\{|[A-Z]+ in \[).*$)");
const std::regex kChoices(R"(:\{([^}]*)\})");

std::vector<std::string> ChoicesOf(const std::string& type) {
  std::smatch match;
  if (!std::regex_search(type, match, kChoices)) return {};
  std::vector<std::string> choices;
  std::istringstream words(match[1]);
  for (std::string word; std::getline(words, word, ',');) {
    choices.push_back(word);
  }
  return choices;
}

OptionReference Describe(const CLI::Option& option) {
  OptionReference out;
  if (option.nonpositional()) {
    for (const std::string& name : option.get_snames()) {
      out.names.push_back("-" + name);
    }
    for (const std::string& name : option.get_lnames()) {
      out.names.push_back("--" + name);
    }
  } else {
    out.names.push_back(option.get_name(true, false));
  }
  const std::string type = option.get_type_name();
  if (option.get_type_size() != 0) {
    out.value = std::regex_replace(type, kChecks, "");
    out.choices = ChoicesOf(type);
  }
  out.help = option.get_description();
  out.repeated = option.get_items_expected_max() > 1;
  out.required = option.get_required();
  return out;
}

CommandReference Describe(const CLI::App& app) {
  CommandReference out{.name = app.get_name(),
                       .purpose = app.get_description(),
                       .footer = app.get_footer(),
                       .options = {},
                       .positionals = {},
                       .subcommands = {}};
  for (const CLI::Option* option : app.get_options()) {
    (option->nonpositional() ? out.options : out.positionals)
        .push_back(Describe(*option));
  }
  for (const CLI::App* command : app.get_subcommands({})) {
    out.subcommands.push_back(Describe(*command));
  }
  return out;
}

}  // namespace

OptionReference::Offer OptionReference::offer() const {
  const std::string& word = value == "TEXT" ? names.front() : value;
  if (word == "DIR" || word == "DIRECTORY") return Offer::kDirectories;
  for (const char* file : {"FILE", "OUT", "WHEEL", "PATH"}) {
    if (word.find(file) != std::string::npos) return Offer::kFiles;
  }
  return Offer::kNothing;
}

CommandReference Describe(const Command& program) {
  return Describe(program.parser());
}

}  // namespace bulkhead::cli::reference
