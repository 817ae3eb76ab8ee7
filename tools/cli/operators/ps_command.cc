// SPDX-License-Identifier: Apache-2.0
#include <bulkhead/operators.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <locale.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tools/cli/command_line.h"
#include "tools/cli/facts.h"
#include "tools/cli/operators/fit.h"
#include "tools/cli/subcommands.h"
#include "tools/cli/terminal.h"
#include "tools/cli/user_name.h"

namespace bulkhead::cli::operators {
namespace {

using Json = nlohmann::ordered_json;

// The time over which frames per second are measured.
constexpr std::chrono::milliseconds kWindow{500};
constexpr double kMebibyte = 1024.0 * 1024.0;

// The time between two readings of --watch. Frames per second are measured over
// this whole time.
constexpr std::chrono::milliseconds kEachSecond{1'000};

constexpr char kExamples[] = R"(Examples:
  bulkhead ps
  bulkhead ps --host 4711 --watch    one application, every second until ^C
  bulkhead ps --json | jq '.hosts[].backends[].sessions[].frames_per_second'

Shows the applications of this user only. Frames per second are measured during
the half second that the command takes. The session for which its application
waits longest comes first; "idle" is a session that the application asks for
nothing. An application whose bulkheadd does not answer is "silent". Memory is
resident memory; shared pages count for each process. Lines are cut to the width
of a terminal. In JSON, worker_pid is null while a session has no
worker.)";

Json FactsOf(const RunningSession& session) {
  return {
      {"session", session.session},
      {"device", session.device},
      {"input", session.input},
      {"worker_pid", PidFact(session.worker_pid)},
      {"frames", session.frames},
      {"frames_per_second",
       session.frames_per_second ? Json(*session.frames_per_second) : Json()},
      {"restarts", session.restarts},
      {"waiting_ms",
       session.waiting ? Json(session.waiting->count()) : Json()}};
}

Json FactsOf(const RunningBackend& backend) {
  Json sessions = Json::array();
  for (const auto& session : backend.sessions) {
    sessions.push_back(FactsOf(session));
  }
  return {{"name", backend.name},
          {"state", backend.state},
          {"reason", backend.reason},
          {"incarnation", backend.incarnation},
          {"restarts", backend.restarts},
          {"failovers", backend.failovers},
          {"failed_failovers", backend.failed_failovers},
          {"worker_pids", backend.worker_pids},
          {"memory_bytes", backend.memory_bytes},
          {"sessions", std::move(sessions)},
          {"shadow", bulkhead::cli::FactsOf(backend.shadow)}};
}

Json FactsOf(const RunningHost& host) {
  Json backends = Json::array();
  for (const auto& backend : host.backends) {
    backends.push_back(FactsOf(backend));
  }
  Json written_off = Json::array();
  for (const auto& worker : host.written_off) {
    written_off.push_back({{"backend", worker.backend},
                           {"pid", PidFact(worker.pid)},
                           {"since_ms", worker.since.count()}});
  }
  return {{"pid", PidFact(host.pid)},
          {"command", host.command},
          {"supervisor_pid", PidFact(host.supervisor_pid)},
          {"uptime_ms", host.uptime.count()},
          {"tier", host.tier == SandboxTier::kNone
                       ? Json()
                       : Json(SandboxTierName(host.tier))},
          {"memory_bytes", host.memory_bytes},
          {"backends", std::move(backends)},
          {"written_off", std::move(written_off)}};
}

// Prints one line to stdout, cut to the width of the terminal, if stdout is
// one.
void PrintCut(std::string_view line) {
  const std::optional<size_t> columns = StdoutColumns();
  Print(columns ? Cut(line, static_cast<int>(*columns)) : std::string(line));
}

void PrintShadow(const ShadowReport& shadow) {
  if (shadow.streams == 0) return;
  PrintCut(fmt::format(
      "    shadow: {} streams, {} of them failed; {} frames compared, {} "
      "differ, {} not compared",
      shadow.streams, shadow.failed, shadow.compared, shadow.differing,
      shadow.not_compared));
  if (shadow.first) {
    PrintCut(fmt::format(
        "      first after {} frames: {}, frame {} at {:.3f} s, in {}",
        shadow.first->compared, shadow.first->path, shadow.first->frame,
        shadow.first->seconds, shadow.first->words));
  }
  if (!shadow.last_trial.empty()) PrintCut("      " + shadow.last_trial);
  if (!shadow.last_failure.empty()) {
    PrintCut("      last failure: " + shadow.last_failure);
  }
}

// Returns the activity of a session: "25.0/s", "waiting for 8 s", "idle", or
// "?" if its frames were not counted for long enough.
std::string Activity(const RunningSession& session) {
  using std::chrono::seconds;
  const bool delivers = session.frames_per_second.value_or(0) > 0;
  if (delivers) return fmt::format("{:.1f}/s", *session.frames_per_second);
  if (session.waiting && *session.waiting >= seconds(1)) {
    return fmt::format("waiting for {} s",
                       std::chrono::floor<seconds>(*session.waiting).count());
  }
  if (session.waiting)
    return fmt::format("waiting for {} ms", session.waiting->count());
  return session.frames_per_second ? "idle" : "?";
}

std::string WorkerOf(const RunningSession& session) {
  return session.worker_pid > 0 ? fmt::format("worker {}", session.worker_pid)
                                : "no worker";
}

void PrintBackend(const RunningBackend& backend) {
  std::string state = backend.state;
  if (!backend.reason.empty()) state += ": " + backend.reason;
  PrintCut(fmt::format("  {}  {}", backend.name, state));
  if (backend.memory_bytes > 0) {
    PrintCut(
        fmt::format("    started {} times, {} workers, {} of them lost so far, "
                    "{:.1f} MiB",
                    backend.incarnation, backend.worker_pids.size(),
                    backend.restarts, backend.memory_bytes / kMebibyte));
  }
  if (backend.failovers > 0) {
    PrintCut(fmt::format("    {} streams went on on another device",
                         backend.failovers));
  }
  if (backend.failed_failovers > 0) {
    PrintCut(fmt::format(
        "    {} streams failed here and on the device of on_failure as well",
        backend.failed_failovers));
  }
  for (const RunningSession& session : backend.sessions) {
    // The path comes last, since it may be long.
    PrintCut(fmt::format(
        "    session {}  {}  {}, {} frames, {} restarts, {}  {}",
        session.session, session.device, Activity(session), session.frames,
        session.restarts, WorkerOf(session), session.input));
  }
  PrintShadow(backend.shadow);
}

void PrintHost(const RunningHost& host) {
  PrintCut(fmt::format("{} {}", host.pid, host.command));
  PrintCut(fmt::format("  bulkheadd {}, up {:.0f} s, sandbox {}, {:.1f} MiB",
                       host.supervisor_pid, host.uptime.count() / 1000.0,
                       host.tier == SandboxTier::kNone
                           ? "not needed yet"
                           : SandboxTierName(host.tier),
                       host.memory_bytes / kMebibyte));
  for (const RunningBackend& backend : host.backends) PrintBackend(backend);
  for (const WrittenOffWorker& worker : host.written_off) {
    PrintCut(
        fmt::format("  written off: worker {} of {}, killed {:.0f} s ago and "
                    "held by the kernel",
                    worker.pid, worker.backend, worker.since.count() / 1000.0));
  }
}

void PrintHost(const SilentHost& host) {
  PrintCut(fmt::format("{} {}", host.pid, host.command));
  PrintCut("  silent: " + host.reason);
}

// Sorts applications by pid, backends by name, and sessions by the time for
// which they wait, the longest first.
void Sort(RunningHosts& running) {
  const auto by = [](auto& list, const auto& key) {
    std::stable_sort(
        list.begin(), list.end(),
        [&key](const auto& a, const auto& b) { return key(a) < key(b); });
  };
  by(running.hosts, [](const RunningHost& host) {
    return std::pair(host.pid, host.supervisor_pid);
  });
  for (RunningHost& host : running.hosts) {
    by(host.backends,
       [](const RunningBackend& backend) { return backend.name; });
    for (RunningBackend& backend : host.backends) {
      by(backend.sessions, [](const RunningSession& session) {
        return std::pair(
            -session.waiting.value_or(std::chrono::milliseconds(0)),
            session.session);
      });
    }
  }
}

struct PsOptions {
  std::optional<int> host;
  bool watch = false;
  bool json = false;
};

// Returns the sorted reading, with --host only the chosen application.
Result<RunningHosts> Read(const PsOptions& options) {
  Result<RunningHosts> running =
      FindRunningHosts(options.watch ? kEachSecond : kWindow);
  if (!running) return running;
  Sort(*running);
  if (!options.host) return running;
  std::erase_if(running->hosts, [&](const RunningHost& host) {
    return host.pid != *options.host;
  });
  if (running->hosts.empty()) {
    for (const SilentHost& silent : running->silent) Say(silent.reason);
    return Status(Code::kNotFound,
                  fmt::format("process {} is no application of {} that uses "
                              "Bulkhead and answers",
                              *options.host, DescribeUser()));
  }
  running->silent.clear();
  return running;
}

Json FactsOf(const RunningHosts& running) {
  Json hosts = Json::array();
  for (const auto& host : running.hosts) hosts.push_back(FactsOf(host));
  Json silent = Json::array();
  for (const SilentHost& host : running.silent) {
    silent.push_back({{"pid", host.pid},
                      {"command", host.command},
                      {"reason", host.reason}});
  }
  return {{"uid", geteuid()},
          {"hosts", std::move(hosts)},
          {"silent", std::move(silent)}};
}

void PrintListing(const RunningHosts& running) {
  if (running.hosts.empty() && running.silent.empty()) {
    Say(DescribeNoApplication());
  }
  for (const RunningHost& host : running.hosts) PrintHost(host);
  for (const SilentHost& host : running.silent) PrintHost(host);
}

// Prints readings until ^C, or until the reader of stdout has gone away. There
// is no pause between two readings, since each takes a second (kEachSecond).
int Watch(const PsOptions& options) {
  const bool on_terminal = StdoutColumns().has_value();
  for (;;) {
    const Result<RunningHosts> running = Read(options);
    if (!running) return Fail(running.error());
    if (options.json) {
      Print(FactsOf(*running).dump(-1, ' ', true,
                                   Json::error_handler_t::replace));
    } else {
      // Clears the screen. Print() would replace the escape character.
      if (on_terminal) std::fputs("\x1b[H\x1b[J", stdout);
      Print(fmt::format("{:%F %T%z}", fmt::localtime(std::time(nullptr))));
      PrintListing(*running);
    }
    if (const int failed = FinishPrinting(); failed != 0) return failed;
    if (std::ferror(stdout) != 0) return 0;
  }
}

int RunPs(const GlobalOptions&, const PsOptions& options) {
  // Cut() needs the locale's category for the width of characters.
  setlocale(LC_CTYPE, "");
  if (options.watch) return Watch(options);
  const Result<RunningHosts> running = Read(options);
  if (!running) return Fail(running.error());
  if (options.json) return PrintFacts(FactsOf(*running));
  PrintListing(*running);
  return FinishPrinting();
}

}  // namespace

void AddPsCommand(Command& program, Invocation& invocation) {
  const auto [command, options] = AddSubcommand<PsOptions>(
      program, invocation, "ps",
      "List the running applications, their backends and sessions", kExamples,
      RunPs);
  command.AddOption("--host PID", &options.host, "Only this application");
  command.AddFlag("--watch", &options.watch,
                  "List them every second, until ^C");
  command.AddFlag("--json", &options.json,
                  "Print JSON on stdout; a line for each listing of --watch");
}

}  // namespace bulkhead::cli::operators
