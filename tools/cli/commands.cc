// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/commands.h"

#include <bulkhead/version.h>

#include <CLI/CLI.hpp>

#include "tools/cli/batch/batch_command.h"
#include "tools/cli/conformance/conformance_command.h"
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
#include "tools/cli/operators/metrics/metrics_command.h"
#include "tools/cli/operators/ps_command.h"
#include "tools/cli/operators/replay_command.h"
#include "tools/cli/operators/revoke_command.h"
#include "tools/cli/operators/top/top_command.h"
#include "tools/cli/operators/uninstall_command.h"
#include "tools/cli/reference/completion_command.h"
#include "tools/cli/verify/verify_command.h"

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

void AddCommands(CLI::App& app, Invocation& invocation) {
  app.name("bulkhead");
  app.description(kPurpose);
  app.footer(kExamples);
  // This does not use require_subcommand(1): the check of the parser reports
  // that a subcommand is missing, and hides the word that is not a subcommand.
  app.require_subcommand(0, 1);
  app.fallthrough();
  app.set_version_flag("--version", std::string("bulkhead ") + LibraryVersion(),
                       "Print the version and exit");
  AddGlobalOptions(app, invocation.global);
  AddBackendsCommand(app, invocation);
  AddEntryPointsCommand(app, invocation);
  AddInstallCommand(app, invocation);
  AddUninstallCommand(app, invocation);
  AddGrantCommand(app, invocation);
  AddRevokeCommand(app, invocation);
  AddGrantsCommand(app, invocation);
  AddPsCommand(app, invocation);
  AddTopCommand(app, invocation);
  AddMetricsCommand(app, invocation);
  AddEventsCommand(app, invocation);
  AddBackendCommands(app, invocation);
  AddProbeCommand(app, invocation);
  AddDoctorCommand(app, invocation);
  AddDecodeCommand(app, invocation);
  AddBatchCommand(app, invocation);
  AddSheetCommand(app, invocation);
  AddDemoCommand(app, invocation);
  AddConformanceCommand(app, invocation);
  AddVerifyCommand(app, invocation);
  AddCrashesCommand(app, invocation);
  AddReplayCommand(app, invocation);
  AddCompletionCommand(app, invocation);
}

}  // namespace bulkhead::cli
