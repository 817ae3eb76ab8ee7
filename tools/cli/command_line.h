// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace bulkhead::cli {

// The command line of a program: what it may say, its help, and where its
// values go.
//
//   int times = 1;
//   std::string text;
//   Command program("shout", "Prints a text in capitals");
//   program.AddOption("TEXT", &text, "The text").Required();
//   program.AddOption("-n,--times", &times, "How often").Range(1, 9);
//   const Result<bool> parsed = program.Parse(argc, argv);
//   if (!parsed) return Fail(parsed.error());
//   if (!*parsed) return 0;  // --help was asked for, and is printed
//
// CLI11 parses. A compiler takes longer to read its header than for all else
// of a command, so this one leaves it to command_line.cc; reference.cc reads it
// too, to describe the parser.

// Points to the variable that takes the value of an option. An option that is
// not given leaves it as it is. Only options of vectors may have more than one
// value.
using Destination =
    std::variant<std::string*, std::optional<std::string>*,
                 std::vector<std::string>*, int*, std::optional<int>*,
                 std::vector<int>*, uint32_t*, uint64_t*,
                 std::optional<uint64_t>*>;

// An option, a flag or a positional argument of a Command, which owns it: a
// copy stands for the same one. The calls describe it further, and return it.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  // Sets what the help calls the value: "FILE".
  Option ValueName(const std::string& name);
  // Lets the help show the value that the destination has now.
  Option ShowDefault();
  Option Required();
  // Refuses to have both this and the option of that name, which exists.
  Option Excludes(const std::string& name);

  // Refuse other values.
  Option Range(int least, int most);
  Option OneOf(const std::vector<std::string>& words);
  // `problem` returns what is wrong with a value, or nothing.
  Option Check(std::function<std::string(const std::string&)> problem);

  // For vectors: takes one value each time the option is given, rather than all
  // words that follow.
  Option OneValueEach();
  // For vectors: takes "a,b" for two values.
  Option SplitAt(char delimiter);

 private:
  CLI::Option* option_;
};

// A program, or one of its subcommands. It has the option --help. Destinations
// must outlive the last call of Parse().
class Command {
 public:
  Command(const std::string& name, const std::string& purpose);
  ~Command();
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  // Names are "-o,--output" for an option, "FILE" for a positional argument.
  Option AddOption(const std::string& names, Destination value,
                   const std::string& help = "");
  // Gives each value to `take`, in the order in which the user typed them,
  // also other options' values that are added so. An error of `take` is one of
  // the parser.
  Option AddAction(const std::string& names,
                   std::function<Status(const std::string&)> take,
                   const std::string& help);
  // Takes one of the words for the value beside it.
  template <typename Enum>
  Option AddChoice(const std::string& names, Enum* value,
                   const std::vector<std::pair<std::string, Enum>>& words,
                   const std::string& help) {
    std::vector<std::pair<std::string, int>> numbers;
    for (const auto& [word, choice] : words) {
      numbers.emplace_back(word, static_cast<int>(choice));
    }
    return AddNumber(
        names, [value](int number) { *value = static_cast<Enum>(number); },
        numbers, help);
  }
  Option AddFlag(const std::string& names, bool* given,
                 const std::string& help);
  Option AddFlag(const std::string& names, std::function<void()> given,
                 const std::string& help);
  // Adds --version, which prints the text.
  void AddVersion(const std::string& text);

  // The text below the options in the help. A subcommand has it too, unless it
  // has its own.
  void SetFooter(const std::string& text);

  // Adds a subcommand, which lives as long as this Command. What it inherits is
  // set before: the footer, and the two settings below.
  Command& AddSubcommand(const std::string& name, const std::string& purpose);
  // The user may name one subcommand, or none.
  void TakeOneSubcommand();
  // The options of this Command may also stand after a subcommand.
  void TakeOptionsBehindSubcommands();
  // Calls `chosen` at the end of parsing if the user named this subcommand.
  void OnChosen(std::function<void()> chosen);

  // Refuses empty values of all options, also of subcommands, as an unset
  // variable of a script gives them: the parser takes them for options that
  // were not given, or for the number 0. Called after all is added.
  void RefuseEmptyValues();

  // Returns false if there is nothing left to do: the user asked for the help
  // or the version, which is printed. Returns kInvalidArgument, in the words of
  // the parser, if the command line is wrong.
  Result<bool> Parse(int argc, const char* const* argv);

  std::vector<std::string> SubcommandNames() const;
  bool HasOption(const std::string& name) const;
  // After Parse(), also one that failed: the name of the subcommand, empty if
  // there is none, and the words that are nothing.
  std::string Chosen() const;
  std::vector<std::string> UnknownWords() const;

  const CLI::App& parser() const { return *app_; }

 private:
  explicit Command(CLI::App* app);

  Option AddNumber(const std::string& names, std::function<void(int)> take,
                   const std::vector<std::pair<std::string, int>>& words,
                   const std::string& help);

  std::unique_ptr<CLI::App> program_;  // null for a subcommand
  CLI::App* const app_;
  std::vector<std::unique_ptr<Command>> subcommands_;
};

}  // namespace bulkhead::cli
