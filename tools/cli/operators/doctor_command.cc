// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "ipc/waiter.h"
#include "tools/cli/command_line.h"
#include "tools/cli/demo/self_test.h"
#include "tools/cli/facts.h"
#include "tools/cli/operators/backends_command.h"
#include "tools/cli/subcommands.h"
#include "tools/cli/terminal.h"

namespace bulkhead::cli::operators {
namespace {

constexpr char kExamples[] = R"(Examples:
  bulkhead doctor
  bulkhead doctor --json | jq .sandbox.gaps
  bulkhead --sandbox-floor reduced doctor     try with less isolation
  bulkhead --require-memory-cgroup doctor     try with more

Exit status: 0 if a picture was decoded on cpu, 5 if the sandbox prevents that,
4 if anything else does.)";

constexpr int kCannotDecode = 4;
constexpr int kSandboxTooWeak = 5;
constexpr const char* kPrograms[] = {"bulkheadd", "bulkhead-reaper",
                                     "bulkhead-worker"};

struct Program {
  std::string path;
  bool found;
};

// The findings of one run.
struct Examination {
  std::vector<Program> programs;
  std::vector<std::string> variables;  // Each is "BULKHEAD_NAME=VALUE".
  // Whether the kernel can wait for several futexes at once (futex_waitv).
  bool sleeps_on_many = ipc::Waiter::KernelSleepsOnMany();
  Status host;  // The result of Host::Create().
  std::optional<SandboxReport> sandbox;
  std::optional<BackendReport> backends;
  Status decoding;
  double decoding_ms = 0;
};

int ExitStatus(const Examination& found) {
  if (found.host.ok() && found.decoding.ok()) return 0;
  const Code code = found.host.ok() ? found.decoding.code() : found.host.code();
  return code == Code::kSandboxUnavailable ? kSandboxTooWeak : kCannotDecode;
}

std::vector<std::string> OurVariables() {
  std::vector<std::string> ours;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    if (text.starts_with("BULKHEAD_")) ours.push_back(text);
  }
  return ours;
}

Examination Examine(const GlobalOptions& global) {
  Examination found;
  const std::string libexec = ProgramsDirectory(HostOptionsFrom(global));
  for (const char* name : kPrograms) {
    const std::string path = libexec + "/" + name;
    found.programs.push_back({path, access(path.c_str(), X_OK) == 0});
  }
  found.variables = OurVariables();
  HostOptions options = HostOptionsFrom(global);
  // doctor decodes only a picture that it makes itself, so that a restriction
  // of media would protect nothing here.
  options.allowed = AllowedMedia::All();
  Result<std::unique_ptr<Host>> host = Host::Create(std::move(options));
  if (!host) {
    found.host = host.error();
    return found;
  }
  if (Result<SandboxReport> sandbox = (*host)->Sandbox()) {
    found.sandbox = *std::move(sandbox);
  }
  const auto start = std::chrono::steady_clock::now();
  found.decoding = demo::DecodeTestPicture(**host, "cpu");
  found.decoding_ms = std::chrono::duration<double, std::milli>(
                          std::chrono::steady_clock::now() - start)
                          .count();
  // Asks for the backends last, so that their state shows how decoding ended.
  if (Result<BackendReport> backends = (*host)->Backends()) {
    found.backends = *std::move(backends);
  }
  return found;
}

// Returns the directories of the plugin path, each with its origin.
std::vector<std::string> PluginPath(const GlobalOptions& global) {
  std::vector<std::string> lines;
  if (!global.plugin_path.empty()) {
    for (const std::string& directory : global.plugin_path) {
      lines.push_back(directory + " (--plugin-path)");
    }
  } else {
    if (const char* added = secure_getenv("BULKHEAD_ADD_PATH")) {
      lines.push_back(fmt::format("{} (BULKHEAD_ADD_PATH)", added));
    }
    if (const char* replaced = secure_getenv("BULKHEAD_PATH")) {
      lines.push_back(fmt::format("{} (BULKHEAD_PATH)", replaced));
    } else {
      lines.push_back(
          "$XDG_DATA_HOME/bulkhead or ~/.local/share/bulkhead, "
          "/usr/local/lib/bulkhead, /usr/lib/bulkhead (standard)");
    }
  }
  lines.push_back(ProgramsDirectory(HostOptionsFrom(global)) +
                  "/backends (comes with Bulkhead)");
  if (const char* last = secure_getenv("BULKHEAD_LAST_PATH")) {
    lines.push_back(fmt::format("{} (BULKHEAD_LAST_PATH)", last));
  }
  return lines;
}

// Prints the lines of `text` in a column, with `label` to the left of the first
// line.
void PrintBeside(const std::string& label, const std::string& text) {
  std::istringstream lines(text);
  std::string before = label;
  for (std::string line; std::getline(lines, line);) {
    Print(fmt::format("    {:<9}{}", std::exchange(before, ""), line));
  }
}

