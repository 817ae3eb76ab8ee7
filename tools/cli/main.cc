// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include <CLI/CLI.hpp>

#include "tools/cli/commands.h"
#include "tools/cli/options.h"
#include "tools/cli/terminal.h"

namespace bulkhead::cli {
namespace {

std::string SubcommandsOf(const CLI::App& app) {
  std::string names;
  for (const CLI::App* command : app.get_subcommands({})) {
    names += (names.empty() ? "" : ", ") + command->get_name();
  }
  return names;
}

// Returns true if the parser's `problem` begins with the name of an option of
// all subcommands, which only `bulkhead --help` describes.
bool IsOfEverySubcommand(const CLI::App& app, const std::string& problem) {
  const std::string name = problem.substr(0, problem.find_first_of(": "));
  return name.starts_with('-') && app.get_option_no_throw(name) != nullptr;
}

// Refuses empty values, as an unset variable of a script gives them: the parser
// takes them for options that were not given, or for the number 0.
void RefuseEmptyValuesIn(CLI::App& app) {
  for (CLI::Option* option : app.get_options({})) {
    const std::string cure = option->nonpositional()
                                 ? "write one, or leave the option out"
                                 : "write one";
    option->check([cure](const std::string& value) {
      return value.empty() ? "its value is empty; " + cure : std::string();
    });
  }
  for (CLI::App* command : app.get_subcommands({})) {
    RefuseEmptyValuesIn(*command);
  }
}

// Returns "NAME: "VALUE" is no whole number in its range" for the parser's
// "Could not convert: NAME = VALUE": all values that it converts are numbers.
std::string Reworded(const std::string& problem) {
  constexpr std::string_view kUnconverted = "Could not convert: ";
  constexpr std::string_view kEquals = " = ";
  const size_t equals = problem.find(kEquals);
  if (!problem.starts_with(kUnconverted) || equals == std::string::npos) {
    return problem;
  }
  return problem.substr(kUnconverted.size(), equals - kUnconverted.size()) +
         ": \"" + problem.substr(equals + kEquals.size()) +
         "\" is no whole number in its range";
}

// Returns the parser's error with the command that prints the right help.
Status Explain(const CLI::App& app, const CLI::ParseError& error) {
  const auto chosen = app.get_subcommands();
  std::string problem = Reworded(error.what());
  const bool general = chosen.empty() || IsOfEverySubcommand(app, problem);
  const std::string help = " (see bulkhead " +
                           (general ? "" : chosen.front()->get_name() + " ") +
                           "--help)";
  if (const auto words = app.remaining(); chosen.empty() && !words.empty()) {
    problem = "there is no subcommand " + words.front() + "; there are " +
              SubcommandsOf(app);
  }
  return Status(Code::kInvalidArgument, problem + help);
}

// Returns an error for "--NAME=" among the arguments, for which the parser
// would take the argument that follows as the value.
Status RefuseEmptyValues(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--") break;
    if (!argument.starts_with("--") ||
        argument.find('=') != argument.size() - 1) {
      continue;
    }
    return Status(Code::kInvalidArgument,
                  argument + " has an empty value; write " + argument +
                      "VALUE, or leave the option out");
  }
  return Status();
}

int Run(int argc, char** argv) {
  if (const Status status = RefuseEmptyValues(argc, argv); !status.ok()) {
    return Fail(status);
  }
  Invocation invocation;
  CLI::App app;
  AddCommands(app, invocation);
  RefuseEmptyValuesIn(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& answer) {  // --help or --version
    return app.exit(answer);
  } catch (const CLI::ParseError& error) {
    return Fail(Explain(app, error));
  }
  if (!invocation.run) {
    return Fail(Status(
        Code::kInvalidArgument,
        "name a subcommand: " + SubcommandsOf(app) + " (see bulkhead --help)"));
  }
  return invocation.run();
}

}  // namespace
}  // namespace bulkhead::cli

int main(int argc, char** argv) {
  // When the reader of a pipe goes away, write() then fails with EPIPE, which
  // Output tells apart from other failures, and the program can finish cleanly.
  signal(SIGPIPE, SIG_IGN);
  // Likewise, an output above the limit on file sizes is a failed write().
  signal(SIGXFSZ, SIG_IGN);
  return bulkhead::cli::Run(argc, argv);
}
