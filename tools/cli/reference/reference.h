// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace bulkhead::cli {

class Command;

// These structs hold as data what the parser of the command line knows. The man
// pages and the completions of shells are made of it, so that they say what
// `--help` says.

struct OptionReference {
  std::vector<std::string> names;  // "-q", "--quiet"; of a positional: "FILE"
  std::string value;  // the placeholder of the value; empty for a flag
  std::vector<std::string> choices;  // all valid values, if they are a list
  std::string help;
  bool repeated = false;
  bool required = false;

  // Returns the kind of words that a shell offers where there are no choices.
  enum class Offer { kNothing, kFiles, kDirectories };
  Offer offer() const;
};

struct CommandReference {
  std::string name;  // "bulkhead" or the name of the subcommand
  std::string purpose;
  std::string footer;  // examples and explanations, as preformatted text
  std::vector<OptionReference> options;
  std::vector<OptionReference> positionals;
  std::vector<CommandReference> subcommands;  // "show" of "crashes"
};

// Describes a program and its subcommands.
CommandReference Describe(const Command& program);

}  // namespace bulkhead::cli