std::string DescribeMemoryCgroup(const SandboxReport& sandbox) {
  if (!sandbox.memory_cgroup_required) {
    return "memory cgroup: not required (BULKHEAD_REQUIRE_MEMORY_CGROUP)";
  }
  const auto& controllers = sandbox.cgroup_controllers;
  const bool has = std::find(controllers.begin(), controllers.end(),
                             "memory") != controllers.end();
  return has ? "memory cgroup: required, and each backend gets one"
             : "memory cgroup: REQUIRED and MISSING, so no backend starts";
}

void PrintSandbox(const SandboxReport& sandbox) {
  Print(fmt::format("sandbox: {}", SandboxTierName(sandbox.tier)));
  Print(sandbox.landlock_abi == 0
            ? "  Landlock: none"
            : fmt::format("  Landlock: ABI {}", sandbox.landlock_abi));
  Print(sandbox.own_uid ? "  user: backends have a uid of their own"
                        : "  user: backends have this user's uid");
  Print(sandbox.cgroup.empty()
            ? "  cgroup: none; limits are for each process alone"
            : fmt::format(
                  "  cgroup: in {}, with limits of: {}", sandbox.cgroup,
                  sandbox.cgroup_controllers.empty()
                      ? "nothing"
                      : fmt::format("{}", fmt::join(sandbox.cgroup_controllers,
                                                    ", "))));
  Print("  " + DescribeMemoryCgroup(sandbox));
  for (const SandboxGap& gap : sandbox.gaps) {
    Print("  missing: " + gap.missing);
    PrintBeside("seen:", gap.evidence);
    PrintBeside("to do:", gap.remedy);
    PrintBeside("or else:", gap.cost);
  }
  if (sandbox.tier == SandboxTier::kReduced) {
    Print("  to accept less isolation: BULKHEAD_SANDBOX_FLOOR=reduced or");
    Print("    --sandbox-floor reduced");
  }
}

void PrintForPeople(const GlobalOptions& global, const Examination& found) {
  for (const Program& program : found.programs) {
    Print(fmt::format("program: {} {}", program.path,
                      program.found ? "found"
                                    : "MISSING; build or install Bulkhead, or "
                                      "name the directory with --libexec"));
  }
  for (const std::string& directory : PluginPath(global)) {
    Print("plugin path: " + directory);
  }
  for (const std::string& variable : found.variables) {
    Print("environment: " + variable);
  }
  if (!found.host.ok()) {
    Print("supervisor: " + found.host.message());
    return;
  }
  Print("supervisor: starts");
  if (!found.sleeps_on_many) {
    Print(
        "waiting: without futex_waitv (Linux 5.16, or a container that allows "
        "it),");
    Print(
        "  an application notices the end of a worker, and Cancel(), up to "
        "50 ms late");
  }
  if (found.sandbox) PrintSandbox(*found.sandbox);
  if (found.backends) PrintBackends(*found.backends);
  Print(found.decoding.ok()
            ? fmt::format("decoding on cpu: works (one picture in {:.0f} ms)",
                          found.decoding_ms)
            : "decoding on cpu: " + found.decoding.message());
}

nlohmann::ordered_json FactsOf(const Status& status) {
  if (status.ok()) return {{"ok", true}};
  return {{"ok", false},
          {"code", CodeName(status.code())},
          {"message", status.message()}};
}

int PrintExamination(const GlobalOptions& global, const Examination& found) {
  using Json = nlohmann::ordered_json;
  Json programs = Json::array();
  for (const Program& program : found.programs) {
    programs.push_back({{"path", program.path}, {"found", program.found}});
  }
  Json facts = {
      {"programs", programs},
      {"plugin_path", PluginPath(global)},
      {"environment", found.variables},
      {"supervisor", FactsOf(found.host)},
      {"futex_waitv", found.sleeps_on_many},
      {"sandbox", found.sandbox ? cli::FactsOf(*found.sandbox) : Json()},
      {"backends",
       found.backends ? cli::FactsOf(*found.backends)["backends"] : Json()},
      {"diagnostics",
       found.backends ? cli::FactsOf(*found.backends)["diagnostics"] : Json()},
      {"decoding", found.host.ok() ? FactsOf(found.decoding) : Json()},
  };
  const int printed = PrintFacts(facts);
  return printed != 0 ? printed : ExitStatus(found);
}

int RunDoctor(const GlobalOptions& global, bool json) {
  const Examination found = Examine(global);
  if (json) return PrintExamination(global, found);
  PrintForPeople(global, found);
  const int printed = FinishPrinting();
  return printed != 0 ? printed : ExitStatus(found);
}

}  // namespace

void AddDoctorCommand(Command& program, Invocation& invocation) {
  const auto [command, json] = AddSubcommand<bool>(
      program, invocation, "doctor",
      "Report what works here, what does not, and how to fix it", kExamples,
      RunDoctor);
  command.AddFlag("--json", &json, "Print JSON on stdout");
}

}  // namespace bulkhead::cli::operators
