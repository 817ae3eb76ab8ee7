// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tools/cli/command_line.h"
#include "tools/cli/facts.h"
#include "tools/cli/subcommands.h"
#include "tools/cli/terminal.h"

namespace bulkhead::cli::operators {
namespace {

constexpr char kExamples[] = R"(Examples:
  bulkhead entry-points                                on the plugin path
  bulkhead entry-points --path /usr/lib/python3/dist-packages
  bulkhead entry-points --group bulkhead.backends --json

Reads the metadata of installed packages (NAME-VERSION.dist-info) and starts
nothing. A malformed line is reported, and all others are listed. The exit status
is 0 then too.)";

struct EntryPointsOptions {
  std::vector<std::string> path;
  std::optional<std::string> group;
  bool json = false;
};

EntryPointReport Read(const GlobalOptions& global,
                      const EntryPointsOptions& options) {
  if (options.path.empty()) return FindEntryPoints(HostOptionsFrom(global));
  std::vector<std::string> absolute;
  for (const std::string& path : options.path) {
    absolute.push_back(std::filesystem::absolute(path).string());
  }
  return FindEntryPoints(absolute);
}

int RunEntryPoints(const GlobalOptions& global,
                   const EntryPointsOptions& options) {
  const EntryPointReport report = Read(global, options);
  const EntryPoints selected =
      report.entry_points.Select({.group = options.group});
  if (options.json) {
    return PrintFacts({{"entry_points", FactsOf(selected)},
                       {"diagnostics", FactsOf(report.diagnostics)}});
  }
  if (selected.empty()) Say("no entry points found");
  for (const std::string& group : selected.Groups()) {
    Print("[" + group + "]");
    for (const EntryPoint& entry_point : selected.Select({.group = group})) {
      Print(fmt::format("  {} = {}", entry_point.name, entry_point.value));
      Print(fmt::format("    {} {}, {}:{}", entry_point.distribution,
                        entry_point.version, entry_point.file,
                        entry_point.line));
    }
  }
  Say(report.diagnostics);
  return FinishPrinting();
}

}  // namespace

void AddEntryPointsCommand(Command& program, Invocation& invocation) {
  const auto [command, options] = AddSubcommand<EntryPointsOptions>(
      program, invocation, "entry-points",
      "List the entry points of installed packages", kExamples, RunEntryPoints);
  command
      .AddOption("--path DIR", &options.path,
                 "Search this directory instead; may be repeated, the first "
                 "match wins")
      .OneValueEach();
  command.AddOption("--group GROUP", &options.group, "Only this group");
  command.AddFlag("--json", &options.json, "Print JSON on stdout");
}

}  // namespace bulkhead::cli::operators
