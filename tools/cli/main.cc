// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include <memory>
#include <string>
#include <string_view>

#include "tools/cli/command_line.h"
#include "tools/cli/commands.h"
#include "tools/cli/options.h"
#include "tools/cli/terminal.h"

namespace bulkhead::cli {
namespace {

std::string SubcommandsOf(const Command& program) {
  std::string names;
  for (const std::string& name : program.SubcommandNames()) {
    names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

// Returns true if the parser's message `problem` begins with the name of a
// global option. Only `bulkhead --help` describes the global options.
bool IsOfEverySubcommand(const Command& program, const std::string& problem) {
  const std::string name = problem.substr(0, problem.find_first_of(": "));
  return name.starts_with('-') && program.HasOption(name);
}

// Rewrites the parser's message "Could not convert: NAME = VALUE" to "NAME:
// "VALUE" is no whole number in its range". All values that the parser converts
// are whole numbers.
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

// Returns an error for the user, made from the parser's error: with a clearer
// text, and the command that prints the relevant help.
Status Explain(const Command& program, const Status& error) {
  const std::string chosen = program.Chosen();
  std::string problem = Reworded(error.message());
  const bool general = chosen.empty() || IsOfEverySubcommand(program, problem);
  const std::string help =
      " (see bulkhead " + (general ? "" : chosen + " ") + "--help)";
  if (const auto words = program.UnknownWords();
      chosen.empty() && !words.empty()) {
    problem = "there is no subcommand " + words.front() + "; there are " +
              SubcommandsOf(program);
  }
  return Status(Code::kInvalidArgument, problem + help);
}

// Returns an error if "--NAME=" is among the arguments. The parser would take
// the next argument as the value of --NAME.
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

// Parses the command line and runs the subcommand. Returns the exit status.
int Run(int argc, char** argv) {
  if (const Status status = RefuseEmptyValues(argc, argv); !status.ok()) {
    return Fail(status);
  }
  Invocation invocation;
  const std::unique_ptr<Command> program = MakeProgram(invocation);
  program->RefuseEmptyValues();
  const Result<bool> parsed = program->Parse(argc, argv);
  if (!parsed) return Fail(Explain(*program, parsed.error()));
  if (!*parsed) return 0;  // --help or --version
  if (!invocation.run) {
    return Fail(Status(Code::kInvalidArgument,
                       "name a subcommand: " + SubcommandsOf(*program) +
                           " (see bulkhead --help)"));
  }
  return invocation.run();
}

}  // namespace
}  // namespace bulkhead::cli

int main(int argc, char** argv) {
  // If the reader of a pipe goes away, write() fails with EPIPE instead of a
  // signal. Output recognizes that error, and the program finishes cleanly.
  signal(SIGPIPE, SIG_IGN);
  // If a file exceeds the limit on file sizes, write() fails with EFBIG instead
  // of a signal.
  signal(SIGXFSZ, SIG_IGN);
  return bulkhead::cli::Run(argc, argv);
}
