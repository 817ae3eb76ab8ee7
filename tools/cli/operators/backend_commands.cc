// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/operators/backend_commands.h"

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

#include "tools/cli/command_line.h"
#include "tools/cli/terminal.h"
#include "tools/cli/user_name.h"

namespace bulkhead::cli {
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

struct CommandKind {
  const char* name;
  const char* purpose;
  const char* done;
  BackendCommand command;
  // What is not done if only running applications can be reached.
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

struct Asked {
  std::string backend;
  std::optional<int> host;
  bool all = false;
};

// The applications to act on.
struct Found {
  // The command lines, by pid. A map merges the several bulkheadds that one
  // application may have.
  std::map<int, std::string> hosts;
  bool complete = true;  // False if an application did not answer.
};

Result<Found> HostsFor(const Asked& asked) {
  if (asked.host) return Found{.hosts = {{*asked.host, ""}}};
  const Result<RunningHosts> running =
      FindRunningHosts(std::chrono::milliseconds(0));
  if (!running) return running.error();
  for (const SilentHost& silent : running->silent) Say(silent.reason);
  Found found{.hosts = {}, .complete = running->silent.empty()};
  for (const RunningHost& host : running->hosts) {
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

// Does what a command can do for the applications that start later: it changes
// what is on record for all applications of this user. A Host of this process
// does that: the record is its bulkheadd's.
Status Record(const GlobalOptions& global, const CommandKind& kind,
              const std::string& backend) {
  if (const Status kept = CheckStateDirectory(); !kept.ok()) return kept;
  const Result<std::unique_ptr<Host>> host =
      Host::Create(HostOptionsFrom(global));
  if (!host) return host.error();
  switch (kind.command) {
    case BackendCommand::kDisable:
      return (*host)->Disable(backend);
    case BackendCommand::kEnable:
      return (*host)->Enable(backend);
    default:
      return (*host)->Restart(backend);
  }
}

// Returns what a failure of Record means for the applications that start later.
Status NothingRecorded(const CommandKind& kind, const Status& failure) {
  if (failure.code() == Code::kNotFound) return failure;
  const bool forgets = kind.command == BackendCommand::kRestart;
  return Status(failure.code(), fmt::format("nothing is {}: {}",
                                            forgets ? "forgotten" : kind.done,
                                            failure.message()));
}

int RunWithoutApplication(const GlobalOptions& global, const CommandKind& kind,
                          const std::string& backend) {
  if (kind.command == BackendCommand::kReload) {
    return Fail(Status(Code::kNotFound, DescribeNoApplication()));
  }
  if (const Status recorded = Record(global, kind, backend); !recorded.ok()) {
    return Fail(NothingRecorded(kind, recorded));
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

// Prints what is to be known about the backend although it was reloaded in
// `hosts`.
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

// Returns true if the command changes what is on record besides the
// applications. Those that answer forget a quarantine themselves.
bool HasRecord(const CommandKind& kind, const Asked& asked,
               const Found& found) {
  if (asked.host || kind.command == BackendCommand::kReload) return false;
  return kind.command != BackendCommand::kRestart || !found.complete;
}

// Does the part of a command that is for the applications that start later,
// beside running ones, and says what came of it. Returns the exit status.
int RunRecord(const GlobalOptions& global, const CommandKind& kind,
              const Asked& asked, const Found& found) {
  const Status recorded = Record(global, kind, asked.backend);
  if (recorded.ok()) {
    if (!global.quiet && !found.complete) {
      Print(fmt::format("{} {} for applications that start later", kind.done,
                        asked.backend));
    }
    return 0;
  }
  // A backend that only an application finds is put on record by that one.
  if (recorded.code() == Code::kNotFound && !found.hosts.empty()) return 0;
  if (found.hosts.empty()) return Fail(NothingRecorded(kind, recorded));
  return Fail(Status(recorded.code(),
                     fmt::format(fmt::runtime(kind.unrecorded), asked.backend) +
                         ": " + recorded.message()));
}

int RunCommand(const GlobalOptions& global, const CommandKind& kind,
               const Asked& asked) {
  const auto found = HostsFor(asked);
  if (!found) return Fail(found.error());
  if (found->hosts.empty() && found->complete) {
    return RunWithoutApplication(global, kind, asked.backend);
  }
  // What did not answer was said; the command was not done there.
  int exit_code = found->complete ? 0 : ExitCodeFor(Code::kDeadlineExceeded);
  // The record comes first: it holds whatever the applications answer.
  if (HasRecord(kind, asked, *found)) {
    exit_code =
        WorseExitCode(exit_code, RunRecord(global, kind, asked, *found));
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
  return Fail(absent);
}

}  // namespace

void AddBackendCommands(Command& program, Invocation& invocation) {
  for (const CommandKind& kind : kKinds) {
    const auto asked = std::make_shared<Asked>();
    Command& command =
        AddSubcommand(program, invocation, kind.name, kind.purpose,
                      fmt::format(kExamples, kind.name),
                      [asked, &kind](const GlobalOptions& global) {
                        return RunCommand(global, kind, *asked);
                      });
    command.AddOption("BACKEND", &asked->backend, "The name of the backend")
        .Required();
    command.AddOption("--host", &asked->host, "Act on this application only")
        .ValueName("PID");
    command
        .AddFlag("--all", &asked->all, "Act on every application of this user")
        .Excludes("--host");
  }
}

}  // namespace bulkhead::cli
