// SPDX-License-Identifier: Apache-2.0
#include <bulkhead/crashes.h>
#include <bulkhead/host.h>
#include <bulkhead/operators.h>
#include <fmt/format.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/status_macros.h"
#include "tools/cli/command_line.h"
#include "tools/cli/subcommands.h"
#include "tools/cli/terminal.h"
#include "tools/cli/user_name.h"

namespace bulkhead::cli::operators {
namespace {

constexpr char kExamples[] = R"(Examples:
  bulkhead {0} acme
  bulkhead {0} acme --host 4711
  bulkhead {0} acme --all

Without --host or --all there must be at most one running application of this
user; see `bulkhead ps`. Open streams continue. The exit status is 4 if an
application did not answer. What is disabled stays so, also for
applications that start later, until it is enabled: that is put on record first,
whatever the applications answer. Without a running application, restart lifts a
quarantine, and reload fails.)";

// A subcommand and its texts.
struct CommandKind {
  const char* name;
  const char* purpose;
  const char* done;  // The past participle of `name`.
  BackendCommand command;
  // The error if running applications obey, but the state directory, which is
  // for applications that start later, cannot be changed.
  const char* unrecorded;
};

constexpr CommandKind kKinds[] = {
    {"restart", "Start a backend afresh and forget its failures", "restarted",
     BackendCommand::kRestart, "the recorded failures of {} are not forgotten"},
    {"reload", "Use the files installed now for new streams", "reloaded",
     BackendCommand::kReload, ""},
    {"disable", "Keep running applications from using a backend", "disabled",
     BackendCommand::kDisable,
     "{} is not disabled for applications that start later, and running ones "
     "forget it when their bulkheadd is replaced"},
    {"enable", "Undo disable", "enabled", BackendCommand::kEnable}};

// The arguments of a command.
struct Asked {
  std::string backend;
  std::optional<int> host;
  bool all = false;
};

// The applications to act on.
struct Found {
  // The command line of each application, by pid. An application with several
  // bulkheadds has one entry.
  std::map<int, std::string> hosts;
  bool complete = true;  // False if an application did not answer.
};

// Returns the applications to act on. Reports those that do not answer. Without
// --all, several applications are an error.
Result<Found> HostsFor(const Asked& asked) {
  if (asked.host) return Found{.hosts = {{*asked.host, ""}}};
  ASSIGN_OR_RETURN(const RunningHosts running,
                   FindRunningHosts(std::chrono::milliseconds(0)));
  for (const SilentHost& silent : running.silent) Say(silent.reason);
  Found found{.hosts = {}, .complete = running.silent.empty()};
  for (const RunningHost& host : running.hosts) {
    found.hosts[host.pid] = host.command;
  }
  if (found.hosts.size() < 2 || asked.all) return found;
  std::string list;
  for (const auto& [pid, command] : found.hosts) {
    list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", pid, command);
  }
  return Status(
      Code::kInvalidArgument,
      "there are several applications, choose with --host PID or --all: " +
          list);
}

// Carries out a command for applications that start later, by changing the
// user's state directory. A Host of this process does that, because only a
// bulkheadd writes to the state directory.
Status ChangeStateDirectory(const GlobalOptions& global,
                            const CommandKind& kind,
                            const std::string& backend) {
  RETURN_IF_ERROR(CheckStateDirectory());
  ASSIGN_OR_RETURN(const auto host, Host::Create(HostOptionsFrom(global)));
  switch (kind.command) {
    case BackendCommand::kDisable:
      return host->Disable(backend);
    case BackendCommand::kEnable:
      return host->Enable(backend);
    default:
      return host->Restart(backend);
  }
}

// Adds to a failure of ChangeStateDirectory() what it means for the user.
Status StateNotChanged(const CommandKind& kind, const Status& failure) {
  if (failure.code() == Code::kNotFound) return failure;
  const bool forgets = kind.command == BackendCommand::kRestart;
  return Status(failure.code(), fmt::format("nothing is {}: {}",
                                            forgets ? "forgotten" : kind.done,
                                            failure.message()));
}

// Runs the command if no application is running. Returns the exit status.
int RunWithoutApplication(const GlobalOptions& global, const CommandKind& kind,
                          const std::string& backend) {
  if (kind.command == BackendCommand::kReload) {
    return Fail(Status(Code::kNotFound, DescribeNoApplication()));
  }
  if (const Status recorded = ChangeStateDirectory(global, kind, backend);
      !recorded.ok()) {
    return Fail(StateNotChanged(kind, recorded));
  }
  if (!global.quiet && kind.command == BackendCommand::kRestart) {
    Print(
        fmt::format("no application of {} uses Bulkhead now; forgot the "
                    "recorded failures of {}",
                    DescribeUser(), backend));
  } else if (!global.quiet) {
    Print(
        fmt::format("{} {} for applications that start later; none of {} uses "
                    "Bulkhead now",
                    kind.done, backend, DescribeUser()));
  }
  return FinishPrinting();
}

// Prints, for each of `hosts`, why the backend is not as expected although the
// reload succeeded. A ready backend has a reason, for example, if a check
// failed and the old files are still in use.
void PrintReasons(const std::set<int>& hosts, const std::string& name) {
  const Result<RunningHosts> running =
      FindRunningHosts(std::chrono::milliseconds(0));
  if (!running) return;
  for (const RunningHost& host : running->hosts) {
    if (!hosts.contains(host.pid)) continue;
    for (const RunningBackend& backend : host.backends) {
      if (backend.name != name || backend.state != "ready" ||
          backend.reason.empty()) {
        continue;
      }
      Print(fmt::format("{} in process {}: {}", backend.name, host.pid,
                        backend.reason));
    }
  }
}

// Returns true if this process has to change the state directory, besides
// sending the command to the applications. A restart needs this only if an
// application did not answer, since an application that answers lifts the
// recorded quarantine itself.
bool ChangesStateDirectory(const CommandKind& kind, const Asked& asked,
                           const Found& found) {
  if (asked.host || kind.command == BackendCommand::kReload) return false;
  return kind.command != BackendCommand::kRestart || !found.complete;
}

// Changes the state directory, for applications that start later. Called while
// applications run, of which perhaps none has answered (`found.hosts` is then
// empty). Prints the outcome, unless the lines about each application say it.
// Returns the exit status.
int RunForLaterApplications(const GlobalOptions& global,
                            const CommandKind& kind, const Asked& asked,
                            const Found& found) {
  const Status recorded = ChangeStateDirectory(global, kind, asked.backend);
  if (recorded.ok()) {
    if (!global.quiet && !found.complete) {
      Print(fmt::format("{} {} for applications that start later", kind.done,
                        asked.backend));
    }
    return 0;
  }
  // A backend that this process does not find may be on the plugin path of an
  // application, whose bulkheadd then changes the state directory.
  if (recorded.code() == Code::kNotFound && !found.hosts.empty()) return 0;
  if (found.hosts.empty()) return Fail(StateNotChanged(kind, recorded));
  return Fail(Status(recorded.code(),
                     fmt::format(fmt::runtime(kind.unrecorded), asked.backend) +
                         ": " + recorded.message()));
}

// Carries out the command for applications that start later, and then in the
// running applications. Returns the exit status.
int RunCommand(const GlobalOptions& global, const CommandKind& kind,
               const Asked& asked) {
  const auto found = HostsFor(asked);
  if (!found) return Fail(found.error());
  if (found->hosts.empty() && found->complete) {
    return RunWithoutApplication(global, kind, asked.backend);
  }
  // HostsFor() has reported the applications that did not answer. They do not
  // get the command, which is a failure.
  int exit_code = found->complete ? 0 : ExitCodeFor(Code::kDeadlineExceeded);
  // The state directory comes first, so that it is changed whatever the
  // applications answer.
  if (ChangesStateDirectory(kind, asked, *found)) {
    exit_code = WorseExitCode(
        exit_code, RunForLaterApplications(global, kind, asked, *found));
  }
  if (found->hosts.empty()) return WorseExitCode(exit_code, FinishPrinting());
  std::vector<int> pids;
  for (const auto& [pid, command] : found->hosts) pids.push_back(pid);
  const std::vector<Status> statuses =
      CommandBackends(pids, asked.backend, kind.command);
  std::set<int> done;
  Status absent;
  for (size_t i = 0; i < pids.size(); ++i) {
    const Status& status = statuses[i];
    if (status.ok()) {
      done.insert(pids[i]);
      if (global.quiet) continue;
      Print(fmt::format("{} {} in process {}", kind.done, asked.backend,
                        pids[i]));
    } else if (status.code() == Code::kNotFound) {
      // With --all, an application without this backend is no failure as long
      // as another one has it.
      absent = status.WithContext(fmt::format("process {}", pids[i]));
    } else {
      exit_code = Fail(status.WithContext(fmt::format("process {}", pids[i])));
    }
  }
  if (!global.quiet && !done.empty() &&
      kind.command == BackendCommand::kReload) {
    PrintReasons(done, asked.backend);
  }
  if (exit_code != 0 || !done.empty()) {
    return WorseExitCode(exit_code, FinishPrinting());
  }
  return Fail(absent);  // No application has the backend.
}

}  // namespace

void AddBackendCommands(Command& program, Invocation& invocation) {
  for (const CommandKind& kind : kKinds) {
    const auto [command, asked] = AddSubcommand<Asked>(
        program, invocation, kind.name, kind.purpose,
        fmt::format(kExamples, kind.name),
        [&kind](const GlobalOptions& global, const Asked& asked) {
          return RunCommand(global, kind, asked);
        });
    command.AddOption("BACKEND", &asked.backend, "The name of the backend")
        .Required();
    command.AddOption("--host PID", &asked.host,
                      "Act on this application only");
    command
        .AddFlag("--all", &asked.all, "Act on every application of this user")
        .Excludes("--host");
  }
}

}  // namespace bulkhead::cli::operators
