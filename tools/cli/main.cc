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

// Returns true if the parser's `problem` begins with the name of an option of
// all subcommands, which only `bulkhead --help` describes.
bool IsOfEverySubcommand(const Command& program, const std::string& problem) {
  const std::string name = problem.substr(0, problem.find_first_of(": "));
  return name.starts_with('-') && program.HasOption(name);
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
  // When the reader of a pipe goes away, write() then fails with EPIPE, which
  // Output sets apart from other failures, and the program can finish cleanly.
  signal(SIGPIPE, SIG_IGN);
  // Likewise, an output above the limit on file sizes is a failed write().
  signal(SIGXFSZ, SIG_IGN);
  return bulkhead::cli::Run(argc, argv);
}
