// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include <CLI/CLI.hpp>

#include "tools/cli/decode/decode_command.h"
#include "tools/cli/decode/probe_command.h"
#include "tools/cli/decode/sheet_command.h"
#include "tools/cli/demo/demo_command.h"
#include "tools/cli/operators/backend_commands.h"
#include "tools/cli/operators/backends_command.h"
#include "tools/cli/operators/crashes_command.h"
#include "tools/cli/operators/doctor_command.h"
#include "tools/cli/operators/entry_points_command.h"
#include "tools/cli/operators/events_command.h"
#include "tools/cli/operators/grant_command.h"
#include "tools/cli/operators/grants_command.h"
#include "tools/cli/operators/install_command.h"
#include "tools/cli/operators/ps_command.h"
#include "tools/cli/operators/replay_command.h"
#include "tools/cli/operators/revoke_command.h"
#include "tools/cli/operators/uninstall_command.h"
#include "tools/cli/options.h"
#include "tools/cli/terminal.h"

namespace bulkhead::cli {
namespace {

constexpr char kPurpose[] =
    R"(Decodes video and audio through untrusted backends: each runs in a sandboxed
process of its own, which is replaced when it crashes, hangs or misbehaves. The
application receives the same frames and samples all the same.)";

constexpr char kExamples[] = R"(Examples:
  bulkhead doctor                              check this machine
  bulkhead backends                            list backends and their devices
  bulkhead entry-points                        list what packages offer
  bulkhead install acme-1.0-py3-none-any.whl   add a vendor's backend
  bulkhead grant acme --all                    grant all that a backend asks for
  bulkhead ps                                  list running applications
  bulkhead probe clip.mp4                      describe the streams of a file
  bulkhead decode clip.mp4 -o out/%06d.png     write every frame as a picture
  bulkhead decode clip.mp4 --audio -o clip.wav write the sound
  bulkhead sheet clip.mp4 -o sheet.png         draw an overview of a file
  bulkhead demo                                kill decoders, compare the frames
  bulkhead crashes                             list processes that crashed

`bulkhead SUBCOMMAND --help` has more examples. What you ask for goes to
stdout, as data, JSON or a table; messages go to stderr.

Exit status: 0 done; 1 a bug in Bulkhead; 2 fix the call; 3 fix the file or
choose another backend; 4 the backend failed or a limit was reached; 5 the
sandbox is not available; 130 cancelled.)";

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

// Returns the parser's error with the command that prints the right help.
Status Explain(const CLI::App& app, const CLI::ParseError& error) {
  const auto chosen = app.get_subcommands();
  std::string problem = error.what();
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
  CLI::App app(kPurpose, "bulkhead");
  app.footer(kExamples);
  // This does not use require_subcommand(1): the check of the parser reports
  // that a subcommand is missing, and hides the word that is not a subcommand.
  app.require_subcommand(0, 1);
  app.fallthrough();
  AddGlobalOptions(app, invocation.global);
  AddBackendsCommand(app, invocation);
  AddEntryPointsCommand(app, invocation);
  AddInstallCommand(app, invocation);
  AddUninstallCommand(app, invocation);
  AddGrantCommand(app, invocation);
  AddRevokeCommand(app, invocation);
  AddGrantsCommand(app, invocation);
  AddPsCommand(app, invocation);
  AddEventsCommand(app, invocation);
  AddBackendCommands(app, invocation);
  AddProbeCommand(app, invocation);
  AddDoctorCommand(app, invocation);
  AddDecodeCommand(app, invocation);
  AddSheetCommand(app, invocation);
  AddDemoCommand(app, invocation);
  AddCrashesCommand(app, invocation);
  AddReplayCommand(app, invocation);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
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
