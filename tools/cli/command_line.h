// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <cstddef>
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

// The definition and the parser of a program's command line: its options, its
// help, and the variables that take the values.
//
//   int times = 1;
//   std::string text;
//   Command program("shout", "Prints a text in capitals");
//   program.AddOption("TEXT", &text, "The text").Required();
//   program.AddOption("-n,--times N", &times, "How often").Range(1, 9);
//   const Result<bool> parsed = program.Parse(argc, argv);
//   if (!parsed) return Fail(parsed.error());
//   if (!*parsed) return 0;  // --help was given, and the help is printed
//
// The parser is CLI11. Compiling CLI11's header takes longer than the rest of a
// subcommand, so this header only declares CLI11's types. Only command_line.cc
// and reference.cc, which reads the parser's state, include CLI11.

// A pointer to the variable that takes the value of an option. The variable
// keeps its value if the option is not given. Only options of vectors may have
// more than one value.
using Destination =
    std::variant<std::string*, std::optional<std::string>*,
                 std::vector<std::string>*, int*, std::optional<int>*,
                 std::vector<int>*, uint32_t*, uint64_t*,
                 std::optional<uint64_t>*>;

// A handle of an option, a flag or a positional argument, which its Command
// owns. Copies refer to the same option. Each method changes the option and
// returns the handle, so that calls can be chained.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  // Makes the help show the destination's present value as the default.
  Option ShowDefault();
  Option Required();
  // Makes it an error to give both this option and the option `name`, which
  // must exist already.
  Option Excludes(const std::string& name);

  // Range() refuses values outside of the range from `least` to `most`. OneOf()
  // refuses values that are not in the list.
  Option Range(int least, int most);
  Option OneOf(const std::vector<std::string>& words);
  // Refuses values for which `problem` returns an error text. For a valid value
  // it must return an empty text.
  Option Check(std::function<std::string(const std::string&)> problem);

  // For vectors: takes one value each time the option is given, instead of all
  // words up to the next option.
  Option OneValueEach();
  // For vectors: splits a value at the delimiter into several values.
  Option SplitAt(char delimiter);

 private:
  CLI::Option* option_;
};

// A program, or one of its subcommands. Has the option --help. Destinations
// must outlive the last call of Parse(). Not thread-safe.
class Command {
 public:
  Command(const std::string& name, const std::string& purpose);
  ~Command();
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  // Adds an option. `names` is "-o,--output OUT" for an option whose value has
  // the placeholder OUT in the help, or "FILE" for a positional argument.
  Option AddOption(const std::string& names, Destination value,
                   const std::string& help = "");
  // Adds an option. Parse() passes each of its values to `take`. The values of
  // several such options are passed in the order in which the user typed them.
  // An error of `take` becomes an error of Parse().
  Option AddAction(const std::string& names,
                   std::function<Status(const std::string&)> take,
                   const std::string& help);
  // Adds an option whose value is one of the words. Parse() sets `value` to the
  // Enum that `words` pairs with the chosen word.
  template <typename Enum, size_t N>
  Option AddChoice(const std::string& names, Enum* value,
                   const std::pair<Enum, const char*> (&words)[N],
                   const std::string& help) {
    std::vector<std::string> known;
    for (const auto& [choice, word] : words) known.emplace_back(word);
    return AddWord(
        names, [value, words](size_t i) { *value = words[i].first; }, known,
        help);
  }
  // Add an option without a value. If the user gave it, Parse() sets `*given`
  // to true, or calls `given`.
  Option AddFlag(const std::string& names, bool* given,
                 const std::string& help);
  Option AddFlag(const std::string& names, std::function<void()> given,
                 const std::string& help);
  // Adds the option --version, which prints the text.
  void AddVersion(const std::string& text);

  // Sets the text below the options in the help. Subcommands without a footer
  // of their own inherit it.
  void SetFooter(const std::string& text);

  // Adds a subcommand, which this Command owns. The subcommand inherits the
  // effects of earlier calls of SetFooter() and of the two methods below.
  Command& AddSubcommand(const std::string& name, const std::string& purpose);
  // Allows the user to name at most one subcommand.
  void TakeOneSubcommand();
  // Allows options of this Command after the name of a subcommand, too.
  void TakeOptionsBehindSubcommands();
  // Calls `chosen` at the end of parsing if the user named this subcommand.
  void OnChosen(std::function<void()> chosen);

  // Makes an empty value an error, for all options of this Command and of its
  // subcommands. A script with an unset variable passes an empty value, which
  // the parser by default treats as an absent option, or as the number 0. Must
  // be called after all options and subcommands were added.
  void RefuseEmptyValues();

  // Parses the command line. Returns false if --help or --version was given and
  // printed, so that the program should end. Returns kInvalidArgument, with the
  // parser's message, if the command line is wrong.
  Result<bool> Parse(int argc, const char* const* argv);

  std::vector<std::string> SubcommandNames() const;
  bool HasOption(const std::string& name) const;
  // Return results of the last Parse(), even if it failed. Chosen() returns the
  // name of the subcommand, or "" if the user named none. UnknownWords()
  // returns the words that are no option, value, argument or subcommand.
  std::string Chosen() const;
  std::vector<std::string> UnknownWords() const;

  const CLI::App& parser() const { return *app_; }

 private:
  explicit Command(CLI::App* app);

  // Implements AddChoice(). Passes the index of the chosen word to `take`.
  Option AddWord(const std::string& names, std::function<void(size_t)> take,
                 const std::vector<std::string>& words,
                 const std::string& help);

  std::unique_ptr<CLI::App> program_;  // Null for a subcommand.
  CLI::App* const app_;                // Owned by `program_` of the program.
  std::vector<std::unique_ptr<Command>> subcommands_;
};

}  // namespace bulkhead::cli
