// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/operators/ps_command.h"

#include <bulkhead/operators.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/cli/facts.h"
#include "tools/cli/terminal.h"
#include "tools/cli/user_name.h"

namespace bulkhead::cli {
namespace {

using Json = nlohmann::ordered_json;

// The time over which frames per second are measured.
constexpr std::chrono::milliseconds kWindow{500};
constexpr double kMebibyte = 1024.0 * 1024.0;

constexpr char kExamples[] = R"(Examples:
  bulkhead ps
  bulkhead ps --json | jq '.hosts[].backends[].sessions[].frames_per_second'

Shows the applications of this user only. Frames per second are measured during the half second that the command takes.
Memory is resident memory; shared pages count for each process.)";

Json FactsOf(const RunningSession& session) {
  return {
      {"session", session.session},
      {"device", session.device},
      {"input", session.input},
      {"worker_pid", session.worker_pid},
      {"frames", session.frames},
      {"frames_per_second",
       session.frames_per_second ? Json(*session.frames_per_second) : Json()},
      {"restarts", session.restarts}};
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
                           {"pid", worker.pid},
                           {"since_ms", worker.since.count()}});
  }
  return {{"pid", host.pid},
          {"command", host.command},
          {"supervisor_pid", host.supervisor_pid},
          {"uptime_ms", host.uptime.count()},
          {"tier", host.tier == SandboxTier::kNone
                       ? Json()
                       : Json(SandboxTierName(host.tier))},
          {"memory_bytes", host.memory_bytes},
          {"backends", std::move(backends)},
          {"written_off", std::move(written_off)}};
}

void PrintShadow(const ShadowReport& shadow) {
  if (shadow.streams == 0) return;
  Print(fmt::format(
      "    shadow: {} streams, {} of them failed; {} frames compared, {} "
      "differ, {} not compared",
      shadow.streams, shadow.failed, shadow.compared, shadow.differing,
      shadow.not_compared));
  if (shadow.first) {
    Print(fmt::format(
        "      first after {} frames: {}, frame {} at {:.3f} s, in {}",
        shadow.first->compared, shadow.first->path, shadow.first->frame,
        shadow.first->seconds, shadow.first->words));
  }
  if (!shadow.last_trial.empty()) Print("      " + shadow.last_trial);
  if (!shadow.last_failure.empty()) {
    Print("      last failure: " + shadow.last_failure);
  }
}

void PrintBackend(const RunningBackend& backend) {
  std::string state = backend.state;
  if (!backend.reason.empty()) state += ": " + backend.reason;
  Print(fmt::format("  {}  {}", backend.name, state));
  if (backend.memory_bytes > 0) {
    Print(
        fmt::format("    started {} times, {} workers, {} of them lost so far, "
                    "{:.1f} MiB",
                    backend.incarnation, backend.worker_pids.size(),
                    backend.restarts, backend.memory_bytes / kMebibyte));
  }
  if (backend.failovers > 0) {
    Print(fmt::format("    {} streams went on on another device",
                      backend.failovers));
  }
  if (backend.failed_failovers > 0) {
    Print(fmt::format(
        "    {} streams failed here and on the device of on_failure as well",
        backend.failed_failovers));
  }
  for (const RunningSession& session : backend.sessions) {
    Print(
        fmt::format("    session {}  {}  {}  worker {}, {} frames, {}/s, "
                    "{} restarts",
                    session.session, session.device, session.input,
                    session.worker_pid, session.frames,
                    session.frames_per_second
                        ? fmt::format("{:.1f}", *session.frames_per_second)
                        : std::string("?"),
                    session.restarts));
  }
  PrintShadow(backend.shadow);
}

int RunPs(bool json) {
  const Result<RunningHosts> running = FindRunningHosts(kWindow);
  if (!running) return Fail(running.error());
  if (json) {
    Json hosts = Json::array();
    for (const auto& host : running->hosts) hosts.push_back(FactsOf(host));
    return PrintFacts({{"uid", geteuid()},
                       {"hosts", std::move(hosts)},
                       {"silent", running->silent}});
  }
  if (running->hosts.empty() && running->silent.empty()) {
    Say(DescribeNoApplication());
  }
  for (const RunningHost& host : running->hosts) {
    Print(fmt::format("{} {}", host.pid, host.command));
    Print(fmt::format("  bulkheadd {}, up {:.0f} s, sandbox {}, {:.1f} MiB",
                      host.supervisor_pid, host.uptime.count() / 1000.0,
                      host.tier == SandboxTier::kNone
                          ? "not needed yet"
                          : SandboxTierName(host.tier),
                      host.memory_bytes / kMebibyte));
    for (const RunningBackend& backend : host.backends) PrintBackend(backend);
    for (const WrittenOffWorker& worker : host.written_off) {
      Print(fmt::format(
          "  written off: worker {} of {}, killed {:.0f} s ago and "
          "held by the kernel",
          worker.pid, worker.backend, worker.since.count() / 1000.0));
    }
  }
  for (const std::string& sentence : running->silent) Say(sentence);
  return FinishPrinting();
}

}  // namespace

void AddPsCommand(CLI::App& app, Invocation& invocation) {
  const auto json = std::make_shared<bool>(false);
  CLI::App* command = AddSubcommand(
      app, invocation, "ps",
      "List the running applications, their backends and sessions", kExamples,
      [json](const GlobalOptions&) { return RunPs(*json); });
  command->add_flag("--json", *json, "Print JSON on stdout");
}

}  // namespace bulkhead::cli
