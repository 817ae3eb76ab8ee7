// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/commands.h"

#include <bulkhead/version.h>

#include <string>

#include "tools/cli/command_line.h"
#include "tools/cli/subcommands.h"

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
  bulkhead top                                 watch them, the worst first
  bulkhead metrics --listen 9464               serve counters to Prometheus
  bulkhead probe clip.mp4                      describe the streams of a file
  bulkhead decode clip.mp4 -o out/%06d.png     write every frame as a picture
  bulkhead decode clip.mp4 --audio -o clip.wav write the sound
  bulkhead batch *.mp4 -o out                  decode many files, resumably
  bulkhead sheet clip.mp4 -o sheet.png         draw an overview of a file
  bulkhead demo                                kill decoders, compare the frames
  bulkhead conformance acme                    test a vendor's backend
  bulkhead verify clip.mp4 --device acme       compare its pictures with cpu's
  bulkhead crashes                             list processes that crashed

`bulkhead SUBCOMMAND --help` has more examples. What you ask for goes to
stdout, as data, JSON or a table; messages go to stderr.

Exit status: 0 done; 1 a bug in Bulkhead; 2 fix the call; 3 fix the file or
choose another backend; 4 the backend failed or a limit was reached; 5 the
sandbox is not available; 130 cancelled.)";

}  // namespace

std::unique_ptr<Command> MakeProgram(Invocation& invocation) {
  auto made = std::make_unique<Command>("bulkhead", kPurpose);
  Command& program = *made;
  program.SetFooter(kExamples);
  program.TakeOneSubcommand();
  program.TakeOptionsBehindSubcommands();
  program.AddVersion(std::string("bulkhead ") + LibraryVersion());
  AddGlobalOptions(program, invocation.global);
  operators::AddBackendsCommand(program, invocation);
  operators::AddEntryPointsCommand(program, invocation);
  operators::AddInstallCommand(program, invocation);
  operators::AddUninstallCommand(program, invocation);
  operators::AddGrantCommand(program, invocation);
  operators::AddRevokeCommand(program, invocation);
  operators::AddGrantsCommand(program, invocation);
  operators::AddPsCommand(program, invocation);
  top::AddTopCommand(program, invocation);
  metrics::AddMetricsCommand(program, invocation);
  operators::AddEventsCommand(program, invocation);
  operators::AddBackendCommands(program, invocation);
  decode::AddProbeCommand(program, invocation);
  operators::AddDoctorCommand(program, invocation);
  decode::AddDecodeCommand(program, invocation);
  batch::AddBatchCommand(program, invocation);
  decode::AddSheetCommand(program, invocation);
  demo::AddDemoCommand(program, invocation);
  conformance::AddConformanceCommand(program, invocation);
  verify::AddVerifyCommand(program, invocation);
  operators::AddCrashesCommand(program, invocation);
  operators::AddReplayCommand(program, invocation);
  reference::AddCompletionCommand(program, invocation);
  return made;
}

}  // namespace bulkhead::cli
