// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "core/base/environment.h"
#include "core/discovery/package_version.h"
#include "tools/cli/command_line.h"
#include "tools/cli/facts.h"
#include "tools/cli/subcommands.h"
#include "tools/cli/terminal.h"
#include "tools/install/installation.h"
#include "tools/install/plugin_directory.h"

namespace bulkhead::cli::operators {
namespace {

using Json = nlohmann::ordered_json;
using install::Installation;

constexpr char kExamples[] = R"(Examples:
  bulkhead install acme-1.0-py3-none-manylinux_2_28_x86_64.whl
  bulkhead install acme-2.0-py3-none-any.whl --into ~/backends
  bulkhead install build/dist/acme-1.0.dist-info       a distribution from a build

Without --into, installs into /usr/local/lib/bulkhead for root, otherwise into
$XDG_DATA_HOME/bulkhead or ~/.local/share/bulkhead. Every file is compared with
its hash in RECORD before anything is changed. Another version of the same
distribution is replaced, completely or not at all. No code of the wheel runs
during the installation; a backend starts, sandboxed, when its device is used.

RECORD proves that the wheel is intact, not who made it. Dependencies of the
wheel are not installed.)";

struct InstallOptions {
  std::string source;
  std::string into;
  bool json = false;
};

EntryPoints BackendsOf(const Installation& done) {
  return done.entry_points.Select({.group = "bulkhead.backends"});
}

std::string Headline(const Installation& done) {
  const std::string what = done.name + " " + done.version;
  if (done.unchanged) {
    return fmt::format("{} is already installed in {}", what, done.directory);
  }
  std::string verb = "installed";
  std::string before;
  if (done.previous_version) {
    const auto order =
        discovery::CompareVersions(done.version, *done.previous_version);
    verb = order > 0   ? "upgraded to"
           : order < 0 ? "downgraded to"
                       : "reinstalled";
    if (order != 0) before = ", was " + *done.previous_version;
  }
  return fmt::format("{} {} in {} ({} files{})", verb, what, done.directory,
                     done.files, before);
}

void PrintInstallation(const Installation& done, bool on_path, bool quiet) {
  if (!quiet) {
    Print(Headline(done));
    for (const EntryPoint& backend : BackendsOf(done)) {
      Print(fmt::format("  backend {} = {}", backend.name, backend.value));
    }
  }
  for (const Diagnostic& diagnostic : done.diagnostics) {
    if (!quiet || diagnostic.severity == Diagnostic::Severity::kError) {
      Say(ToString(diagnostic));
    }
  }
  if (quiet) return;
  if (BackendsOf(done).empty()) {
    Say("warning: the distribution offers no backend: its entry_points.txt "
        "has no group bulkhead.backends");
  }
  if (!on_path) {
    Say(
        fmt::format("warning: {} is not on the plugin path, so no application "
                    "finds the distribution. To search it:\n"
                    "  export BULKHEAD_ADD_PATH=\"{}{}\"",
                    done.directory, done.directory,
                    getenv("BULKHEAD_ADD_PATH") ? ":$BULKHEAD_ADD_PATH" : ""));
  }
}

Json InstallationFacts(const Installation& done, bool on_path) {
  return Json{
      {"name", done.name},
      {"version", done.version},
      {"previous_version",
       done.previous_version ? Json(*done.previous_version) : Json()},
      {"unchanged", done.unchanged},
      {"directory", done.directory},
      {"dist_info", done.dist_info},
      {"files", done.files},
      {"on_plugin_path", on_path},
      {"backends", FactsOf(BackendsOf(done))},
      {"diagnostics", FactsOf(done.diagnostics)},
  };
}

int RunInstall(const GlobalOptions& global, const InstallOptions& options) {
  const auto environment = Environment::FromProcess();
  const Result<std::string> target =
      install::PluginDirectory(options.into, environment, geteuid());
  if (!target) return Fail(target.error());
  const Result<Installation> done = install::Install(options.source, *target);
  if (!done) return Fail(done.error());
  const bool on_path = install::IsOnPluginPath(environment, *target);
  if (options.json) return PrintFacts(InstallationFacts(*done, on_path));
  PrintInstallation(*done, on_path, global.quiet);
  return FinishPrinting();
}

}  // namespace

void AddInstallCommand(Command& program, Invocation& invocation) {
  const auto [command, options] = AddSubcommand<InstallOptions>(
      program, invocation, "install",
      "Install a backend from a wheel or an unpacked distribution", kExamples,
      RunInstall);
  command
      .AddOption("SOURCE WHEEL|DIR", &options.source,
                 "A .whl file, or a folder with a NAME-VERSION.dist-info")
      .Required();
  command.AddOption("--into DIR", &options.into,
                    "The plugin directory; created if it does not exist");
  command.AddFlag("--json", &options.json, "Print JSON on stdout");
}

}  // namespace bulkhead::cli::operators
