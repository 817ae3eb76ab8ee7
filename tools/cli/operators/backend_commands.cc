// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/operators/backend_commands.h"

#include <bulkhead/host.h>
#include <bulkhead/operators.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <optional>

#include "tools/cli/terminal.h"

namespace bulkhead::cli {
namespace {

constexpr char kExamples[] = R"(Examples:
  bulkhead {0} acme
  bulkhead {0} acme --host 4711
  bulkhead {0} acme --all

Without --host or --all there must be at most one running application; see
`bulkhead ps`. Open streams continue. Without any, restart lifts a quarantine, and
the other commands fail.)";

struct CommandKind {
  const char* name;
  const char* purpose;
  const char* done;
  BackendCommand command;
};

constexpr CommandKind kKinds[] = {
    {"restart", "Start a backend afresh and forget its failures", "restarted",
     BackendCommand::kRestart},
    {"reload", "Use the files installed now for new streams", "reloaded",
     BackendCommand::kReload},
    {"disable", "Keep running applications from using a backend", "disabled",
     BackendCommand::kDisable},
    {"enable", "Undo disable", "enabled", BackendCommand::kEnable}};

struct Asked {
  std::string backend;
  std::optional<int> host;
  bool all = false;
};

// Returns the command lines of the applications to act on, by pid; empty if
// none is running. A map merges the several bulkheadds that one application may
// have.
Result<std::map<int, std::string>> HostsFor(const Asked& asked) {
  if (asked.host) return std::map<int, std::string>{{*asked.host, ""}};
  const Result<RunningHosts> running =
      FindRunningHosts(std::chrono::milliseconds(0));
  if (!running) return running.error();
  for (const std::string& sentence : running->silent) Say(sentence);
  std::map<int, std::string> hosts;
  for (const RunningHost& host : running->hosts) {
    hosts[host.pid] = host.command;
  }
  if (hosts.empty()) return hosts;
  if (hosts.size() == 1 || asked.all) return hosts;
  std::string list;
  for (const auto& [pid, command] : hosts) {
    list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", pid, command);
  }
  return Status(
      Code::kInvalidArgument,
      "there are several applications, choose with --host PID or --all: " +
          list);
}

// Does what a command can do for the applications that start later: a restart
// lifts the quarantine that all applications of this user share.
int RunWithoutApplication(const GlobalOptions& global, const CommandKind& kind,
                          const Asked& asked) {
  constexpr char kNobody[] = "no application uses Bulkhead now";
  if (kind.command != BackendCommand::kRestart) {
    return Fail(Status(Code::kNotFound, kNobody));
  }
  const Result<std::unique_ptr<Host>> host =
      Host::Create(HostOptionsFrom(global));
  if (!host) return Fail(host.error());
  const Status forgotten = (*host)->Restart(asked.backend);
  if (!forgotten.ok()) return Fail(forgotten);
  if (!global.quiet) {
    Say(fmt::format("{}; forgot the recorded failures of {}", kNobody,
                    asked.backend));
  }
  return 0;
}

// Says what is to be known about the backend although the command succeeded.
void SayReason(int pid, const Asked& asked) {
  const Result<RunningHosts> running =
      FindRunningHosts(std::chrono::milliseconds(0));
  if (!running) return;
  for (const RunningHost& host : running->hosts) {
    if (host.pid != pid) continue;
    for (const RunningBackend& backend : host.backends) {
      if (backend.name != asked.backend || backend.state != "ready" ||
          backend.reason.empty()) {
        continue;
      }
      Say(fmt::format("{} in process {}: {}", backend.name, pid,
                      backend.reason));
    }
  }
}

int RunCommand(const GlobalOptions& global, const CommandKind& kind,
               const Asked& asked) {
  const auto hosts = HostsFor(asked);
  if (!hosts) return Fail(hosts.error());
  if (hosts->empty()) return RunWithoutApplication(global, kind, asked);
  int done = 0;
  Status absent;
  int exit_code = 0;
  for (const auto& [pid, command] : *hosts) {
    const Status status = CommandBackend(pid, asked.backend, kind.command);
    if (status.ok()) {
      ++done;
      if (!global.quiet) {
        Say(fmt::format("{} {} in process {}", kind.done, asked.backend, pid));
        if (kind.command == BackendCommand::kReload) SayReason(pid, asked);
      }
    } else if (status.code() == Code::kNotFound) {
      // With --all, an application without this backend is no failure as long
      // as another one has it.
      absent = status.WithContext(fmt::format("process {}", pid));
    } else {
      exit_code = Fail(status.WithContext(fmt::format("process {}", pid)));
    }
  }
  if (exit_code != 0 || done > 0) return exit_code;
  return Fail(absent);
}

}  // namespace

void AddBackendCommands(CLI::App& app, Invocation& invocation) {
  for (const CommandKind& kind : kKinds) {
    const auto asked = std::make_shared<Asked>();
    CLI::App* command =
        AddSubcommand(app, invocation, kind.name, kind.purpose,
                      fmt::format(kExamples, kind.name),
                      [asked, &kind](const GlobalOptions& global) {
                        return RunCommand(global, kind, *asked);
                      });
    command->add_option("BACKEND", asked->backend, "The name of the backend")
        ->required();
    CLI::Option* host =
        command
            ->add_option("--host", asked->host, "Act on this application only")
            ->type_name("PID");
    command
        ->add_flag("--all", asked->all, "Act on every application of this user")
        ->excludes(host);
  }
}

}  // namespace bulkhead::cli
