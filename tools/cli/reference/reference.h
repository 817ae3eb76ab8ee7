// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace bulkhead::cli {
class Command;
}  // namespace bulkhead::cli

namespace bulkhead::cli::reference {

// The structs below describe the command line as data. Describe() reads the
// data from the parser, which also prints `--help`. The man pages and the
// completions of shells are made from these data, so they agree with `--help`.

// An option or a positional argument.
struct OptionReference {
  std::vector<std::string> names;  // "-q", "--quiet"; of a positional: "FILE"
  std::string value;  // the placeholder of the value; empty for a flag
  std::vector<std::string> choices;  // all valid values, if they are a list
  std::string help;
  bool repeated = false;  // takes more than one value
  bool required = false;

  // Returns what a shell offers for the value if there are no `choices`.
  enum class Offer { kNothing, kFiles, kDirectories };
  Offer offer() const;
};

// A program or a subcommand.
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

}  // namespace bulkhead::cli::reference
